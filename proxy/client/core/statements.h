/*
 * statements: what a session has prepared, by name: ours with their plan, others by name alone, so
 * that names clash as they would in PostgreSQL. Nothing here takes longer for there being many.
 */
#ifndef PX_STATEMENTS_H
#define PX_STATEMENTS_H

#include "proxy/base/table.h"
#include "proxy/ingest/lookups.h"
#include "proxy/ingest/plan.h"
#include "proxy/ingest/reads.h"
#include "rewrite/statement/words/statement.h"

#include <stdatomic.h>

enum {
    PX_KEPT_PARSE = 64 * 1024,        /* bytes of a Parse message that is kept … */
    PX_KEPT_PARSES = 4 * 1024 * 1024, /* … and of all of a session */
    PX_PREPARED_FREE = 64 * 1024 /* of a session that may always prepare, whatever others have */
};

/* What is known of a statement that is none of ours. */
typedef struct px_foreign {
    unsigned effects;    /* of rw_effect: what it does when it is run */
    unsigned generation; /* of what names meant when it was prepared */
    unsigned same_count; /* what a Bind of it must give, lest it changes a key */
    bool moving;         /* it would write a configured table if a name came to mean that */
    bool defines;        /* it makes or alters one: what is made by names counts, too */
    bool changes_key;    /* it computes hashes, of keys that it stores */
    bool stores;         /* rows, of tables that may come to be ours, or to have other keys … */
    bool stale;          /* … and have: it must not be run as it is */
    bool outlived;       /* it could change a key, of the table as it was */
    bool executes;       /* … others, by SQL's EXECUTE */
    bool inert;          /* it names nothing of ours, and is neither COPY nor a command (inert.h) */
    uint64_t epoch;      /* of the catalog that it was read by last; 0: it names no table of it */
    const struct cfg_config *config; /* … and whose catalog that was */
    rw_same same[RW_SAME_MAX];
} px_foreign;

typedef struct px_statement {
    px_entry entry; /* by its name; "" = the unnamed one */
    struct px_statement *next, *previous;
    px_plan *plan; /* NULL: none of ours. Counted */
    px_plan *was;  /* none of ours: its plan when it was. Counted; NULL: it never was */
    pgw_buf parse; /* none of ours: its Parse message, to prepare it again on another link; empty if
                      it was not kept */
    uint64_t link; /* which of the session's own links it is prepared on; 0: on none */
    bool draft;    /* … as its client's own text, which was only to be described (draft.h) */
    bool told;     /* … which was another there (drawn.h) */
    bool by_sql;   /* none of ours: SQL prepared it, with conditions that it must not have now */
    bool unsure;   /* ours: it was prepared there by its client, when what the plan infers may have
                      been   something else */
    unsigned generation; /* ours: of what names meant when it was prepared */
    px_foreign foreign;  /* if it is none of ours */
    pgw_buf prepare;     /* … and SQL prepared it, without conditions: its text, if it was kept */
    px_lookups *lookups; /* … and asks for rows by their hash key. Counted; NULL: it does not */
    px_reads *reads;     /* How a statement without lookups reads configured tables; owned; NULL: it
                            reads none. */
    char name[];
} px_statement;

/* All zero is an empty one. */
typedef struct px_statements {
    px_table names;
    px_statement *first, *last; /* those on the link, but drafts, are behind those that are not */
    uint64_t links_lost;        /* a statement's `link` is one more: it is on the one of now */
    unsigned ours;              /* those with a plan */
    unsigned reading;           /* … whose constants settings decide */
    unsigned unkept;            /* neither with a plan nor with a Parse */
    size_t kept_bytes;
    size_t weight;           /* bytes of plans and Parses */
    _Atomic size_t *account; /* where they are counted for the process; NULL: nowhere */
} px_statements;

px_statement *px_statements_find(const px_statements *statements, pgw_slice name);
/* Adds it, in place of one of the same name. Takes one more reference of `plan`. */
px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link);
/* One of ours has this plan from now on, whose reference is given away. */
void px_statements_replan(px_statements *statements, px_statement *statement, px_plan *plan);
/* All have prepared `most` bytes, and this session more than a little. */
bool px_statements_are_many(const px_statements *statements, uint64_t most);
/* Keeps the Parse message of one that is none of ours, if there is room for it. */
void px_statements_keep(px_statements *statements, px_statement *statement, pgw_slice parse);
/* … or the text that SQL's PREPARE keeps. */
void px_statements_keep_prepare(px_statements *statements, px_statement *statement, pgw_slice text);
/* Whether what is known of a further one, of a text of `len` bytes, may be kept. */
bool px_statements_have_room(const px_statements *statements, size_t len);
/* One that is none of ours has these lookups from now on; takes one more reference. */
void px_statements_look_up(px_statements *statements, px_statement *statement, px_lookups *lookups);
/* One that is none of ours reads configured tables so; `reads` is given away. */
void px_statements_read(px_statements *statements, px_statement *statement, px_reads *reads);
/* It has no lookups any more: its Parse message is this one, however much is kept. */
void px_statements_forget_lookups(px_statements *statements, px_statement *statement,
                                  pgw_slice parse);
/* What a Parse message that was kept prepares. NULL: none was kept. */
pgw_slice px_statements_kept_text(const pgw_buf *parse);
bool px_statements_on_link(const px_statements *statements, const px_statement *statement);
void px_statements_move(px_statements *statements, px_statement *statement, bool on_link);
/* One that is on the link is a draft there, until it is moved. */
void px_statements_draft(px_statements *statements, px_statement *statement);
bool px_statements_is_draft(const px_statements *statements, const px_statement *statement);
/* None is on the link any more. */
void px_statements_lose_link(px_statements *statements);
/* One that is not on the link, or is a draft; NULL: there is none. */
px_statement *px_statements_away(const px_statements *statements);
void px_statements_remove(px_statements *statements, pgw_slice name);
/* Takes a name's statement out of the map, for the caller to give back or to free; NULL: there is
 * none. */
px_statement *px_statements_take(px_statements *statements, pgw_slice name);
/* What was taken for `name` (NULL: none) is there again, in place of whatever is. */
void px_statements_restore(px_statements *statements, pgw_slice name, px_statement *taken);
/* Whether settings decide, when it is prepared, what its constants are. */
bool px_statement_reads(const px_statement *statement);
void px_statement_free(px_statement *taken); /* NULL is fine */
void px_statements_clear(px_statements *statements);
void px_statements_free(px_statements *statements);

#endif
