/*
 * orders: carries out PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE and DISCARD, whose
 * names are those of the extended protocol: a cursor is a portal. FETCH runs the cursor's portal;
 * EXECUTE is run as the statement that it names.
 */
#ifndef PGW_ORDERS_H
#define PGW_ORDERS_H

#include "ydb/server/machine.h"

/* Points a portal that was bound to an EXECUTE or FETCH at the statement that this names, if there
 * is one, so that it can be described; leaves other portals alone. False: refused. */
PGW_MUST_CHECK bool pgw_order_bind(pgw_server *server, pgw_portal *portal);

/* The statement that an EXECUTE names; NULL, refused, if there is none that takes its arguments. */
pgw_statement *pgw_order_executed(pgw_server *server, const pgw_order *order);
/* Points a portal at the statement that its EXECUTE names, with the arguments, so that it can be
 * run. False: refused. */
PGW_MUST_CHECK bool pgw_order_resolve(pgw_server *server, pgw_portal *portal);

/* Carries out a portal's order, unless it is EXECUTE; `then` follows when the portal has its tag. A
 * FETCH gives up to `limit` rows (0: all); PortalSuspended follows the last, as in pgw_run(). */
void pgw_order_carry_out(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then);
/* Whether the cursor may be run; false, refused, if an earlier FETCH of it has rows left. */
PGW_MUST_CHECK bool pgw_cursor_is_free(pgw_server *server, const pgw_portal *cursor);

#endif
