/*
 * audit: whether stored rows have the hash that the hash rule gives them. `keyspread verify` reads
 * all rows; before a table is first written, a sample of 100 is read.
 */
#ifndef PX_AUDIT_H
#define PX_AUDIT_H

#include "rewrite/hash/table.h"

typedef enum px_audit {
    PX_AUDIT_RIGHT,
    PX_AUDIT_WRONG,
    PX_AUDIT_MISSING,
    PX_AUDIT_UNREADABLE
} px_audit;

/* The settings under which stored values are read, so that their text reads back exactly (YDB's
 * clients have no others); and the same as options of a link. */
extern const pgw_env px_plain_env;
#define PX_AUDIT_OPTIONS                                                                           \
    "-c DateStyle=ISO -c TimeZone=UTC -c client_encoding=UTF8 -c bytea_output=hex"                 \
    " -c extra_float_digits=1"

/* Appends a SELECT of the hash and the hash_key columns, as text; `limit` 0: all rows. */
void px_audit_query(const rw_table *table, unsigned limit, pgw_buf *sql);
/* Judges one row of px_audit_query(): 1 + hash_key_count cells. `right` (may be NULL) gets the
 * right hash, if the key can be read. */
px_audit px_audit_row(const rw_table *table, const pgw_slice *cells, const bool *nulls,
                      pgw_buf *right);

#endif
