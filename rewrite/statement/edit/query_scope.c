#include "rewrite/statement/edit/query_scope.h"

#include <string.h>

const char *rw_name_of_node(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}

static bool is_cte(const rw_query_scope_place *place, const PgQuery__RangeVar *relation)
{
    for (const rw_with_item *it = place->ctes; it != NULL && relation->schemaname[0] == '\0';
         it = it->next)
        if (strcmp(it->name, relation->relname) == 0)
            return true;
    return false;
}

/* Whether the relation's name certainly means the configured table. */
static bool is_sure(const rw_catalog *catalog, const rw_table *table,
                    const PgQuery__RangeVar *relation)
{
    size_t i = 0;
    while (catalog->tables[i] != table)
        i++;
    return relation->schemaname[0] != '\0' || catalog->unqualified == NULL ||
           catalog->unqualified[i] == RW_MEANS_OURS;
}

const rw_table *rw_query_scope_table(const rw_query_scope_world *world,
                                     const rw_query_scope_place *place,
                                     const PgQuery__RangeVar *relation)
{
    const rw_table *table = rw_catalog_find(world->catalog, pgw_slice_str(relation->schemaname),
                                            pgw_slice_str(relation->relname));
    bool ours = table != NULL && !is_cte(place, relation) &&
                is_sure(world->catalog, table, relation) && world->hides(world->context, table);
    return ours ? table : NULL;
}

static rw_query_scope_item *add_item(const rw_query_scope_world *world, rw_query_scope *to,
                                     const char *called)
{
    rw_query_scope_item **end = &to->items;
    while (*end != NULL)
        end = &(*end)->next;
    rw_query_scope_item *it = *end = pgw_arena_alloc(world->arena, sizeof *it);
    it->called = called;
    return it;
}

rw_query_scope_item *rw_query_scope_add_relation(const rw_query_scope_world *world,
                                                 const rw_query_scope_place *place,
                                                 rw_query_scope *to,
                                                 const PgQuery__RangeVar *relation)
{
    const PgQuery__Alias *alias = relation->alias;
    rw_query_scope_item *it =
        add_item(world, to, alias != NULL ? alias->aliasname : relation->relname);
    it->relation = relation;
    it->table = rw_query_scope_table(world, place, relation);
    it->wraps = alias != NULL && alias->n_colnames > 0;
    return it;
}

/* Notes the items of one side of a join that may have NULL in the place of their rows. */
static void note_absent(rw_query_scope_item *items, const PgQuery__JoinExpr *join,
                        PgQuery__JoinType other)
{
    bool may = join->jointype == other || join->jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL;
    for (; items != NULL; items = items->next)
        items->absent |= may;
}

/* `*` of a join that merges columns, or has a name of its own, is what it is of subqueries. */
static void add_join(const rw_query_scope_world *world, const rw_query_scope_place *place,
                     rw_query_scope *to, const PgQuery__JoinExpr *join)
{
    rw_query_scope inside = {0};
    rw_query_scope_add_from(world, place, &inside, join->larg);
    note_absent(inside.items, join, PG_QUERY__JOIN_TYPE__JOIN_RIGHT);
    rw_query_scope_item **right = &inside.items;
    while (*right != NULL)
        right = &(*right)->next;
    rw_query_scope_add_from(world, place, &inside, join->rarg);
    note_absent(*right, join, PG_QUERY__JOIN_TYPE__JOIN_LEFT);
    to->odd |= inside.odd || join->is_natural || join->n_using_clause > 0 || join->alias != NULL;
    for (rw_query_scope_item *it = inside.items; it != NULL; it = it->next)
        it->wraps |= join->is_natural || join->alias != NULL;
    rw_query_scope_item **end = &to->items;
    while (*end != NULL)
        end = &(*end)->next;
    *end = inside.items;
    if (join->alias != NULL)
        add_item(world, to, join->alias->aliasname);
}

static void add_other(const rw_query_scope_world *world, rw_query_scope *to,
                      const PgQuery__Alias *alias)
{
    to->odd |= alias == NULL;
    add_item(world, to, alias != NULL ? alias->aliasname : "");
}

/* --- rows of a table's type --- */

static const PgQuery__FuncCall *only_call(const PgQuery__RangeFunction *from)
{
    bool plain = from->n_functions == 1 && !from->ordinality && from->n_coldeflist == 0 &&
                 from->functions[0]->node_case == PG_QUERY__NODE__NODE_LIST;
    const PgQuery__List *list = plain ? from->functions[0]->list : NULL;
    bool call =
        plain && list->n_items > 0 && list->items[0]->node_case == PG_QUERY__NODE__NODE_FUNC_CALL;
    return call ? list->items[0]->func_call : NULL;
}

static const char *last_of(PgQuery__Node **names, size_t count)
{
    return count > 0 ? rw_name_of_node(names[count - 1]) : "";
}

static bool fills_a_row(const PgQuery__FuncCall *call)
{
    static const char *const names[] = {"json_populate_record", "json_populate_recordset",
                                        "jsonb_populate_record", "jsonb_populate_recordset"};
    const char *name = last_of(call->funcname, call->n_funcname);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return call->n_funcname == 1 ||
                   strcmp(rw_name_of_node(call->funcname[0]), "pg_catalog") == 0;
    return false;
}

/* `NULL::t` as its first argument says of what type its rows are; NULL: nothing does. */
static const PgQuery__TypeName *row_type(const PgQuery__FuncCall *call)
{
    if (call == NULL || call->n_args == 0 || !fills_a_row(call) ||
        call->args[0]->node_case != PG_QUERY__NODE__NODE_TYPE_CAST)
        return NULL;
    const PgQuery__TypeName *type = call->args[0]->type_cast->type_name;
    bool plain =
        (type->n_names == 1 || type->n_names == 2) && type->n_array_bounds == 0 && !type->pct_type;
    return plain ? type : NULL;
}

static PgQuery__RangeVar *like_relation(const rw_query_scope_world *world,
                                        const PgQuery__RangeFunction *from,
                                        const PgQuery__FuncCall *call,
                                        const PgQuery__TypeName *type)
{
    PgQuery__RangeVar *it = pgw_arena_alloc(world->arena, sizeof *it);
    pg_query__range_var__init(it);
    it->relname = (char *)last_of(type->names, type->n_names);
    if (type->n_names == 2)
        it->schemaname = (char *)rw_name_of_node(type->names[0]);
    it->alias = from->alias;
    if (it->alias == NULL) {
        it->alias = pgw_arena_alloc(world->arena, sizeof *it->alias);
        pg_query__alias__init(it->alias);
        it->alias->aliasname = (char *)last_of(call->funcname, call->n_funcname);
    }
    return it;
}

static void add_function(const rw_query_scope_world *world, rw_query_scope *to,
                         const PgQuery__RangeFunction *from)
{
    const PgQuery__FuncCall *call = only_call(from);
    const PgQuery__TypeName *type = row_type(call);
    PgQuery__RangeVar *like = type != NULL ? like_relation(world, from, call, type) : NULL;
    const rw_query_scope_place nowhere = {0}; /* A query of WITH makes no type. */
    const rw_table *table = like != NULL ? rw_query_scope_table(world, &nowhere, like) : NULL;
    if (table == NULL) {
        add_other(world, to, from->alias);
        return;
    }
    rw_query_scope_item *it = add_item(world, to, like->alias->aliasname);
    it->relation = like;
    it->table = table;
    it->made = it->stays = true;
}

void rw_query_scope_add_from(const rw_query_scope_world *world, const rw_query_scope_place *place,
                             rw_query_scope *to, const PgQuery__Node *from)
{
    switch ((int)from->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        rw_query_scope_add_relation(world, place, to, from->range_var);
        break;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE: {
        const PgQuery__Node *relation = from->range_table_sample->relation;
        rw_query_scope_add_relation(world, place, to, relation->range_var)->sampled = true;
        break;
    }
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        add_join(world, place, to, from->join_expr);
        break;
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        add_other(world, to, from->range_subselect->alias);
        break;
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        add_function(world, to, from->range_function);
        break;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC:
        add_other(world, to, from->range_table_func->alias);
        break;
    default:
        add_other(world, to, NULL);
    }
}

static bool is_plain(const rw_query_scope_item *item)
{
    return item->relation != NULL && item->relation->alias == NULL;
}

/* Whether no known name tells the columns of the item from those of its twin. */
static bool is_nameless(const rw_query_scope_item *it)
{
    return it->twin && it->table == NULL && it->relation->schemaname[0] == '\0';
}

/* Whether two tables share a name. One table that is there twice is refused by PostgreSQL itself.
 */
static bool are_twins(const rw_query_scope_item *one, const rw_query_scope_item *other)
{
    return is_plain(one) && is_plain(other) && strcmp(one->called, other->called) == 0 &&
           (one->table == NULL || one->table != other->table);
}

void rw_query_scope_note_twins(rw_query_scope *scope)
{
    for (rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
        for (rw_query_scope_item *other = it->next; other != NULL; other = other->next)
            if (are_twins(it, other))
                it->twin = other->twin = true;
    for (const rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
        scope->odd |= is_nameless(it);
}

/* Whether the schema before a name can be the item's. The schema of a table that is not configured
 * is known only if it is written. */
static bool may_be_in(const rw_query_scope_item *item, const char *schema)
{
    if (schema[0] == '\0')
        return true;
    if (item->relation == NULL || item->relation->alias != NULL)
        return false;
    const char *of = item->table != NULL ? item->table->schema : item->relation->schemaname;
    return of[0] == '\0' || strcmp(of, schema) == 0;
}

/* The item of this scope that a name means: preferably one whose schema is known, else any that may
 * be it. */
static rw_query_scope_item *find_here(const rw_query_scope *scope, const char *schema,
                                      const char *name)
{
    rw_query_scope_item *found = NULL;
    for (rw_query_scope_item *it = scope->items; it != NULL; it = it->next) {
        bool known = it->table != NULL || (it->relation != NULL && it->relation->schemaname[0]);
        if (strcmp(it->called, name) == 0 && may_be_in(it, schema) && (found == NULL || known))
            found = it;
        if (found == it && (known || schema[0] == '\0'))
            break;
    }
    return found;
}

rw_query_scope_item *rw_query_scope_find(const rw_query_scope *scope, const char *schema,
                                         const char *name)
{
    rw_query_scope_item *found = NULL;
    for (; scope != NULL && found == NULL; scope = scope->outer)
        found = find_here(scope, schema, name);
    return found;
}

static bool has(const rw_query_scope *scope, const rw_query_scope_item *item)
{
    const rw_query_scope_item *it = scope->items;
    while (it != NULL && it != item)
        it = it->next;
    return it != NULL;
}

void rw_query_scope_note_hidden(const rw_query_scope *scope, rw_query_scope_item *item)
{
    for (; scope != NULL && !has(scope, item); scope = scope->outer)
        for (const rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
            item->hidden |= strcmp(it->called, item->called) == 0;
}

void rw_query_scope_keep_twins(const rw_query_scope *scope, const char *name)
{
    const rw_query_scope_item *found = NULL;
    for (; scope != NULL && found == NULL; scope = scope->outer) {
        found = find_here(scope, "", name);
        for (rw_query_scope_item *it = scope->items; it != NULL && found != NULL; it = it->next)
            it->stays |= it->twin && strcmp(it->called, name) == 0;
    }
}

bool rw_query_scope_has_column(const rw_query_scope *scope, const char *name)
{
    for (; scope != NULL; scope = scope->outer)
        for (const rw_query_scope_item *it = scope->items; it != NULL; it = it->next)
            if (it->table != NULL &&
                rw_table_column(it->table, pgw_slice_str(name)) < it->table->column_count)
                return true;
    return false;
}

bool rw_is_system_column(const char *name)
{
    static const char *const names[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool rw_query_scope_is_wrapped(const rw_query_scope_item *item)
{
    return item->table != NULL && item->wraps && !item->stays && !item->written &&
           !(item->bare && rw_query_scope_is_renamed(item));
}

bool rw_query_scope_is_renamed(const rw_query_scope_item *item)
{
    return item->twin || item->hidden;
}
