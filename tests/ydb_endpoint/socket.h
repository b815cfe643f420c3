/*
 * socket: a client's connection as the endpoint reads it: whole messages from a buffer that never
 * grows above 2 MiB, with or without TLS. One thread uses it, and waits in it.
 */
#ifndef YE_SOCKET_H
#define YE_SOCKET_H

#include "protocol/frame.h"
#include "protocol/startup.h"

#include <openssl/ssl.h>

enum { YE_BUFFER_MAX = 2 * 1024 * 1024 }; /* MAX_BUFFER_SIZE of pg_connection.cpp */

typedef struct ye_socket {
    int fd;
    SSL *tls;     /* NULL: in clear */
    pgw_buf in;   /* what was read … */
    size_t taken; /* … and is behind us */
} ye_socket;

/* `fd` belongs to it. Who says nothing for `idle_ms` is as good as gone. */
void ye_socket_init(ye_socket *socket, int fd, long idle_ms);
void ye_socket_close(ye_socket *socket);
/* From here on everything is inside of TLS. */
PGW_MUST_CHECK bool ye_socket_secure(ye_socket *socket, SSL_CTX *context);
/* The next packet of a startup. False: the connection is to be closed, as below. */
PGW_MUST_CHECK bool ye_socket_startup(ye_socket *socket, pgw_startup *startup,
                                      pgw_startup_kind *kind);
/* Whether the next message is wholly there already. */
bool ye_socket_has_message(const ye_socket *socket);
/* The next message, good until the next call. False: the client left or fell silent, or its message
 * is larger than the buffer: the connection is to be closed without a word. */
PGW_MUST_CHECK bool ye_socket_message(ye_socket *socket, char *type, pgw_slice *body);
/* Writes everything and empties `out`. */
PGW_MUST_CHECK bool ye_socket_write(ye_socket *socket, pgw_buf *out);

#endif
