#include "rewrite/statement/lookup/lookup_from.h"

#include "rewrite/statement/lookup/lookup.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

/* --- tables --- */

static bool note_ctes(void *context, const ProtobufCMessage *message)
{
    rw_from_ctes *ctes = context;
    if (message->descriptor == &pg_query__common_table_expr__descriptor) {
        if (ctes->count == RW_FROM_CTES)
            return false;
        ctes->names[ctes->count++] = ((const PgQuery__CommonTableExpr *)message)->ctename;
    }
    return rw_walk(message, note_ctes, ctes);
}

bool rw_from_note_ctes(rw_from_ctes *ctes, node statement)
{
    return note_ctes(ctes, (const ProtobufCMessage *)statement);
}

static bool is_cte(const rw_from_ctes *ctes, const PgQuery__RangeVar *relation)
{
    for (size_t i = 0; i < ctes->count && relation->schemaname[0] == '\0'; i++)
        if (strcmp(ctes->names[i], relation->relname) == 0)
            return true;
    return false;
}

/* Whether the relation's name certainly means the configured table. */
static bool is_sure(const rw_catalog *catalog, int table, const PgQuery__RangeVar *relation)
{
    return relation->schemaname[0] != '\0' || catalog->unqualified == NULL ||
           catalog->unqualified[table] == RW_MEANS_OURS;
}

static size_t renamed(const PgQuery__Alias *alias)
{
    return alias != NULL ? alias->n_colnames : 0;
}

/* The alias calls another column as the hash column is called. */
static bool takes_name(const PgQuery__Alias *alias, const rw_table *table)
{
    const char *hash = table->columns[table->hash_column].name;
    bool takes = false;
    for (size_t i = 0; alias != NULL && i < alias->n_colnames && !takes; i++)
        takes = strcmp(rw_node_name(alias->colnames[i]), hash) == 0;
    return takes;
}

static bool may_be_looked_up(const rw_table *table)
{
    return rw_table_is_looked_up(table) && table->hash_key_count <= RW_LOOKUP_COLUMNS_MAX;
}

static int table_of(const rw_from *in, const rw_from_ctes *ctes, const PgQuery__RangeVar *relation)
{
    const rw_catalog *catalog = in->catalog;
    const rw_table *table = rw_catalog_find(catalog, pgw_slice_str(relation->schemaname),
                                            pgw_slice_str(relation->relname));
    if (table == NULL || is_cte(ctes, relation) || table->hash_column < renamed(relation->alias) ||
        takes_name(relation->alias, table) || (!in->all && !may_be_looked_up(table)))
        return RW_NO_TABLE;
    int i = 0;
    while (catalog->tables[i] != table)
        i++;
    return is_sure(catalog, i, relation) ? i : RW_NO_TABLE;
}

/* --- FROM --- */

static void add_item(rw_from *in, rw_from_item it)
{
    in->overflows |= in->count == RW_FROM_ITEMS;
    if (!in->overflows)
        in->items[in->count++] = it;
}

void rw_from_add_relation(rw_from *in, const rw_from_ctes *ctes, const PgQuery__RangeVar *relation)
{
    const char *called = relation->alias != NULL ? relation->alias->aliasname : relation->relname;
    int table = table_of(in, ctes, relation);
    bool plain = relation->alias == NULL && table != RW_NO_TABLE;
    const char *schema = plain ? in->catalog->tables[table]->schema : "";
    bool bare = relation->schemaname[0] == '\0';
    add_item(in, (rw_from_item){called, schema, table, relation->location, relation->alias, bare});
}

static void add_join(rw_from *in, const rw_from_ctes *ctes, const PgQuery__JoinExpr *join)
{
    size_t left = in->count;
    rw_from_add(in, ctes, join->larg);
    size_t right = in->count;
    rw_from_add(in, ctes, join->rarg);
    in->outer |= join->jointype != PG_QUERY__JOIN_TYPE__JOIN_INNER;
    /* There are fewer merges than items, unless the items overflow. */
    if ((join->is_natural || join->n_using_clause > 0) && in->merge_count < RW_FROM_ITEMS)
        in->merges[in->merge_count++] = (rw_from_merge){join, left, right, in->count};
}

void rw_from_add(rw_from *in, const rw_from_ctes *ctes, node from)
{
    const PgQuery__JoinExpr *join =
        from->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR ? from->join_expr : NULL;
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
        rw_from_add_relation(in, ctes, from->range_var);
    else if (join != NULL && join->alias == NULL && join->join_using_alias == NULL)
        add_join(in, ctes, join);
    else
        add_item(in, (rw_from_item){"", "", RW_NO_TABLE, RW_NO_TABLE, NULL, false});
}

/* --- columns --- */

/* Two tables of one name, of different schemas, may stand side by side, but not be named. */
static bool is_ambiguous(const rw_from *in, const rw_from_item *of)
{
    size_t same = 0;
    for (size_t i = 0; i < in->count; i++)
        same += strcmp(in->items[i].called, of->called) == 0;
    return same > 1;
}

bool rw_from_is_ours(const rw_from *in, const rw_from_item *of)
{
    return of->table != RW_NO_TABLE && !is_ambiguous(in, of);
}

static const rw_table *table_at(const rw_from *in, const rw_from_item *of)
{
    return in->catalog->tables[of->table];
}

const char *rw_from_column(const rw_from *in, const rw_from_item *of, size_t column)
{
    return column < renamed(of->alias) ? rw_node_name(of->alias->colnames[column])
                                       : table_at(in, of)->columns[column].name;
}

const char *rw_from_key(const rw_from *in, const rw_from_item *of, size_t i)
{
    return rw_from_column(in, of, table_at(in, of)->hash_key[i]);
}

/* Whether the names before a column's, of its table or its schema too, are those of an item. */
static bool is_of(const rw_from_item *of, const PgQuery__ColumnRef *reference)
{
    size_t count = reference->n_fields;
    return strcmp(rw_node_name(reference->fields[count - 2]), of->called) == 0 &&
           (count == 2 || (of->schema[0] != '\0' &&
                           strcmp(rw_node_name(reference->fields[count - 3]), of->schema) == 0));
}

/* How many names a column is called by, of which the last is `name`; 0: it is no such column. */
static size_t names_of(node column, const char *name)
{
    if (column->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return 0;
    const PgQuery__ColumnRef *reference = column->column_ref;
    size_t count = reference->n_fields;
    bool is =
        count > 0 && count <= 4 && strcmp(rw_node_name(reference->fields[count - 1]), name) == 0;
    return is ? count : 0;
}

bool rw_from_is_column(const rw_from *in, const rw_from_item *of, node column, const char *name)
{
    size_t count = names_of(column, name);
    return count > 1 ? is_of(of, column->column_ref) : count == 1 && in->merge_count == 0;
}

/* --- columns that USING and NATURAL make one --- */

/* Whether the item has no column `name`, or one that has the type of `like` and a deterministic
 * collation. Which columns a table that is not configured has is not known. */
static bool is_alike(const rw_from *in, const rw_from_item *of, const char *name,
                     const rw_column *like)
{
    if (!rw_from_is_ours(in, of))
        return false;
    const rw_table *table = table_at(in, of);
    for (size_t i = 0; i < table->column_count; i++) {
        const rw_column *column = &table->columns[i];
        if (strcmp(rw_from_column(in, of, i), name) == 0 &&
            (column->type != like->type || column->nondeterministic))
            return false;
    }
    return true;
}

/* Whether all joins are inner joins, and each column `name` of the FROM has the type of `like`. */
static bool are_alike(const rw_from *in, const char *name, const rw_column *like)
{
    bool alike = in->merge_count > 0 && !in->outer;
    for (size_t i = 0; i < in->count && alike; i++)
        alike = is_alike(in, &in->items[i], name, like);
    return alike;
}

static bool merges_name(const PgQuery__JoinExpr *join, const char *name)
{
    bool merges = join->is_natural;
    for (size_t i = 0; i < join->n_using_clause && !merges; i++)
        merges = strcmp(rw_node_name(join->using_clause[i]), name) == 0;
    return merges;
}

/* Whether a join makes one of their columns of that name, which both have. */
static bool are_merged(const rw_from *in, size_t one, size_t other, const char *name)
{
    for (size_t i = 0; i < in->merge_count; i++) {
        const rw_from_merge *it = &in->merges[i];
        size_t first = one < other ? one : other, last = one < other ? other : one;
        if (first >= it->left && first < it->right && last >= it->right && last < it->end &&
            merges_name(it->join, name))
            return true;
    }
    return false;
}

static const rw_column *key_column(const rw_from *in, const rw_from_item *of, size_t i)
{
    const rw_table *table = table_at(in, of);
    return &table->columns[table->hash_key[i]];
}

bool rw_from_equals_key(const rw_from *in, const rw_from_item *of, size_t i, node column)
{
    const char *name = rw_from_key(in, of, i);
    size_t count = names_of(column, name);
    if (count == 0 || !are_alike(in, name, key_column(in, of, i)))
        return false;
    bool equals = count == 1;
    for (size_t k = 0; k < in->count && !equals; k++)
        equals = is_of(&in->items[k], column->column_ref) &&
                 are_merged(in, (size_t)(of - in->items), k, name);
    return equals;
}

bool rw_from_merges_keys(const rw_from *in, const rw_from_item *one, const rw_from_item *other,
                         size_t i)
{
    const char *name = rw_from_key(in, one, i);
    return strcmp(name, rw_from_key(in, other, i)) == 0 &&
           are_alike(in, name, key_column(in, one, i)) &&
           are_merged(in, (size_t)(one - in->items), (size_t)(other - in->items), name);
}
