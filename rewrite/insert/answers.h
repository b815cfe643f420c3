/*
 * answers: what to ask the backend for the wanted cells of a key (wanted.h), and the statement with
 * the answers in their places, as if its client had written them.
 */
#ifndef RW_ANSWERS_H
#define RW_ANSWERS_H

#include "rewrite/insert/insert.h"

/* The value of a wanted cell. */
typedef struct rw_answer {
    uint32_t type; /* of the expression */
    bool null;
    pgw_slice text; /* ISO where it is a date or a time */
} rw_answer;

/* What stands in the place of bytes of the client's text. */
typedef struct rw_edit {
    size_t at, removed; /* of the client's text */
    size_t added;       /* bytes */
} rw_edit;

/* A statement with nothing wanted any more. */
typedef struct rw_filled {
    pgw_slice text;
    rw_edit *edits; /* in order */
    size_t count;
    pgw_slice client; /* the text as its client sent it */
} rw_filled;

/* An expression in a question: where it stands there, and in its client's text. */
typedef struct rw_place {
    size_t at, from, len; /* bytes */
} rw_place;

typedef struct rw_question {
    pgw_slice sql;
    pgw_slice client; /* the statement it is about */
    uint32_t *types;  /* of the columns, one a wanted cell */
    rw_place *places;
    size_t count;
    bool utf8; /* what positions count */
} rw_question;

/* The answer is a row of three texts for each wanted cell: its number, type and value; no rows come
 * to who may not INSERT. Sequences are drawn from in the order in which the INSERT would. Memory
 * from `arena`, that of the statement's text with it. */
void rw_question_of(const rw_insert *insert, pgw_arena *arena, rw_question *out);
/* The value of wanted cell `i`, as such a row tells it (nowhere: NULL); memory from `arena`. */
rw_answer rw_answer_read(const rw_question *question, size_t i, uint32_t type, pgw_slice told,
                         pgw_arena *arena);
/* Where the client wrote what is at this position of the question (in characters, from 1): 0 if it
 * did not. */
size_t rw_question_position(const rw_question *question, size_t position);
/* The statement with an answer for each wanted cell, as constants. False: an expression is of a
 * type whose text is not what its column would store; the error. */
PGW_MUST_CHECK bool rw_fill(const rw_insert *insert, const rw_answer *answers, pgw_arena *arena,
                            rw_filled *out, pgw_error *error);
/* The statement with parameters $first, $first + 1, … in their places, of their columns' types. */
void rw_fill_parameters(const rw_insert *insert, size_t first, pgw_arena *arena, rw_filled *out);
/* Whether the text of the answer for wanted cell `i` is what its column would store. */
PGW_MUST_CHECK bool rw_answer_check(const rw_insert *insert, size_t i, const rw_answer *answer,
                                    pgw_error *error);
/* A copy with all that it needs. */
rw_filled *rw_filled_keep(const rw_filled *filled, pgw_arena *arena);
/* Where in the client's text stands what is at byte `at` of the filled one. */
size_t rw_filled_offset(const rw_filled *filled, size_t at);
/* … in characters, counting from 1; 0 stays 0. */
size_t rw_filled_position(const rw_filled *filled, size_t position, bool utf8);

#endif
