/*
 * copy_from: COPY … FROM STDIN of a configured table: how its rows are written, which of their
 * fields the hash is made of, and the statement with the hash column behind the client's columns.
 */
#ifndef RW_COPY_FROM_H
#define RW_COPY_FROM_H

#include "protocol/copy/rows.h"
#include "rewrite/hash/table.h"
#include "rewrite/lex/encoding.h"
#include "rewrite/statement/edit/edit_writer.h"

typedef struct rw_copy {
    const rw_table *table;
    pgw_copy_options data;
    /* Each hash_key column has the number of its field among those that are read, from 1, or 0
     * where the list of columns leaves it out: it is NULL, or `drawn`. */
    const uint16_t *key;
    /* The hash_key column that the list leaves out and whose values are the next numbers of its
     * sequence: its field stands before the hash. NULL: there is none. */
    const rw_column *drawn;
    bool keyed;           /* The data has all columns of the primary key. */
    bool encoded;         /* ENCODING names the encoding of text or csv. */
    rw_encoding encoding; /* Else it is the client's, and set by rw_copy_encode(). */
} rw_copy;

/* Reads a COPY FROM of `table`, which copy->relation names. What `out` points to is in the
 * reading's arena, so that the tree may be freed. False: it is refused, the error is filled (0A000,
 * 42703, 55000). */
PGW_MUST_CHECK bool rw_copy_from_read(const PgQuery__CopyStmt *copy, const rw_table *table,
                                      const pgw_reading *reading, rw_copy *out);
/* Reads a COPY for a server that has no COPY and gets each field of a row by itself: field `i` of
 * the rows is columns[i] of the table, also the hash column, if it is listed. The table may be any.
 */
PGW_MUST_CHECK bool rw_copy_from_read_whole(const PgQuery__CopyStmt *copy, const rw_table *table,
                                            const pgw_reading *reading, rw_copy *out,
                                            size_t **columns);
/* A copy in `arena` of all but the table. */
rw_copy *rw_copy_keep(const rw_copy *copy, pgw_arena *arena);
/* Has the data cut by the characters of its encoding, which is `encoding`, the client's, unless the
 * statement names another; or byte by byte, where the server's encoding `server` is SQL_ASCII, as
 * such a server does. */
void rw_copy_encode(rw_copy *copy, rw_encoding encoding, const char *server);
/* Puts a list of columns with the drawn one and the hash column at its end in the place of the
 * client's, and turns FREEZE off where the table is in partitions, for which PostgreSQL refuses it.
 */
void rw_copy_from_put(rw_edit_writer *texts, const PgQuery__CopyStmt *copy, const rw_table *table);
/* How many fields are added to each row. */
static inline size_t rw_copy_added(const rw_copy *copy)
{
    return copy->drawn != NULL ? 2 : 1;
}

#endif
