#include "proxy/ingest/reads.h"

#include "proxy/base/scans.h"
#include "proxy/base/shared.h"

#include <stdlib.h>

px_reads *px_reads_new(px_catalog *catalog, const rw_read_map *map)
{
    if (map == NULL)
        return NULL;
    px_reads *reads = pgw_alloc(sizeof *reads);
    *reads = (px_reads){px_catalog_take(catalog), rw_read_map_copy(map)};
    return reads;
}

void px_reads_free(px_reads *reads)
{
    if (reads == NULL)
        return;
    px_catalog_drop(reads->catalog);
    free(reads->map);
    free(reads);
}

static void note_scan(px_scans *scans, const rw_table *table, const cfg_table *config,
                      const char *shape)
{
    pgw_buf name = {0};
    if (config->pattern)
        pgw_buf_add_str(&name, cfg_table_label(config));
    else
        pgw_buf_addf(&name, "%s.%s", table->schema, table->name);
    pgw_buf_add_byte(&name, '\0');
    px_scans_note(scans, name.ptr, shape);
    pgw_buf_free(&name);
}

void px_reads_count(px_worker *worker, const px_catalog *catalog, const rw_read_map *map,
                    const rw_conditions *conditions)
{
    static const px_read_kind kinds[] = {
        [RW_READ_KEY] = PX_READ_KEY, [RW_READ_SEEK] = PX_READ_SEEK, [RW_READ_SCAN] = PX_READ_SCAN};
    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        const rw_lookup *found;
        const rw_read *read = &map->reads[i];
        const rw_table *table = catalog->tables[read->table];
        const cfg_table *config = catalog->configs[read->table];
        rw_read_kind kind =
            conditions != NULL
                ? rw_read_is(read, conditions->lookups, conditions->lookup_count, &found)
                : read->kind;
        if (config->pattern)
            px_count_read(worker->metrics, NULL, cfg_table_label(config), kinds[kind]);
        else
            px_count_read(worker->metrics, table->schema, table->name, kinds[kind]);
        if (kind == RW_READ_SCAN && worker->server->scans != NULL)
            note_scan(worker->server->scans, table, config, map->shape);
    }
}
