/*
 * insert: INSERT, UPSERT and REPLACE … VALUES into a configured table in a single pass:
 * where the rows are, which cells feed the key, and what may be merged with what.
 * Rendering splices into the client's text and never deparses.
 */
#ifndef RW_INSERT_H
#define RW_INSERT_H

#include "rewrite/hash/literal.h"
#include "rewrite/lex/lexer.h"

/* Why a statement is not batchable, for the counter and for explain. RW_BATCHABLE = it is. */
typedef enum rw_obstacle {
    RW_BATCHABLE,
    RW_OBSTACLE_RETURNING,    /* of more than columns of the table */
    RW_OBSTACLE_SEQUENCE,     /* a sequence is drawn from and the table says sequences: session */
    RW_OBSTACLE_TRIGGER,      /* INSERT triggers, rules or row security */
    RW_OBSTACLE_EXPRESSION,   /* a cell that is more than constants, parameters, casts, short
                                 functions */
    RW_OBSTACLE_UNCOMPUTABLE, /* forwarded without a hash (uncomputable: forward) */
    RW_OBSTACLE_FORM          /* a form that is rewritten but not merged: WITH, … */
} rw_obstacle;

/* Bytes that the parsed statements of one text may take: tiny rows take many times what they are
 * long. What would take more is refused with 54000. */
enum { RW_PARSED_MOST = 256 * 1024 * 1024 };

typedef enum rw_insert_verb { RW_VERB_INSERT, RW_VERB_UPSERT, RW_VERB_REPLACE } rw_insert_verb;

/* A text may have millions. */
typedef struct rw_row {
    size_t open, close;       /* byte offsets of its '(' and of its matching ')' */
    rw_cell *key;             /* primary_key_count cells, in primary_key order */
    const rw_cell *hash_cell; /* what the client wrote for the hash column; ABSENT: nothing */
    bool superseded; /* not rendered: a later row of an UPSERT or REPLACE has the same key, or it is
                        stored already */
    bool unhashed;   /* rendered with RW_REFUSAL in the place of its hash */
    size_t hash_end; /* behind hash_cell, if the client wrote one */
} rw_row;

/* A cell of the hash_key whose value the backend is to be asked for (wanted.h). */
typedef struct rw_wanted {
    size_t row, column; /* of the table */
    size_t from, to;    /* bytes of the cell, an expression or DEFAULT; equal: the row has none */
    bool expression;
    bool parameters; /* … of parameters, too */
    bool draws;      /* … that is nextval('…'), of whichever sequence */
    bool constant;   /* … that is a constant */
    bool untyped;    /* … that is a string without a cast: the column's type reads it */
    bool runs_code;  /* … that may run a function of the database's own */
    bool overridden; /* … whose type alone counts: OVERRIDING USER VALUE; its default is wanted */
} rw_wanted;

/* A cell of a lone row whose value could travel as a parameter of its column's type (lift.h). */
typedef struct rw_lift {
    size_t from, to; /* its bytes */
    bool null;
    pgw_slice value; /* as text, which the type's input reads as it does the cell */
} rw_lift;

/* A column that a statement returns as it is, under a name. */
typedef struct rw_returned {
    size_t column; /* of the table */
    pgw_slice name;
} rw_returned;

/* A cell of a key as it is rendered, where settings would decide what its own bytes are (spell.h).
 */
typedef struct rw_spelled {
    size_t from, to;
    pgw_slice text;
} rw_spelled;

typedef struct rw_insert {
    const rw_table *table;
    pgw_slice text; /* of this statement alone, without ';', inside the caller's text */
    rw_insert_verb verb;
    rw_row *rows;
    size_t row_count;
    uint32_t param_count; /* the highest $n */
    bool hash_listed;     /* the client lists the hash column */
    bool list_made;       /* the client lists no columns: the list is ours, of the table as known */
    bool shows;           /* a value may be stored as text that settings of output decide: a cast */
    bool heeds_settings;  /* its cells are more than parameters and constants that every session
                             reads alike */
    bool reads_constants; /* Some of its constants are read as settings say when it is prepared. */
    bool reads_names; /* a value may be the number of what a name means: in a regclass and its like
                       */
    bool query;       /* its rows come from a query, in which the backend is told to hash them */
    bool leaves_null; /* The rows of that query leave out a column of the hash_key that has no
                         default. */
    size_t new_key; /* Where DO UPDATE has the value of a changed key, which the backend is told to
                       hash; 0: it changes none. */
    bool has_conflict; /* ON CONFLICT, written or (UPSERT, REPLACE) made */
    bool values_merge; /* rows of several statements may stand in one VALUES list: the count will
                          equal the rows (rules: no ON CONFLICT but DO UPDATE without WHERE, …) */
    bool key_constant; /* every primary key column is a constant or a parameter in every row */
    rw_obstacle obstacle;
    /* for each parameter 1…param_count: the type its use gives it (the column's, the cast's), or
       PGW_UNSPECIFIED where that cannot be told here */
    uint32_t *inferred;
    bool
        *infers; /* A flag a column: a parameter may have its type of that column. NULL: of none. */
    bool infers_all;           /* Parameters may have their types of any column. */
    bool heeds_types;          /* The guard asks for the types of the columns of `infers`, too. */
    struct rw_splice *splices; /* what the renderer puts in; private to the parser and render.c */
    size_t splice_count;
    rw_spelled *spelled; /* in order of the text */
    size_t spelled_count;
    const char *zone; /* the guard asks whether TimeZone is this, for it decides what becomes of
                         parameters once they are bound; NULL: it does not */
    rw_lift *lifts;   /* of its only row, but for DEFAULTs; NULL: not all the others could */
    size_t lift_count;
    rw_wanted *wanted; /* in order of rows; if there are any, the statement has no hashes yet */
    size_t wanted_count;
    size_t
        *appended; /* columns that every row is to get a cell for, at its end: wanted or DEFAULT */
    size_t appended_count;
    size_t list_end; /* offset of the ')' of the client's list of columns; 0: there is none */
    size_t overriding, overriding_end; /* offsets of what OVERRIDING SYSTEM VALUE is to stand for:
                                          nothing, or OVERRIDING USER VALUE; 0: nowhere */
    size_t default_values, default_values_end; /* offsets of DEFAULT VALUES; 0: it is not that */
    size_t returning;      /* offset behind the word RETURNING; 0: there is none */
    rw_returned *returned; /* What it returns, if that is few columns by their names … */
    size_t returned_count; /* … and how many; 0: it is something else, or nothing. */
    size_t tail;           /* offset behind the last row's ')': ON CONFLICT, RETURNING, … */
    size_t values;         /* offset behind the word VALUES */
    size_t end;            /* offset behind the last token */
    bool utf8;             /* what positions count: its characters, or bytes */
} rw_insert;

#endif
