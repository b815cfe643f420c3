/*
 * shape: a statement without the values of its constants: all that PostgreSQL's grammar sees of it,
 * and hence all that decides what it writes. `userid = 5` and `userid = 6` have one shape.
 */
#ifndef RW_SHAPE_H
#define RW_SHAPE_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/lexer.h"

enum { RW_SHAPE_MAX = 4096 };

/* The epoch and the rules that the text is read by, then every token with a NUL behind it.
 * Constants keep their kind alone, as the grammar has it: int4, other numbers, strings. All else is
 * there as it was written: names, parameters, operators with the signs, E'…', $$…$$, strings in
 * pieces, and the numbers that belong to a type. */
typedef struct rw_shape {
    size_t len;
    char bytes[RW_SHAPE_MAX];
} rw_shape;

/* The shape of one statement, at whose begin the lexer is, that reads or writes rows: SELECT,
 * UPDATE, DELETE, MERGE, INSERT and its like, WITH, or a query in parentheses. False if it is
 * something else (constants decide what SET or EXPLAIN do), longer than RW_SHAPE_MAX, or not made
 * of PostgreSQL's tokens. */
PGW_MUST_CHECK bool rw_shape_of(rw_lexer lexer, const rw_catalog *catalog, rw_shape *out);

#endif
