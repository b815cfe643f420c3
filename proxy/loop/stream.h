/*
 * stream: one socket, client's or backend's, watched by uv_poll: bytes in as a contiguous run,
 * bytes out as a ring of slices of shared blocks, so that relayed bytes are never copied between
 * buffers. Writes are gathered and leave in one system call at the end of the loop's turn.
 */
#ifndef PX_STREAM_H
#define PX_STREAM_H

#include "protocol/bytes.h"

#include <uv.h>

struct px_worker;
struct ssl_st;
typedef struct px_stream px_stream;

/* How the owner hears of things. None is called after px_stream_close(). In each the owner may
 * close the stream; it is freed only after the turn. */
typedef struct px_stream_ops {
    void (*on_hello)(px_stream *stream,
                     unsigned char first); /* the first byte, not read yet; may be NULL */
    void (*on_input)(px_stream *stream);   /* there is more in px_stream_input() */
    void (*on_drained)(
        px_stream *stream); /* output fell under PX_STREAM_LOW after the stream was full */
    void (*on_end)(px_stream *stream, const char *reason); /* the peer sends no more, for it has
        hung up or failed; all it sent was in px_stream_input(). It may still take output */
    void (*on_finished)(px_stream *stream); /* what px_stream_finish() waited for; may be NULL */
    bool backend; /* whose bytes are counted: the backend's or a client's */
} px_stream_ops;

enum { PX_STREAM_LOW = 64 * 1024, PX_STREAM_HIGH = 256 * 1024 };

/* Watches `fd` (non-blocking). With `ssl`, bytes go through it. Neither is owned by the stream:
 * `on_closed` is called with `owner` when nothing watches the fd any more, and then it may be
 * closed. */
px_stream *px_stream_open(struct px_worker *worker, int fd, struct ssl_st *ssl,
                          const px_stream_ops *ops, void *owner);
void *px_stream_owner(const px_stream *stream);
/* From here on bytes go through `ssl`, in place of plain ones; what was put leaves before. Nothing
 * that was read is there unconsumed. A handshake is part of reading: it ends, or fails, by itself.
 */
void px_stream_secure(px_stream *stream, struct ssl_st *ssl);
/* Stops at once and frees later. `on_closed` may be NULL. What was put and not yet written is tried
 * once more, without waiting. */
void px_stream_close(px_stream *stream, void (*on_closed)(void *owner));

/* What has come and was not consumed yet: contiguous, valid until the next turn or consume. */
pgw_slice px_stream_input(const px_stream *stream);
void px_stream_consume(px_stream *stream, size_t len);
/* The consumer waits for `len` bytes in one run (a whole message): makes room for them. */
void px_stream_expect(px_stream *stream, size_t len);
/* Reading stops and goes on; the peer's end is heard of behind everything that it sent before.
 * Idempotent. */
void px_stream_pause(px_stream *stream);
void px_stream_resume(px_stream *stream);
bool px_stream_is_paused(const px_stream *stream);
bool px_stream_ended(const px_stream *stream); /* on_end was, or is being, called */

/* Output: a copy of the bytes; or the first `len` bytes of another stream's input, shared and
 * consumed. */
void px_stream_put(px_stream *stream, const void *ptr, size_t len);
void px_stream_put_buf(px_stream *stream, const pgw_buf *buf);
/* Bytes that were appended since px_block_begin(), with their memory: the buffer is empty then. */
void px_stream_give(px_stream *stream, pgw_buf *buf);
void px_stream_pass(px_stream *stream, px_stream *from, size_t len);
size_t px_stream_pending(const px_stream *stream); /* bytes put and not written */
/* Bytes put, since this was asked last, that the peer will never take, for it is gone. */
size_t px_stream_take_unheard(px_stream *stream);
/* Nothing more should be put until on_drained: they are PX_STREAM_HIGH; or, to a client, more than
 * it has for itself, and all clients together have limits.unread_bytes. */
bool px_stream_is_full(const px_stream *stream);
/* Nothing will be put any more: when all has left, the peer sees the end of what we send. To a peer
 * that takes nothing any more output is dropped, as if it had left. */
void px_stream_finish(px_stream *stream);

/* What was put in a turn leaves at its end: a worker that has streams has this tenant, behind all
 * others that write. */
extern const struct px_tenant px_stream_tenant;

#endif
