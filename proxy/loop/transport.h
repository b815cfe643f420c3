/*
 * transport: bytes in and out of a socket, plain or through TLS, with the errors of recv(2) and
 * send(2). It also says when TLS must write in order to read, or read in order to write.
 */
#ifndef PX_TRANSPORT_H
#define PX_TRANSPORT_H

#include "proxy/loop/chunks.h"

#include <sys/types.h>

struct ssl_st;

typedef struct px_transport {
    int fd;
    struct ssl_st *ssl; /* NULL: plain */
    bool ended;         /* the peer sends no more input */
    bool read_on_write; /* SSL_read waits for the socket to be writable, or has bytes that poll does
                           not see, and is to be called again at once: a socket is almost always
                           writable */
    bool write_on_read; /* SSL_write waits for the socket to be readable */
} px_transport;

/* From here on bytes go through `ssl`, which the caller owns. `backend`: `ssl` is libpq's. */
void px_transport_secure(px_transport *transport, struct ssl_st *ssl, bool backend);
/* Receives up to `room` bytes and returns how many; 0 at the end; -1 with errno: EAGAIN, or why it
 * failed, but never EINTR. */
ssize_t px_transport_receive(px_transport *transport, char *to, size_t room);
/* Why receiving failed, by errno; a constant text. */
const char *px_transport_failure(void);
/* Sets read_on_write if TLS holds bytes that poll does not see, so that poll calls at once. */
void px_transport_come_back(px_transport *transport);
/* Reads the first byte without taking it and returns 1; 0 at the end; -1 with errno. */
ssize_t px_transport_peek(const px_transport *transport, unsigned char *first);
/* Writes some of the chunks, from the front, and leaves them in place; returns how many bytes, or
 * -1 with errno. */
ssize_t px_transport_send(px_transport *transport, const px_chunks *chunks);
/* Sends close_notify and shuts the socket down for writing. */
void px_transport_finish(const px_transport *transport);

#endif
