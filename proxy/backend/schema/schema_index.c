#include "proxy/backend/schema/schema_index.h"

#include <stdlib.h>
#include <string.h>

static void fill(const rw_table *table, const cfg_index *config, rw_index *out)
{
    out->name = pgw_strndup(config->name, strlen(config->name));
    out->columns = pgw_calloc(config->column_count + 1, sizeof *out->columns);
    for (size_t i = 0; i < config->column_count; i++) {
        size_t at = rw_table_column(table, pgw_slice_str(config->columns[i]));
        if (at < table->column_count)
            out->columns[out->column_count++] = at;
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const rw_index *)a)->name, ((const rw_index *)b)->name);
}

void px_schema_index_fill(rw_table *table, const cfg_ydb *config)
{
    table->indexes = pgw_calloc(config->index_count + 1, sizeof *table->indexes);
    for (size_t i = 0; i < config->index_count; i++)
        fill(table, &config->indexes[i], &table->indexes[table->index_count++]);
    qsort(table->indexes, table->index_count, sizeof *table->indexes, compare);
}

static bool same(const rw_index *a, const rw_index *b)
{
    return strcmp(a->name, b->name) == 0 && a->column_count == b->column_count &&
           memcmp(a->columns, b->columns, a->column_count * sizeof *a->columns) == 0;
}

bool px_schema_index_same(const rw_table *a, const rw_table *b)
{
    if (a->index_count != b->index_count)
        return false;
    for (size_t i = 0; i < a->index_count; i++)
        if (!same(&a->indexes[i], &b->indexes[i]))
            return false;
    return true;
}
