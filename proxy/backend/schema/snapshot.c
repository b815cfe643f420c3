#include "proxy/backend/schema/snapshot.h"

#include "proxy/backend/schema/pattern.h"

#include <stdlib.h>
#include <string.h>

px_catalog *px_catalog_take(px_catalog *catalog)
{
    atomic_fetch_add_explicit(&catalog->references, 1, memory_order_relaxed);
    return catalog;
}

void px_catalog_drop(px_catalog *catalog)
{
    if (catalog == NULL || atomic_fetch_sub(&catalog->references, 1) > 1)
        return;
    for (size_t i = 0; i < catalog->count; i++)
        rw_table_free(catalog->tables[i]);
    for (size_t i = 0; i < catalog->ordinary_count; i++)
        rw_table_free(catalog->ordinary[i]);
    free(catalog->ordinary);
    free(catalog->tables);
    free(catalog->configs);
    free(catalog);
}

const cfg_table *px_catalog_config(const px_catalog *catalog, const rw_table *table)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->tables[i] == table)
            return catalog->configs[i];
    return NULL;
}

size_t px_catalog_place(const px_catalog *catalog, size_t i)
{
    size_t own = catalog->count - catalog->by_pattern;
    return i < own ? (size_t)(catalog->configs[i] - catalog->config->tables)
                   : i - own + catalog->config->table_count + catalog->config->pattern_count;
}

px_catalog *px_catalog_none(void)
{
    static px_catalog none = {.references = 1};
    return &none;
}

px_catalog *px_catalog_unasked(void)
{
    static px_catalog unasked = {.references = 1};
    return &unasked;
}

/* Keeps `system_columns` at the first table only, for they are the same for all. */
static void keep_system_columns_once(px_catalog *catalog)
{
    for (size_t i = 1; i < catalog->count; i++) {
        free(catalog->tables[i]->system_columns);
        catalog->tables[i]->system_columns = NULL;
    }
}

static bool has_migrated(rw_table *const *tables, size_t count, const rw_table *table)
{
    for (size_t i = 0; i < count; i++)
        if (tables[i]->migrated && strcmp(tables[i]->name, table->name) == 0 &&
            strcmp(tables[i]->schema, table->schema) == 0)
            return true;
    return false;
}

/* Whether the table is to get its hash by a migration (`keyspread migrate`), or had it, and the
 * migration was taken back: its statements pass as those of a table that no configuration names. */
static bool is_ordinary(const rw_table *table, const px_catalog *last)
{
    return table->columns[table->hash_column].attnum == 0 &&
           (table->migrated ||
            (last != NULL && (has_migrated(last->tables, last->count, table) ||
                              has_migrated(last->ordinary, last->ordinary_count, table))));
}

static void add_ordinary(px_catalog *catalog, rw_table *table)
{
    table->migrated = true;
    catalog->ordinary =
        pgw_realloc(catalog->ordinary, (catalog->ordinary_count + 1) * sizeof *catalog->ordinary);
    catalog->ordinary[catalog->ordinary_count++] = table;
}

px_catalog *px_catalog_build(const cfg_config *config, const px_schema_rows *rows,
                             const px_catalog *last)
{
    static _Atomic uint64_t epochs;
    px_catalog *catalog = pgw_calloc(1, sizeof *catalog);
    atomic_init(&catalog->references, 1);
    catalog->epoch = atomic_fetch_add(&epochs, 1) + 1;
    catalog->config = config;
    size_t most = config->table_count + px_pattern_most(config, rows);
    catalog->tables = pgw_calloc(most, sizeof *catalog->tables);
    catalog->configs = pgw_calloc(most, sizeof *catalog->configs);
    for (size_t i = 0; i < config->table_count; i++) {
        pgw_error error = PGW_ERROR_NONE;
        rw_table *table = px_schema_build(&config->tables[i], rows, catalog->epoch, &error);
        if (table == NULL)
            continue;
        if (is_ordinary(table, last)) {
            add_ordinary(catalog, table);
            continue;
        }
        table->listed |= config->backend.dialect == CFG_DIALECT_YDB; /* YDB tells of no columns */
        catalog->configs[catalog->count] = &config->tables[i];
        catalog->tables[catalog->count++] = table;
    }
    catalog->incomplete = catalog->count < config->table_count;
    catalog->by_pattern =
        px_pattern_tables(config, rows, catalog->epoch, catalog->tables + catalog->count,
                          catalog->configs + catalog->count);
    catalog->count += catalog->by_pattern;
    keep_system_columns_once(catalog);
    return catalog;
}

bool px_catalog_same(const px_catalog *a, const px_catalog *b)
{
    if (a == NULL || a->config != b->config || a->count != b->count ||
        a->ordinary_count != b->ordinary_count)
        return false;
    for (size_t i = 0; i < a->ordinary_count; i++)
        if (!px_schema_same(a->ordinary[i], b->ordinary[i]))
            return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->configs[i] != b->configs[i] || !px_schema_same(a->tables[i], b->tables[i]))
            return false;
    return true;
}
