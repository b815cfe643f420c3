/*
 * table_question: what pgjdbc's DatabaseMetaData asks the catalog about tables, their columns, keys
 * and indexes: known by heart, and answered (table_answer.h) from the configuration, for a database
 * that knows neither columns nor keys, or has no words for the question.
 */
#ifndef RW_TABLE_QUESTION_H
#define RW_TABLE_QUESTION_H

#include "rewrite/hash/table.h"
#include "ydb/plain/known_text.h"

typedef enum rw_table_field {
    RW_TABLE_SCHEMA,
    RW_TABLE_NAME,
    RW_TABLE_COLUMN,
    RW_TABLE_TYPE,
    RW_TABLE_TYPMOD,
    RW_TABLE_LENGTH,
    RW_TABLE_NOT_NULL,
    RW_TABLE_DEFAULT,
    RW_TABLE_PLACE, /* the column's place among those that are shown, from 1 */
    RW_TABLE_INDEX,
    RW_TABLE_INDEX_PLACE, /* the column's place in the index, from 1 */
    RW_TABLE_NOT_UNIQUE,
    RW_TABLE_INDEX_COLUMN,
    RW_TABLE_CONSTANTS, /* the fields behind this one are the same in all rows */
    RW_TABLE_NO_TEXT,
    RW_TABLE_NO_CHAR,
    RW_TABLE_NO_NAME,
    RW_TABLE_NO_NUMBER,
    RW_TABLE_NO_TYPMOD,
    RW_TABLE_NO_BASE,
    RW_TABLE_BASE_KIND,
    RW_TABLE_OTHER_INDEX,
    RW_TABLE_ASCENDING,
    RW_TABLE_NO_ESTIMATE,
    RW_TABLE_NO_PAGES,
    RW_TABLE_KEY_COLUMNS_MOST,
    RW_TABLE_END
} rw_table_field;

typedef struct rw_table_column {
    const char *name;
    rw_table_field field; /* END: there are no more */
} rw_table_shown;

/* What has a row in the answer. The question's values are a schema, a table, a column: patterns of
 * LIKE for schemas and columns, else names. */
typedef enum rw_table_search {
    RW_TABLE_SCHEMAS,
    RW_TABLE_COLUMNS,
    RW_TABLE_KEY,         /* columns of the primary key, in the key's order */
    RW_TABLE_KEY_COLUMNS, /* columns of the primary key, in the table's order */
    RW_TABLE_INDEXES,     /* columns of all indexes */
    RW_TABLE_UNIQUE,      /* columns of unique indexes */
    RW_TABLE_NOTHING,     /* the answer has no rows */
    RW_TABLE_ONCE         /* the answer has one row */
} rw_table_search;

typedef struct rw_table_question {
    const char *text; /* the question in the form of rw_known_match() */
    rw_table_search search;
    rw_table_shown columns[16];
} rw_table_question;

/* The question that a statement is. NULL: the statement is no known question, or holds parameters,
 * or is not about a table of the catalog. */
const rw_table_question *rw_table_question_read(pgw_slice text, const rw_catalog *catalog,
                                                pgw_arena *arena,
                                                rw_known_value values[RW_KNOWN_VALUES]);
/* Whether a question asks about this table. */
bool rw_table_is_asked(const rw_table_question *question,
                       const rw_known_value values[RW_KNOWN_VALUES], const rw_table *table);
/* Whether a question asks about this schema: its pattern fits, or its name is the same. */
bool rw_schema_is_asked(const rw_table_question *question,
                        const rw_known_value values[RW_KNOWN_VALUES], pgw_slice schema);
bool rw_column_is_asked(const rw_known_value values[RW_KNOWN_VALUES], pgw_slice column);

#endif
