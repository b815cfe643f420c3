/*
 * server: the process: listeners, workers, signals, reload, and what all workers share.
 */
#ifndef PX_SERVER_H
#define PX_SERVER_H

#include "config/config.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdio.h>

/* Hands a CancelRequest to the worker of the session that was told `pid`. A wrong key is answered
 * like a right one: not.
 */
void px_server_cancel(px_server *server, uint32_t pid, uint32_t key);
/* How many sessions the workers have. */
unsigned px_server_load(px_server *server);
/* No worker has a session any more, nor anything that one of them began. */
bool px_server_quiet(px_server *server);

/* Runs the proxy until SIGTERM or SIGINT; takes ownership of `config`. Mistakes in the
 * files it names go to `errors`. Returns the exit code: 0 after an orderly end, 1 if it could not
 * start. */
int px_run(cfg_config *config, FILE *errors);

#endif
