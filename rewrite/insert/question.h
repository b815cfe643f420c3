/*
 * question: what to ask the backend for the wanted cells of a key (wanted.h), and what it answers.
 */
#ifndef RW_QUESTION_H
#define RW_QUESTION_H

#include "rewrite/insert/insert.h"

/* The answer for a wanted cell. */
typedef struct rw_answer {
    pgw_slice other_type; /* the expression's type, if the column cannot be assigned such a value;
                             else empty */
    bool null;
    pgw_slice text; /* the value; a date or time is in ISO form */
} rw_answer;

/* An expression in a question: where it stands there, and in the client's text. */
typedef struct rw_place {
    size_t at, len;   /* bytes of the question */
    size_t before;    /* characters of the client's statement in front of the expression */
    pgw_slice column; /* `column "x" is of type y`, as errors tell it */
} rw_place;

typedef struct rw_question {
    pgw_slice sql;
    uint32_t *types; /* types of the columns, one for each wanted cell */
    rw_place *places;
    size_t count;
    bool utf8;  /* positions count characters, else bytes */
    bool plain; /* the database that is asked tells no types */
} rw_question;

/* The name in pg_catalog of a column's type, or of text for other types. */
const char *rw_asked_type(uint32_t oid);
/* Makes the question. Its answer is a row of three texts for each wanted cell: number, type, value;
 * no rows come to a user who may not INSERT. Sequences are drawn from in the order in which the
 * INSERT would. `plain`: the database tells no types. Memory from `arena`: the statement need not
 * live on. */
void rw_question_of(const rw_insert *insert, bool plain, pgw_arena *arena, rw_question *out);
/* Makes one question for statements that want defaults alone; their cells are numbered through. */
void rw_question_of_several(const rw_insert *const *inserts, size_t count, bool plain,
                            pgw_arena *arena, rw_question *out);
/* Puts another SELECT of three texts before the question. */
void rw_question_put_before(rw_question *question, pgw_slice select, pgw_arena *arena);
/* Reads the answer for wanted cell `i` from such a row (`told.ptr` NULL: the value is NULL); memory
 * from `arena`. */
rw_answer rw_answer_read(const rw_question *question, size_t i, pgw_slice type, pgw_slice told,
                         pgw_arena *arena);
/* Whether the column of wanted cell `i` can be assigned the answer; false with 42804. */
PGW_MUST_CHECK bool rw_answer_check(const rw_insert *insert, size_t i, const rw_answer *answer,
                                    pgw_error *error);
/* Makes an error about the question one about what the client wrote, with its position there; 0:
 * the error is about none of the client's expressions. */
void rw_question_failed(const rw_question *question, pgw_error *error);

#endif
