/*
 * type_answer: the answers to the questions of type_question.h.
 */
#ifndef RW_TYPE_ANSWER_H
#define RW_TYPE_ANSWER_H

#include "ydb/plain/session.h"
#include "ydb/plain/type_question.h"

/* Appends the body of the answer's RowDescription. */
void rw_type_columns(const rw_type_question *question, pgw_buf *out);
/* Gives those of `count` parameters that nothing is said of yet the types that the question has for
 * them. */
void rw_type_parameters(const rw_type_question *question,
                        const rw_known_value values[RW_KNOWN_VALUES], uint32_t *types,
                        size_t count);
/* Makes the rows of the answer, without columns; no value is a parameter any more. They belong to
 * the arena. False: the error is filled. */
PGW_MUST_CHECK bool rw_type_answer(const rw_type_question *question,
                                   const rw_known_value values[RW_KNOWN_VALUES],
                                   const pgw_reading *reading, rw_said *out);

#endif
