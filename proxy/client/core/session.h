/*
 * session: one client: its states, its own link, what it has prepared, the replies it is owed. Here
 * is what all parts of it share; life.c leads it from its first byte to its last, request.c reads
 * what it sends, reply.c what its link answers.
 */
#ifndef PX_SESSION_H
#define PX_SESSION_H

#include "protocol/frame.h"
#include "proxy/backend/base/link.h"
#include "proxy/backend/base/slots.h"
#include "proxy/base/address.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/core/begun.h"
#include "proxy/client/core/group.h"
#include "proxy/client/core/own_state.h"
#include "proxy/client/core/replies.h"
#include "proxy/client/core/states.h"
#include "proxy/ingest/owner.h"
#include "proxy/loop/stream.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/spelling.h"

enum { PX_HOLD_BYTES = 64 * 1024 * 1024 };

/* What becomes of a message of the client. */
typedef enum px_step {
    PX_STEP_DONE, /* the message was dealt with: consume it */
    PX_STEP_PASS, /* none of ours: forward it as it is */
    PX_STEP_LATER /* the session waits: look at it again */
} px_step;

typedef struct px_session px_session;

/* What stands above: life.c, or a test. */
typedef struct px_session_life {
    void (*look)(px_session *session); /* at what the client has sent */
    void (*end)(px_session *session);  /* sets PX_CLOSING, and frees it on a later turn */
    /* Sends, with a Sync, the INSERTs that are kept of its transaction (kept.h). */
    void (*send_kept)(px_session *session);
    const px_link_ops *link;
} px_session_life;

/* What it holds of its client's messages, as far as that is counted (room.h). */
typedef struct px_room {
    size_t taken;       /* bytes, of the process's `used` */
    bool waits, beyond; /* counted in the process's */
    size_t moved_at;    /* what it held when it last had grown by PX_ROOM_FREE … */
    uint64_t moved;     /* … and when; px_worker_now() */
} px_room;

/* The client's end. */
typedef struct px_peer {
    px_stream *stream;
    int fd;
    px_address *address;    /* where it comes from; NULL: a Unix socket */
    struct px_guest *guest; /* until it is ready; may be NULL */
    struct ssl_st *ssl;     /* NULL: none */
    struct px_login *login; /* until it is ready */
    uint64_t started;
    uint32_t pid;        /* in BackendKeyData; 0 until the client is greeted */
    uint32_t cancel_key; /* our own, for libpq keeps the backend's to itself: see px_cancel_key() */
    bool told;           /* `pid` is its link's backend's, in whose place no other link can come */
    bool old_protocol;   /* asked for one before 3.0, and is refused in its form */
    bool long_key;       /* It asked for protocol 3.2 or newer, and is told a key of 32 bytes. */
    bool leaving; /* the client has said goodbye, and nothing it sends is looked at any more */
} px_peer;

/* As whom, and with which settings. */
typedef struct px_who {
    px_identity *identity;        /* with the tracked settings as they are now */
    px_identity *base;            /* as it came; counted */
    struct px_greeting *greeting; /* what it was greeted with. Counted */
    uint64_t inherited;           /* settings of its role and database, as a number */
    char *settings[RW_TRACKED];   /* changed since; NULL = as at the start */
    struct px_untold *untold;     /* … and what some were (settings.h); or NULL */
    bool is_private;              /* its writes use its own link */
    bool output_changed;          /* values may be written as text otherwise than on batch links */
    rw_script_encoding written;   /* how its texts are */
} px_who;

/* Its own link. */
typedef struct px_own {
    px_link *link;
    uint64_t touched; /* When it was last sent something so that idle_session_timeout does not end
                         it; px_worker_now(). */
    bool ready;
    bool gone;     /* it was lost while a unit was under way, whose outcome comes first */
    bool fatal;    /* the backend has said FATAL, and the client has seen it */
    bool stirs;    /* Rows of the session left by other links since this one was last touched. */
    char status;   /* 'I', 'T' or 'E' as the client was told: by the link, or here (begun.h) */
    bool ran;      /* something has run since then, which may have ended a transaction */
    bool unsynced; /* extended messages were sent since the last Sync */
    bool copy_in;  /* the link is in copy-in mode */
    struct px_copy *copy;   /* The COPY of a configured table that is under way (ingest/copy.h);
                               owned; NULL: none. */
    bool has_state;         /* something there cannot be made again elsewhere */
    bool alters;            /* what new sessions begin with, as soon as it is committed */
    bool dropped;           /* The rest of the link's message goes nowhere. */
    unsigned char ordinary; /* Why the table that it has prepared to make gets no hash, as
                               rw_define_warning() has it; 0: it is not such a one. */
    px_begun
        *begun; /* Its BEGIN of which the server has not heard yet; owned; NULL: there is none. */
    struct px_refill *refill; /* numbers that it asks for, for all (refill.h); or NULL */
    uint64_t drew_apart; /* so many blocks may be older than what it drew for itself (reserve.h) */
    size_t left;         /* bytes of the link's message that still go to the client, or nowhere */
} px_own;

/* What it has sent there that is not answered. */
typedef struct px_pending {
    px_replies replies;
    bool skipping;    /* an error was answered: messages up to Sync are dropped */
    bool undecided;   /* something may commit, or have committed, rows of ours */
    bool commits;     /* a COMMIT may have been prepared */
    bool zone_moving; /* something may change TimeZone */
} px_pending;

/* The client's message at hand. */
typedef struct px_hand {
    pgw_frame frame;     /* of the one that is looked at; size 0: none, or it is on its way */
    size_t streaming;    /* bytes of it that still go to the link unread */
    bool dropped;        /* what is left of that message goes nowhere */
    bool text;           /* These bytes are looked at for names of configured tables. */
    bool copied;         /* These bytes are rows, which are given their hashes (copied.h). */
    bool databases_left; /* Nothing of ours is connected to the databases that it drops or renames
                            any more. */
    bool doubted;        /* its statement would have been refused */
    pgw_buf told; /* What goes on in the message's place (drawn.h); empty: the message itself. */
    struct px_keys *keys;     /* what its statement's key is asked for; NULL: nothing (keys.h) */
    struct px_parsed *parsed; /* what was made of its text; NULL: nothing is kept (parsed.h) */
    struct {
        const void *reserve; /* of numbers that its statement waits for (ahead.h); or NULL */
        size_t count;
        uint64_t since; /* how many blocks the process had asked for by then */
    } awaits;
    struct px_parts *parts; /* its text comes in parts (parts.h); NULL: as a whole */
    px_catalog *answered; /* what its own question was answered with (changes.h). Counted; NULL: it
                             has asked nothing, or other tables may be there by now */
    uint64_t answered_at; /* px_worker_now() */
    size_t replans; /* so many held messages have plans that are sure, but the last one's is being
                       made anew; 0: none is */
} px_hand;

/* What it did to the schema. */
typedef struct px_ddl {
    bool own;      /* its transaction may have changed configured tables, which it alone sees */
    bool seen;     /* a statement that was sent may change configured tables */
    bool unsynced; /* Such a statement was sent since the last Sync. */
    bool bound;    /* Such a statement was bound to the unnamed portal since the last Sync. */
    bool portal;   /* Such a statement was bound to a portal with a name in this transaction. */
    bool resets;   /* A statement that was sent may make a sequence go on from elsewhere. */
    px_catalog *catalog;      /* what its own transaction has made of it. Counted */
    struct px_own_look *look; /* under way */
    uint64_t doubts_from;     /* a wrong value lets the tables be looked at again from then on */
} px_ddl;

/* PREPARE and EXECUTE that came as Parse. */
typedef struct px_orders {
    px_foreign prepared;   /* what a PREPARE was read by (stores.h) … */
    pgw_buf prepared_text; /* … and its text */
    pgw_buf executed;      /* the Parse message of the unnamed statement, if it executes others */
    px_reads
        *parsed; /* How the Parse at hand reads configured tables; owned; NULL: it reads none. */
    px_reads *unnamed; /* How the unnamed statement, if it has no lookups, reads them; owned; NULL:
                          it reads none. */
} px_orders;

/* What it has prepared. */
typedef struct px_prepared_names {
    px_statements statements;
    px_statements portals;    /* of ours, bound on the own link: whose error is whose */
    char *prepares;           /* the name of a PREPARE that was parsed; owned */
    struct px_orders *orders; /* owned; NULL: nothing of them was ever parsed */
    bool untold;          /* A PREPARE was carried out of which nobody knows what it is called. */
    bool unnamed_on_link; /* the link has an unnamed statement that is none of ours */
    bool looked; /* What the unnamed statement executes was looked at, and no Parse has come since.
                  */
    char *deallocates;   /* The name of a DEALLOCATE that was parsed, empty for ALL; owned. */
    px_lookups *lookups; /* of the Parse at hand; counted, NULL: none */
    px_plan *describing; /* counted: others wait until this session knows what it is */
} px_prepared_names;

struct px_session {
    const px_session_life *life;
    px_worker *worker;
    px_session_state state;
    px_wait wait;
    size_t slot;
    uint64_t ticket; /* never used twice in a worker */
    bool processing;
    bool is_woken;    /* `woken` is under way. */
    px_message woken; /* to itself: it is to look at what its client has sent */

    px_peer peer;
    px_who who;
    px_own own;
    px_state known; /* what is known of the own link */
    px_pending pending;
    px_hand hand;
    px_ddl ddl;
    px_prepared_names names;

    px_group group; /* held */
    px_room room;   /* for what it holds of its client's messages */
    px_owner units; /* under way, and how those of before fared */
};

/* ---- states ---- */

/* The only places where they are written. Where assertions are compiled, what contradicts the
 * tables of states.h ends the process. */
void px_session_set_state(px_session *session, px_session_state state);
void px_session_set_wait(px_session *session, px_wait wait);
/* Nothing contradicts them. */
bool px_session_is_sound(const px_session *session);

/* Nothing is owed and the link is absent or outside of a transaction. */
bool px_session_idle(const px_session *session);
/* Its transaction has failed, and nothing that is under way may end it: the server refuses
 * whatever comes, and answers no question. */
bool px_session_aborted(const px_session *session);
/* … but for what is ours alone, and the client knows nothing of. */
bool px_session_is_quiet(const px_session *session);
/* The client has the beginning of a message of the link: nothing of ours may be written to it. Not
 * while nothing is owed: what may come then is passed on whole (reply.c). */
bool px_session_relays_part(const px_session *session);
/* The client is being read from, as far as it sends. */
bool px_session_is_read(const px_session *session);
/* As the makers of units have to know it. */
px_standing px_session_standing(const px_session *session);

/* ---- what it says, and to whom ---- */

/* Bytes of ours to the own link (ready); to the client. */
void px_session_send(px_session *session, const pgw_buf *bytes);
/* Sends a BEGIN that the link has not got; to be called before bytes go there without
 * px_session_send(). */
void px_session_send_begun(px_session *session);
void px_session_put(px_session *session, const pgw_buf *bytes);
/* Forgets what is held of the client's messages. */
void px_session_drop_group(px_session *session);

/* Opens the own link if there is none. */
void px_session_open_link(px_session *session);
/* Opens the own link if there is none. True: it is ready, and has what was kept of the transaction
 * (kept.h), of which no more is kept from now on. False: the session waits, and the message is
 * looked at again. */
bool px_session_need_link(px_session *session);
/* … to ask it something, and leave it if others need it more. */
bool px_session_need_link_to_ask(px_session *session);
/* Begins to open it if less than half of backend.max_links are in use. */
bool px_session_take_link(px_session *session);

/* What the client has sent is looked at, at the end of the turn. */
void px_session_look(px_session *session);
/* … for this wait is over. */
void px_session_wake(px_session *session, px_wait wait);

/* ---- the end ---- */

/* Ends at once; the object is freed on a later turn. */
void px_session_close(px_session *session, const char *reason);
/* Tells the client FATAL, unless it would stand in the middle of a message, and closes. */
void px_session_fatal(px_session *session, const pgw_error *error);

#endif
