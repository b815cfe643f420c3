#include "ydb/plain/from_types.h"

#include "protocol/array.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

static void rename_alias(rw_columns columns, const PgQuery__Alias *alias)
{
    if (alias != NULL)
        rw_columns_rename(columns, alias->colnames, alias->n_colnames);
}

static void miss(rw_typing *typing, pgw_slice schema, pgw_slice name)
{
    rw_relation *missing = pgw_arena_alloc(typing->arena, sizeof *missing);
    *missing = (rw_relation){typing->missing, pgw_arena_copy(typing->arena, schema).ptr,
                             pgw_arena_copy(typing->arena, name).ptr};
    typing->missing = missing;
}

rw_columns rw_typing_table(rw_typing *typing, const PgQuery__RangeVar *relation)
{
    pgw_slice schema = pgw_slice_str(relation->schemaname);
    pgw_slice name = pgw_slice_str(relation->relname);
    const rw_catalog *others = typing->catalog->others;
    const rw_table *table = rw_catalog_find(typing->catalog, schema, name);
    if (table == NULL && others != NULL)
        table = rw_catalog_find(others, schema, name);
    if (table != NULL)
        return rw_columns_of_table(table, typing->arena);
    miss(typing, schema, name);
    return (rw_columns){NULL, 0};
}

static rw_columns copy(rw_columns columns, pgw_arena *arena)
{
    rw_columns out = {NULL, 0};
    rw_columns_append(&out, columns, arena);
    return out;
}

static void add_relation(rw_typing *typing, rw_scope *scope, const PgQuery__RangeVar *relation)
{
    const rw_columns *cte =
        relation->schemaname[0] == '\0' ? rw_scope_cte(scope, relation->relname) : NULL;
    rw_columns columns =
        cte != NULL ? copy(*cte, typing->arena) : rw_typing_table(typing, relation);
    rename_alias(columns, relation->alias);
    rw_scope_add(scope, relation->alias != NULL ? relation->alias->aliasname : relation->relname,
                 columns, typing->arena);
}

/* Adds a query in FROM, which sees what stands before it only if it says LATERAL. */
static void add_subquery(rw_typing *typing, rw_scope *scope, const PgQuery__RangeSubselect *it)
{
    const rw_scope without = {.outer = scope->outer, .ctes = scope->ctes};
    rw_columns columns = typing->query(typing, it->lateral ? scope : &without, it->subquery);
    rename_alias(columns, it->alias);
    rw_scope_add(scope, it->alias != NULL ? it->alias->aliasname : "", columns, typing->arena);
}

static const char *function_name(node call)
{
    return call->node_case == PG_QUERY__NODE__NODE_FUNC_CALL
               ? rw_node_name(call->func_call->funcname[call->func_call->n_funcname - 1])
               : "";
}

static void add_column(rw_typing *typing, rw_columns *to, const char *name, uint32_t type)
{
    rw_named column = {name, type, NULL};
    rw_columns_append(to, (rw_columns){&column, 1}, typing->arena);
}

/* Adds a function's column, called as the function; for unnest(), a column for each array. */
static void add_result(rw_typing *typing, const rw_scope *scope, node call, const char *name,
                       rw_columns *to)
{
    if (strcmp(function_name(call), "unnest") != 0) {
        add_column(typing, to, name, rw_type_expression(typing, scope, call));
        return;
    }
    for (size_t i = 0; i < call->func_call->n_args; i++)
        add_column(typing, to, name,
                   pgw_array_element(rw_type_expression(typing, scope, call->func_call->args[i])));
}

/* Adds functions in FROM as a table; its columns may be listed behind it. */
static void add_function(rw_typing *typing, rw_scope *scope, const PgQuery__RangeFunction *it)
{
    rw_columns columns = {NULL, 0};
    const char *alias = it->alias != NULL ? it->alias->aliasname : NULL;
    for (size_t i = 0; i < it->n_functions; i++) {
        node call = it->functions[i]->list->items[0];
        add_result(typing, scope, call, alias != NULL ? alias : function_name(call), &columns);
    }
    for (size_t i = 0; i < it->n_coldeflist; i++) {
        const PgQuery__ColumnDef *def = it->coldeflist[i]->column_def;
        add_column(typing, &columns, def->colname, rw_type_of_name(def->type_name));
    }
    rename_alias(columns, it->alias);
    rw_scope_add(scope, alias != NULL ? alias : "", columns, typing->arena);
}

static void add_sample(rw_typing *typing, rw_scope *scope, const PgQuery__RangeTableSample *it)
{
    add_relation(typing, scope, it->relation->range_var);
    for (size_t i = 0; i < it->n_args; i++)
        rw_type_as(typing, scope, it->args[i], PGW_FLOAT4);
    rw_type_as(typing, scope, it->repeatable, PGW_FLOAT8);
}

static void add_from(rw_typing *typing, rw_scope *scope, node from)
{
    switch ((int)from->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        add_relation(typing, scope, from->range_var);
        break;
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        add_subquery(typing, scope, from->range_subselect);
        break;
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        add_function(typing, scope, from->range_function);
        break;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
        add_sample(typing, scope, from->range_table_sample);
        break;
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        add_from(typing, scope, from->join_expr->larg);
        add_from(typing, scope, from->join_expr->rarg);
        rw_type_as(typing, scope, from->join_expr->quals, PGW_BOOL);
        break;
    default:
        rw_type_expression(typing, scope, from);
    }
}

void rw_type_from(rw_typing *typing, rw_scope *scope, PgQuery__Node *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_from(typing, scope, list[i]);
}
