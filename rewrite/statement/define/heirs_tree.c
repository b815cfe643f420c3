#include "rewrite/statement/define/heirs_tree.h"

#include <string.h>

/* The table with a hash that a name means, and that is seen without it; NULL: none. */
static const rw_table *hashed(const rw_catalog *catalog, const PgQuery__RangeVar *name)
{
    const rw_table *table = rw_define_altered(catalog, name);
    bool sure = table != NULL && rw_define_is_sure(catalog, table, name);
    return sure && !table->shows_hash ? table : NULL;
}

/* Whether tables can inherit from it: PostgreSQL itself refuses heirs of a partitioned table. */
static bool may_have_heirs(const rw_table *table)
{
    return table != NULL && !table->in_parts;
}

static bool refuse(rw_definer *it, const PgQuery__RangeVar *heir, const PgQuery__RangeVar *parent)
{
    pgw_fail(it->error, "0A000",
             "cannot make table \"%s\" one that inherits from \"%s\" through keyspread",
             heir->relname, parent->relname);
    pgw_error_detail(it->error, "keyspread must spread both, by the same columns.");
    return rw_define_refuse(it, heir->location,
                            "Write the columns of its primary key, under a name that keyspread's "
                            "configuration has.");
}

static const char *hashed_column(const rw_table *table, size_t i)
{
    return table->columns[table->hash_key[i]].name;
}

/* Whether both hash alike, by the names of their columns: PostgreSQL checks that types are the
 * same. */
static bool is_alike(const rw_table *heir, const rw_table *parent)
{
    if (heir == NULL || parent == NULL)
        return heir == parent;
    bool alike = heir->hash_function == parent->hash_function &&
                 heir->hash_type == parent->hash_type && heir->buckets == parent->buckets &&
                 heir->hash_key_count == parent->hash_key_count &&
                 strcmp(rw_define_hash(heir), rw_define_hash(parent)) == 0;
    for (size_t i = 0; alike && i < heir->hash_key_count; i++)
        alike = strcmp(hashed_column(heir, i), hashed_column(parent, i)) == 0;
    return alike;
}

/* --- CREATE TABLE --- */

static const rw_table *parent_of(const PgQuery__CreateStmt *create, size_t i,
                                 const rw_catalog *catalog)
{
    const PgQuery__Node *node = create->inh_relations[i];
    return node->node_case == PG_QUERY__NODE__NODE_RANGE_VAR ? hashed(catalog, node->range_var)
                                                             : NULL;
}

bool rw_heirs_inherits_hash(const rw_definer *it, const PgQuery__CreateStmt *create,
                            const rw_catalog *catalog)
{
    for (size_t i = 0; i < create->n_inh_relations; i++) {
        const rw_table *parent = parent_of(create, i, catalog);
        if (parent != NULL && is_alike(it->table, parent))
            return true;
    }
    return false;
}

/* Checks INHERITS; a partition gets its rows by way of its table. */
static bool check_created(rw_definer *it, const PgQuery__CreateStmt *create,
                          const rw_catalog *catalog)
{
    for (size_t i = 0; create->partbound == NULL && i < create->n_inh_relations; i++) {
        const rw_table *parent = parent_of(create, i, catalog);
        if (may_have_heirs(parent) && !rw_text_mentions(it->text, rw_define_hash(parent)) &&
            !is_alike(it->made ? it->table : NULL, parent))
            return refuse(it, create->relation, create->inh_relations[i]->range_var);
    }
    return true;
}

/* --- ALTER TABLE --- */

static bool check_altered(rw_definer *it, const PgQuery__AlterTableStmt *alter,
                          const rw_catalog *catalog)
{
    for (size_t i = 0; i < alter->n_cmds; i++) {
        const PgQuery__AlterTableCmd *command = alter->cmds[i]->alter_table_cmd;
        const PgQuery__RangeVar *heir = alter->relation, *parent = NULL;
        if (command->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit)
            parent = command->def->range_var;
        if (command->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition) {
            parent = alter->relation;
            heir = command->def->partition_cmd->name;
        }
        if (parent == NULL)
            continue;
        const rw_table *above = hashed(catalog, parent), *below = hashed(catalog, heir);
        bool attached = heir != alter->relation;
        /* A partition that is not configured may be any table. */
        if ((attached ? below != NULL : may_have_heirs(above)) && !is_alike(below, above))
            return refuse(it, heir, parent);
    }
    return true;
}

bool rw_heirs_check(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_CREATE_STMT)
        return check_created(it, statement->create_stmt, catalog);
    return statement->node_case != PG_QUERY__NODE__NODE_ALTER_TABLE_STMT ||
           check_altered(it, statement->alter_table_stmt, catalog);
}
