/*
 * inline: puts something else in the place of a statement's parameters: the constants that were
 * bound, or NULL::type where the statement is only to be described.
 */
#ifndef RW_INLINE_H
#define RW_INLINE_H

#include "rewrite/hash/literal.h"

/* Bytes that may stand around a text in the message that brings it: the header, and what else a
 * Parse has. Errors name the length of the message, as it is configured. */
enum { RW_AROUND_TEXT = 32 };

/* The texts that replace $1, $2 and so on; each is an operand, as a constant with a cast is. */
typedef struct rw_inlining {
    const pgw_slice *texts;
    size_t count;
    bool conforming;       /* how the statement's own strings are read */
    size_t most;           /* bytes that the result may have */
    const size_t *unnamed; /* where parameters that are columns of a result begin, in order; such
                              columns are still called ?column? then. NULL: there are none */
    size_t unnamed_count;
} rw_inlining;

/* Appends the statement, which is of PostgreSQL's grammar, with each $n replaced, but in strings
 * and comments, and columns without the schema `public`. False: it has a parameter that there is no
 * text for (42P02), or the result would be longer than `most` (54000); then nothing is appended. */
PGW_MUST_CHECK bool rw_inline(pgw_slice text, const rw_inlining *how, pgw_buf *out,
                              pgw_error *error);

/* Makes the texts for values that were bound; arena-owned. False: one is not a value of its type,
 * or all together are longer than `most` (54000). */
PGW_MUST_CHECK bool rw_bound_texts(rw_params params, size_t most, const pgw_reading *reading,
                                   const pgw_slice **out);
/* Makes the texts for parameters of which only the types are known: NULL::type. */
const pgw_slice *rw_null_texts(const uint32_t *types, size_t count, pgw_arena *arena);
/* Makes the texts for an EXECUTE's arguments, cast to these types of the parameters; the database
 * evaluates them. The cast is explicit: rw_arguments_fit() tells which arguments PostgreSQL would
 * not assign. */
const pgw_slice *rw_argument_texts(const pgw_slice *arguments, const uint32_t *types, size_t count,
                                   pgw_arena *arena);

#endif
