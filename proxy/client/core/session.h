/*
 * session: one client: its states, its own link, what it has prepared, the replies it is owed. Here
 * is what all parts of it share; session_io.c leads it from its first byte to its last, request.c
 * reads what it sends, reply.c what its link answers.
 */
#ifndef PX_SESSION_H
#define PX_SESSION_H

#include "protocol/frame.h"
#include "proxy/backend/base/slots.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/core/group.h"
#include "proxy/client/core/own.h"
#include "proxy/client/core/own_state.h"
#include "proxy/client/core/peer.h"
#include "proxy/client/core/prepared_names.h"
#include "proxy/client/core/states.h"
#include "proxy/ingest/submitter.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/spelling.h"

enum { PX_HOLD_BYTES = 64 * 1024 * 1024 };

typedef struct px_session px_session;

/* What a session calls in the layer above: session_io.c, or a test. */
typedef struct px_session_io {
    void (*look)(px_session *session); /* looks at what the client has sent */
    void (*end)(px_session *session);  /* sets PX_CLOSING, and frees the session on a later turn */
    /* Sends, with a Sync, the INSERTs that are kept of its transaction (kept.h). */
    void (*send_kept)(px_session *session);
    const px_link_ops *link;
} px_session_io;

/* What a session holds of its client's messages, as far as that is counted (input_budget.h). */
typedef struct px_input_budget {
    size_t taken;       /* bytes, counted in the process's `used` */
    bool waits, beyond; /* the session counts in the process's `waiting`; has taken its `beyond` */
    size_t moved_at;    /* bytes held when that last grew by PX_INPUT_BUDGET_FREE, or shrank */
    uint64_t moved;     /* when `moved_at` was noted; px_worker_now() */
} px_input_budget;

/* Who the session is, and with which settings. */
typedef struct px_who {
    px_identity *identity;        /* identity with the tracked settings as they are now; counted */
    px_identity *base;            /* identity that the client logged in with; counted */
    struct px_greeting *greeting; /* what the client was greeted with. Counted */
    uint64_t inherited;           /* number that stands for the settings of its role and database */
    char *settings[RW_TRACKED];   /* tracked settings that were changed; NULL: as at the start */
    struct px_unreported
        *unreported;            /* what settings were before a change not reported yet; or NULL */
    bool is_private;            /* the session's rows go over its own link, not in batches */
    bool output_changed;        /* values may be written as text otherwise than on batch links */
    rw_script_encoding written; /* encoding of the client's texts */
} px_who;

/* The client's message at hand. */
typedef struct px_hand {
    pgw_frame frame;  /* the message that is looked at; size 0: none, or its rest goes to the link
                         unread */
    size_t streaming; /* bytes of the message that still go to the link unread */
    bool dropped;     /* the rest of the message goes nowhere */
    bool text;        /* The unread bytes are looked at for names of configured tables. */
    px_rest *rest;    /* parameters that are among the unread bytes; owned; NULL: none are */
    bool copied;      /* The unread bytes are rows, which are given their hashes (copied.h). */
    bool databases_left; /* keyspread has left the databases that the statement drops or renames. */
    bool rechecked;      /* the tables were looked at anew for its statement, which is done once */
    pgw_buf rewritten;   /* message to send in its place (sequence_session.h); empty: itself */
    struct px_keys *keys; /* the question for its statement's key, and the answers (keys.h); owned;
                             NULL: none */
    struct px_parsed *parsed; /* what was made of its text (parsed.h); owned; or NULL */
    struct {
        const void
            *reserve; /* reserve whose numbers the statement waits for (sequence_take.h); or NULL */
        size_t count;
        uint64_t since; /* px_sequence_cache_blocks() when the statement began to wait */
    } awaits;
    struct px_split_query *parts; /* state of a Query that is sent in parts (split_query.h); owned;
                               NULL: it is sent as a whole */
    /* Catalog that the backend answered when this message asked (changes.h). Counted; NULL: it has
     * not asked, or the tables may have changed by now. */
    px_catalog *answered;
    uint64_t answered_at; /* px_worker_now() */
    size_t replans; /* 1 + number of the held message whose plan is being made anew; 0: none is */
} px_hand;

/* What the session did to the schema. Idle sessions have one each, so that it is small. */
typedef struct px_ddl {
    /* The session's transaction may have changed configured tables, unseen by others. */
    bool own : 1;
    bool seen : 1;     /* A statement that was sent may change configured tables. */
    bool unsynced : 1; /* A statement that may change configured tables was sent since the last
                          Sync. */
    bool bound : 1;    /* A statement that may change configured tables was bound to the unnamed
                          portal since the last Sync. */
    bool portal : 1;   /* A statement that may change configured tables was bound to a named portal
                          in this transaction. */
    bool resets : 1;   /* A statement that was sent may make a sequence go on from elsewhere. */
    bool used : 1; /* A statement of the transaction named configured tables, which it may lock. */
    bool worn : 1; /* Of `catalog` only names, columns and primary keys are right: the transaction
                      has changed other things since, or made what `made` names. */
    bool keys : 1; /* A statement of the transaction may have changed names, columns or primary keys
                      of tables that were there before. */
    /* The number of statements that were sent and may change configured tables, which is not marked
     * yet. */
    uint32_t unmarked;
    px_catalog *catalog; /* the configured tables as the session's transaction sees them. Counted;
                            or NULL */
    pgw_buf *made; /* names of what the transaction has made since it last looked, each with NUL;
                      or NULL */
    struct px_schema_probe *probe; /* look at the tables over its own link; owned; or NULL */
    uint64_t recheck_from; /* a wrong value has the tables looked at again from this time on;
                             px_worker_now() */
} px_ddl;

struct px_session {
    const px_session_io *life;
    px_worker *worker;
    px_session_state state;
    px_step wait; /* PX_WAIT_NOTHING, or why the next message is not looked at yet */
    size_t slot;
    uint64_t ticket; /* never used twice in a worker */
    bool processing;
    bool is_woken;    /* `woken` is under way. */
    px_message woken; /* message to the session itself: to look at what its client has sent */

    px_peer peer;
    px_who who;
    px_own own;
    px_state known; /* what is known of the own link */
    px_pending pending;
    px_hand hand;
    px_ddl ddl;
    px_prepared_names names;

    px_group group;       /* messages that are held up to Sync or Flush */
    px_input_budget room; /* memory for what is held of the client's messages */
    px_submitter
        write_groups; /* the session's write groups under way, and how earlier ones fared */
};

/* ---- states ---- */

/* State and wait are written by these functions alone. Where assertions are compiled, what
 * contradicts the tables of states.h ends the process. */
void px_session_set_state(px_session *session, px_session_state state);
/* The session waits for what a handler returned. For request.c, which calls the handlers. */
void px_session_set_wait(px_session *session, px_step wait);
/* This wait is over, if it is what the session waits for. */
void px_session_end_wait(px_session *session, px_step wait);
/* Whether nothing contradicts the tables of states.h. */
bool px_session_is_sound(const px_session *session);

/* Whether nothing is owed and the link is absent or outside of a transaction. */
bool px_session_idle(const px_session *session);
/* Whether the session's transaction has failed, and nothing that is under way may end it: the
 * server refuses whatever comes, and answers no question. */
bool px_session_aborted(const px_session *session);
/* Whether the link is outside of a transaction, and owes nothing that the client knows of. */
bool px_session_is_quiet(const px_session *session);
/* Whether the client has only the beginning of a message of the link, so that nothing may be
 * written between. Not while nothing is owed: what may come then is passed on whole (reply.c). */
bool px_session_relays_part(const px_session *session);
/* Whether the client is read from, as far as it sends. */
bool px_session_is_read(const px_session *session);
/* How the session stands, for those who make write groups. */
px_standing px_session_standing(const px_session *session);

/* `rechecked`: the tables were looked at anew for the statement of the message at hand. */
static inline void px_session_set_rechecked(px_session *session, bool rechecked)
{
    session->hand.rechecked = rechecked;
}

/* ---- what it says, and to whom ---- */

/* Sends bytes to the own link, which is ready, behind a BEGIN that the link has not got. */
void px_session_send(px_session *session, const pgw_buf *bytes);
/* Sends a BEGIN that the link has not got; to be called before bytes go there without
 * px_session_send(). */
void px_session_send_begun(px_session *session);
/* Writes bytes to the client. */
void px_session_put(px_session *session, const pgw_buf *bytes);
/* Forgets what is held of the client's messages. */
void px_session_drop_group(px_session *session);

/* Opens the own link if there is none. */
void px_session_open_link(px_session *session);
/* Opens the own link if there is none. DONE: it is ready, and has what was kept of the transaction
 * (kept.h), of which no more is kept from now on. */
PGW_MUST_CHECK px_step px_session_need_link(px_session *session);
/* Does what px_session_need_link() does, unless the session is idle: then an error is told without
 * the link. */
PGW_MUST_CHECK px_step px_session_need_link_unless_idle(px_session *session);
/* Opens the own link if there is none, to ask it something; others that need it more may have it.
 * DONE: it is ready. */
PGW_MUST_CHECK px_step px_session_need_link_to_ask(px_session *session);
/* The session, which waits for the tables as others see them, waits for its own link instead. */
void px_session_await_link(px_session *session);
/* Sends what is kept of the transaction while no message is at hand; the next one waits for it. */
void px_session_send_kept(px_session *session);
/* Begins to open the own link if less than half of backend.max_links are in use. False: they are.
 */
bool px_session_take_link(px_session *session);

/* Has what the client has sent looked at, at the end of the turn. */
void px_session_look(px_session *session);
/* Has what the client has sent looked at, for this wait is over. */
void px_session_wake(px_session *session, px_step wait);

/* ---- the end ---- */

/* Ends the session at once; the object is freed on a later turn. */
void px_session_close(px_session *session, const char *reason);
/* Tells the client FATAL, unless it would stand in the middle of a message, and closes. */
void px_session_fatal(px_session *session, const pgw_error *error);

#endif
