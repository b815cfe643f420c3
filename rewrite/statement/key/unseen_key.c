#include "rewrite/statement/key/unseen_key.h"

#include "protocol/value_text.h"

#include <string.h>

/* Whether the name may mean the table, or one of the pattern's; search_path is not asked. */
static bool is_named(const rw_table *table, pgw_slice schema, pgw_slice name)
{
    if (table->pattern)
        return rw_pattern_covers(table, schema, name);
    return pgw_slice_eq_str(name, table->name) &&
           (schema.len == 0 || pgw_slice_eq_str(schema, table->schema));
}

static bool is_seen(const rw_catalog *catalog, const rw_table *planned, pgw_slice schema,
                    pgw_slice name)
{
    if (planned->schemas)
        return rw_catalog_find(catalog, schema, name) != NULL;
    for (size_t i = 0; i < catalog->count; i++)
        if (pgw_slice_eq_str(name, catalog->tables[i]->name) &&
            strcmp(planned->schema, catalog->tables[i]->schema) == 0)
            return true;
    return false;
}

/* Whether the target may be a key column: a pattern that takes any key has no known hash_key. */
static bool may_set(const rw_table *table, const PgQuery__Node *target)
{
    return target->node_case == PG_QUERY__NODE__NODE_RES_TARGET &&
           (table->hash_key_count == 0 ||
            rw_table_is_hash_input(table, pgw_slice_str(target->res_target->name)));
}

bool rw_sets_unseen_key(const rw_catalog *catalog, const PgQuery__RangeVar *relation,
                        PgQuery__Node *const *targets, size_t count)
{
    bool sets = false;
    const rw_catalog *planned = catalog->planned;
    if (planned == NULL || relation == NULL)
        return false;
    pgw_slice schema = pgw_name_cut(pgw_slice_str(relation->schemaname));
    pgw_slice name = pgw_name_cut(pgw_slice_str(relation->relname));
    for (size_t i = 0; i < planned->count && !sets; i++) {
        const rw_table *table = planned->tables[i];
        if (!is_named(table, schema, name) || is_seen(catalog, table, schema, name))
            continue;
        for (size_t k = 0; k < count; k++)
            sets = sets || may_set(table, targets[k]);
    }
    return sets;
}
