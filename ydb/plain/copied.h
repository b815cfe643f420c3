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
    size_t most; /* bytes that a text may have */
    size_t all;  /* … and all of its texts together */
} rw_copied_limits;

/* Of a COPY FROM of this table, which need not live on, nor does the tree. Freed by
 * rw_copied_free(). NULL: it is refused. */
PGW_MUST_CHECK rw_copied *rw_copied_new(const PgQuery__CopyStmt *copy, const rw_table *table,
                                        const rw_copied_limits *limits, pgw_error *error);
void rw_copied_free(rw_copied *copied); /* NULL is fine */
bool rw_copied_is_binary(const rw_copied *copied);
size_t rw_copied_columns(const rw_copied *copied); /* of each row of the data */
/* The next bytes of the data; its end. False: it has failed, and takes no more. */
PGW_MUST_CHECK bool rw_copied_put(rw_copied *copied, pgw_slice bytes);
PGW_MUST_CHECK bool rw_copied_end(rw_copied *copied);
/* By what it has failed, and more fields of that error as they are sent: where it stands, and which
 * column it is about. */
const pgw_error *rw_copied_error(const rw_copied *copied, pgw_slice *fields);
/* What stores its rows, whose tag is COPY's; the caller's. NULL: it has none. To be asked once. */
PGW_MUST_CHECK rw_program *rw_copied_program(rw_copied *copied);

#endif
