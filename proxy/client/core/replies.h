/*
 * replies: the queue of what the own link owes: one entry for each message that was sent to it,
 * matched to its answers in order. No reply is guessed.
 */
#ifndef PX_REPLIES_H
#define PX_REPLIES_H

#include "proxy/client/core/statements.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/text.h"

typedef enum px_reply_kind {
    PX_REPLY_QUERY, /* ends with ReadyForQuery; FunctionCall too */
    PX_REPLY_PARSE,
    PX_REPLY_BIND,
    PX_REPLY_DESCRIBE, /* of a statement: ParameterDescription, then as of a portal */
    PX_REPLY_DESCRIBE_PORTAL,
    PX_REPLY_EXECUTE,
    PX_REPLY_CLOSE,
    PX_REPLY_SYNC
} px_reply_kind;

/* What a question of ours asks. */
typedef enum px_asks {
    PX_ASKS_NOTHING,
    PX_ASKS_STATE, /* what the session has there (settle.h) */
    PX_ASKS_KEYS,  /* for values of keys (keys.h) */
    PX_ASKS_AHEAD  /* for numbers of a sequence, which nobody waits for (refill.h) */
} px_asks;

/* A QUERY whose whole answer is ours. */
typedef enum px_unseen {
    PX_UNSEEN_NOTHING,
    PX_UNSEEN_LOOK,     /* it, or all up to a Sync, asks for the configured tables (own_look.h) */
    PX_UNSEEN_QUESTION, /* It is a question of ours on a walsender's link, which takes no Parse
                           (ask.h). */
    PX_UNSEEN_BEGUN,    /* All but its ReadyForQuery: it makes a transaction that has failed
                        (begun.h). */
    PX_UNSEEN_ROLLBACK  /* It ends a transaction of which its client has the outcome. */
} px_unseen;

/* A name whose meaning hangs on what is not answered yet. */
typedef struct px_moving {
    px_entry entry;
    size_t entries; /* that it hangs on */
    char name[];
} px_moving;

typedef struct px_reply {
    px_reply_kind kind;
    bool silent;  /* nothing that the client sent depends on it: an error is not shown either */
    bool swallow; /* the client never sent it: it sees nothing of it but an error */
    bool begins;  /* PARSE … EXECUTE, CLOSE of a BEGIN whose answer the client has (begun.h) */
    bool part;    /* QUERY, SYNC: more of its Query comes, so that it ends nothing (parts.h) */
    size_t kept;  /* PARSE … EXECUTE, CLOSE of what was kept: its number, from 1 (kept.h) */
    bool group;   /* QUERY: it is messages of the extended protocol up to their Sync (inert.h) */
    px_asks asks; /* of a question of ours */
    px_unseen unseen;     /* QUERY: what of it is ours */
    bool describe_plan;   /* what DESCRIBE says is for the plan; SYNC: that ends it */
    px_plan *plan;        /* PARSE, BIND, DESCRIBE, EXECUTE of ours. Counted */
    px_lookups *lookups;  /* PARSE … EXECUTE of what asks for rows by their hash key. Counted */
    px_text *text;        /* QUERY, PARSE that was looked into. Counted */
    size_t at;            /* QUERY: the statement of `text` that is being answered … */
    size_t command;       /* … and of its commands there, from 0 */
    pgw_error *refusal;   /* the error must come, and this one is shown in its place. Owned */
    px_moving *name;      /* PARSE, CLOSE that changed what a name means */
    px_statement *before; /* … what it meant, should the server skip this. Owned */
    px_moving *recorded;  /* PARSE of a recorded statement: not on the link if this fails */
    size_t copies_ended;  /* data's ends (CopyDone, CopyFail) that were sent next, unasked */
} px_reply;

/* With more a session's next message is not looked at; the bytes are those of texts. */
enum { PX_REPLIES_MOST = 8192, PX_REPLIES_BYTES = 1024 * 1024 };

typedef struct px_replies {
    px_reply *ring;
    size_t head, count, cap; /* cap is a power of two */
    px_table moving;         /* names whose meaning hangs on entries */
    size_t text_bytes;       /* memory of entries' texts, about */
    uint32_t texts_renaming; /* entries of a text that may change what any name means */
    unsigned char begins;    /* so many entries of a BEGIN stand before the next one (begun.h) */
} px_replies;

/* The server reads on behind it, should what stands in front of it have failed. */
static inline bool px_reply_ends_group(const px_reply *reply)
{
    return reply->kind == PX_REPLY_SYNC || reply->group;
}

/* A fresh entry at the end, all zero but its kind; valid until the next push. */
px_reply *px_replies_push(px_replies *replies, px_reply_kind kind);
/* The entries of a BEGIN that stands before the next one; nothing if none does. */
void px_replies_begin(px_replies *replies);
/* Number `i` behind the head, which is 0; there are as many. */
static inline px_reply *px_replies_at(const px_replies *replies, size_t i)
{
    return &replies->ring[(replies->head + i) & (replies->cap - 1)];
}
/* NULL if there is none. */
static inline px_reply *px_replies_head(const px_replies *replies)
{
    return replies->count > 0 ? px_replies_at(replies, 0) : NULL;
}
void px_replies_pop(px_replies *replies);
/* Nothing that the client sent depends on any of them. */
bool px_replies_are_silent(const px_replies *replies);
/* Something is owed that runs, so that a transaction may end. */
bool px_replies_run(const px_replies *replies);
/* `reply` changes what `name` means from now on: keeps what it meant, which is taken out of the
 * map. */
void px_reply_renames(px_replies *replies, px_reply *reply, px_statements *statements,
                      pgw_slice name);
/* What `name` means depends on something unanswered, if that is not skipped or refused. */
bool px_replies_move(const px_replies *replies, pgw_slice name);
/* Likewise, in the middle of a group: it is something before the group that may change it, for what
 * the group itself skips it skips behind that, too. */
bool px_replies_move_before(const px_replies *replies, pgw_slice name);
/* `reply` answers a text that was looked into. */
void px_reply_is_about(px_replies *replies, px_reply *reply, px_text *text);
/* The client ends a COPY FROM STDIN of which the server has not said yet that it takes data. */
void px_replies_end_copy(px_replies *replies);
/* The head's COPY takes data: it eats each Sync that was sent before the data's end, and what was
 * sent with it. `*tail`: the last message, too. False: the data has not ended yet. */
bool px_replies_begin_copy(px_replies *replies, bool *tail);
/* `reply` is a Parse of a recorded statement. */
void px_reply_records(px_replies *replies, px_reply *reply, const char *name);
void px_replies_clear(px_replies *replies);

#endif
