/*
 * typed_tables: the tables of tests/vectors/plain/types.txt.
 */
#ifndef TEST_TYPED_TABLES_H
#define TEST_TYPED_TABLES_H

#include "protocol/array.h"
#include "rewrite/hash/table.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static rw_column columns[2][32];
static size_t key[] = {0};
static rw_table tables[2];
static const rw_table *const pointers[] = {&tables[0], &tables[1]};
static rw_catalog catalog = {.tables = pointers};

static inline uint32_t read_type(const char *name)
{
    size_t length = strlen(name);
    bool array = length > 2 && name[length - 1] == ']';
    uint32_t type = rw_type_named((pgw_slice){name, length - (array ? 2 : 0)});
    assert_int_not_equal(type, PGW_UNSPECIFIED);
    return array ? pgw_array_of(type) : type;
}

/* "name type, name type …"; the hash column comes last, and nobody sees it. */
static inline void add_table(const vector_line *line)
{
    rw_table *table = &tables[catalog.count];
    char *text = pgw_strndup(line->fields[2].ptr, line->fields[2].len), *rest = NULL;
    *table = (rw_table){.schema = "public",
                        .name = pgw_strndup(line->fields[1].ptr, line->fields[1].len),
                        .columns = columns[catalog.count++],
                        .primary_key = key,
                        .primary_key_count = 1,
                        .hash_key = key,
                        .hash_key_count = 1,
                        .partitions = {.kind = RW_PARTITION_UNIFORM, .count = 4}};
    for (char *name = strtok_r(text, ", ", &rest); name != NULL; name = strtok_r(NULL, ", ", &rest))
        table->columns[table->column_count++] = (rw_column){
            .name = strdup(name), .type = read_type(strtok_r(NULL, ", ", &rest)), .typmod = -1};
    table->hash_column = table->column_count++;
    table->columns[table->hash_column] =
        (rw_column){.name = "hash", .type = PGW_INT8, .typmod = -1, .not_null = true};
    free(text);
}

#endif
