/*
 * listener: the sockets that clients connect to. One acceptor hands each connection to the worker
 * with the fewest sessions: SO_REUSEPORT is not used, so a second instance on the port fails.
 */
#ifndef PX_LISTENER_H
#define PX_LISTENER_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

typedef struct px_listener px_listener;

/* Binds and listens; NULL and a message on failure, such as "address in use". Its handles live in
 * `loop`. */
px_listener *px_listener_open(px_server *server, uv_loop_t *loop, const cfg_listen *where,
                              char *message, size_t message_size);
/* Makes a listening, non-blocking socket alone, for the admin endpoint; -1 and a message on
 * failure. */
int px_listener_socket(const cfg_config *config, const cfg_listen *where, char *message,
                       size_t message_size);
/* Accepts what is queued, then closes; a Unix socket's file is removed. */
void px_listener_close(px_listener *listener);

#endif
