/*
 * hashing: an INSERT that SQL's PREPARE has kept gets the hashes of its rows when it is run, with
 * its arguments in it. All others come with theirs; what EXECUTE says they are must be right.
 */
#ifndef PX_YDB_HASHING_H
#define PX_YDB_HASHING_H

#include "rewrite/hash/table.h"

/* Puts the hashes into an INSERT without parameters; any other text, or one into a table that is
 * not in the catalog, stays as it is. A new text lives in the reading's arena. False: refused, with
 * the reading's error. */
PGW_MUST_CHECK bool px_ydb_hash(pgw_slice text, const rw_catalog *catalog,
                                const pgw_reading *reading, pgw_slice *out);
/* The text with arbitrary hashes, to describe what it returns; unchanged where px_ydb_hash() would
 * not change or would refuse the INSERT as such. */
pgw_slice px_ydb_hash_any(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading);

#endif
