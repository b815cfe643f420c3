/*
 * question: what to ask the backend for the wanted cells of a key (wanted.h), and what it answers.
 */
#ifndef RW_QUESTION_H
#define RW_QUESTION_H

#include "rewrite/insert/insert.h"

/* The value of a wanted cell. */
typedef struct rw_answer {
    pgw_slice other_type; /* of the expression, if its column cannot be assigned such a value */
    bool null;
    pgw_slice text; /* ISO where it is a date or a time */
} rw_answer;

/* An expression in a question: where it stands there, and in its client's text. */
typedef struct rw_place {
    size_t at, len;   /* bytes of the question */
    size_t before;    /* characters of the client's statement in front of it */
    pgw_slice column; /* its name, and its type's, as errors tell them */
} rw_place;

typedef struct rw_question {
    pgw_slice sql;
    uint32_t *types; /* of the columns, one a wanted cell */
    rw_place *places;
    size_t count;
    bool utf8;  /* what positions count */
    bool plain; /* asked of a database that tells no types */
} rw_question;

/* The type's name in pg_catalog. */
const char *rw_asked_type(uint32_t oid);
/* The answer is a row of three texts for each wanted cell: its number, type and value; no rows come
 * to who may not INSERT. Sequences are drawn from in the order in which the INSERT would. `plain`:
 * the database tells no types. Memory from `arena`: nothing of the
 * statement is needed any more. */
void rw_question_of(const rw_insert *insert, bool plain, pgw_arena *arena, rw_question *out);
/* The same for several statements that want defaults alone; their cells are numbered through. */
void rw_question_of_several(const rw_insert *const *inserts, size_t count, bool plain,
                            pgw_arena *arena, rw_question *out);
/* Has another SELECT of three texts stand before the question. */
void rw_question_put_before(rw_question *question, pgw_slice select, pgw_arena *arena);
/* The value of wanted cell `i`, as such a row tells it (nowhere: NULL); memory from `arena`. */
rw_answer rw_answer_read(const rw_question *question, size_t i, pgw_slice type, pgw_slice told,
                         pgw_arena *arena);
/* Whether the column of wanted cell `i` can be assigned the answer; else 42804. */
PGW_MUST_CHECK bool rw_answer_check(const rw_insert *insert, size_t i, const rw_answer *answer,
                                    pgw_error *error);
/* An error about the question becomes one about what its client wrote, its position with it: 0 if
 * it is about nothing in it. */
void rw_question_failed(const rw_question *question, pgw_error *error);

#endif
