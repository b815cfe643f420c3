/*
 * statements: what a session has prepared, by name: INSERTs into configured tables with their plan,
 * others by name alone, so that names clash as in PostgreSQL. Nothing here takes longer for there
 * being many.
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
    PX_KEPT_PARSE = 64 * 1024,        /* bytes of a Parse message that may be kept */
    PX_KEPT_PARSES = 4 * 1024 * 1024, /* bytes of all Parse messages that a session may keep */
    PX_PREPARED_FREE = 64 * 1024      /* bytes that a session may prepare, whatever others have */
};

/* What is known of a statement without a plan. */
typedef struct px_passthrough {
    unsigned effects;    /* rw_effect bits: what the statement does when it is run */
    unsigned generation; /* px_state_generation() when it was prepared: what names meant */
    unsigned same_count; /* entries of `same`: pairs of parameters that a Bind must give one value,
                            lest a key changes */
    bool moving;         /* it would write or make a configured table if a name came to mean that */
    bool defines;        /* it makes or alters a configured table, so that `generation` counts
                            px_state.made */
    bool changes_key;    /* it changes keys, whose new hashes are computed for it */
    bool stores;         /* it may write rows of tables that become configured or get other keys */
    bool stale;          /* a table or key may be another by now: it must not be run as it is */
    bool outlived;  /* the form of it that changes a key was dropped, for the table is another */
    bool executes;  /* it runs other statements by SQL's EXECUTE */
    bool inert;     /* it names no configured table, and is neither COPY nor a command (inert.h) */
    uint64_t epoch; /* epoch of the catalog that it was last read by; 0: it names no table of a
                       pattern */
    const struct cfg_config *config; /* configuration that it was last read by */
    rw_equal_parameters same[RW_EQUAL_PARAMETERS_MAX];
} px_passthrough;

typedef struct px_statement {
    px_entry entry; /* entry by the name; "": the unnamed statement */
    struct px_statement *next, *previous;
    px_plan *plan;  /* plan of an INSERT into a configured table. Counted; NULL: it is another
                       statement */
    px_plan *was;   /* without a plan: the plan that it once had. Counted; NULL: it never had one */
    pgw_buf parse;  /* without a plan: its Parse message, to prepare it again on another link; empty
                       if it was not kept */
    uint64_t link;  /* number of the session's own link that it is prepared on; 0: on none */
    bool raw_parse; /* the link has the client's own text, which was only to be described
                       (raw_parse.h) */
    bool has_drawn; /* the text on the link has numbers drawn ahead in it (sequence_session.h) */
    bool sql_execute;    /* without a plan: SQL's PREPARE made it with conditions, which it must not
                       have    any more */
    bool unsure;         /* the link inferred parameter types, perhaps others than the plan has */
    unsigned generation; /* px_state.generation when a statement with a plan was prepared: what
                            names meant */
    px_passthrough passthrough; /* what is known of a statement without a plan */
    pgw_buf prepare; /* without a plan: text of the SQL PREPARE that made it; empty if it was not
                        kept */
    px_lookups *lookups; /* without a plan: how it asks for rows by their hash key. Counted; NULL:
                            it does not */
    px_reads *reads;     /* How a statement without lookups reads configured tables; owned; NULL: it
                            reads none. */
    char name[];
} px_statement;

/* A session's prepared statements; all zero: none. */
typedef struct px_statements {
    px_table names;
    /* Chain of all statements: those on the link, except drafts, stand last. */
    px_statement *first, *last;
    uint64_t links_lost; /* links lost so far: a statement on the present link has one more as its
                            `link` */
    unsigned ours;       /* statements with a plan */
    unsigned reading;    /* statements with a plan whose constants settings decide */
    unsigned unkept;     /* statements with neither a plan nor a Parse message */
    size_t kept_bytes;
    size_t weight;           /* bytes of plans and Parse messages */
    _Atomic size_t *account; /* where `weight` is counted for the process; NULL: nowhere */
} px_statements;

px_statement *px_statements_find(const px_statements *statements, pgw_slice name);
/* Adds a statement, in place of one of the same name. Takes one more reference of `plan`. */
px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link);
/* A statement with a plan has this one from now on, whose reference is given away. */
void px_statements_replan(px_statements *statements, px_statement *statement, px_plan *plan);
/* Whether all sessions have prepared `most` bytes, and this one more than PX_PREPARED_FREE. */
bool px_statements_are_many(const px_statements *statements, uint64_t most);
/* Keeps the Parse message of a statement without a plan, if there is room for it. */
void px_statements_keep(px_statements *statements, px_statement *statement, pgw_slice parse);
/* Keeps the text of a statement that SQL's PREPARE made, if there is room for it. */
void px_statements_keep_prepare(px_statements *statements, px_statement *statement, pgw_slice text);
/* Whether there is room to keep a further statement, whose text has `len` bytes. */
bool px_statements_have_room(const px_statements *statements, size_t len);
/* A statement without a plan has these lookups from now on; takes one more reference. */
void px_statements_look_up(px_statements *statements, px_statement *statement, px_lookups *lookups);
/* A statement without a plan reads configured tables so; `reads` is given away. */
void px_statements_read(px_statements *statements, px_statement *statement, px_reads *reads);
/* The statement has no lookups any more: its Parse message is this one, however much is kept. */
void px_statements_forget_lookups(px_statements *statements, px_statement *statement,
                                  pgw_slice parse);
/* The text in a Parse message that was kept. NULL: none was kept. */
pgw_slice px_statements_kept_text(const pgw_buf *parse);
bool px_statements_on_link(const px_statements *statements, const px_statement *statement);
void px_statements_move(px_statements *statements, px_statement *statement, bool on_link);
/* Marks a statement on the link as a draft there, until it is moved. */
void px_statements_raw_parse(px_statements *statements, px_statement *statement);
bool px_statements_is_raw_parse(const px_statements *statements, const px_statement *statement);
/* Notes that the link is lost, and all statements on it. */
void px_statements_lose_link(px_statements *statements);
/* A statement that is not on the link, or is a draft there; NULL: there is none. */
px_statement *px_statements_away(const px_statements *statements);
void px_statements_remove(px_statements *statements, pgw_slice name);
/* Takes a name's statement out of the map, for the caller to give back or to free; NULL: there is
 * none. */
px_statement *px_statements_take(px_statements *statements, pgw_slice name);
/* Puts back what was taken for `name` (NULL: none), in place of whatever has the name now. */
void px_statements_restore(px_statements *statements, pgw_slice name, px_statement *taken);
/* Whether settings decide, when it is prepared, what its constants are. */
bool px_statement_reads(const px_statement *statement);
void px_statement_free(px_statement *taken); /* NULL is fine */
void px_statements_clear(px_statements *statements);
void px_statements_free(px_statements *statements);

#endif
