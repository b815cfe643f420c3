#include "proxy/server/notify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

void px_notify_ready(const char *status)
{
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void px_notify_reloading(void)
{
    /* systemd 253 wants MONOTONIC_USEC for Type=notify-reload; older versions ignore it. */
    sd_notifyf(0, "RELOADING=1\nSTATUS=the configuration is being read\nMONOTONIC_USEC=%" PRIu64,
               uv_hrtime() / 1000);
}

void px_notify_stopping(void)
{
    sd_notify(0, "STOPPING=1\nSTATUS=what is under way is being finished");
}

/* ---- the watchdog ---- */

typedef struct question { /* a question to one worker, not sent again before the worker has answered
                           */
    px_message message;
    px_watchdog *watchdog;
} question;

struct px_watchdog {
    uv_timer_t timer;
    px_server *server;
    _Atomic unsigned unanswered;
    question questions[]; /* one question for each worker */
};

static void on_question(px_worker *worker, px_message *message)
{
    (void)worker;
    atomic_fetch_sub(&((question *)message)->watchdog->unanswered, 1);
}

static void on_tick(uv_timer_t *timer)
{
    px_watchdog *watchdog = timer->data;
    px_server *server = watchdog->server;
    if (atomic_load(&watchdog->unanswered) > 0)
        return;
    sd_notify(0, "WATCHDOG=1");
    atomic_store(&watchdog->unanswered, server->worker_count);
    for (unsigned i = 0; i < server->worker_count; i++)
        px_worker_send(&server->workers[i], &watchdog->questions[i].message);
}

px_watchdog *px_watchdog_start(px_server *server, uv_loop_t *loop)
{
    uint64_t usec;
    if (sd_watchdog_enabled(0, &usec) <= 0)
        return NULL;
    px_watchdog *watchdog =
        pgw_calloc(1, sizeof *watchdog + server->worker_count * sizeof(question));
    watchdog->server = server;
    for (unsigned i = 0; i < server->worker_count; i++)
        watchdog->questions[i] = (question){.message.run = on_question, .watchdog = watchdog};
    /* systemd's documentation asks for WATCHDOG=1 twice in WATCHDOG_USEC; here it is four times, so
     * that one late answer is not too late. */
    uint64_t period = usec / 4000 > 0 ? usec / 4000 : 1;
    uv_timer_init(loop, &watchdog->timer);
    watchdog->timer.data = watchdog;
    uv_timer_start(&watchdog->timer, on_tick, 0, period);
    return watchdog;
}

void px_watchdog_stop(px_watchdog *watchdog)
{
    if (watchdog != NULL)
        uv_close((uv_handle_t *)&watchdog->timer, NULL);
}

void px_watchdog_free(px_watchdog *watchdog)
{
    free(watchdog);
}
