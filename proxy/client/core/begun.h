/*
 * begun: a BEGIN to which the client has its answer, and which its link has not: it goes there in
 * front of what is sent next, in the same write. A session that has one is in a transaction
 * (own.status 'T').
 */
#ifndef PX_BEGUN_H
#define PX_BEGUN_H

#include "protocol/bytes.h"
#include "proxy/base/metrics.h"

typedef enum px_begun_state {
    PX_BEGUN_HERE,   /* the BEGIN was not sent */
    PX_BEGUN_SENT,   /* the BEGIN was sent and is not answered yet */
    PX_BEGUN_FAILED, /* the server's transaction is made to fail, for the client was told that there
                        is one */
    PX_BEGUN_THERE   /* the server has the BEGIN; only `heard`, `lazy` or `failure` keep this */
} px_begun_state;

/* How the COMMIT came that is at hand. */
typedef struct px_commit {
    bool grouped, parsed, described; /* As Bind, Execute and Sync; with a Parse; with a Describe. */
    size_t behind;                   /* Bytes of its group behind the first message. */
    pgw_buf parse;                   /* The Parse message, if that gives its statement a name. */
} px_commit;

/* A BEGIN that was answered here. It travels as Parse, Bind and Execute without a Sync: if the
 * server refuses it (a cancel may hit just that), it skips what stands behind up to the next Sync,
 * a Query too, instead of running it outside of any transaction. So not more than one group or
 * Query may follow before it is answered. */
typedef struct px_begun {
    px_begun_state state;
    bool unnamed; /* the messages parse its client's unnamed statement */
    bool alone;   /* the BEGIN was sent with nothing but a Sync behind it */
    bool lazy;    /* The server has got none of its client's statements, and INSERTs may be kept. */
    px_counter reason; /* Why it is made ordinary if it is now (PX_ORDINARY_STATEMENT …). */
    bool commits;      /* Its COMMIT, before which INSERTs were kept, is at hand. */
    px_commit commit;  /* How the COMMIT at hand came. */
    uint64_t since;    /* when the client had its answer; px_worker_now() */
    pgw_buf messages;  /* Parse, Bind, Execute; and Close of both, where nothing of it is to stay */
    pgw_buf heard; /* NotificationResponses that are the client's when the transaction has ended */
    struct px_kept *kept; /* The INSERTs that were answered and not sent (kept.h); owned; NULL:
                             there are none. */
    pgw_buf failure; /* The body of the error by which a kept INSERT has failed the transaction, of
                        which the client has not heard; empty: none has. */
} px_begun;

/* Whether INSERTs were answered of which the server has not heard yet. */
static inline bool px_begun_keeps(const px_begun *begun)
{
    return begun != NULL && begun->kept != NULL && begun->state != PX_BEGUN_SENT;
}

static inline bool px_begun_is_here(const px_begun *begun)
{
    return begun != NULL && begun->state == PX_BEGUN_HERE;
}

#endif
