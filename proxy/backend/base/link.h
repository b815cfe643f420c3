/*
 * link: a conversation with the backend in PostgreSQL's protocol 3. To everything above, a link is
 * a conformant PostgreSQL, whatever stands behind it; the last part is for kinds of backends.
 */
#ifndef PX_LINK_H
#define PX_LINK_H

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/base/identity.h"
#include "proxy/backend/base/slots.h"
#include "proxy/base/seats.h"
#include "proxy/loop/stream.h"

struct px_worker;
typedef struct px_link px_link;

/* Whose it is: a session's own, or the proxy's for rows of many clients, or for looking at tables.
 * The proxy's own may be any of backend.max_links; sessions' leave one for batches. */
typedef enum px_link_role { PX_LINK_SESSION, PX_LINK_BATCH, PX_LINK_CATALOG } px_link_role;

/* How the owner hears of things. In each it may close the link. */
typedef struct px_link_ops {
    void (*on_ready)(px_link *link); /* for queries */
    /* Could not be opened: the server's own FATAL, or 08006 with the reason, or 53300 when it has
     * waited link_wait_ms for one of max_links. The link is freed after this call. */
    void (*on_failed)(px_link *link, const pgw_error *error);
    void (*on_message)(px_link *link); /* there is more in px_link_input(): messages, or parts */
    void (*on_drained)(px_link *link); /* less than PX_STREAM_LOW is pending after it was
                                          PX_STREAM_HIGH; or a cancel is over */
    void (*on_lost)(px_link *link, const char *reason); /* the owner calls px_link_close() */
    /* There is no connection for it, of the server's or of max_links. True: those of ours that can
     * be done without are to give way, and it waits for that. Does not close the link. NULL: false.
     */
    bool (*on_refused)(px_link *link);
} px_link_ops;

/* ---- life ---- */

/* Starts opening; the answer comes on a later turn. `options` ("-c lock_timeout=200") stand behind
 * the identity's own; NULL for none. */
px_link *px_link_open(struct px_worker *worker, px_link_role role, px_identity *identity,
                      const char *options, const px_link_ops *ops, void *owner);
/* A session's own is to answer a question of ours, and is left then: it may have the place that
 * sessions leave for batches. */
void px_link_borrow(px_link *link);
/* A session's own, if less than `most` links of the process are in use; else NULL. */
PGW_MUST_CHECK px_link *px_link_open_of(struct px_worker *worker, unsigned most,
                                        px_identity *identity, const px_link_ops *ops, void *owner);
/* Terminates politely if it was ready; also ends an opening. Frees later; no callback comes any
 * more. */
void px_link_close(px_link *link);
/* The last message on it stays in parts: px_link_close() says no Terminate then. */
void px_link_leave_unfinished(px_link *link);
/* Nothing will be sent any more: when all has left, the backend sees the end of what we send. */
void px_link_finish(px_link *link);

/* ---- what it is sent ---- */

/* A copy of the bytes. */
void px_link_send(px_link *link, const void *ptr, size_t len);
void px_link_send_buf(px_link *link, const pgw_buf *buf);
/* Bytes that were appended since px_block_begin(), with their memory: the buffer is empty then. */
void px_link_give(px_link *link, pgw_buf *buf);
/* The first `len` bytes of a client's input, consumed; not copied where the kind can do without. */
void px_link_pass(px_link *link, px_stream *from, size_t len);
size_t px_link_pending(const px_link *link); /* bytes sent that have not left */
/* Cancels what runs there. Nothing may be sent until px_link_cancelling() is false again; then
 * on_drained is called. */
void px_link_cancel(px_link *link);
bool px_link_cancelling(const px_link *link);

/* ---- what it says ---- */

/* What has come and was not consumed yet: contiguous, valid until the next turn or consume. */
pgw_slice px_link_input(const px_link *link);
void px_link_consume(px_link *link, size_t len);
/* The owner waits for a message of `len` bytes as a whole. */
void px_link_expect(px_link *link, size_t len);
/* The first of it, if it is here as a whole: OK, and `message` is to be consumed. MORE: it is not,
 * and is waited for. BAD: it is none, or longer than `most` bytes. */
PGW_MUST_CHECK pgw_frame_result px_link_message(px_link *link, size_t most, pgw_frame *frame,
                                                pgw_slice *message);
/* Its first `len` bytes go to a client, consumed; not copied where the kind can do without. */
void px_link_pass_on(px_link *link, px_stream *to, size_t len);
/* Nothing more is taken from the backend, until it goes on. Idempotent. */
void px_link_pause(px_link *link);
void px_link_resume(px_link *link);

/* ---- what it is ---- */

void *px_link_owner(const px_link *link);
/* It has that place. */
bool px_link_is_borrowed(const px_link *link);
/* The backend is being asked for it just now. */
bool px_link_is_opening(const px_link *link);
/* What it has inherited from its role and its database; 0: not known. */
uint64_t px_link_settings(const px_link *link);
/* The statement_timeout that it began with, if it is a session's own, ms; 0: none, or not known. */
uint64_t px_link_timeout(const px_link *link);
/* Its tcp_user_timeout, as above. */
uint64_t px_link_user_timeout(const px_link *link);
/* Both reported the same when they opened, but for application_name. */
bool px_link_is_like(const px_link *link, const px_link *other);
/* The process id of its backend, as that told it. */
uint32_t px_link_pid(const px_link *link);
/* The server asked for the password of the link's identity, and took it. */
bool px_link_used_password(const px_link *link);
/* The server has let the role in, also if the link failed thereafter. */
bool px_link_was_admitted(const px_link *link);
/* NoticeResponses that came as it opened; they live as long as the link. */
pgw_slice px_link_notices(const px_link *link);
/* A setting the server reported when the link opened; NULL if it did not. */
const char *px_link_parameter(const px_link *link, const char *name);
/* What it reported is kept for the greeting of later sessions of its kind. Counted. */
px_greeting *px_link_greeting(const px_link *link);

/* ---- for kinds of backends: what one brings, and how it tells what becomes of a link ---- */

/* As the functions above, where not said otherwise. Called on the link's worker's thread, and not
 * after `close`. */
typedef struct px_link_kind {
    size_t size; /* of the kind's own struct, which begins with the px_link; it is all zero */
    /* There is a place for it: answered on a later turn by px_link_be_ready() or px_link_fail(). It
     * may be asked again after the latter. */
    void (*open)(px_link *link);
    /* Whatever state it is in. Nothing more is told but px_link_end(), perhaps at once. */
    void (*close)(px_link *link);
    void (*finish)(px_link *link);
    void (*send)(px_link *link, const void *ptr, size_t len);
    void (*give)(px_link *link, pgw_buf *buf); /* NULL: they are sent as a copy. */
    void (*pass)(px_link *link, px_stream *from, size_t len);
    size_t (*pending)(const px_link *link);
    void (*cancel)(px_link *link); /* none is under way */
    bool (*cancelling)(const px_link *link);
    pgw_slice (*input)(const px_link *link);
    void (*consume)(px_link *link, size_t len);
    void (*expect)(px_link *link, size_t len);
    void (*pass_on)(px_link *link, px_stream *to, size_t len);
    void (*pause)(px_link *link);
    void (*resume)(px_link *link);
    const char *(*parameter)(const px_link *link, const char *name);
} px_link_kind;

/* Nobody but link.c and its kind looks into it. */
struct px_link {
    const px_link_kind *kind;
    struct px_worker *worker;
    px_link_role role;
    px_identity *identity; /* counted */
    char *options;         /* NULL: none */
    const px_link_ops *ops;
    void *owner;
    bool unfinished; /* what was sent last is a part of a message */
    bool closing;    /* it is not told anything any more */

    /* What the kind knows of it before it is ready, or fails. */
    bool admitted, used_password;
    px_slot missing; /* with 53300 */
    uint32_t pid;
    uint64_t settings, statement_timeout, user_timeout;
    pgw_buf notices;

    /* Of link.c. */
    px_seat seat;
    bool was_open, borrowed;    /* a try was made there; it is the last one */
    bool timed;                 /* there is a timer */
    bool ended;                 /* the kind has */
    uv_timer_t wait;            /* for a place, or for room */
    uint64_t wait_until, asked; /* the latter by px_worker_clock() */
    bool opening, pleading;
    uint32_t pause;           /* ms until the next try, that others give way meanwhile */
    unsigned refusals_before; /* all links', when the last try began */
    uint64_t collides_until;  /* others' refusals are no hope any more; 0: not refused yet */
    uint64_t plead_at;
    px_plea plea;
    pgw_error *refusal; /* the server's, while it is tried again; owned */
};

/* Also when the owner is to be told nothing any more: then nothing happens. */
void px_link_be_ready(px_link *link);
void px_link_fail(px_link *link, const pgw_error *error);
/* After `close`: nothing of the kind's refers to the link any more. Frees it, or later. */
void px_link_end(px_link *link);

#endif
