/*
 * table_answer: the answers to the questions of table_question.h.
 */
#ifndef RW_TABLE_ANSWER_H
#define RW_TABLE_ANSWER_H

#include "ydb/plain/session.h"
#include "ydb/plain/table_question.h"

/* Appends the body of the answer's RowDescription. */
void rw_table_columns(const rw_table_question *question, pgw_buf *out);
/* Makes the rows of the answer, without columns. They belong to the arena, or to the tables. */
void rw_table_answer(const rw_table_question *question,
                     const rw_known_value values[RW_KNOWN_VALUES], const rw_catalog *catalog,
                     pgw_arena *arena, rw_said *out);

#endif
