/*
 * copied: a COPY … FROM STDIN for a server that has no COPY: its data, cut anywhere, becomes texts
 * of INSERT … VALUES, each value a constant of its column's type. What is wrong with a row is said
 * in PostgreSQL's words, with its line.
 */
#ifndef RW_COPIED_H
#define RW_COPIED_H

#include "rewrite/hash/table.h"
#include "ydb/plain/program.h"

#include <pg_query/pg_query.pb-c.h>

typedef struct rw_copied rw_copied;

/* Whether a statement's first word is COPY. */
bool rw_is_copy(pgw_slice text);

typedef struct rw_copied_limits {
    const pgw_env *env;
    size_t most; /* bytes that one text may have */
    size_t all;  /* bytes that all texts of the COPY may have together */
} rw_copied_limits;

/* Begins a COPY FROM into this table; neither the table nor the tree need live on. Freed by
 * rw_copied_free(). NULL: it is refused, and the error is filled. */
PGW_MUST_CHECK rw_copied *rw_copied_new(const PgQuery__CopyStmt *copy, const rw_table *table,
                                        const rw_copied_limits *limits, pgw_error *error);
void rw_copied_free(rw_copied *copied); /* NULL is fine */
bool rw_copied_is_binary(const rw_copied *copied);
size_t rw_copied_columns(const rw_copied *copied); /* columns in each row of the data */
/* Takes the next bytes of the data, or its end. False: the COPY has failed, and takes no more. */
PGW_MUST_CHECK bool rw_copied_put(rw_copied *copied, pgw_slice bytes);
PGW_MUST_CHECK bool rw_copied_end(rw_copied *copied);
/* The error that the COPY has failed with; `fields`: more fields of the error as they are sent,
 * which tell the line and the column. */
const pgw_error *rw_copied_error(const rw_copied *copied, pgw_slice *fields);
/* The program that stores the rows, with COPY's tag; the caller's. NULL: there are no rows. To be
 * asked for once. */
PGW_MUST_CHECK rw_program *rw_copied_program(rw_copied *copied);

#endif
