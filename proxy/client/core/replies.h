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
    PX_REPLY_QUERY, /* Query or FunctionCall: ends with ReadyForQuery */
    PX_REPLY_PARSE,
    PX_REPLY_BIND,
    PX_REPLY_DESCRIBE, /* Describe of a statement: ParameterDescription, then as DESCRIBE_PORTAL */
    PX_REPLY_DESCRIBE_PORTAL,
    PX_REPLY_EXECUTE,
    PX_REPLY_CLOSE,
    PX_REPLY_SYNC
} px_reply_kind;

/* What keyspread's own question asks for. */
typedef enum px_asks {
    PX_ASKS_NOTHING,
    PX_ASKS_STATE, /* what the session has on its own link (sync_state.h) */
    PX_ASKS_KEYS,  /* values of keys (keys.h) */
    PX_ASKS_AHEAD  /* numbers of a sequence, which nobody waits for (sequence_refill.h) */
} px_asks;

/* What keyspread takes of an answer that the client does not see. */
typedef enum px_unseen {
    PX_UNSEEN_NOTHING,
    PX_UNSEEN_LOOK,     /* All: it looks at the configured tables (schema_probe.h). */
    PX_UNSEEN_QUESTION, /* All: it is keyspread's question to a walsender, which takes no Parse
                           (ask.h). */
    PX_UNSEEN_BEGUN     /* SYNC: nothing; a transaction has to have failed before it (begun.h). */
} px_unseen;

/* A name whose meaning depends on messages that are not answered yet. */
typedef struct px_moving {
    px_entry entry;
    size_t entries; /* unanswered entries on which the meaning depends */
    char name[];
} px_moving;

typedef struct px_reply {
    px_reply_kind kind;
    bool silent;  /* nothing that the client sent depends on this, so even an error is not shown */
    bool swallow; /* the client never sent it, and sees nothing of its answer but an error */
    bool begins; /* PARSE … EXECUTE, CLOSE of a BEGIN that the client has its answer to (begun.h) */
    bool part;   /* QUERY, SYNC: more parts of the Query come, so it ends nothing (split_query.h) */
    size_t kept;  /* PARSE … EXECUTE, CLOSE of a kept statement: its number, from 1 (kept.h) */
    bool group;   /* QUERY: stands for extended messages up to their Sync (inert.h) */
    px_asks asks; /* what the question asks for, if it is keyspread's own */
    px_unseen unseen;   /* what keyspread takes of the answer */
    bool describe_plan; /* DESCRIBE: the answer is for `plan`; SYNC: it ends such a description */
    px_plan *plan;      /* PARSE, BIND, DESCRIBE, EXECUTE: the statement's plan. Counted; or NULL */
    px_lookups *lookups; /* PARSE … EXECUTE: of a statement that asks for rows by their hash key.
                            Counted; or NULL */
    px_text *text;       /* QUERY, PARSE: the text, if it was looked into. Counted; or NULL */
    size_t at;           /* QUERY: index in `text` of the statement that is being answered */
    size_t command;      /* QUERY: index of that statement's command that is being answered */
    pgw_error *refusal; /* An error has to come, and the client is shown this one. Owned; or NULL */
    px_moving *name;    /* PARSE, CLOSE: the name whose meaning it changes; or NULL */
    px_statement *before; /* what `name` meant before, should the server skip this. Owned */
    px_moving *recorded;  /* PARSE of a recorded statement: its name, which the link lacks if this
                             fails; or NULL */
    size_t copies_ended;  /* CopyDone and CopyFail that the client sent behind it before data was
                             asked for */
} px_reply;

/* With more than this, the session's next message is not looked at; bytes are those of texts. */
enum { PX_REPLIES_MOST = 8192, PX_REPLIES_BYTES = 1024 * 1024 };

typedef struct px_replies {
    px_reply *ring;
    size_t head, count, cap; /* cap is a power of two */
    px_table moving;         /* names whose meaning depends on entries */
    size_t text_bytes;       /* estimated memory of the entries' texts */
    uint32_t texts_renaming; /* entries whose text may change what any name means */
    unsigned char begins; /* entries of a BEGIN that are to stand before the next one (begun.h) */
} px_replies;

/* Whether the server reads on behind this message if one before it has failed. */
static inline bool px_reply_ends_group(const px_reply *reply)
{
    return reply->kind == PX_REPLY_SYNC || reply->group;
}

/* A fresh entry at the end, all zero but its kind; valid until the next push. */
px_reply *px_replies_push(px_replies *replies, px_reply_kind kind);
/* As many entries of a BEGIN are to stand before what is pushed next; 0: none. */
static inline void px_replies_set_begins(px_replies *replies, unsigned char entries)
{
    replies->begins = entries;
}
/* Pushes the entries of a BEGIN that goes before the next message; nothing if none does. */
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
/* Whether an answer is owed of something that runs, so that a transaction may end. */
bool px_replies_run(const px_replies *replies);
/* `reply` changes what `name` means from now on: keeps what it meant, which is taken out of the
 * map. */
void px_reply_renames(px_replies *replies, px_reply *reply, px_statements *statements,
                      pgw_slice name);
/* Whether the meaning of `name` depends on something unanswered that may be skipped or refused. */
bool px_replies_move(const px_replies *replies, pgw_slice name);
/* Whether something before the open group may change what `name` means. What the group itself may
 * skip does not count: the server skips the rest of the group with it. */
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
