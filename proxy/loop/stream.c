#include "proxy/loop/stream.h"

#include "proxy/loop/worker.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Memory that input is read into and that output refers to. Counted: a relayed slice keeps it. */
typedef struct px_block {
    struct px_block *next; /* while it is spare */
    unsigned references;
    size_t cap;
    char bytes[];
} block;

typedef struct chunk {
    block *block;
    size_t offset, len;
} chunk;

struct px_stream {
    uv_poll_t poll; /* first: the handle is the stream */
    px_worker *worker;
    int fd;
    SSL *ssl;
    const px_stream_ops *ops;
    void *owner;
    void (*on_closed)(void *owner);

    block *in;
    size_t in_start, in_end, expected;
    int watched; /* what poll waits for; a change costs system calls */
    bool paused, closing, greeted;
    bool ended; /* the peer sends no more, and the owner knows */

    chunk *out; /* a ring of out_cap (a power of two) chunks */
    size_t out_head, out_count, out_cap, out_bytes;
    bool full;          /* was over PX_STREAM_HIGH and on_drained is owed */
    bool blocked;       /* the socket takes no more: waiting for writable */
    bool read_on_write; /* SSL_read waits for the socket to be writable, or has bytes that poll does
                           not see and comes back at once: almost always it is */
    bool write_on_read; /* SSL_write waits for the socket to be readable */
    bool broken;        /* the peer takes no more: output is dropped; what it sent is still read */
    bool finishing;     /* the owner puts no more: told when all has left */
    px_stream *next_dirty;
    bool dirty;
};

enum {
    BLOCK = 16 * 1024,
    BIG_BLOCK = 64 * 1024,
    MAX_VECTORS = 64,
    MAX_SPARE = 256,
    READ_MOST = 256 * 1024,   /* at once: then it is asked whether there is room for more */
    WORTH_SHARING = 2 * 1024, /* less input is copied: a slice keeps its whole block */
    TLS_RECORD = 16 * 1024,
    TLS_READS = 16 /* a turn; the others want theirs */
};

/* Blocks of the usual size are kept for the next reader: the allocator would give their pages back
 * to the system and ask for them again, turn by turn. */
static block *block_new(px_worker *worker, size_t cap)
{
    block *b = cap == BLOCK ? worker->spare_blocks : NULL;
    if (b != NULL) {
        worker->spare_blocks = b->next;
        worker->spare_count--;
        if (worker->spare_count < worker->spare_unused)
            worker->spare_unused = worker->spare_count;
    } else {
        b = pgw_alloc(sizeof *b + cap);
        b->cap = cap;
    }
    b->references = 1;
    return b;
}

static void block_drop(px_worker *worker, block *b)
{
    if (b == NULL || --b->references > 0)
        return;
    if (b->cap != BLOCK || worker->spare_count == MAX_SPARE) {
        free(b);
        return;
    }
    b->next = worker->spare_blocks;
    worker->spare_blocks = b;
    worker->spare_count++;
}

static void free_spares(px_worker *worker, size_t count)
{
    for (; count > 0; count--) {
        block *next = worker->spare_blocks->next;
        free(worker->spare_blocks);
        worker->spare_blocks = next;
        worker->spare_count--;
    }
}

/* At a tick: blocks that nobody asked for since the last one are freed by and by. */
static void trim_spares(px_worker *worker)
{
    size_t count = (worker->spare_unused + 1) / 2;
    free_spares(worker, count);
    px_worker_let_go(worker, count * BLOCK);
    worker->spare_unused = worker->spare_count;
}

static void free_all_spares(px_worker *worker)
{
    free_spares(worker, worker->spare_count);
}

/* ---- polling ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(px_stream *stream)
{
    int events = 0;
    bool reads = !stream->paused && !stream->ended;
    if (reads || stream->write_on_read)
        events |= UV_READABLE;
    if ((stream->blocked && !stream->write_on_read) ||
        (reads && (stream->read_on_write || stream->broken)))
        events |= UV_WRITABLE;
    if (events == stream->watched)
        return;
    stream->watched = events;
    if (events == 0)
        uv_poll_stop(&stream->poll);
    else
        uv_poll_start(&stream->poll, events, on_poll);
}

/* All that the peer sent is here. */
static void end_input(px_stream *stream, const char *reason)
{
    if (stream->closing)
        return;
    stream->ended = true;
    stream->ops->on_end(stream, reason);
}

/* ---- input ---- */

/* Room to read into: at least one byte, and all of what the consumer expects. */
static void make_room(px_stream *stream)
{
    size_t held = stream->in_end - stream->in_start;
    size_t wanted = stream->expected > held ? stream->expected : held + 1;
    if (stream->in != NULL && stream->in->references == 1 && held == 0)
        stream->in_start = stream->in_end = 0;
    if (stream->in != NULL && stream->in->cap - stream->in_start >= wanted)
        return;
    bool was_full = stream->in != NULL && stream->in_end == stream->in->cap;
    size_t cap = was_full ? BIG_BLOCK : BLOCK;
    block *fresh = block_new(stream->worker, wanted > cap ? wanted : cap);
    if (held > 0)
        memcpy(fresh->bytes, stream->in->bytes + stream->in_start, held);
    block_drop(stream->worker, stream->in);
    stream->in = fresh;
    stream->in_start = 0;
    stream->in_end = held;
}

/* What OpenSSL's answer means: EAGAIN (and what it waits for), EPROTO, or 0 at the end of bytes. */
static int tls_errno(px_stream *stream, int result)
{
    switch (SSL_get_error(stream->ssl, result)) {
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

static ssize_t receive_tls(px_stream *stream, char *to, size_t room)
{
    ERR_clear_error();
    int n = SSL_read(stream->ssl, to, room > INT32_MAX ? INT32_MAX : (int)room);
    stream->read_on_write = n <= 0 && SSL_want_write(stream->ssl);
    if (n > 0)
        return n;
    errno = tls_errno(stream, n);
    return errno == 0 ? 0 : -1;
}

/* Why receiving failed; OpenSSL's own words are constants. */
static const char *receive_failure(void)
{
    const char *reason = errno == EPROTO ? ERR_reason_error_string(ERR_peek_last_error()) : NULL;
    return reason != NULL ? reason : strerror(errno);
}

static ssize_t receive(px_stream *stream)
{
    make_room(stream);
    char *to = stream->in->bytes + stream->in_end;
    size_t room = stream->in->cap - stream->in_end;
    if (room > READ_MOST)
        room = READ_MOST;
    ssize_t n;
    do
        n = stream->ssl ? receive_tls(stream, to, room) : recv(stream->fd, to, room, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n;
    stream->in_end += (size_t)n;
    px_count(stream->worker->metrics,
             stream->ops->backend ? PX_RECEIVED_BACKEND : PX_RECEIVED_CLIENT, (uint64_t)n);
    return n;
}

static void drop_empty_input(px_stream *stream)
{
    if (stream->in == NULL || stream->in_start != stream->in_end)
        return;
    block_drop(stream->worker, stream->in);
    stream->in = NULL;
    stream->in_start = stream->in_end = 0;
}

/* False: the stream waits, or is lost, or was closed. */
static bool read_once(px_stream *stream)
{
    ssize_t n = receive(stream);
    if (n > 0)
        stream->ops->on_input(stream);
    else if (n == 0)
        end_input(stream, "closed by peer");
    else if (errno != EAGAIN && errno != EWOULDBLOCK)
        end_input(stream, receive_failure());
    else if (stream->broken)
        end_input(stream, "connection reset");
    return n > 0 && !stream->closing && !stream->paused;
}

/* Poll does not see what OpenSSL has already taken. */
static void come_back(px_stream *stream)
{
    if (stream->ssl != NULL && !stream->paused && SSL_has_pending(stream->ssl))
        stream->read_on_write = true;
}

/* True once the owner has seen the first byte, and has not closed the stream for it. */
static bool greeted(px_stream *stream)
{
    unsigned char first;
    if (stream->greeted || stream->ops->on_hello == NULL)
        return true;
    ssize_t n = recv(stream->fd, &first, 1, MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    stream->greeted = true;
    if (n == 1)
        stream->ops->on_hello(stream, first);
    return !stream->closing;
}

/* One read a turn is fair to the others; polling is level-triggered and comes back. */
static void on_readable(px_stream *stream)
{
    if (!greeted(stream))
        return;
    bool more = true;
    unsigned most = stream->ssl != NULL ? TLS_READS : 1;
    for (unsigned reads = 0; more && reads < most; reads++)
        more = read_once(stream);
    if (stream->closing)
        return;
    if (more)
        come_back(stream);
    drop_empty_input(stream);
}

/* ---- output ---- */

static chunk *chunk_at(px_stream *stream, size_t i)
{
    return &stream->out[(stream->out_head + i) & (stream->out_cap - 1)];
}

static void grow_ring(px_stream *stream)
{
    size_t cap = stream->out_cap ? stream->out_cap * 2 : 8;
    chunk *ring = pgw_alloc(cap * sizeof *ring);
    for (size_t i = 0; i < stream->out_count; i++)
        ring[i] = *chunk_at(stream, i);
    free(stream->out);
    stream->out = ring;
    stream->out_cap = cap;
    stream->out_head = 0;
}

static void consume_output(px_stream *stream, size_t len)
{
    stream->out_bytes -= len;
    while (len > 0) {
        chunk *first = chunk_at(stream, 0);
        size_t part = len < first->len ? len : first->len;
        first->offset += part;
        first->len -= part;
        len -= part;
        if (first->len > 0)
            return;
        block_drop(stream->worker, first->block);
        stream->out_head = (stream->out_head + 1) & (stream->out_cap - 1);
        stream->out_count--;
    }
}

/* What waits, as one record at most: SSL_write must be tried again with the same bytes, and finds
 * them at the front of the ring, if more of them by then. */
static ssize_t send_tls(px_stream *stream)
{
    char record[TLS_RECORD];
    size_t len = 0;
    for (size_t i = 0; i < stream->out_count && len < sizeof record; i++) {
        chunk *c = chunk_at(stream, i);
        size_t part = c->len < sizeof record - len ? c->len : sizeof record - len;
        memcpy(record + len, c->block->bytes + c->offset, part);
        len += part;
    }
    ERR_clear_error();
    int n = SSL_write(stream->ssl, record, (int)len);
    stream->write_on_read = n <= 0 && SSL_want_read(stream->ssl) && !stream->ended;
    if (n > 0)
        return n;
    bool later =
        tls_errno(stream, n) == EAGAIN && (stream->write_on_read || SSL_want_write(stream->ssl));
    errno = later ? EAGAIN : EPIPE;
    return -1;
}

static ssize_t send_plain(px_stream *stream)
{
    if (stream->out_count == 1) {
        chunk *only = chunk_at(stream, 0);
        return send(stream->fd, only->block->bytes + only->offset, only->len, MSG_NOSIGNAL);
    }
    struct iovec vectors[MAX_VECTORS];
    size_t count = stream->out_count < MAX_VECTORS ? stream->out_count : MAX_VECTORS;
    for (size_t i = 0; i < count; i++) {
        chunk *c = chunk_at(stream, i);
        vectors[i] = (struct iovec){c->block->bytes + c->offset, c->len};
    }
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    return sendmsg(stream->fd, &message, MSG_NOSIGNAL);
}

/* Writes what the socket takes. One that takes nothing any more ends by being read to its end. */
static void write_out(px_stream *stream)
{
    stream->blocked = false;
    while (stream->out_bytes > 0 && !stream->broken) {
        ssize_t n = stream->ssl ? send_tls(stream) : send_plain(stream);
        if (n >= 0) {
            px_count(stream->worker->metrics,
                     stream->ops->backend ? PX_SENT_BACKEND : PX_SENT_CLIENT, (uint64_t)n);
            consume_output(stream, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            stream->blocked = true;
            break;
        } else if (errno != EINTR) {
            stream->broken = true;
        }
    }
    if (stream->broken) {
        consume_output(stream, stream->out_bytes);
        stream->write_on_read = false;
    }
}

static void tell_drained(px_stream *stream)
{
    if (stream->closing || !stream->full || stream->out_bytes >= PX_STREAM_LOW)
        return;
    stream->full = false;
    stream->ops->on_drained(stream);
}

static void tell_finished(px_stream *stream)
{
    if (stream->closing || !stream->finishing || stream->out_bytes > 0)
        return;
    stream->finishing = false;
    if (stream->ssl != NULL && SSL_is_init_finished(stream->ssl))
        SSL_shutdown(stream->ssl);
    shutdown(stream->fd, SHUT_WR);
    if (stream->ops->on_finished != NULL)
        stream->ops->on_finished(stream);
}

/* Something was written: what the owner wants to know of it. */
static void tell_written(px_stream *stream)
{
    tell_drained(stream);
    tell_finished(stream);
}

static void mark_dirty(px_stream *stream)
{
    if (stream->out_bytes >= PX_STREAM_HIGH)
        stream->full = true;
    if (stream->dirty || stream->blocked)
        return;
    stream->dirty = true;
    stream->next_dirty = stream->worker->dirty;
    stream->worker->dirty = stream;
}

/* The end of a turn: everything that was put leaves. */
static void flush_all(px_worker *worker)
{
    px_stream *stream;
    while ((stream = worker->dirty) != NULL) {
        worker->dirty = stream->next_dirty;
        stream->dirty = false;
        write_out(stream);
        if (stream->closing)
            continue;
        watch(stream);
        tell_written(stream);
    }
}

void px_stream_put(px_stream *stream, const void *ptr, size_t len)
{
    const char *from = ptr;
    if (stream->broken)
        return;
    stream->out_bytes += len;
    while (len > 0) {
        chunk *last = stream->out_count > 0 ? chunk_at(stream, stream->out_count - 1) : NULL;
        bool ours = last != NULL && last->block->references == 1;
        size_t room = ours ? last->block->cap - last->offset - last->len : 0;
        if (room == 0) {
            if (stream->out_count == stream->out_cap)
                grow_ring(stream);
            room = len > 2048 ? len : 2048;
            last = chunk_at(stream, stream->out_count++);
            *last = (chunk){.block = block_new(stream->worker, room)};
        }
        size_t part = len < room ? len : room;
        memcpy(last->block->bytes + last->offset + last->len, from, part);
        last->len += part;
        from += part;
        len -= part;
    }
    mark_dirty(stream);
}

void px_stream_put_buf(px_stream *stream, const pgw_buf *buf)
{
    px_stream_put(stream, buf->ptr, buf->len);
}

void px_stream_pass(px_stream *stream, px_stream *from, size_t len)
{
    assert(len <= from->in_end - from->in_start);
    if (len == 0)
        return;
    if (stream->broken) {
        from->in_start += len;
        return;
    }
    chunk *last = stream->out_count > 0 ? chunk_at(stream, stream->out_count - 1) : NULL;
    if (last != NULL && last->block == from->in && last->offset + last->len == from->in_start) {
        last->len += len;
    } else if (from->in_end - from->in_start < WORTH_SHARING) {
        px_stream_put(stream, from->in->bytes + from->in_start, len);
        from->in_start += len;
        return;
    } else {
        if (stream->out_count == stream->out_cap)
            grow_ring(stream);
        from->in->references++;
        *chunk_at(stream, stream->out_count++) =
            (chunk){.block = from->in, .offset = from->in_start, .len = len};
    }
    stream->out_bytes += len;
    from->in_start += len;
    mark_dirty(stream);
}

size_t px_stream_pending(const px_stream *stream)
{
    return stream->out_bytes;
}

/* ---- life ---- */

static void on_poll(uv_poll_t *poll, int status, int events)
{
    px_stream *stream = (px_stream *)poll;
    if (status < 0) { /* libuv stops polling, and calls every error EBADF */
        stream->watched = 0;
        stream->broken = true;
    }
    if (stream->broken ||
        (stream->blocked && (events & (stream->write_on_read ? UV_READABLE : UV_WRITABLE)))) {
        write_out(stream);
        tell_written(stream);
    }
    bool readable = (events & UV_READABLE) || stream->broken ||
                    (stream->read_on_write && (events & UV_WRITABLE));
    if (!stream->closing && !stream->paused && !stream->ended && readable)
        on_readable(stream);
    if (!stream->closing)
        watch(stream);
}

void px_stream_secure(px_stream *stream, SSL *ssl)
{
    write_out(stream);
    stream->broken = stream->broken || stream->out_bytes > 0; /* told by the next poll */
    assert(px_stream_input(stream).len == 0);
    /* Partial writes move on in the ring; idle clients keep no buffers of OpenSSL's. */
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
    /* SSL_read() returns after each record, or a stream of KeyUpdates would not let go of the loop;
     * and it reads no further, or the next record would be where poll does not see it. */
    SSL_clear_mode(ssl, SSL_MODE_AUTO_RETRY);
    SSL_set_read_ahead(ssl, 0);
    /* An end without close_notify is an end: the protocol's lengths tell what is whole, and to such
     * a peer one can still write. */
    if (!stream->ops->backend)
        SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
    stream->ssl = ssl;
}

px_stream *px_stream_open(px_worker *worker, int fd, SSL *ssl, const px_stream_ops *ops,
                          void *owner)
{
    px_stream *stream = pgw_calloc(1, sizeof *stream);
    *stream = (px_stream){.worker = worker, .fd = fd, .ops = ops, .owner = owner};
    if (ssl != NULL)
        px_stream_secure(stream, ssl);
    uv_poll_init(&worker->loop, &stream->poll, fd);
    watch(stream);
    return stream;
}

void *px_stream_owner(const px_stream *stream)
{
    return stream->owner;
}

static void on_handle_closed(uv_handle_t *handle)
{
    px_stream *stream = (px_stream *)handle;
    block_drop(stream->worker, stream->in);
    while (stream->out_count > 0)
        consume_output(stream, chunk_at(stream, 0)->len);
    free(stream->out);
    if (stream->on_closed != NULL)
        stream->on_closed(stream->owner);
    free(stream);
}

static void forget_dirty(px_stream *stream)
{
    for (px_stream **at = &stream->worker->dirty; *at != NULL; at = &(*at)->next_dirty) {
        if (*at != stream)
            continue;
        *at = stream->next_dirty;
        return;
    }
}

void px_stream_close(px_stream *stream, void (*on_closed)(void *owner))
{
    if (stream->closing)
        return;
    stream->closing = true;
    stream->on_closed = on_closed;
    if (stream->dirty)
        forget_dirty(stream);
    write_out(stream);
    uv_poll_stop(&stream->poll);
    uv_close((uv_handle_t *)&stream->poll, on_handle_closed);
}

pgw_slice px_stream_input(const px_stream *stream)
{
    if (stream->in == NULL)
        return (pgw_slice){NULL, 0};
    return (pgw_slice){stream->in->bytes + stream->in_start, stream->in_end - stream->in_start};
}

bool px_stream_ended(const px_stream *stream)
{
    return stream->ended;
}

void px_stream_finish(px_stream *stream)
{
    stream->finishing = true;
    mark_dirty(stream);
}

void px_stream_consume(px_stream *stream, size_t len)
{
    assert(len <= stream->in_end - stream->in_start);
    stream->in_start += len;
    stream->expected = 0;
}

void px_stream_expect(px_stream *stream, size_t len)
{
    stream->expected = len;
}

void px_stream_pause(px_stream *stream)
{
    if (stream->paused || stream->closing)
        return;
    stream->paused = true;
    watch(stream);
}

void px_stream_resume(px_stream *stream)
{
    if (!stream->paused || stream->closing)
        return;
    stream->paused = false;
    come_back(stream);
    watch(stream);
}

/* Owners may be told that there is room again, so it comes last in a turn. */
const px_tenant px_stream_tenant = {
    .turn = flush_all, .tick = trim_spares, .free = free_all_spares};
