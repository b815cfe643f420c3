/*
 * notify: tells the service manager (systemd, or whoever else set NOTIFY_SOCKET) how the process
 * is: ready, reloading, stopping; and that it is alive, as long as the loops of all workers turn.
 * Without NOTIFY_SOCKET and WATCHDOG_USEC nothing of it happens. For the main thread only.
 */
#ifndef PX_NOTIFY_H
#define PX_NOTIFY_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

/* `status` is one line for `systemctl status`. Also ends what px_notify_reloading began. */
void px_notify_ready(const char *status);
void px_notify_reloading(void);
void px_notify_stopping(void);

typedef struct px_watchdog px_watchdog;

/* Says WATCHDOG=1 from now on, four times in WATCHDOG_USEC, each time after every worker has
 * answered a message: a worker that hangs makes it fall silent. NULL if nobody asked for it. */
px_watchdog *px_watchdog_start(px_server *server, uv_loop_t *loop);
/* No more of it, so that the loop can end; NULL is fine in both. Free it when the workers have
 * ended: until then they may still answer. */
void px_watchdog_stop(px_watchdog *watchdog);
void px_watchdog_free(px_watchdog *watchdog);

#endif
