/*
 * A row has one hash, so who groups by all of its key groups by its hash as well, whatever it is
 * joined with: no group becomes two, unless all of its key is NULL. Grouping sets, names that a
 * join merges, and keys that are more than a column's name there are left alone.
 */
#include "rewrite/statement/hidden/hash_groups.h"

#include <string.h>

/* An element of GROUP BY that is a column. */
typedef struct element {
    const PgQuery__ColumnRef *column;
    int32_t location;
    size_t tokens;
} element;

static const PgQuery__ColumnRef *reference(const PgQuery__Node *node)
{
    return node != NULL && node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ? node->column_ref
                                                                              : NULL;
}

static bool has_column(const rw_query_scope *scope, const char *name)
{
    const rw_query_scope here = {.items = scope->items};
    return rw_query_scope_has_column(&here, name);
}

/* The column that is shown by that name, or in that place, from 1; NULL: none. */
static const PgQuery__ColumnRef *shown(const PgQuery__SelectStmt *select, const char *name,
                                       size_t place)
{
    for (size_t i = 0; i < select->n_target_list && i < (name == NULL ? place : SIZE_MAX); i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        const PgQuery__ColumnRef *column = reference(target->val);
        bool star = column != NULL &&
                    column->fields[column->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
        if (star && name == NULL)
            return NULL; /* The star stands for several columns, so the place is not known. */
        if (name != NULL ? strcmp(target->name, name) == 0 : i + 1 == place)
            return column;
    }
    return NULL;
}

static element read_element(const PgQuery__SelectStmt *select, const rw_query_scope *scope,
                            const PgQuery__Node *node)
{
    const PgQuery__ColumnRef *column = reference(node);
    if (node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
        node->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL && node->a_const->ival->ival > 0)
        return (element){shown(select, NULL, (size_t)node->a_const->ival->ival),
                         node->a_const->location, 1};
    if (column == NULL)
        return (element){NULL, 0, 0};
    const char *name = rw_name_of_node(column->fields[0]);
    element it = {column, column->location, 2 * column->n_fields - 1};
    if (column->n_fields == 1 && !has_column(scope, name))
        it.column = shown(select, name, 0);
    return it;
}

/* Whether it is that column of the item. */
static bool is_of(const rw_query_scope *scope, const rw_query_scope_item *item,
                  const PgQuery__ColumnRef *column, const char *name)
{
    if (column == NULL || strcmp(rw_name_of_node(column->fields[column->n_fields - 1]), name) != 0)
        return false;
    if (column->n_fields == 1)
        return !scope->odd;
    const rw_query_scope here = {.items = scope->items};
    const char *schema =
        column->n_fields > 2 ? rw_name_of_node(column->fields[column->n_fields - 3]) : "";
    return rw_query_scope_find(&here, schema,
                               rw_name_of_node(column->fields[column->n_fields - 2])) == item;
}

/* The element that is a column of the key; NULL: none is. */
static const element *find_column(const rw_query_scope *scope, const rw_query_scope_item *item,
                                  const char *name, const element *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_of(scope, item, elements[i].column, name))
            return &elements[i];
    return NULL;
}

/* A row of which all columns are NULL, as an outer join has it, has no hash; a row of the table
 * whose key is NULL has one. */
static bool has_one_hash(const rw_table *table)
{
    bool sure = !table->allow_null_key;
    for (size_t i = 0; i < table->hash_key_count; i++)
        sure = sure || table->columns[table->hash_key[i]].not_null;
    return sure;
}

static const element *find_key(const rw_query_scope *scope, const rw_query_scope_item *item,
                               const element *elements, size_t count)
{
    const element *last = NULL;
    const rw_table *table = item->table;
    for (size_t i = 0; i < table->primary_key_count && has_one_hash(table); i++) {
        const char *name = table->columns[table->primary_key[i]].name;
        last = find_column(scope, item, name, elements, count);
        if (last == NULL)
            return NULL;
    }
    return last;
}

static void add(rw_hash_groups *groups, const element *at, const rw_query_scope_item *item,
                pgw_arena *arena)
{
    rw_hash_group *group = pgw_arena_alloc(arena, sizeof *group);
    *group = (rw_hash_group){groups->list, at->location, at->tokens, item};
    groups->list = group;
}

/* `(a, b)`, which stands for both; NULL: it is something else. */
static const PgQuery__RowExpr *list_of(const PgQuery__Node *node)
{
    bool row = node->node_case == PG_QUERY__NODE__NODE_ROW_EXPR;
    return row && node->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_IMPLICIT_CAST
               ? node->row_expr
               : NULL;
}

static size_t count_elements(PgQuery__Node *const *nodes, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        const PgQuery__RowExpr *list = list_of(nodes[i]);
        all += list != NULL ? count_elements(list->args, list->n_args) : 1;
    }
    return all;
}

static size_t read_elements(const PgQuery__SelectStmt *select, const rw_query_scope *scope,
                            PgQuery__Node *const *nodes, size_t count, element *out)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        const PgQuery__RowExpr *list = list_of(nodes[i]);
        if (list != NULL)
            all += read_elements(select, scope, list->args, list->n_args, out + all);
        else
            out[all++] = read_element(select, scope, nodes[i]);
    }
    return all;
}

/* Whether one is of this kind, within lists, too. */
static bool has_kind(PgQuery__Node *const *nodes, size_t count, PgQuery__Node__NodeCase kind)
{
    bool has = false;
    for (size_t i = 0; i < count && !has; i++) {
        const PgQuery__RowExpr *list = list_of(nodes[i]);
        has = list != NULL ? has_kind(list->args, list->n_args, kind) : nodes[i]->node_case == kind;
    }
    return has;
}

void rw_hash_groups_find(const PgQuery__SelectStmt *select, const rw_query_scope *scope,
                         pgw_arena *arena, rw_hash_groups *groups)
{
    PgQuery__Node *const *clause = select->group_clause;
    size_t length = select->n_group_clause;
    if (has_kind(clause, length, PG_QUERY__NODE__NODE_GROUPING_SET))
        return;
    bool numbers = has_kind(clause, length, PG_QUERY__NODE__NODE_A_CONST);
    size_t count = count_elements(clause, length);
    element *elements = pgw_arena_alloc(arena, (count + 1) * sizeof *elements);
    read_elements(select, scope, clause, length, elements);
    for (const rw_query_scope_item *it = scope->items; it != NULL && count > 0; it = it->next) {
        bool ours = it->table != NULL && !it->made;
        bool renamed = ours && it->relation->alias != NULL && it->relation->alias->n_colnames > 0;
        const element *at = ours && !renamed ? find_key(scope, it, elements, count) : NULL;
        groups->by_value |= numbers && ours;
        if (at != NULL)
            add(groups, at, it, arena);
    }
}

void rw_hash_groups_put(const rw_hash_groups *groups, rw_edit_writer *texts)
{
    for (const rw_hash_group *it = groups->list; it != NULL; it = it->next)
        if (!rw_query_scope_is_wrapped(it->item))
            rw_edit_put_hash(texts, it->location, it->tokens, it->item);
}
