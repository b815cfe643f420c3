/*
 * transaction: begins and ends transactions: the client's by BEGIN, COMMIT and ROLLBACK, and those
 * of groups of statements, which no client asks for.
 */
#ifndef PGW_TRANSACTION_H
#define PGW_TRANSACTION_H

#include "ydb/server/machine.h"

/*
 * All statements of one Query, and all up to a Sync, take effect together or not at all. The
 * backend commits each statement by itself: so a transaction is opened before the first write of a
 * group that is not its last statement, and committed where the group ends. A lone statement, or a
 * write after reads, costs no further round trip. A BEGIN within a group makes its transaction the
 * client's own, as in PostgreSQL.
 *
 * A transaction that failed is rolled back at once, so that it holds no locks while the client has
 * not noticed yet; only this module remembers the failure, until COMMIT or ROLLBACK.
 */

/* Whether the statement may be run in the present state of the transaction; if not, it is refused
 * here. A SAVEPOINT or RELEASE that may is carried out in the list of savepoints by this very call,
 * so call it once a statement. */
PGW_MUST_CHECK bool pgw_transaction_takes(pgw_server *server, const pgw_piece *piece);
/* Does a BEGIN, START, COMMIT or ROLLBACK up to its tag. Portals may be gone afterwards. */
void pgw_transaction_control(pgw_server *server, const pgw_piece *piece, pgw_then *after);
/* AND CHAIN: the transaction has ended, and its tag is told, but the next one cannot begin: it
 * counts as failed. */
void pgw_transaction_chain_failed(pgw_server *server);
/* Whether a group's transaction has to be opened before a statement that another may follow. */
PGW_MUST_CHECK bool pgw_transaction_is_due(const pgw_server *server, pgw_command command);
/* Opens a group's transaction; portals stay. `after` finds what it needs in the server. */
void pgw_transaction_open(pgw_server *server, pgw_then *after);
/* Ends a group, as PostgreSQL's finish_xact_command(): outside of a client's transaction, portals
 * end, and the group's transaction is committed. */
void pgw_transaction_close(pgw_server *server, pgw_then *after);

#endif
