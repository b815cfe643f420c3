/*
 * running: one run of a portal: its columns, rows and tag on their way to the client.
 */
#ifndef PGW_RUNNING_H
#define PGW_RUNNING_H

#include "ydb/server/machine.h"

/* Runs the portal, or goes on with it, up to `limit` rows (0: all). `then` follows its end; what
 * follows the last row that was wanted is PortalSuspended and the end of the message. */
void pgw_run(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then);
/* Whether all rows of such a run would be taken, however many there are. */
PGW_MUST_CHECK bool pgw_run_takes_all(const pgw_portal *portal, uint32_t limit);
/* CommandComplete of a portal that was run to its end. */
void pgw_run_write_tag(pgw_server *server, const pgw_portal *portal);

/* Answers to RUN and RESUME, as server.h has them. */
void pgw_run_columns(pgw_server *server, pgw_slice columns);
PGW_MUST_CHECK bool pgw_run_row(pgw_server *server, const pgw_slice *cells, size_t count);
void pgw_run_completed(pgw_server *server, const char *tag);

#endif
