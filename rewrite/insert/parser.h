/*
 * parser: the INSERT parser's state, its way through the tokens, and what it notes and says about
 * them. Each part of the statement has a file above this one; render.c needs rw_splice.
 */
#ifndef RW_PARSER_H
#define RW_PARSER_H

#include "rewrite/insert/insert.h"

/* `text` is put in the place of `remove` bytes of the client's text at `at`. Splices are in order
 * of `at`; the parser puts none into rows, whose hashes are found from the rows. */
typedef struct rw_splice {
    size_t at, remove;
    pgw_slice text;
    size_t from;  /* offset in the client's text where errors in `text` are told */
    bool written; /* `text` is a slice of what the client wrote, and errors point into that */
    uint32_t undeclared; /* the parameter, from 1, that must have no declared type for this splice;
                            0: always put in */
} rw_splice;

/* The `from` of a splice in which PostgreSQL itself would give an error no position. */
#define RW_NOWHERE SIZE_MAX

/* The outcome of parsing a part of the statement. */
typedef enum rw_outcome {
    RW_PARSED,
    RW_PASS,      /* the statement goes on as it is: no configured table is written, or the backend
                     certainly rejects it */
    RW_UNTOUCHED, /* the statement goes on without a hash (uncomputable: forward) */
    RW_REFUSED    /* keyspread refuses the statement: the error is filled */
} rw_outcome;

enum { RW_NO_SLOT = -1, RW_HASH_SLOT = -2 };

/* A column of the statement's list. */
typedef struct rw_target {
    size_t column;   /* index in the table; column_count: the table has no column of that name */
    int slot;        /* index of its cell in a row's key; RW_HASH_SLOT; RW_NO_SLOT */
    bool indirect;   /* only a part of the column is set: column[1], column.field */
    size_t position; /* byte offset of the column's name */
} rw_target;

/* A place in the text to go back to when something turns out to be something else. */
typedef struct rw_mark {
    size_t at, last_end;
    rw_token token;
} rw_mark;

typedef struct rw_parser {
    rw_lexer lexer;
    rw_token token;  /* the next token, not yet taken */
    size_t last_end; /* offset behind the last token taken */
    pgw_slice text;
    const rw_catalog *catalog;
    const pgw_env *env;
    pgw_arena *arena;
    pgw_error *error;
    const rw_table *table;
    const char *known_as; /* the table's name, or its alias */
    rw_insert *insert;
    rw_target *targets;
    size_t target_count, target_cap;
    size_t row_cap, splice_cap;
    rw_row *many; /* the insert's rows, once there are more than 64; malloc'ed, until keep_rows()
                     moves them to the arena */
    uint32_t *params; /* types by parameter number - 1; 0: not seen; RW_PARAM_UNCLEAR */
    uint32_t param_cap;
    bool columns_listed;
    bool default_values;  /* DEFAULT VALUES, which takes no list */
    size_t source;        /* offset behind the column list, or where one would stand */
    size_t name_end;      /* offset behind the table's name and alias */
    rw_mark query;        /* where VALUES or a query in its place begins, with its brackets */
    size_t query_columns; /* columns of the SELECT in the place of VALUES; 0: not known */
    bool unknown_column;  /* the list names a column that the table is not known to have */
    bool overriding_user, overriding_system;
    size_t overriding_end; /* offset behind OVERRIDING … VALUE; 0: it is not written */
    bool writes_identity;  /* a value is written for a GENERATED ALWAYS identity, which only
                              OVERRIDING SYSTEM VALUE allows */
    bool conflict_on_key;  /* the target of ON CONFLICT is the primary key */
    bool sets_key;         /* DO UPDATE sets a hash_key column to the value that it has */
    bool keyless;          /* the cell that is parsed belongs to no column of the key */
    unsigned blockers;     /* a bit for each rw_blocker */
    size_t asks_last;      /* offset of lastval() in the text; 0: it is not called */
    bool impossible;       /* the backend certainly rejects the statement */
    bool too_large;        /* the parsed statement takes too much memory: no more tokens come */
} rw_parser;

enum { RW_PARAM_UNCLEAR = -1 };

void rw_advance(rw_parser *parser);
bool rw_at(const rw_parser *parser, char c); /* whether the next token is the character c */
bool rw_at_word(const rw_parser *parser, const char *lower);
bool rw_take(rw_parser *parser, char c); /* takes the character c, if it is next */
bool rw_take_word(rw_parser *parser, const char *lower);
bool rw_at_name(const rw_parser *parser); /* whether an identifier is next, quoted or not */
/* Takes a name (with UESCAPE); arena-owned. */
pgw_slice rw_take_name(rw_parser *parser);
bool rw_at_end(const rw_parser *parser); /* whether the text or the statement ends here */
rw_mark rw_mark_here(const rw_parser *parser);
void rw_go_back(rw_parser *parser, rw_mark mark);
/* Takes the bracket that is next and all up to its partner; false at the end of the text. */
PGW_MUST_CHECK bool rw_skip_brackets(rw_parser *parser);
/* Takes one token; notes the parameter or the sequence function that it may be. */
void rw_skip_token(rw_parser *parser);
/* Notes a use of $n with the type that the use gives it (PGW_UNSPECIFIED: cannot be told). */
void rw_note_param(rw_parser *parser, uint32_t number, uint32_t type);
/* Notes that a parameter may have its type of this column. */
void rw_note_inference(rw_parser *parser, size_t column);
/* The number n of a token $n; 0, with `impossible` set, if no statement can have it. */
uint32_t rw_param_number(rw_parser *parser, rw_token token);
/* Takes UESCAPE 'c' if it is there; false if c is no single character. */
PGW_MUST_CHECK bool rw_take_uescape(rw_parser *parser, char *escape);

/* Adds a splice in order of `at`; the pointer is valid until the next splice is added. */
rw_splice *rw_add_splice(rw_parser *parser, size_t at, size_t remove, pgw_slice text);
void rw_note_blocker(rw_parser *parser, rw_blocker blocker);
PGW_MUST_CHECK rw_outcome rw_syntax_error(rw_parser *parser);
/* Refuses with 0A000, or leaves the statement untouched if the table forwards. `why` ends the
 * sentence "column "x" …". */
PGW_MUST_CHECK rw_outcome rw_uncomputable(rw_parser *parser, size_t column, size_t position,
                                          const char *why);
/* Whether a column must not be known to exist (hide: strict): the client gets PostgreSQL's error
 * for a missing column. */
bool rw_denies(const rw_parser *parser, size_t column);
PGW_MUST_CHECK rw_outcome rw_deny_column(rw_parser *parser, size_t position);
/* Sets the error's position, in characters, to that of the byte at `offset`. */
void rw_set_position(rw_parser *parser, size_t offset);
/* Which cell of a row's key holds the column's values; RW_HASH_SLOT; RW_NO_SLOT. */
int rw_slot_of(const rw_table *table, size_t column);
/* Whether OVERRIDING USER VALUE gives the column its default, whatever is written for it. */
bool rw_overridden(const rw_parser *parser, size_t column);
/* Refuses a list with an identity beside the key's, which OVERRIDING would change, too. */
PGW_MUST_CHECK rw_outcome rw_check_overridden(rw_parser *parser);
rw_target *rw_add_target(rw_parser *parser, size_t column, size_t position);
/* Adds a splice once the statement is parsed, when rw_add_splice() no longer knows how much memory
 * there is. Errors in it are told where it stands. At the same place it comes before other splices,
 * unless it removes text. */
void rw_insert_splice(rw_insert *insert, rw_splice splice, pgw_arena *arena);

#endif
