/*
 * hashing: an INSERT that SQL's PREPARE has kept gets the hashes of its rows when it is run, with
 * its arguments in it. All others come with theirs; what EXECUTE says they are must be right.
 */
#ifndef PX_YDB_HASHING_H
#define PX_YDB_HASHING_H

#include "rewrite/hash/table.h"

/* A text without parameters, as it is if it is no INSERT into a table of the catalog. What is new
 * lives in the reading's arena. False: the error. */
PGW_MUST_CHECK bool px_ydb_hash(pgw_slice text, const rw_catalog *catalog,
                                const pgw_reading *reading, pgw_slice *out);
/* … with any hashes, for who asks what it returns. As it is if it will be refused. */
pgw_slice px_ydb_hash_any(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading);

#endif
