/*
 * running: one run of a portal: its columns, rows and tag on their way to the client.
 */
#ifndef PGW_RUNNING_H
#define PGW_RUNNING_H

#include "ydb/server/machine.h"

/* Runs the portal, or resumes it, for up to `limit` rows (0: all). `then` follows the end of the
 * run; after the last row that was wanted come PortalSuspended and the end of the message. */
void pgw_run(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then);
/* Whether such a run takes all rows of the portal, however many there are. */
PGW_MUST_CHECK bool pgw_run_takes_all(const pgw_portal *portal, uint32_t limit);
/* Writes CommandComplete of a portal that was run to its end. */
void pgw_run_write_tag(pgw_server *server, const pgw_portal *portal);

/* Take the answers to RUN and RESUME, as server.h describes them. */
void pgw_run_columns(pgw_server *server, pgw_slice columns);
PGW_MUST_CHECK bool pgw_run_row(pgw_server *server, const pgw_slice *cells, size_t count);
void pgw_run_completed(pgw_server *server, const char *tag);

#endif
