/*
 * listener: the sockets that clients come to. One acceptor hands each connection to the worker with
 * the fewest, so that no kernel's balancing has to be trusted, and a second instance on the same
 * port is told.
 */
#ifndef PX_LISTENER_H
#define PX_LISTENER_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

typedef struct px_listener px_listener;

/* Binds and listens; NULL and a message on failure ("address in use", …). Handles live in `loop`.
 */
px_listener *px_listener_open(px_server *server, uv_loop_t *loop, const cfg_listen *where,
                              char *message, size_t message_size);
/* The socket alone, listening and non-blocking, for an owner of another kind; -1 and a message. */
int px_listener_socket(const cfg_config *config, const cfg_listen *where, char *message,
                       size_t message_size);
/* Takes what is queued, then closes; a Unix socket's file is removed. */
void px_listener_close(px_listener *listener);

#endif
