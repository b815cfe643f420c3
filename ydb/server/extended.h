/*
 * extended: the extended protocol: Parse, Bind, Describe, Execute, Close, Sync.
 */
#ifndef PGW_EXTENDED_H
#define PGW_EXTENDED_H

#include "ydb/server/machine.h"

/* An Execute of a write outside of a transaction waits for the next message: if that is a Sync, the
 * write is a transaction by itself; else a transaction is opened in front of it. One is opened,
 * too, where rows may be left or cannot be sent, for then only COMMIT or ROLLBACK makes sure that
 * the write has its effect, or none. No client waits for a reply meanwhile, for none is owed before
 * Flush or Sync. */

/* Each takes the message of its name from server->body. */
void pgw_extended_parse(pgw_server *server);
void pgw_extended_bind(pgw_server *server);
void pgw_extended_describe(pgw_server *server);
void pgw_extended_execute(pgw_server *server);
void pgw_extended_close(pgw_server *server);
void pgw_extended_sync(pgw_server *server);

/* Runs the Execute that waited. `alone`: a Sync follows; `finish` is called when it is through. */
void pgw_extended_run_held(pgw_server *server, bool alone, pgw_then *finish);

#endif
