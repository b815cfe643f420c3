/*
 * transaction: what begins and ends transactions: the client's BEGIN, COMMIT and ROLLBACK, and the
 * groups of statements that are one transaction without saying so.
 *
 * All statements of one Query, and all up to a Sync, take effect together or not at all. What is
 * behind commits each statement by itself; so a transaction is opened in front of the first write
 * of a group that is not its last statement, and committed where the group ends. A lone statement,
 * or reads and a write behind them, cost no round trip more. A BEGIN within a group makes its
 * transaction the client's own, as in PostgreSQL.
 *
 * A transaction that failed is rolled back at once, so that it holds no locks while the client has
 * not noticed yet; that it failed is remembered here alone, until COMMIT or ROLLBACK.
 */
#ifndef PGW_TRANSACTION_H
#define PGW_TRANSACTION_H

#include "ydb/server/machine.h"

/* Whether the statement may be run in the transaction as it is; else it is refused. */
PGW_MUST_CHECK bool pgw_transaction_takes(pgw_server *server, const pgw_piece *piece);
/* BEGIN, COMMIT and their like, done up to CommandComplete. Portals may be gone afterwards. */
void pgw_transaction_control(pgw_server *server, const pgw_piece *piece, pgw_then *after);
/* AND CHAIN: the end is done, and the next one cannot begin. The end is told; the next has failed.
 */
void pgw_transaction_chain_failed(pgw_server *server);
/* Whether one has to be opened in front of a statement that another may follow. */
PGW_MUST_CHECK bool pgw_transaction_is_due(const pgw_server *server, pgw_command command);
/* Opens it. `after` may look at nothing but the server: portals are as they were. */
void pgw_transaction_open(pgw_server *server, pgw_then *after);
/* The end of a group, as PostgreSQL's finish_xact_command(): outside of a client's transaction,
 * portals end, and what was opened is committed. */
void pgw_transaction_close(pgw_server *server, pgw_then *after);

#endif
