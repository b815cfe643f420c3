/*
 * session: one client: its states, its own link, what it has prepared, the replies it is owed.
 * session.c is its life, request.c what it sends, reply.c what its link answers, group.c and
 * submit.c how its INSERTs become units.
 */
#ifndef PX_SESSION_H
#define PX_SESSION_H

#include "protocol/frame.h"
#include "proxy/backend/link.h"
#include "proxy/backend/slots.h"
#include "proxy/base/address.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/credentials.h"
#include "proxy/client/group.h"
#include "proxy/client/lobby.h"
#include "proxy/client/login.h"
#include "proxy/client/replies.h"
#include "proxy/client/room.h"
#include "proxy/client/settle.h"
#include "proxy/client/statements.h"
#include "proxy/ingest/owner.h"
#include "proxy/loop/stream.h"
#include "rewrite/read/script.h"
#include "rewrite/read/statement.h"

typedef enum px_session_state {
    PX_STARTUP, /* the first packet has not come whole */
    PX_LOGIN,   /* its password was asked for */
    PX_WELCOME, /* waits for the link of the first session of its kind, or for its own */
    PX_READY,
    PX_CLOSING
} px_session_state;

/* Why the client's next message is not looked at yet. */
typedef enum px_wait {
    PX_WAIT_NOTHING,
    PX_WAIT_LINK, /* its own link is being opened */
    PX_WAIT_CATALOG,
    PX_WAIT_STATE,     /* the own link says what the session has there */
    PX_WAIT_DESCRIBE,  /* the backend describes a new statement */
    PX_WAIT_IDLE,      /* everything before must be answered first */
    PX_WAIT_UNIT,      /* a unit's outcome */
    PX_WAIT_ROOM,      /* what it sends is large, and there is no room for more of it (room.h) */
    PX_WAIT_DATABASES, /* keyspread leaves the databases that the statement is about */
    PX_WAIT_TURN       /* another session describes the statement, or the queues are full */
} px_wait;

enum { PX_KEPT_PARSE = 64 * 1024, PX_HOLD_BYTES = 64 * 1024 * 1024 };

typedef struct px_session {
    px_worker *worker;
    px_stream *stream;
    int fd;
    px_address *address; /* where it comes from; NULL: a Unix socket */
    px_guest *guest;     /* until it is ready; may be NULL */
    struct ssl_st *ssl;  /* NULL: none */
    px_login *login;     /* until it is ready */
    px_session_state state;
    px_wait wait;
    size_t slot;
    uint32_t pid;        /* in BackendKeyData; 0 until the client is greeted */
    uint32_t cancel_key; /* our own, for libpq keeps the backend's to itself */
    uint64_t ticket;     /* never used twice in a worker */
    uint64_t started;
    bool old_protocol; /* asked for one before 3.0, and is refused in its form */
    bool fatal;        /* the backend has said FATAL, and the client has seen it */
    bool processing;
    px_message woken; /* to itself: it is to look at what its client has sent */
    bool is_woken;    /* … and is under way */
    bool leaving;     /* the client has said goodbye, and nothing it sends is looked at any more */

    /* who */
    px_identity *identity;        /* with the tracked settings as they are now */
    px_identity *base;            /* as it came; counted */
    struct px_greeting *greeting; /* what it was greeted with. Counted */
    uint64_t inherited;           /* settings of its role and database, as a number */
    char *settings[PX_TRACKED];   /* changed since; NULL = as at the start */
    bool private_session;         /* its writes use its own link */
    bool output_changed;          /* values may be written as text otherwise than on batch links */
    bool opaque;                  /* client_encoding has characters with ASCII bytes in them */

    /* its own link */
    px_link *link;
    bool link_ready;
    bool stirs; /* rows of it left by other links since its own was last touched */
    uint64_t touched;
    bool link_gone;      /* it was lost while a unit was under way, whose outcome comes first */
    bool told;           /* `pid` is its backend's, so that no other link can take its place */
    px_state own;        /* what is known of it */
    bool link_state;     /* something there cannot be made again elsewhere */
    char status;         /* 'I', 'T' or 'E' as the link last said */
    bool unsynced;       /* extended messages were sent since the last Sync */
    bool skipping;       /* an error was answered: messages up to Sync are dropped */
    bool copy_in;        /* the link is in copy-in mode */
    bool alters;         /* what new sessions begin with, as soon as it is committed */
    bool databases_left; /* those of the message at hand */
    bool undecided;      /* something unanswered may commit, or have committed, rows of ours */
    bool commits;        /* a COMMIT may have been prepared */
    px_replies replies;
    size_t streaming;       /* bytes of the client's message that still go to the link unread */
    bool streaming_dropped; /* … or nowhere */
    bool streaming_text;    /* … and are looked at for names of configured tables */
    bool zone_moving;       /* something unanswered may change TimeZone */
    size_t reply_left; /* bytes of the link's message that still go to the client, or nowhere */
    bool reply_dropped;

    /* what it did to the schema */
    bool ddl_own;      /* its transaction may have changed configured tables, which it alone sees */
    bool ddl_seen;     /* a statement that was sent may change configured tables */
    bool ddl_unsynced; /* … and not synced since */
    px_catalog *own_catalog;      /* what its own transaction has made of it. Counted */
    struct px_own_look *own_look; /* under way */
    bool doubted;                 /* the statement at hand would have been refused */

    px_plan *describing; /* counted: others wait until this session knows what it is */
    px_statements statements;
    char *prepares;        /* the name of a PREPARE that was parsed; owned */
    char *deallocates;     /* the name of a DEALLOCATE that was parsed, \"\" for ALL; owned */
    px_statements portals; /* of ours, bound on the own link: whose error is whose */
    bool unnamed_on_link;  /* the link has an unnamed statement that is none of ours */
    px_group group;
    px_room room; /* for what it holds of its client's messages */

    px_owner units; /* under way, and how those of before fared */
} px_session;

/* ---- session.c ---- */

/* A client has come: `fd` is non-blocking; it and its places at `address` (NULL: a Unix socket) and
 * in the lobby belong to the session from now on. */
void px_session_accept(px_worker *worker, int fd, px_address *address, px_guest *guest);
/* The client was greeted, and counted as one that is logged in: its statements are looked at from
 * now on. */
void px_session_ready(px_session *session);
/* Ends at once; the object is freed on a later turn. */
void px_session_close(px_session *session, const char *reason);
/* Tells the client FATAL, unless it would stand in the middle of a message, and closes. */
void px_session_fatal(px_session *session, const pgw_error *error);
/* Makes `identity` anew after a tracked setting changed (value NULL = default). */
void px_session_set(px_session *session, size_t setting, pgw_slice value);
/* The tracked settings have these values now: the reported ones as they are, of the others NULL for
 * those that are as at the start. */
void px_session_follow(px_session *session, const char *const values[PX_TRACKED]);
size_t px_session_setting(pgw_slice name); /* index into px_tracked; PX_TRACKED if none */
/* Opens the own link if there is none. True if it is ready; else the session waits and the message
 * is looked at again. */
bool px_session_need_link(px_session *session);
/* Begins to open the own link if less than half of backend.max_links are in use. */
bool px_session_take_link(px_session *session);
/* The own link, should it be lost now, can be replaced without the client's noticing. */
bool px_session_replaceable(const px_session *session);
void px_session_lose_link(px_session *session, const char *reason);
/* Closes the own link if that goes unnoticed. */
void px_session_leave_link(px_session *session);
/* … if it is, or may be, without state, and others need it more. */
px_yield px_session_yield(px_session *session);
/* Takes note of what the own link said, or that it was lost, while a unit was under way. */
void px_session_catch_up(px_session *session);
/* The statement that this session had described, or not, is free for the others. */
void px_session_give_up_claim(px_session *session);
/* The client has the beginning of a message of the link: nothing of ours may be written to it. Not
 * while nothing is owed: what may come then is passed on whole (reply.c). */
bool px_session_relays_part(const px_session *session);
/* Nothing is owed and the link is absent or outside of a transaction. */
bool px_session_idle(const px_session *session);
/* As the makers of units have to know it. */
px_standing px_session_standing(const px_session *session);

/* ---- request.c ---- */

/* The link could not be opened: the statement at hand gets the error. */
void px_session_link_failed(px_session *session, const pgw_error *error);
/* A statement that waits for a link or the catalog, not sent yet: 57014. */
void px_session_cancel_waiting(px_session *session);
/* What has come of the message at hand, and of the group, is dropped, and so is what still comes:
 * the client gets the error, as it would for a statement. */
void px_session_give_up_message(px_session *session, const pgw_error *error);
/* The client is being read from, as far as it sends. */
bool px_session_is_read(const px_session *session);
/* Looks at what the client has sent as far as it may. */
void px_session_process(px_session *session);
/* … at the end of the turn. */
void px_session_look(px_session *session);
/* The wait is over: what the client has sent is looked at again, at the end of the turn. */
void px_session_wake(px_session *session, px_wait wait);
/* The message at hand was answered: it is not looked at. */
void px_session_drop_message(px_session *session);
/* Answers an error to the message at hand: here if the session is idle, else by a statement that
 * must fail in the link's transaction. `extended`: then skip until Sync. */
void px_session_refuse(px_session *session, const pgw_error *error, bool extended);
/* Sends bytes of ours to the link (ready). */
void px_session_send(px_session *session, const pgw_buf *bytes);

/* ---- simple.c: what a Query says ---- */

typedef enum px_step {
    PX_STEP_DONE, /* the message was dealt with: consume it */
    PX_STEP_PASS, /* none of ours: forward it as it is */
    PX_STEP_LATER /* the session waits: look at it again */
} px_step;

/* Looks into a Query: PASS sends it on as it is. */
px_step px_simple(px_session *session, pgw_frame frame, pgw_slice message);
/* A text in an encoding that cannot be lexed byte by byte, and that may name a configured table. */
bool px_refuse_opaque(px_session *session, pgw_slice text, pgw_error *error);
/* The effects of a script, DDL among them only if it may change a configured table. */
unsigned px_change_effects(const px_session *session, pgw_slice text, const rw_script *script);
/* ---- own_look.c: the configured tables as this session sees them ---- */

/* The catalog to look at `text` with, and what names mean now (px_settle() says whether that is
 * certain). It is empty if that names no configured table; false if
 * the session now waits for it. */
bool px_session_catalog(px_session *session, pgw_slice text, px_catalog **catalog,
                        rw_catalog *view);

/* What has these effects is being sent: what is known of configured tables may be wrong then. */
void px_session_note_change(px_session *session, unsigned effects);
/* What this session did to the schema is done, or perhaps it is. */
void px_session_mark_catalog(px_session *session);
/* A statement would be refused because of what `catalog` says, which may be old: true if the
 * session waits until it is known whether it is. Once a statement: `doubted` is the caller's to
 * end. */
bool px_session_doubts(px_session *session, const px_catalog *catalog);
/* Looks over the own link; false if that is not possible now. */
bool px_own_look_start(px_session *session);
/* A message of the link that answers a look; false: it is the client's. */
bool px_own_look_take(px_session *session, char type, pgw_slice body);
void px_own_look_free(px_session *session);
/* What a text does to the session when it is sent to the own link; `alone`: its only statement is
 * answered before anything else. */
void px_note_script(px_session *session, const rw_script *script, bool alone);

/* ---- extended.c: messages of the extended protocol that concern a configured table ---- */

px_step px_extended(px_session *session, char type, pgw_slice message);
/* ---- reply.c ---- */

void px_session_on_link_input(px_session *session);

#endif
