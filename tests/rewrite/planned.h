/*
 * planned: the tables of tests/rewrite/tables.h as a catalog with those that are made: of these all
 * but one are cut into buckets.
 */
#ifndef TEST_PLANNED_H
#define TEST_PLANNED_H

#include <string.h>

#include "tables.h"

typedef struct test_planned {
    const rw_table *pointers[TEST_TABLE_COUNT], *plan_pointers[TEST_TABLE_COUNT];
    rw_table plans[TEST_TABLE_COUNT];
    rw_catalog catalog, planned;
} test_planned;

/* It points into itself. */
static inline const rw_catalog *test_planned_catalog(test_planned *it)
{
    it->catalog = test_catalog(it->pointers);
    it->planned = it->catalog;
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        it->plans[i] = test_tables[i];
        it->plan_pointers[i] = &it->plans[i];
        if (strcmp(it->plans[i].name, "filed") != 0)
            it->plans[i].partitions.kind = RW_PARTITION_BUCKETS;
        if (strcmp(it->plans[i].name, "loose") == 0)
            it->plans[i].hash_function = RW_PG_HASH;
        if (strcmp(it->plans[i].name, "broken") == 0)
            it->plans[i].primary_key_count = 1, it->pointers[i] = &it->plans[i];
    }
    it->planned.tables = it->plan_pointers;
    it->catalog.planned = &it->planned;
    return &it->catalog;
}

#endif
