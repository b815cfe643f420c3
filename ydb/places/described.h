/*
 * described: reads where a table's partitions begin from YDB's monitoring, whose JSON has no
 * documented form: if it is not understood, there is a reason instead.
 */
#ifndef RW_DESCRIBED_H
#define RW_DESCRIBED_H

#include "rewrite/hash/table.h"

enum { RW_DESCRIBED_MOST = 8 << 20 }; /* bytes of a description; longer ones are not read */

/* Reads the partitions of a table whose key begins with `column`, a hash of `type`, or one of so
 * many `buckets`. Fills `out` (of kind at; `at` is malloc'ed) and returns NULL, or returns the
 * reason, a constant text without anything of the description. Boundaries with the same hash count
 * once. */
PGW_MUST_CHECK const char *rw_partitions_described(pgw_slice json, const char *column,
                                                   rw_hash_type type, uint32_t buckets,
                                                   rw_partitions *out);

#endif
