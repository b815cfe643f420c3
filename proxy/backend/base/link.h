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

/* What a link is for: one session, rows of many clients, or reading the catalog. The latter two may
 * be any of backend.max_links; sessions leave one of these for batches. */
typedef enum px_link_role { PX_LINK_SESSION, PX_LINK_BATCH, PX_LINK_CATALOG } px_link_role;

/* How the owner is told of events. In each call the owner may close the link. */
typedef struct px_link_ops {
    void (*on_ready)(px_link *link); /* the link is ready for queries */
    /* The link could not be opened: `error` is the server's own FATAL, or 08006 with the reason, or
     * 53300 after link_wait_ms without one of max_links. The link is freed after this call. */
    void (*on_failed)(px_link *link, const pgw_error *error);
    void (*on_message)(px_link *link); /* px_link_input() has grown, by whole messages or parts */
    void (*on_drained)(px_link *link); /* less than PX_STREAM_LOW is pending after it was
                                          PX_STREAM_HIGH; or a cancel is over */
    void (*on_lost)(px_link *link, const char *reason); /* the owner calls px_link_close() */
    /* The server has no connection left for the link, or max_links are in use. True: links that can
     * be done without are to give way, and this one waits for that. Must not close the link. NULL:
     * false. */
    bool (*on_refused)(px_link *link);
} px_link_ops;

/* ---- life ---- */

/* Starts opening; the answer comes on a later turn. `options` ("-c lock_timeout=200") stand behind
 * the identity's options; NULL for none. */
px_link *px_link_open(struct px_worker *worker, px_link_role role, px_identity *identity,
                      const char *options, const px_link_ops *ops, void *owner);
/* The session's own link is to answer one question of keyspread, and is closed then: it may take
 * the place that sessions leave for batches. */
void px_link_borrow(px_link *link);
/* Opens a session's own link if less than `most` links of the process are in use; else NULL. */
PGW_MUST_CHECK px_link *px_link_open_of(struct px_worker *worker, unsigned most,
                                        px_identity *identity, const px_link_ops *ops, void *owner);
/* Sends Terminate if the link was ready; also ends an opening. Frees the link later; no callback
 * comes any more. */
void px_link_close(px_link *link);
/* The last message on the link stays incomplete: px_link_close() sends no Terminate then. */
void px_link_leave_unfinished(px_link *link);
/* Nothing will be sent any more: the backend sees the end of input when all has left. */
void px_link_finish(px_link *link);

/* ---- what is sent on a link ---- */

/* Sends a copy of the bytes. */
void px_link_send(px_link *link, const void *ptr, size_t len);
void px_link_send_buf(px_link *link, const pgw_buf *buf);
/* Sends the bytes appended since px_block_begin(), and takes their memory: the buffer is empty
 * then. */
void px_link_give(px_link *link, pgw_buf *buf);
/* Sends and consumes the first `len` bytes of a client's input; not copied where the kind can do
 * without. */
void px_link_pass(px_link *link, px_stream *from, size_t len);
size_t px_link_pending(const px_link *link); /* bytes that were given to send and have not left */
/* Cancels what runs on the link. Nothing may be sent until px_link_cancelling() is false again;
 * then on_drained is called. */
void px_link_cancel(px_link *link);
bool px_link_cancelling(const px_link *link);

/* ---- what a link has received ---- */

/* The bytes that have come and were not consumed yet: contiguous, valid until the next turn or
 * consume. */
pgw_slice px_link_input(const px_link *link);
void px_link_consume(px_link *link, size_t len);
/* The owner waits for a message of `len` bytes as a whole. */
void px_link_expect(px_link *link, size_t len);
/* The first message of the input. OK: it is here as a whole, and `message` is to be consumed. MORE:
 * it is incomplete, and expected. BAD: no message begins there, or it is longer than `most` bytes.
 */
PGW_MUST_CHECK pgw_frame_result px_link_message(px_link *link, size_t most, pgw_frame *frame,
                                                pgw_slice *message);
/* Passes the first `len` bytes of the input to a client and consumes them; not copied where the
 * kind can do without. */
void px_link_pass_on(px_link *link, px_stream *to, size_t len);
/* Pause stops reading from the backend until resume. Both are idempotent. */
void px_link_pause(px_link *link);
void px_link_resume(px_link *link);

/* ---- what is known of a link ---- */

void *px_link_owner(const px_link *link);
/* The link has the place that px_link_borrow() asked for. */
bool px_link_is_borrowed(const px_link *link);
/* The backend is being asked for the connection just now. */
bool px_link_is_opening(const px_link *link);
/* A hash of the settings that the link has inherited from role and database; 0: not known. */
uint64_t px_link_settings(const px_link *link);
/* The statement_timeout that a session's own link began with, ms; 0: none, or not known. */
uint64_t px_link_timeout(const px_link *link);
/* The tcp_user_timeout that a session's own link began with, ms; 0: none, or not known. */
uint64_t px_link_user_timeout(const px_link *link);
/* Whether transactions of a session's own link were by default others than READ COMMITTED and READ
 * WRITE when it opened, by what its client, its role or its database says, or nobody knows. */
bool px_link_has_modes(const px_link *link);
/* Both links reported the same parameters when they opened, but for application_name. */
bool px_link_is_like(const px_link *link, const px_link *other);
/* The process id that the link's backend told (BackendKeyData). */
uint32_t px_link_pid(const px_link *link);
/* The server asked for the password of the link's identity, and took it. */
bool px_link_used_password(const px_link *link);
/* The server has let the role in, also if the link failed thereafter. */
bool px_link_was_admitted(const px_link *link);
/* The NoticeResponses that came as the link opened; they live as long as the link. */
pgw_slice px_link_notices(const px_link *link);
/* The value that the server reported for `name` when the link opened; NULL if it did not. */
const char *px_link_parameter(const px_link *link, const char *name);
/* The server has reported that it is not in recovery. */
bool px_link_is_primary(const px_link *link);
/* Keeps what the link reported for the greeting of later sessions of its kind. Counted. */
px_greeting *px_link_greeting(const px_link *link);

/* ---- for kinds of backends ---- */

/* Members mean what the px_link_… functions of the same names do, where not said otherwise. They
 * are called on the thread of the link's worker, and not after `close`. */
typedef struct px_link_kind {
    size_t size; /* bytes of the kind's struct, which begins with the px_link; all zero */
    /* Opens a connection: answered on a later turn by px_link_be_ready() or px_link_fail(). May be
     * called again after px_link_fail(). */
    void (*open)(px_link *link);
    /* Closes the link in any state. The kind then calls px_link_end() alone, perhaps at once. */
    void (*close)(px_link *link);
    void (*finish)(px_link *link);
    void (*send)(px_link *link, const void *ptr, size_t len);
    void (*give)(px_link *link, pgw_buf *buf); /* NULL: `send` gets the bytes instead */
    void (*pass)(px_link *link, px_stream *from, size_t len);
    size_t (*pending)(const px_link *link);
    void (*cancel)(px_link *link); /* called while no cancel is under way */
    bool (*cancelling)(const px_link *link);
    pgw_slice (*input)(const px_link *link);
    void (*consume)(px_link *link, size_t len);
    void (*expect)(px_link *link, size_t len);
    void (*pass_on)(px_link *link, px_stream *to, size_t len);
    void (*pause)(px_link *link);
    void (*resume)(px_link *link);
    const char *(*parameter)(const px_link *link, const char *name);
} px_link_kind;

/* For link.c and the link's kind only. */
struct px_link {
    const px_link_kind *kind;
    struct px_worker *worker;
    px_link_role role;
    px_identity *identity; /* a counted reference */
    char *options;         /* extra options; NULL: none */
    const px_link_ops *ops;
    void *owner;
    bool unfinished; /* the last message sent is incomplete */
    bool closing;    /* px_link_close() was called: the owner gets no callback any more */

    /* Set by the kind before the link is ready, or fails. */
    bool admitted, used_password;
    px_slot missing; /* what the server has no more of, when it answered 53300 */
    uint32_t pid;
    uint64_t settings, statement_timeout, user_timeout;
    bool has_modes;
    pgw_buf notices;

    /* Set by link.c. */
    px_seat seat;
    bool was_open, borrowed;    /* opening was tried; the link has the last place, borrowed */
    bool timed;                 /* `wait` is initialized */
    bool ended;                 /* the kind has called px_link_end() */
    uv_timer_t wait;            /* until the next try for a place of max_links, or at the server */
    uint64_t wait_until, asked; /* `asked` is by px_worker_clock() */
    bool opening, pleading;
    uint32_t pause;           /* ms until the next try, in which other links may give way */
    unsigned refusals_before; /* server->link_refusals when the last try began */
    uint64_t collides_until;  /* until then refusals of other links are hope (collides()); 0: not
                                 refused yet */
    uint64_t plead_at;
    px_plea plea;
    pgw_error *refusal; /* the server's last refusal, while opening is tried again; owned */
};

/* May be called after px_link_close(): nothing happens then. */
void px_link_be_ready(px_link *link);
void px_link_fail(px_link *link, const pgw_error *error);
/* After `close`: the kind does not refer to the link any more. Frees the link, at once or later. */
void px_link_end(px_link *link);

#endif
