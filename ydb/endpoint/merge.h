/*
 * merge: write groups whose rows can stand in one VALUES list, as the text of one INSERT.
 */
#ifndef PX_YDB_MERGE_H
#define PX_YDB_MERGE_H

#include "proxy/backend/base/write_group.h"
#include "rewrite/hash/table.h"

/* Appends the INSERT. False, with nothing appended: the write groups cannot be merged, or it would
 * be longer than `most` bytes. May use libpg_query. */
PGW_MUST_CHECK bool px_ydb_merge(px_write_group *const *write_groups, size_t count,
                                 const rw_catalog *catalog, size_t most, pgw_buf *text);

#endif
