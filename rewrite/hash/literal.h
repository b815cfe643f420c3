/*
 * literal: an expression of a VALUES row as the parser saw it, and what PostgreSQL would store for
 * it. Literal -> its own type -> explicit casts, inside out -> assignment cast to the column.
 */
#ifndef RW_LITERAL_H
#define RW_LITERAL_H

#include "rewrite/hash/table.h"

typedef enum rw_cell_kind {
    RW_CELL_ABSENT,  /* the column is not listed: its default */
    RW_CELL_DEFAULT, /* the word DEFAULT */
    RW_CELL_NULL,
    RW_CELL_STRING,    /* '…' E'…' U&'…' $…$: unescaped text, type unknown until cast */
    RW_CELL_INTEGER,   /* digits: int4, int8 or numeric by size, as the grammar's make_const does */
    RW_CELL_DECIMAL,   /* 2.5, 1e3: numeric */
    RW_CELL_BOOL,      /* TRUE, FALSE; text is "true" or "false" */
    RW_CELL_PARAM,     /* $n */
    RW_CELL_EXPRESSION /* anything else; never computable */
} rw_cell_kind;

typedef struct rw_cast {
    uint32_t type;  /* PGW_UNSPECIFIED: a type that is not known here */
    int32_t typmod; /* -1: none written */
    bool prefix; /* `type 'text'`: the text goes through the type's input function as a constant */
} rw_cast;

enum { RW_MAX_CASTS = 4 }; /* more in one expression is RW_CELL_EXPRESSION */

/* An expression as it was written. A text may have millions of cells. */
typedef struct rw_cell {
    pgw_slice text;  /* unescaped string, digits of a number, "true"/"false" */
    rw_cast *casts;  /* room for RW_MAX_CASTS, innermost first; NULL: there are none */
    size_t position; /* byte offset of the expression in the text */
    rw_cell_kind kind;
    uint32_t parameter; /* n of a parameter $n, from 1 */
    uint8_t cast_count;
    int8_t minus_after; /* -1: no minus sign; else the sign is applied after that many casts
                           (`-5::int8` is -(5::int8): 1; `(-5)::int8`: 0) */
} rw_cell;

/* A bound parameter: its declared or inferred type, format and bytes. */
typedef struct rw_param {
    uint32_t type;
    bool binary;
    bool null;
    pgw_slice bytes;
} rw_param;

/* Whether only the server can tell the cell's value: a constant cannot be computed, or a parameter
 * has a cast that cannot. Errors in the cell are found later. */
bool rw_cell_is_unknowable(const rw_cell *cell, const rw_column *column,
                           const pgw_reading *reading);

/* The digits of a number's token as all versions of PostgreSQL write them: `token` itself, or a
 * copy in the arena. False: the server does not take the token, or it is larger than 64 bits. */
PGW_MUST_CHECK bool rw_number_text(pgw_slice token, const pgw_env *env, pgw_arena *arena,
                                   pgw_slice *out);

/* Whether a constant's digits with its sign are an integer, as make_const() of PostgreSQL's parser
 * takes them, and which; else the constant is a numeric. */
PGW_MUST_CHECK bool rw_digits_fit_int8(pgw_slice digits, bool minus, int64_t *integer);

/* The bound parameters: $n is list[n - 1]. `list` NULL: nothing is known of the parameters yet. */
typedef struct rw_params {
    const rw_param *list;
    size_t count;
} rw_params;

#define RW_NO_PARAMS ((rw_params){NULL, 0})

/* What `column` will hold for `cell`. NULL is a known value here; whether the key may be NULL is
 * the caller's question. DEFAULT, absent, expressions and parameters that were not bound are
 * PGW_UNKNOWABLE. */
PGW_MUST_CHECK pgw_verdict rw_cell_value(const rw_cell *cell, const rw_column *column,
                                         rw_params params, const pgw_reading *reading,
                                         pgw_value *out);

#endif
