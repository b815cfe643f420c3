/*
 * pattern_tables: patterns of names, and a table that one of them has made, which the tests of
 * tests/vectors/patterns.txt speak of.
 */
#ifndef TEST_PATTERN_TABLES_H
#define TEST_PATTERN_TABLES_H

#include "tests/rewrite/tables.h"

/* Of a pattern the key is each table's own, or (a, b), of which the hash takes (b, a). */
static rw_column hash_alone[] = {HASH("h")};
static rw_column long_hash[] = {HASH("hash of long")};
static rw_column with_key[] = {COLUMN("a", PGW_INT8, -1, .not_null = true),
                               COLUMN("b", PGW_TEXT, -1, .not_null = true), HASH("h")};
static size_t a_and_b[] = {0, 1}, b_and_a[] = {1, 0};

#define PATTERN(s, n, c, hash, function, ...)                                                      \
    {                                                                                              \
        .schema = (s), .name = (n), .columns = (c), .column_count = (hash) + 1,                    \
        .hash_column = (hash), .hash_function = (function), .pattern = true,                       \
        .partitions = {.kind = RW_PARTITION_BUCKETS, .count = 16}, __VA_ARGS__                     \
    }

static const rw_table patterns[] = {
    PATTERN("public", "events_", hash_alone, 0, RW_XXH3),
    PATTERN("public", "events_long_", long_hash, 0, RW_XXH3),
    PATTERN("app", "events_", hash_alone, 0, RW_XXH3, .schema_written = true),
    PATTERN("public", "keyed_", with_key, 2, RW_XXH3, .primary_key = a_and_b,
            .primary_key_count = 2, .hash_key = b_and_a, .hash_key_count = 2, .hash_first = true),
    PATTERN("public", "number_", hash_alone, 0, RW_NUMERIC_HASH),
    PATTERN("public", "checked_", hash_alone, 0, RW_PG_HASH, .hash_first = true),
    PATTERN("public", "partly_", with_key, 2, RW_XXH3, .hash_key = b_and_a, .hash_key_count = 2),
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* One that there is already. */
static rw_column there_columns[] = {COLUMN("k", PGW_INT8, -1, .not_null = true), HASH("h")};
static size_t first[] = {0};
static const rw_table there = {.schema = "public",
                               .name = "events_there",
                               .columns = there_columns,
                               .column_count = 2,
                               .primary_key = first,
                               .primary_key_count = 1,
                               .hash_key = first,
                               .hash_key_count = 1,
                               .hash_column = 1,
                               .hash_function = RW_XXH3,
                               .by_pattern = true};

#endif
