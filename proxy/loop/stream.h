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

/* How the owner is told of events. None is called after px_stream_close(). In each call the owner
 * may close the stream, which is freed only after the turn. */
typedef struct px_stream_ops {
    /* The first byte has come, and is not read yet. May be NULL. */
    void (*on_hello)(px_stream *stream, unsigned char first);
    void (*on_input)(px_stream *stream); /* px_stream_input() has grown */
    /* Output fell under PX_STREAM_LOW after the stream was full. */
    void (*on_drained)(px_stream *stream);
    /* The peer sends no more, for it has hung up or failed; all it sent was in px_stream_input().
     * It may still take output. */
    void (*on_end)(px_stream *stream, const char *reason);
    /* All output has left after px_stream_finish(). May be NULL. */
    void (*on_finished)(px_stream *stream);
    bool backend; /* the peer is a backend, not a client: bytes are counted apart */
} px_stream_ops;

enum { PX_STREAM_LOW = 64 * 1024, PX_STREAM_HIGH = 256 * 1024 };

/* Watches `fd`, which is non-blocking. With `ssl`, bytes go through TLS. The stream owns neither:
 * `on_closed` is called with `owner` when `fd` is not watched any more and may be closed. */
px_stream *px_stream_open(struct px_worker *worker, int fd, struct ssl_st *ssl,
                          const px_stream_ops *ops, void *owner);
void *px_stream_owner(const px_stream *stream);
/* From here on bytes go through `ssl`; what was put before leaves in plain. All input must have
 * been consumed. The handshake is part of reading: it ends, or fails, by itself. */
void px_stream_secure(px_stream *stream, struct ssl_st *ssl);
/* Stops at once and frees the stream later. `on_closed` may be NULL. Output that has not left is
 * tried once more, without waiting. */
void px_stream_close(px_stream *stream, void (*on_closed)(void *owner));

/* The bytes that have come and were not consumed yet: contiguous, valid until the next turn or
 * consume. */
pgw_slice px_stream_input(const px_stream *stream);
void px_stream_consume(px_stream *stream, size_t len);
/* The consumer waits for `len` bytes in one run (a whole message): makes room for them. */
void px_stream_expect(px_stream *stream, size_t len);
/* Stop and go on reading; on_end comes after everything that the peer sent. Both are idempotent. */
void px_stream_pause(px_stream *stream);
void px_stream_resume(px_stream *stream);
bool px_stream_is_paused(const px_stream *stream);
bool px_stream_ended(const px_stream *stream); /* on_end was called, or is being called */

/* Puts a copy of the bytes into the output. */
void px_stream_put(px_stream *stream, const void *ptr, size_t len);
void px_stream_put_buf(px_stream *stream, const pgw_buf *buf);
/* Puts the bytes appended since px_block_begin() into the output, with their memory: the buffer is
 * empty then. */
void px_stream_give(px_stream *stream, pgw_buf *buf);
void px_stream_pass(px_stream *stream, px_stream *from, size_t len);
size_t px_stream_pending(const px_stream *stream); /* bytes of output that have not left */
/* Bytes put since the last call that the peer will never take, for it is gone. */
size_t px_stream_take_unheard(px_stream *stream);
/* True: nothing more should be put until on_drained. The output has PX_STREAM_HIGH bytes; or it is
 * a client's, beyond its free share, and that of all clients has limits.unread_bytes. */
bool px_stream_is_full(const px_stream *stream);
/* Nothing will be put any more: when all output has left, the peer sees its end. Output to a peer
 * that takes nothing any more is dropped, as if it had left. */
void px_stream_finish(px_stream *stream);

/* Writes what was put in a turn at the end of the turn: workers with streams have this tenant,
 * behind all others that write. */
extern const struct px_tenant px_stream_tenant;

#endif
