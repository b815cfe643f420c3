#include "proxy/loop/transport.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { MAX_VECTORS = 64, TLS_RECORD = 16 * 1024 };

void px_transport_secure(px_transport *transport, SSL *ssl, bool backend)
{
    /* Partial writes move on in the ring; idle clients keep no buffers of OpenSSL's. */
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
    /* SSL_read() returns after each record, or a stream of KeyUpdates would not let go of the loop;
     * and it reads no further, or the next record would be where poll does not see it. */
    SSL_clear_mode(ssl, SSL_MODE_AUTO_RETRY);
    SSL_set_read_ahead(ssl, 0);
    /* An end without close_notify is an end: the protocol's lengths tell what is whole, and to such
     * a peer one can still write. */
    if (!backend)
        SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
    transport->ssl = ssl;
}

/* What OpenSSL's result means as an errno: EAGAIN, EPROTO, ECONNRESET, or 0 at the end of input. */
static int tls_errno(const px_transport *transport, int result)
{
    switch (SSL_get_error(transport->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SSL:
        return EPROTO;
    default:
        return ECONNRESET;
    }
}

static ssize_t receive_tls(px_transport *transport, char *to, size_t room)
{
    ERR_clear_error();
    int n = SSL_read(transport->ssl, to, room > INT32_MAX ? INT32_MAX : (int)room);
    transport->read_on_write = n <= 0 && SSL_want_write(transport->ssl);
    if (n > 0)
        return n;
    errno = tls_errno(transport, n);
    return errno == 0 ? 0 : -1;
}

ssize_t px_transport_receive(px_transport *transport, char *to, size_t room)
{
    ssize_t n;
    do
        n = transport->ssl ? receive_tls(transport, to, room) : recv(transport->fd, to, room, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

const char *px_transport_failure(void)
{
    const char *reason = errno == EPROTO ? ERR_reason_error_string(ERR_peek_last_error()) : NULL;
    return reason != NULL ? reason : strerror(errno); /* OpenSSL's texts are constants, too */
}

void px_transport_come_back(px_transport *transport)
{
    if (transport->ssl != NULL && SSL_has_pending(transport->ssl))
        transport->read_on_write = true;
}

ssize_t px_transport_peek(const px_transport *transport, unsigned char *first)
{
    return recv(transport->fd, first, 1, MSG_PEEK);
}

/* Sends one record at most. A failed SSL_write must be called again with the same bytes: the ring
 * still begins with them, perhaps with more behind. */
static ssize_t send_tls(px_transport *transport, const px_chunks *chunks)
{
    char record[TLS_RECORD];
    size_t len = 0;
    for (size_t i = 0; i < chunks->count && len < sizeof record; i++) {
        const px_chunk *c = px_chunks_at(chunks, i);
        size_t part = c->len < sizeof record - len ? c->len : sizeof record - len;
        memcpy(record + len, c->block->bytes + c->offset, part);
        len += part;
    }
    ERR_clear_error();
    int n = SSL_write(transport->ssl, record, (int)len);
    transport->write_on_read = n <= 0 && SSL_want_read(transport->ssl) && !transport->ended;
    if (n > 0)
        return n;
    bool later = tls_errno(transport, n) == EAGAIN &&
                 (transport->write_on_read || SSL_want_write(transport->ssl));
    errno = later ? EAGAIN : EPIPE;
    return -1;
}

static ssize_t send_plain(const px_transport *transport, const px_chunks *chunks)
{
    if (chunks->count == 1) {
        const px_chunk *only = px_chunks_at(chunks, 0);
        return send(transport->fd, only->block->bytes + only->offset, only->len, MSG_NOSIGNAL);
    }
    struct iovec vectors[MAX_VECTORS];
    size_t count = chunks->count < MAX_VECTORS ? chunks->count : MAX_VECTORS;
    for (size_t i = 0; i < count; i++) {
        const px_chunk *c = px_chunks_at(chunks, i);
        vectors[i] = (struct iovec){c->block->bytes + c->offset, c->len};
    }
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    return sendmsg(transport->fd, &message, MSG_NOSIGNAL);
}

ssize_t px_transport_send(px_transport *transport, const px_chunks *chunks)
{
    return transport->ssl ? send_tls(transport, chunks) : send_plain(transport, chunks);
}

void px_transport_finish(const px_transport *transport)
{
    if (transport->ssl != NULL && SSL_is_init_finished(transport->ssl))
        SSL_shutdown(transport->ssl);
    shutdown(transport->fd, SHUT_WR);
}
