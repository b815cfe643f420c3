#include "proxy/server/signals.h"

#include "protocol/bytes.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct px_signals {
    uv_poll_t poll;
    int fd;
    px_signals_on *on;
    void *owner;
};

static sigset_t watched(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void px_signals_block(void)
{
    sigset_t set = watched();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    const px_signals *s = (px_signals *)poll;
    struct signalfd_siginfo info;
    (void)status;
    (void)events;
    if (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info)
        s->on(s->owner, (int)info.ssi_signo);
}

px_signals *px_signals_watch(uv_loop_t *loop, px_signals_on *on, void *owner)
{
    sigset_t set = watched();
    px_signals *s = pgw_calloc(1, sizeof *s);
    *s = (px_signals){
        .fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), .on = on, .owner = owner};
    if (s->fd < 0 || uv_poll_init(loop, &s->poll, s->fd) != 0)
        abort(); /* no signals can be watched, as the process starts */
    uv_poll_start(&s->poll, UV_READABLE, on_readable);
    return s;
}

static void on_closed(uv_handle_t *handle)
{
    px_signals *s = (px_signals *)handle;
    close(s->fd);
    free(s);
}

void px_signals_close(px_signals *signals)
{
    sigset_t set = watched();
    uv_close((uv_handle_t *)&signals->poll, on_closed);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
