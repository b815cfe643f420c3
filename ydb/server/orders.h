/*
 * orders: what SQL says of the session's statements and cursors: PREPARE, EXECUTE, DEALLOCATE,
 * DECLARE, FETCH, MOVE, CLOSE, DISCARD. Their names are those of the extended protocol: a cursor is
 * a portal, and is run where it is first fetched from (PostgreSQL: it sees the rows of when it was
 * declared). FETCH runs the cursor's portal, EXECUTE is run itself, as the statement that it names.
 */
#ifndef PGW_ORDERS_H
#define PGW_ORDERS_H

#include "ydb/server/machine.h"

/* A portal was bound to an EXECUTE or FETCH: points it at what that names, if there is one, so that
 * it can be described. False: refused. */
PGW_MUST_CHECK bool pgw_order_bind(pgw_server *server, pgw_portal *portal);

/* The statement that an EXECUTE names; NULL, refused, if there is none that takes its arguments. */
pgw_statement *pgw_order_executed(pgw_server *server, const pgw_order *order);
/* … of a portal, which is pointed at it with its arguments, to be run. False: refused. */
PGW_MUST_CHECK bool pgw_order_resolve(pgw_server *server, pgw_portal *portal);

/* Carries out any other order of a portal; `then` follows when it has its tag. A FETCH gives up to
 * `limit` rows (0: all); what follows the last that was wanted is as in pgw_run(). */
void pgw_order_carry_out(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then);
/* A cursor whose FETCH has rows left runs for nobody else: true. False: refused. */
PGW_MUST_CHECK bool pgw_cursor_is_free(pgw_server *server, const pgw_portal *cursor);

#endif
