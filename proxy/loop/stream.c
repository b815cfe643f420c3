#include "proxy/loop/stream.h"

#include "proxy/base/claim.h"
#include "proxy/base/shared.h"
#include "proxy/loop/transport.h"
#include "proxy/loop/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct px_stream {
    uv_poll_t poll; /* first: the handle is the stream */
    px_worker *worker;
    px_transport transport;
    const px_stream_ops *ops;
    void *owner;
    void (*on_closed)(void *owner);

    px_block *in;
    size_t in_start, in_end, expected;
    int watched; /* the events that poll waits for; a change costs system calls */
    bool paused, closing, greeted;
    bool knocked; /* input came while the stream was paused: reading is not watched until it goes on
                   */

    px_chunks out;
    size_t counted; /* bytes of `out` that are counted in px_server.unread */
    size_t unheard; /* bytes put since the stream is broken */
    bool full;      /* the stream was full, and on_drained is owed */
    bool blocked;   /* the socket took no more: the stream waits until it can write */
    bool broken;    /* the peer takes no more: output is dropped, input is still read */
    bool finishing; /* px_stream_finish() was called, and output has not left */
    bool dirty;     /* the stream is on the worker's list of streams with output */
    px_stream *next_dirty;
};

enum {
    BIG_BLOCK = 64 * 1024,
    READ_MOST = 256 * 1024,   /* bytes of one read; the owner may pause before the next */
    WORTH_SHARING = 2 * 1024, /* bytes; less is copied, lest a slice keep a whole block */
    UNREAD_FREE = 16 * 1024,  /* bytes of a client's output that do not count as unread */
    TLS_READS = 16 /* reads of one TLS stream in a turn, so that other streams get theirs */
};

/* ---- polling ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

/* Sets the events that poll waits for. A paused stream is watched until input comes, for each
 * change would cost a system call, and a client that waits for its answer seldom sends. */
static void watch(px_stream *stream)
{
    int events = 0;
    bool reads = !stream->knocked && !stream->transport.ended;
    if (reads || stream->transport.write_on_read)
        events |= UV_READABLE;
    if ((stream->blocked && !stream->transport.write_on_read) ||
        (reads && (stream->transport.read_on_write || stream->broken)))
        events |= UV_WRITABLE;
    if (events == stream->watched)
        return;
    stream->watched = events;
    if (events == 0)
        uv_poll_stop(&stream->poll);
    else
        uv_poll_start(&stream->poll, events, on_poll);
}

/* Tells the owner that the peer sends no more. */
static void end_input(px_stream *stream, const char *reason)
{
    if (stream->closing)
        return;
    stream->transport.ended = true;
    stream->ops->on_end(stream, reason);
}

/* ---- input ---- */

/* Makes room to read into: for at least one byte, and for all that the consumer expects. */
static void make_room(px_stream *stream)
{
    size_t held = stream->in_end - stream->in_start;
    size_t wanted = stream->expected > held ? stream->expected : held + 1;
    if (stream->in != NULL && stream->in->references == 1 && held == 0)
        stream->in_start = stream->in_end = 0;
    if (stream->in != NULL && stream->in->cap - stream->in_start >= wanted)
        return;
    bool was_full = stream->in != NULL && stream->in_end == stream->in->cap;
    size_t cap = was_full ? BIG_BLOCK : PX_BLOCK;
    px_block *fresh = px_block_new(&stream->worker->blocks, wanted > cap ? wanted : cap);
    assert(held == 0 || stream->in != NULL);
    if (held > 0)
        memcpy(fresh->bytes, stream->in->bytes + stream->in_start, held);
    px_block_drop(&stream->worker->blocks, stream->in);
    stream->in = fresh;
    stream->in_start = 0;
    stream->in_end = held;
}

static ssize_t receive(px_stream *stream)
{
    make_room(stream);
    char *to = stream->in->bytes + stream->in_end;
    size_t room = stream->in->cap - stream->in_end;
    if (room > READ_MOST)
        room = READ_MOST;
    ssize_t n = px_transport_receive(&stream->transport, to, room);
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
    px_block_drop(&stream->worker->blocks, stream->in);
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
        end_input(stream, px_transport_failure());
    else if (stream->broken)
        end_input(stream, "connection reset");
    return n > 0 && !stream->closing && !stream->paused;
}

/* True once the owner has seen the first byte, and has not closed the stream for it. */
static bool greeted(px_stream *stream)
{
    unsigned char first;
    if (stream->greeted || stream->ops->on_hello == NULL)
        return true;
    ssize_t n = px_transport_peek(&stream->transport, &first);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    stream->greeted = true;
    if (n == 1)
        stream->ops->on_hello(stream, first);
    return !stream->closing;
}

/* One read in a turn is fair to other streams: polling is level-triggered, and tells again. */
static void on_readable(px_stream *stream)
{
    if (!greeted(stream))
        return;
    bool more = true;
    unsigned most = stream->transport.ssl != NULL ? TLS_READS : 1;
    for (unsigned reads = 0; more && reads < most; reads++)
        more = read_once(stream);
    if (stream->closing)
        return;
    if (more)
        px_transport_come_back(&stream->transport);
    drop_empty_input(stream);
}

/* ---- output ---- */

/* Counts a client's output in px_server.unread; counts more only if limits.unread_bytes has room
 * for it. */
static void count_unread(px_stream *stream)
{
    if (stream->out.bytes <= UNREAD_FREE && stream->counted == 0)
        return;
    px_worker *worker = stream->worker;
    bool counts = !stream->ops->backend && stream->out.bytes > UNREAD_FREE;
    size_t held = counts ? stream->out.bytes : 0;
    if (held < stream->counted)
        atomic_fetch_sub(&worker->server->unread, stream->counted - held);
    else if (held == stream->counted ||
             !px_claim_bytes(&worker->server->unread, held - stream->counted,
                             worker->config->limits.unread_bytes))
        return;
    stream->counted = held;
}

bool px_stream_is_full(const px_stream *stream)
{
    size_t bytes = stream->out.bytes;
    if (bytes <= UNREAD_FREE)
        return false;
    return bytes >= PX_STREAM_HIGH || (!stream->ops->backend && bytes > stream->counted);
}

/* Writes what the socket takes. A broken stream ends by being read to its end. */
static void write_out(px_stream *stream)
{
    px_blocks *blocks = &stream->worker->blocks;
    stream->blocked = false;
    while (stream->out.bytes > 0 && !stream->broken) {
        ssize_t n = px_transport_send(&stream->transport, &stream->out);
        if (n >= 0) {
            px_count(stream->worker->metrics,
                     stream->ops->backend ? PX_SENT_BACKEND : PX_SENT_CLIENT, (uint64_t)n);
            px_chunks_consume(&stream->out, blocks, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            stream->blocked = true;
            break;
        } else if (errno != EINTR) {
            stream->broken = true;
        }
    }
    if (stream->broken) {
        px_chunks_consume(&stream->out, blocks, stream->out.bytes);
        stream->transport.write_on_read = false;
    }
    if (stream->blocked && stream->out.bytes < WORTH_SHARING)
        px_chunks_own(&stream->out, blocks);
    count_unread(stream);
}

static void tell_drained(px_stream *stream)
{
    if (stream->closing || !stream->full || stream->out.bytes >= PX_STREAM_LOW ||
        px_stream_is_full(stream))
        return;
    stream->full = false;
    stream->ops->on_drained(stream);
}

static void tell_finished(px_stream *stream)
{
    if (stream->closing || !stream->finishing || stream->out.bytes > 0)
        return;
    stream->finishing = false;
    px_transport_finish(&stream->transport);
    if (stream->ops->on_finished != NULL)
        stream->ops->on_finished(stream);
}

/* Tells the owner what has come of writing: drained, or finished. */
static void tell_written(px_stream *stream)
{
    tell_drained(stream);
    tell_finished(stream);
}

/* The worker's list of streams with output for this stream: links or clients. */
static px_stream **dirty_like(const px_stream *stream)
{
    px_worker *worker = stream->worker;
    return stream->ops->backend ? &worker->dirty_links : &worker->dirty_clients;
}

static void mark_dirty(px_stream *stream)
{
    count_unread(stream);
    if (px_stream_is_full(stream))
        stream->full = true;
    if (stream->dirty || stream->blocked)
        return;
    stream->dirty = true;
    px_stream **first = dirty_like(stream);
    stream->next_dirty = *first;
    *first = stream;
}

static px_stream *next_dirty(px_worker *worker)
{
    return worker->dirty_links != NULL ? worker->dirty_links : worker->dirty_clients;
}

/* Writes all output at the end of a turn: what backends are to work at first. */
static void flush_all(px_worker *worker)
{
    px_stream *stream;
    while ((stream = next_dirty(worker)) != NULL) {
        *dirty_like(stream) = stream->next_dirty;
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
    if (stream->broken) {
        stream->unheard += len;
        return;
    }
    px_chunks_put(&stream->out, &stream->worker->blocks, ptr, len);
    mark_dirty(stream);
}

void px_stream_put_buf(px_stream *stream, const pgw_buf *buf)
{
    px_stream_put(stream, buf->ptr, buf->len);
}

void px_stream_give(px_stream *stream, pgw_buf *buf)
{
    size_t len = px_block_len(buf);
    px_block *block = px_block_of(buf);
    if (stream->broken || len < WORTH_SHARING || len <= px_chunks_room(&stream->out)) {
        px_stream_put(stream, block->bytes, len);
        px_block_drop(&stream->worker->blocks, block);
        return;
    }
    px_chunks_give(&stream->out, block, len);
    mark_dirty(stream);
}

void px_stream_pass(px_stream *stream, px_stream *from, size_t len)
{
    assert(len <= from->in_end - from->in_start);
    if (len == 0)
        return;
    size_t at = from->in_start;
    bool stays = stream->blocked && from->in_end - at < WORTH_SHARING;
    from->in_start += len;
    if (stream->broken) {
        stream->unheard += len;
        return;
    }
    if (!px_chunks_extend(&stream->out, from->in, at, len)) {
        if (stays || len <= px_chunks_room(&stream->out))
            px_chunks_put(&stream->out, &stream->worker->blocks, from->in->bytes + at, len);
        else
            px_chunks_share(&stream->out, from->in, at, len);
    }
    mark_dirty(stream);
}

size_t px_stream_pending(const px_stream *stream)
{
    return stream->out.bytes;
}

size_t px_stream_take_unheard(px_stream *stream)
{
    size_t bytes = stream->unheard;
    stream->unheard = 0;
    return bytes;
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
        (stream->blocked &&
         (events & (stream->transport.write_on_read ? UV_READABLE : UV_WRITABLE)))) {
        write_out(stream);
        tell_written(stream);
    }
    bool readable = (events & UV_READABLE) || stream->broken ||
                    (stream->transport.read_on_write && (events & UV_WRITABLE));
    stream->knocked = stream->paused && (stream->knocked || readable);
    if (!stream->closing && !stream->paused && !stream->transport.ended && readable)
        on_readable(stream);
    if (!stream->closing)
        watch(stream);
}

void px_stream_secure(px_stream *stream, struct ssl_st *ssl)
{
    write_out(stream);
    stream->broken = stream->broken || stream->out.bytes > 0; /* the next poll tells the owner */
    assert(px_stream_input(stream).len == 0);
    px_transport_secure(&stream->transport, ssl, stream->ops->backend);
}

px_stream *px_stream_open(px_worker *worker, int fd, struct ssl_st *ssl, const px_stream_ops *ops,
                          void *owner)
{
    px_stream *stream = pgw_calloc(1, sizeof *stream);
    *stream = (px_stream){.worker = worker, .transport.fd = fd, .ops = ops, .owner = owner};
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
    px_block_drop(&stream->worker->blocks, stream->in);
    px_chunks_free(&stream->out, &stream->worker->blocks);
    count_unread(stream);
    if (stream->on_closed != NULL)
        stream->on_closed(stream->owner);
    free(stream);
}

static void forget_dirty(px_stream *stream)
{
    for (px_stream **at = dirty_like(stream); *at != NULL; at = &(*at)->next_dirty) {
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
    return stream->transport.ended;
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
}

void px_stream_resume(px_stream *stream)
{
    if (!stream->paused || stream->closing)
        return;
    stream->paused = stream->knocked = false;
    px_transport_come_back(&stream->transport);
    watch(stream);
}

bool px_stream_is_paused(const px_stream *stream)
{
    return stream->paused;
}

/* ---- as a worker's tenant ---- */

static void trim(px_worker *worker)
{
    px_worker_let_go(worker, px_blocks_trim(&worker->blocks));
}

static void free_blocks(px_worker *worker)
{
    px_blocks_free(&worker->blocks);
}

/* flush_all() comes last in a turn; owners may be told then that there is room again. */
const px_tenant px_stream_tenant = {.turn = flush_all, .tick = trim, .free = free_blocks};
