/*
 * any_tables: the tables of tables.h as a server may know them. What is true of a table, and of
 * each of its columns, is chance, which begins anew with each round: the same in every run.
 */
#ifndef TEST_ANY_TABLES_H
#define TEST_ANY_TABLES_H

#include "rewrite/statement/words/statement.h"

#include "planned.h"

enum { ANY_COLUMNS = 4 };

typedef struct any_tables {
    uint64_t chance;
    rw_table tables[TEST_TABLE_COUNT];
    rw_column columns[TEST_TABLE_COUNT][ANY_COLUMNS];
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_meaning meanings[TEST_TABLE_COUNT];
    test_planned planned;
    const rw_table *plans[TEST_TABLE_COUNT + 1];
    rw_catalog planned_catalog, catalog;
    pgw_env env;
} any_tables;

/* A number below `count`: splitmix64. */
static inline unsigned any_of(any_tables *it, unsigned count)
{
    uint64_t mixed = it->chance += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((mixed ^ mixed >> 31) % count);
}

static inline bool any_seldom(any_tables *it)
{
    return any_of(it, 6) == 0;
}

static inline bool any_often(any_tables *it)
{
    return any_of(it, 3) > 0;
}

static inline void any_default(any_tables *it, rw_column *column)
{
    static const char *const texts[] = {NULL, "d()", "7", "E'a\\\\b'", "nextval('s'::regclass)"};
    column->has_default |= any_seldom(it);
    if (column->has_default && !column->generated)
        column->default_text = (char *)texts[any_of(it, sizeof texts / sizeof *texts)];
    if (column->default_text != NULL)
        column->default_hash = any_of(it, 2);
    column->computed = any_seldom(it);
    column->identity = column->sequence && any_of(it, 2) == 0;
    column->always = column->identity && any_of(it, 2) == 0;
    column->draws_from = column->sequence && any_of(it, 2) == 0 ? 4799 : 0;
}

static inline void any_column(any_tables *it, const rw_table *table, rw_column *column)
{
    column->attnum = (int16_t)(column - table->columns + 1);
    column->type_name = (char *)(column->type == PGW_TEXT ? "text" : "bigint");
    column->granted = any_seldom(it);
    column->cascaded = any_seldom(it);
    column->own_equals = any_seldom(it);
    column->own_names = any_seldom(it);
    column->own_casts = any_seldom(it) ? (rw_own_casts)(1 + any_of(it, 2)) : RW_NO_OWN_CASTS;
    column->nondeterministic = column->type == PGW_TEXT && any_seldom(it);
    if (column != &table->columns[table->hash_column])
        any_default(it, column);
}

static inline void any_partitions(any_tables *it, rw_table *table)
{
    static uint64_t at[] = {UINT64_C(1) << 61, UINT64_C(1) << 62};
    table->partitions.kind = (rw_partition_kind)any_of(it, 3);
    if (table->partitions.kind == RW_PARTITION_AT)
        table->partitions = (rw_partitions){RW_PARTITION_AT, 3, at, any_seldom(it)};
}

static inline void any_ways(any_tables *it, rw_table *table)
{
    bool *const seldom[] = {
        &table->own_key,        &table->by_pattern,           &table->defaults_unknown,
        &table->heeds_updates,  &table->defers_updates,       &table->changes_rows,
        &table->moves_keys,     &table->shows_hash,           &table->listed,
        &table->reads_settings, &table->forward_uncomputable, &table->allow_null_key,
        &table->in_parts,       &table->repeats_upserts,      &table->ignore_sequences,
    };
    bool *const often[] = {&table->looked_up, &table->mergeable, &table->strict};
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        *seldom[i] |= any_seldom(it);
    for (size_t i = 0; i < sizeof often / sizeof *often; i++)
        *often[i] = any_often(it);
    table->triggers = any_seldom(it) ? 2 : 0;
    table->quiet = any_often(it) ? RW_EFFECT_RUNS | RW_EFFECT_READS : 0;
    table->hash_function = any_often(it) ? RW_XXH3 : RW_PG_HASH;
    table->hash_type = any_seldom(it) ? RW_HASH_UINT64 : RW_HASH_INT8;
    table->key_name = (char *)(any_often(it) ? "its_pkey" : NULL);
    table->last = (int16_t)(ANY_COLUMNS + any_seldom(it));
    table->part_names = (char *)(table->in_parts ? "part\1part_pkey\1its_pkey\2" : NULL);
}

static inline void any_table(any_tables *it, size_t i)
{
    rw_table *table = &it->tables[i];
    *table = test_tables[i];
    memcpy(it->columns[i], table->columns, table->column_count * sizeof *table->columns);
    table->columns = it->columns[i];
    table->oid = (uint32_t)(4711 + i);
    any_ways(it, table);
    any_partitions(it, table);
    for (size_t c = 0; c < table->column_count; c++)
        any_column(it, table, &table->columns[c]);
    it->pointers[i] = table;
    it->meanings[i] = any_often(it) ? RW_MEANS_OURS : (rw_meaning)any_of(it, 3);
}

/* All tables as they are planned, and such that are called oth…: hashed by the first column of
 * their key. */
static inline const rw_catalog *any_planned(any_tables *it)
{
    static rw_column hash_alone[] = {HASH("hash")};
    static const rw_table pattern = {
        .schema = "public",
        .name = "oth",
        .pattern = true,
        .columns = hash_alone,
        .column_count = 1,
        .hash_function = RW_XXH3,
        .partitions = {.kind = RW_PARTITION_BUCKETS, .count = 16},
    };
    it->planned_catalog = *test_planned_catalog(&it->planned)->planned;
    memcpy(it->plans, it->planned_catalog.tables, TEST_TABLE_COUNT * sizeof *it->plans);
    it->plans[TEST_TABLE_COUNT] = &pattern;
    it->planned_catalog.tables = it->plans;
    it->planned_catalog.count = TEST_TABLE_COUNT + 1;
    return &it->planned_catalog;
}

/* It points into itself. */
static inline void any_tables_make(any_tables *it, unsigned round)
{
    it->chance = round;
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++)
        any_table(it, i);
    it->catalog = (rw_catalog){
        .tables = it->pointers,
        .count = TEST_TABLE_COUNT,
        .unqualified = round % 3 == 0 ? NULL : it->meanings,
        .moved = round % 4 == 3,
        .planned = round % 4 == 0 ? NULL : any_planned(it),
        .apart = round % 4 == 2,
    };
    it->env = (pgw_env){
        .utf8 = round % 4 != 1,
        .zone_known = round % 3 != 1,
        .zone_seconds = round % 3 == 2 ? 7200 : 0,
        .conforming = round % 5 != 4,
    };
}

#endif
