/*
 * parser: the INSERT parser's state, its way through the tokens, and what it notes and says about
 * them. Each part of the statement has a file above this one; render.c needs rw_splice.
 */
#ifndef RW_PARSER_H
#define RW_PARSER_H

#include "rewrite/insert/insert.h"

/* `text` comes at `at` in the place of `remove` bytes of the client's. In order of `at`; the
 * parser puts none into rows, whose hashes are found from the rows. */
typedef struct rw_splice {
    size_t at, remove;
    pgw_slice text;
    size_t from;  /* where the client is told of errors in it */
    bool written; /* … but that it is a part of the text that the client wrote, in that memory */
    uint32_t undeclared; /* only if this parameter, from 1, has no declared type; 0: always */
} rw_splice;

/* … if PostgreSQL itself does not tell where. */
#define RW_NOWHERE SIZE_MAX

/* What came of parsing a part. */
typedef enum rw_outcome {
    RW_PARSED,
    RW_PASS,      /* the backend certainly rejects it: its error is the client's */
    RW_UNTOUCHED, /* goes on without a hash (uncomputable: forward) */
    RW_REFUSED    /* the error is filled */
} rw_outcome;

enum { RW_NO_SLOT = -1, RW_HASH_SLOT = -2 };

/* A column of the statement's list. */
typedef struct rw_target {
    size_t column;   /* index in the table; column_count if it has none of that name */
    int slot;        /* which cell of the key its values are; RW_HASH_SLOT; RW_NO_SLOT */
    bool indirect;   /* only a part of the column is set: column[1], column.field */
    size_t position; /* byte offset of its name */
} rw_target;

/* Where to go back to when something turns out to be something else. */
typedef struct rw_mark {
    size_t at, last_end;
    rw_token token;
} rw_mark;

typedef struct rw_parser {
    rw_lexer lexer;
    rw_token token;  /* the next one, not yet taken */
    size_t last_end; /* behind the last one taken */
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
    rw_row *many; /* the insert's rows, once they are many; malloc's, until the arena keeps them */
    uint32_t *params; /* by number - 1: type, 0 = not seen, RW_PARAM_UNCLEAR */
    uint32_t param_cap;
    bool columns_listed;
    bool default_values;  /* DEFAULT VALUES, which takes no list */
    size_t source;        /* behind the list of columns, or where one would stand */
    size_t name_end;      /* where a column list stands or would */
    rw_mark query;        /* where VALUES stands, or a query in its place, with its brackets */
    size_t query_columns; /* of the SELECT in the place of VALUES; 0: not known */
    bool unknown_column;  /* the list names a column that the table, as it is known here, has not */
    bool overriding_user, overriding_system;
    size_t overriding_end; /* behind it, if it is written */
    bool writes_identity; /* GENERATED ALWAYS, which only OVERRIDING SYSTEM VALUE lets be written */
    bool conflict_on_key; /* the target of ON CONFLICT is the primary key */
    bool sets_key;        /* … and DO UPDATE sets columns that the hash is made of */
    bool keyless;         /* the cell at hand is of no column of the key */
    unsigned obstacles;   /* a bit for each rw_obstacle */
    size_t asks_last;     /* where lastval() stands; 0: nowhere */
    bool impossible;      /* something that the backend certainly rejects */
    bool too_large;       /* … or that would take too much memory here: no more tokens come */
} rw_parser;

enum { RW_PARAM_UNCLEAR = -1 };

void rw_advance(rw_parser *parser);
bool rw_at(const rw_parser *parser, char c); /* a CHAR token c */
bool rw_at_word(const rw_parser *parser, const char *lower);
bool rw_take(rw_parser *parser, char c); /* takes it if it is there */
bool rw_take_word(rw_parser *parser, const char *lower);
bool rw_at_name(const rw_parser *parser); /* an identifier, quoted or not */
/* Takes a name (with UESCAPE); arena-owned. */
pgw_slice rw_take_name(rw_parser *parser);
bool rw_at_end(const rw_parser *parser); /* END or ';' */
rw_mark rw_mark_here(const rw_parser *parser);
void rw_go_back(rw_parser *parser, rw_mark mark);
/* Takes the bracket that is next and all up to its partner; false at the end of the text. */
PGW_MUST_CHECK bool rw_skip_brackets(rw_parser *parser);
/* Takes one token; notes the parameter or the sequence function that it may be. */
void rw_skip_token(rw_parser *parser);
/* Notes a use of $n with the type that it gives it (PGW_UNSPECIFIED: cannot be told). */
void rw_note_param(rw_parser *parser, uint32_t number, uint32_t type);
/* A parameter may have its type of this column. */
void rw_note_inference(rw_parser *parser, size_t column);
/* n of $n; 0 for what no statement can have, which `impossible` then says. */
uint32_t rw_param_number(rw_parser *parser, rw_token token);
/* Takes UESCAPE 'c' if it is there; false if c is none. */
PGW_MUST_CHECK bool rw_take_uescape(rw_parser *parser, char *escape);

/* … until the next one comes. */
rw_splice *rw_add_splice(rw_parser *parser, size_t at, size_t remove, pgw_slice text);
void rw_note_obstacle(rw_parser *parser, rw_obstacle obstacle);
PGW_MUST_CHECK rw_outcome rw_syntax_error(rw_parser *parser);
/* Refused with 0A000, or untouched if the table forwards. `why` ends "column … …". */
PGW_MUST_CHECK rw_outcome rw_uncomputable(rw_parser *parser, size_t column, size_t position,
                                          const char *why);
/* Whether nobody is to know that there is such a column: then it is refused, as PostgreSQL would.
 */
bool rw_denies(const rw_parser *parser, size_t column);
PGW_MUST_CHECK rw_outcome rw_deny_column(rw_parser *parser, size_t position);
/* The error's position: where the byte at `offset` is, in characters. */
void rw_set_position(rw_parser *parser, size_t offset);
/* Which cell of a row's key the column's values are; RW_HASH_SLOT; RW_NO_SLOT. */
int rw_slot_of(const rw_table *table, size_t column);
/* Whether OVERRIDING USER VALUE gives the column its default, whatever is written for it. */
bool rw_overridden(const rw_parser *parser, size_t column);
/* Refused: another identity than the key's, which it overrides as well, is listed. */
PGW_MUST_CHECK rw_outcome rw_check_overridden(rw_parser *parser);
rw_target *rw_add_target(rw_parser *parser, size_t column, size_t position);
/* One more, of which errors are told where it stands; before those that are there already. Only
 * behind the parser: rw_add_splice() would not know where the memory ends. */
void rw_insert_splice(rw_insert *insert, rw_splice splice, pgw_arena *arena);

#endif
