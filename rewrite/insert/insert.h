/*
 * insert: INSERT, UPSERT and REPLACE … VALUES into a configured table in a single pass:
 * where the rows are, which cells feed the key, and what may be merged with what.
 * Rendering splices into the client's text and never deparses.
 */
#ifndef RW_INSERT_H
#define RW_INSERT_H

#include "rewrite/hash/literal.h"
#include "rewrite/lex/lexer.h"

/* Why a statement is not batched, for the counter and for EXPLAIN. RW_BATCHABLE: it can be. */
typedef enum rw_blocker {
    RW_BATCHABLE,
    RW_BLOCKER_RETURNING,    /* RETURNING has more than columns of the table */
    RW_BLOCKER_SEQUENCE,     /* a sequence is drawn from and the table says sequences: session */
    RW_BLOCKER_TRIGGER,      /* the table has triggers, rules or row security */
    RW_BLOCKER_EXPRESSION,   /* a cell is more than constants, parameters, casts, short functions */
    RW_BLOCKER_UNCOMPUTABLE, /* the row is forwarded without a hash (uncomputable: forward) */
    RW_BLOCKER_FORM          /* the form is rewritten but not merged, as with WITH */
} rw_blocker;

/* Bytes that the parsed statements of one text may take: tiny rows take many times their length. A
 * text that would take more is refused with 54000. */
enum { RW_PARSED_MOST = 256 * 1024 * 1024 };

typedef enum rw_insert_verb { RW_VERB_INSERT, RW_VERB_UPSERT, RW_VERB_REPLACE } rw_insert_verb;

/* A row behind VALUES. A text may have millions of rows. */
typedef struct rw_row {
    size_t open, close;       /* byte offsets of its '(' and of its matching ')' */
    rw_cell *key;             /* primary_key_count cells, in primary_key order */
    const rw_cell *hash_cell; /* what the client wrote for the hash column; ABSENT: nothing */
    bool superseded; /* the row is left out: a later row of the UPSERT or REPLACE has its key, or it
                        is stored already */
    bool unhashed;   /* RW_REFUSAL is rendered in the place of the row's hash */
    size_t hash_end; /* offset behind hash_cell, if the client wrote one */
} rw_row;

/* A cell of the hash_key whose value the backend is to be asked for (wanted.h). */
typedef struct rw_wanted {
    size_t row, column; /* the cell's row, and its column in the table */
    size_t from, to;    /* bytes of the cell in the text; equal: the row has no such cell */
    bool expression;    /* the client wrote a value; else the column's default is asked for */
    bool parameters;    /* the value has parameters */
    bool draws;         /* the value is nextval('…'), of whichever sequence */
    bool constant;      /* the value is a constant */
    bool untyped;       /* the value is a string without a cast: the column's type reads it */
    bool runs_code;     /* the value may run a function of the database's own */
    bool overridden;    /* OVERRIDING USER VALUE: only the value's type counts, and the column's
                           default is asked for */
} rw_wanted;

/* A cell of a lone row whose value could travel as a parameter of its column's type (lift.h). */
typedef struct rw_lift {
    size_t from, to; /* bytes of the cell */
    bool null;
    pgw_slice value; /* text that the type's input reads as it does the cell */
} rw_lift;

/* A column that a statement returns as it is, under a name. */
typedef struct rw_returned {
    size_t column; /* index of the column in the table */
    pgw_slice name;
} rw_returned;

/* A cell of a key, rendered as another text where settings decide what it means (spell.h). */
typedef struct rw_spelled {
    size_t from, to;
    pgw_slice text;
} rw_spelled;

typedef struct rw_insert {
    const rw_table *table;
    pgw_slice text; /* the text of this statement alone, without ';', inside the caller's text */
    rw_insert_verb verb;
    rw_row *rows;
    size_t row_count;
    uint32_t param_count; /* the highest $n */
    bool hash_listed;     /* the client lists the hash column */
    bool list_made; /* the client lists no columns: keyspread adds the list, of the columns as it
                       knows them */
    bool shows; /* a value may be stored as text that output settings decide, because of a cast */
    bool heeds_settings;  /* cells are more than parameters, and constants that all sessions read
                             alike */
    bool reads_constants; /* settings decide how some constants are read when the statement is
                             prepared */
    bool reads_names;     /* a value may be the number of what a name means, as in a regclass */
    bool reads_clock;     /* a value is the time of the statement, or of the moment */
    bool query;       /* the rows come from a query, in which the backend computes their hashes */
    bool leaves_null; /* the query's rows leave out a column of the hash_key that has no default */
    size_t new_key; /* offset of a new key's value in DO UPDATE, which the backend hashes; 0: there
                       is none */
    bool has_conflict; /* ON CONFLICT is written, or added for UPSERT or REPLACE */
    /* Rows of several statements may stand in one VALUES list: each row is stored and counted
     * (no RETURNING, and no ON CONFLICT but DO UPDATE without WHERE). */
    bool values_merge;
    bool key_constant; /* every primary key column is a constant or a parameter in every row */
    rw_blocker blocker;
    /* The type that its use gives each parameter, by number - 1 (the column's or the cast's), or
     * PGW_UNSPECIFIED where that cannot be told here. */
    uint32_t *inferred;
    bool *infers;     /* flags of the columns whose types parameters may have; NULL: none */
    bool infers_all;  /* parameters may have their types of any column */
    bool heeds_types; /* the guard also asks for the types of the columns of `infers` */
    struct rw_splice *splices; /* what the renderer puts in; private to the parser and render.c */
    size_t splice_count;
    rw_spelled *spelled; /* spelled cells in the order of the text */
    size_t spelled_count;
    const char *zone; /* TimeZone that the guard asks for, because it decides what bound parameters
                         become; NULL: the guard does not ask */
    rw_lift *lifts;   /* the lone row's cells but for DEFAULTs; NULL: they cannot all be lifted */
    size_t lift_count;
    rw_wanted *wanted; /* wanted cells in the order of rows; the statement has no hashes before they
                          are filled */
    size_t wanted_count;
    /* Columns for which every row gets a cell at its end: a wanted one, or DEFAULT. */
    size_t *appended;
    size_t appended_count;
    size_t list_end; /* offset of the ')' of the client's list of columns; 0: there is none */
    size_t overriding, overriding_end; /* bytes that OVERRIDING SYSTEM VALUE replaces: none, or
                                          OVERRIDING USER VALUE; 0: it is not put in */
    size_t default_values, default_values_end; /* bytes of DEFAULT VALUES; 0: it is not written */
    size_t returning;      /* offset behind the word RETURNING; 0: there is none */
    rw_returned *returned; /* columns by name that RETURNING lists; NULL: none */
    size_t returned_count; /* entries of `returned`; 0: RETURNING is absent, has many columns or
                              more than names */
    size_t tail;   /* offset behind the last row's ')', where ON CONFLICT or RETURNING may stand */
    size_t values; /* offset behind the word VALUES */
    size_t end;    /* offset behind the last token */
    bool utf8;     /* positions count characters, else bytes */
} rw_insert;

#endif
