/*
 * order: what PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE and DISCARD say, for the
 * server's half of the protocol, which carries them out.
 */
#ifndef RW_ORDER_H
#define RW_ORDER_H

#include "ydb/server/command.h"
#include "ydb/plain/clean.h"

/* Makes the piece for a statement of the client's text `all` that rw_clean_next() calls SESSION:
 * PREPARE, EXECUTE and the others above, with the order in the arena; SESSION, for SET, RESET and
 * SHOW; or WRITE, for LISTEN, LOCK and the like. False: PostgreSQL's grammar refuses it, or it is
 * too long to be looked at (54000); the error's position is one in `all`. Needs up to 64 MiB of
 * stack. */
PGW_MUST_CHECK bool rw_order_read(pgw_slice all, const rw_clean *statement,
                                  const pgw_reading *reading, pgw_piece *out);

#endif
