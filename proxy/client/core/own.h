/*
 * own: the server's side of a session: its own link, what has been sent there, and what the link
 * has said. Everybody reads the fields; the functions here alone write them.
 */
#ifndef PX_OWN_H
#define PX_OWN_H

#include "proxy/backend/base/link.h"
#include "proxy/client/core/begun.h"
#include "proxy/client/core/replies.h"

/* The session's own link. */
typedef struct px_own {
    px_link *link;
    uint64_t touched; /* When it was last sent something so that idle_session_timeout does not end
                         it; px_worker_now(). */
    bool ready;
    bool gone;  /* the link was lost while a write group was under way, whose outcome comes first */
    bool fatal; /* the backend has said FATAL, and the client has seen it */
    bool stirs; /* Rows of the session left by other links since this one was last touched. */
    char status;   /* 'I', 'T' or 'E' as the client was told: by the link, or here (begun.h) */
    bool ran;      /* something has run since `status` was told, and may have ended a transaction */
    bool unsynced; /* extended messages were sent since the last Sync */
    bool copy_in;  /* the link is in copy-in mode */
    struct px_copy *copy; /* The COPY of a configured table that is under way (ingest/copy.h);
                             owned; NULL: none. */
    struct px_loading_copy *loading; /* How far this COPY has come, as the administrator sees it. */
    bool has_state; /* the link has something that cannot be made again on another */
    bool alters;  /* The session's transaction alters what new sessions begin with, as soon as it is
                     committed. */
    bool dropped; /* The rest of the link's message goes nowhere. */
    unsigned char ordinary; /* Why a table that the client has prepared to make gets no hash, as
                               rw_define_warning() has it; 0: no such table. */
    px_begun *begun;        /* the BEGIN that was answered here (begun.h); owned; NULL: none */
    struct px_sequence_refill
        *refill; /* numbers that it asks for, for all sessions (sequence_refill.h); or NULL */
    uint64_t drew_apart; /* px_sequence_cache_blocks() when it last drew numbers for itself: blocks
                            up to that are not for it */
    size_t left; /* bytes of the link's message at hand that still go to the client, or nowhere */
} px_own;

/* What the session has sent to its own link that is not answered. */
typedef struct px_pending {
    px_replies replies;
    bool skipping;  /* an error was answered: the client's messages up to Sync are dropped */
    bool undecided; /* something under way may commit rows: were the link lost, their outcome would
                       be unknown */
    bool commits;   /* the client may have prepared a COMMIT */
    bool zone_moving; /* something that is under way may change TimeZone */
} px_pending;

/* ---- the link ---- */

/* `link` is opened, or NULL; px_own_set_ready() follows when it is ready. */
static inline void px_own_open(px_own *own, px_link *link)
{
    own->link = link;
}

static inline void px_own_set_ready(px_own *own)
{
    own->ready = true;
}

/* The link was lost, and an outcome is awaited that comes first. */
static inline void px_own_set_gone(px_own *own)
{
    own->gone = true;
}

/* The session has no link any more; the caller has closed it, or it has failed. */
static inline void px_own_drop_link(px_own *own)
{
    own->link = NULL;
    own->ready = own->gone = own->copy_in = false;
    own->left = 0;
}

/* Other links have left rows of the session. */
static inline void px_own_note_rows(px_own *own)
{
    own->stirs = true;
}

/* The link is sent something so that idle_session_timeout does not end it; `now`: px_worker_now().
 */
static inline void px_own_touch(px_own *own, uint64_t now)
{
    own->stirs = false;
    own->touched = now;
}

/* ---- what is sent ---- */

/* An extended message was sent, and a Sync has to follow. */
static inline void px_own_open_group(px_own *own)
{
    own->unsynced = true;
}

/* A Sync was sent, or a Query has ended the group as a Sync does. */
static inline void px_own_close_group(px_own *own)
{
    own->unsynced = false;
}

/* No more data is sent to the link's COPY. */
static inline void px_own_end_copy_in(px_own *own)
{
    own->copy_in = false;
}

/* The link has something that cannot be made again on another. */
static inline void px_own_keep_state(px_own *own)
{
    own->has_state = true;
}

/* DISCARD ALL has run. */
static inline void px_own_discard_state(px_own *own)
{
    own->has_state = false;
}

/* `alters`: a statement of the transaction alters what new sessions begin with. */
static inline void px_own_note_alters(px_own *own, bool alters)
{
    own->alters = own->alters || alters;
}

/* The transaction has ended: whether it altered what new sessions begin with. */
static inline bool px_own_take_alters(px_own *own)
{
    bool alters = own->alters;
    own->alters = false;
    return alters;
}

/* `warning`: why the table that the statement makes gets no hash; 0: it makes none such. */
static inline void px_own_set_ordinary(px_own *own, unsigned char warning)
{
    own->ordinary = warning;
}

/* The session draws numbers for itself; `blocks`: px_sequence_cache_blocks(). */
static inline void px_own_draw_apart(px_own *own, uint64_t blocks)
{
    own->drew_apart = blocks;
}

/* ---- what the link says ---- */

/* Sets what the client is told of its transaction: 'I', 'T' or 'E'. */
static inline void px_own_set_status(px_own *own, char status)
{
    own->status = status;
}

/* A ReadyForQuery has come. */
static inline void px_own_heard_ready(px_own *own, pgw_slice body)
{
    px_own_set_status(own, body.len > 0 ? body.ptr[0] : 'I');
    own->ran = own->copy_in = false;
}

/* The head of what is owed is answered; `ran`: it was an Execute. */
static inline void px_own_heard_end(px_own *own, bool ran)
{
    own->ran = own->ran || ran;
}

/* A CopyInResponse has come; `takes_data`: the client has not sent the data's end yet. */
static inline void px_own_heard_copy_in(px_own *own, bool takes_data)
{
    own->copy_in = takes_data;
}

/* An ErrorResponse has come; `fatal`: it is one, and the client sees it. */
static inline void px_own_heard_error(px_own *own, bool fatal)
{
    own->fatal = fatal;
}

/* A message of `size` bytes goes to the client, or nowhere. */
static inline void px_own_pass_on(px_own *own, size_t size, bool dropped)
{
    own->left = size;
    own->dropped = dropped;
}

/* `part` bytes of the message have gone. */
static inline void px_own_passed_on(px_own *own, size_t part)
{
    own->left -= part;
}

/* ---- what is not answered ---- */

/* `skips`: the client's messages up to Sync are dropped from now on. */
static inline void px_pending_skip(px_pending *pending, bool skips)
{
    pending->skipping = skips;
}

/* `may_commit`: what is sent may commit rows. */
static inline void px_pending_note_commit(px_pending *pending, bool may_commit)
{
    pending->undecided = pending->undecided || may_commit;
}

/* All that was sent is answered. */
static inline void px_pending_decide(px_pending *pending)
{
    pending->undecided = false;
}

/* The client may have prepared a COMMIT. */
static inline void px_pending_prepare_commit(px_pending *pending)
{
    pending->commits = true;
}

/* `moves`: what is sent may change TimeZone. */
static inline void px_pending_note_zone(px_pending *pending, bool moves)
{
    pending->zone_moving = pending->zone_moving || moves;
}

/* TimeZone is known. */
static inline void px_pending_know_zone(px_pending *pending)
{
    pending->zone_moving = false;
}

#endif
