#include "proxy/stream.h"

#include "proxy/worker.h"

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
    bool paused, closing, hung_up;

    chunk *out; /* a ring of out_cap (a power of two) chunks */
    size_t out_head, out_count, out_cap, out_bytes;
    bool full;            /* was over PX_STREAM_HIGH and on_drained is owed */
    bool blocked;         /* the socket takes no more: waiting for writable */
    bool ssl_wants_write; /* SSL_read needs the socket writable (renegotiation, KeyUpdate) */
    bool broken;          /* a write failed; the loss is told when the loop polls next */
    px_stream *next_dirty;
    bool dirty;
};

enum { BLOCK = 16 * 1024, BIG_BLOCK = 64 * 1024, MAX_VECTORS = 64, MAX_SPARE = 256 };

/* Blocks of the usual size are kept for the next reader: the allocator would give their pages back
 * to the system and ask for them again, turn by turn. */
static block *block_new(px_worker *worker, size_t cap)
{
    block *b = cap == BLOCK ? worker->spare_blocks : NULL;
    if (b != NULL) {
        worker->spare_blocks = b->next;
        worker->spare_count--;
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

void px_stream_free_spares(px_worker *worker)
{
    while (worker->spare_blocks != NULL) {
        block *next = worker->spare_blocks->next;
        free(worker->spare_blocks);
        worker->spare_blocks = next;
    }
}

/* ---- polling ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(px_stream *stream)
{
    int events = 0;
    if (!stream->paused)
        events |= UV_READABLE;
    else if (!stream->hung_up)
        events |= UV_DISCONNECT;
    if (stream->blocked || stream->ssl_wants_write)
        events |= UV_WRITABLE;
    if (events == stream->watched)
        return;
    stream->watched = events;
    if (events == 0)
        uv_poll_stop(&stream->poll);
    else
        uv_poll_start(&stream->poll, events, on_poll);
}

static void lose(px_stream *stream, const char *reason)
{
    if (stream->closing)
        return;
    uv_poll_stop(&stream->poll);
    stream->watched = 0;
    stream->ops->on_lost(stream, reason);
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

static ssize_t receive_tls(px_stream *stream, char *to, size_t room)
{
    ERR_clear_error();
    int n = SSL_read(stream->ssl, to, room > INT32_MAX ? INT32_MAX : (int)room);
    stream->ssl_wants_write = false;
    if (n > 0)
        return n;
    switch (SSL_get_error(stream->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_WRITE:
        stream->ssl_wants_write = true;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        errno = ECONNRESET;
        return -1;
    }
}

static ssize_t receive(px_stream *stream)
{
    make_room(stream);
    char *to = stream->in->bytes + stream->in_end;
    size_t room = stream->in->cap - stream->in_end;
    ssize_t n;
    do
        n = stream->ssl ? receive_tls(stream, to, room) : recv(stream->fd, to, room, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        stream->in_end += (size_t)n;
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

/* One read a turn is fair to the others; polling is level-triggered and comes back. TLS is read
 * until it wants more, for poll does not see what OpenSSL has already taken. */
static void on_readable(px_stream *stream)
{
    do {
        ssize_t n = receive(stream);
        if (n == 0) {
            lose(stream, "closed by peer");
            return;
        }
        if (n < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                lose(stream, strerror(errno));
            break;
        }
        stream->ops->on_input(stream);
    } while (stream->ssl != NULL && !stream->closing && !stream->paused);
    if (!stream->closing)
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

static ssize_t send_tls(px_stream *stream)
{
    chunk *first = chunk_at(stream, 0);
    ERR_clear_error();
    int n = SSL_write(stream->ssl, first->block->bytes + first->offset,
                      first->len > INT32_MAX ? INT32_MAX : (int)first->len);
    if (n > 0)
        return n;
    int why = SSL_get_error(stream->ssl, n);
    errno = why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? EAGAIN : EPIPE;
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

/* Writes what the socket takes; never tells the owner of a loss, for it may be in the middle of
 * something: a broken socket is told by the next poll. */
static void write_out(px_stream *stream)
{
    stream->blocked = false;
    while (stream->out_bytes > 0 && !stream->broken) {
        ssize_t n = stream->ssl ? send_tls(stream) : send_plain(stream);
        if (n >= 0) {
            consume_output(stream, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            stream->blocked = true;
            break;
        } else if (errno != EINTR) {
            stream->broken = true;
        }
    }
}

static void tell_drained(px_stream *stream)
{
    if (stream->closing || !stream->full || stream->out_bytes >= PX_STREAM_LOW)
        return;
    stream->full = false;
    stream->ops->on_drained(stream);
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

void px_stream_flush_all(px_worker *worker)
{
    px_stream *stream;
    while ((stream = worker->dirty) != NULL) {
        worker->dirty = stream->next_dirty;
        stream->dirty = false;
        bool was_blocked = stream->blocked;
        write_out(stream);
        if (stream->closing)
            continue;
        if (stream->blocked != was_blocked)
            watch(stream);
        tell_drained(stream);
    }
}

void px_stream_put(px_stream *stream, const void *ptr, size_t len)
{
    const char *from = ptr;
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
    chunk *last = stream->out_count > 0 ? chunk_at(stream, stream->out_count - 1) : NULL;
    if (last != NULL && last->block == from->in && last->offset + last->len == from->in_start) {
        last->len += len;
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
    if (status < 0 || stream->broken) {
        lose(stream, "connection reset"); /* libuv calls every poll error EBADF */
        return;
    }
    if (events & UV_WRITABLE) {
        write_out(stream);
        tell_drained(stream);
    }
    bool ssl_read = stream->ssl_wants_write && (events & UV_WRITABLE) && !stream->paused;
    if (!stream->closing && ((events & UV_READABLE) || ssl_read) && !stream->paused)
        on_readable(stream);
    if (!stream->closing && (events & UV_DISCONNECT) && stream->paused) {
        stream->hung_up = true;
        lose(stream, "closed by peer");
    }
    if (!stream->closing)
        watch(stream);
}

px_stream *px_stream_open(px_worker *worker, int fd, SSL *ssl, const px_stream_ops *ops,
                          void *owner)
{
    px_stream *stream = pgw_calloc(1, sizeof *stream);
    *stream = (px_stream){.worker = worker, .fd = fd, .ssl = ssl, .ops = ops, .owner = owner};
    if (ssl != NULL)
        SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
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
    if (stream->ssl != NULL && SSL_pending(stream->ssl) > 0)
        stream->ssl_wants_write =
            true; /* poll does not see what OpenSSL holds: come back at once */
    watch(stream);
}
