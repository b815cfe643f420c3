/*
 * server: the process: listeners, workers, signals, reload, and what all workers share.
 */
#ifndef PX_SERVER_H
#define PX_SERVER_H

#include "config/config.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdio.h>

/* The tenants of the workers' loops, ended by NULL. */
extern const px_tenant *const px_server_tenants[];

/* Runs the proxy until SIGTERM or SIGINT; takes ownership of `config`. Mistakes in the
 * files it names go to `errors`. Returns the exit code: 0 after an orderly end, 1 if it could not
 * start. */
int px_run(cfg_config *config, FILE *errors);

#endif
