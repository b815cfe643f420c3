/*
 * answers: the statement with what the backend answered (question.h) in the place of the wanted
 * cells of its key, as if its client had written them.
 */
#ifndef RW_ANSWERS_H
#define RW_ANSWERS_H

#include "rewrite/insert/question.h"

/* What stands in the place of bytes of the client's text. */
typedef struct rw_edit {
    size_t at, removed; /* of the client's text */
    size_t added;       /* bytes */
} rw_edit;

/* A statement with nothing wanted any more. */
typedef struct rw_filled {
    pgw_slice text; /* a NUL stands behind it */
    rw_edit *edits; /* in order */
    size_t count;
    size_t *cells; /* where the parameter for each wanted cell stands; NULL: they are constants */
    pgw_slice client; /* the text as its client sent it: the statement's own */
} rw_filled;

/* Does without those that are constants, whose hash then cannot be computed: where what is wrong
 * with one must be told sooner than its value is asked for. */
void rw_forgo_constants(rw_insert *insert);
/* The statement with an answer for each wanted cell, as constants. False: a column cannot be
 * assigned one; the error. */
PGW_MUST_CHECK bool rw_fill(const rw_insert *insert, const rw_answer *answers, pgw_arena *arena,
                            rw_filled *out, pgw_error *error);
/* The statement with parameters $first, $first + 1, … in their places, of their columns' types. */
void rw_fill_parameters(const rw_insert *insert, size_t first, pgw_arena *arena, rw_filled *out);
/* Where in the client's text stands what is at byte `at` of the filled one. */
size_t rw_filled_offset(const rw_filled *filled, size_t at);
/* … in characters, counting from 1; 0 stays 0. */
size_t rw_filled_position(const rw_filled *filled, size_t position, bool utf8);

#endif
