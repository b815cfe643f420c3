/*
 * notify: tells the service manager (NOTIFY_SOCKET) that the process is ready, reloading or
 * stopping, and that it is alive (WATCHDOG_USEC) while the loops of all workers turn. Without these
 * variables nothing happens. For the main thread only.
 */
#ifndef PX_NOTIFY_H
#define PX_NOTIFY_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

/* Tells that the process is ready, also after px_notify_reloading(). `status` is one line for
 * `systemctl status`. */
void px_notify_ready(const char *status);
void px_notify_reloading(void);
void px_notify_stopping(void);

typedef struct px_watchdog px_watchdog;

/* Says WATCHDOG=1 from now on, four times in WATCHDOG_USEC, each time after every worker has
 * answered a message: it falls silent if a worker hangs. NULL if WATCHDOG_USEC is not set. */
px_watchdog *px_watchdog_start(px_server *server, uv_loop_t *loop);
/* Stops the watchdog, so that the loop can end; it is to be freed when the workers have ended, for
 * until then they may still answer. NULL is fine in both. */
void px_watchdog_stop(px_watchdog *watchdog);
void px_watchdog_free(px_watchdog *watchdog);

#endif
