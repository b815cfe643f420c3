/*
 * transport: bytes in and out of a socket, plain or through TLS, with the errors of recv(2) and
 * send(2). What TLS waits for is not always what was asked for: it says so.
 */
#ifndef PX_TRANSPORT_H
#define PX_TRANSPORT_H

#include "proxy/loop/chunks.h"

#include <sys/types.h>

struct ssl_st;

typedef struct px_transport {
    int fd;
    struct ssl_st *ssl; /* NULL: plain */
    bool ended;         /* the peer sends no more */
    bool read_on_write; /* SSL_read waits for the socket to be writable, or has bytes that poll does
                           not see and comes back at once: almost always it is */
    bool write_on_read; /* SSL_write waits for the socket to be readable */
} px_transport;

/* From here on bytes go through `ssl`, which is not owned. `backend`: it is libpq's. */
void px_transport_secure(px_transport *transport, struct ssl_st *ssl, bool backend);
/* Up to `room` bytes, more than none; 0 at the end; -1 with errno: EAGAIN, or why it failed. Never
 * EINTR. */
ssize_t px_transport_receive(px_transport *transport, char *to, size_t room);
/* Why receiving failed, by errno; a constant. */
const char *px_transport_failure(void);
/* There are bytes that poll does not see: asks to be polled for what comes at once. */
void px_transport_come_back(px_transport *transport);
/* The first byte, not taken: 1; 0 at the end; -1 with errno. */
ssize_t px_transport_peek(const px_transport *transport, unsigned char *first);
/* Writes some of the chunks, from the front, and takes nothing of them away; how many bytes, or -1
 * with errno. */
ssize_t px_transport_send(px_transport *transport, const px_chunks *chunks);
/* Nothing will be sent any more. */
void px_transport_finish(const px_transport *transport);

#endif
