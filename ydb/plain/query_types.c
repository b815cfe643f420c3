#include "ydb/plain/query_types.h"

#include "protocol/array.h"
#include "ydb/plain/from_types.h"
#include "ydb/plain/rules.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

static rw_columns type_query(rw_typing *typing, const rw_scope *scope, node query);
static rw_columns type_select(rw_typing *typing, const rw_scope *outer,
                              const PgQuery__SelectStmt *select);
static void resolve(rw_typing *typing, rw_columns columns);
static void unite(rw_typing *typing, rw_columns *columns, const rw_columns *other);

static void expressions(rw_typing *typing, const rw_scope *scope, PgQuery__Node *const *list,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        rw_type_expression(typing, scope, list[i]);
}

/* --- WITH --- */

/* Types a query of WITH RECURSIVE that reads itself: there it has the columns of its first arm. */
static void type_recursive(rw_typing *typing, rw_scope *scope, rw_cte *cte,
                           const PgQuery__CommonTableExpr *it)
{
    const PgQuery__SelectStmt *select = it->ctequery->select_stmt;
    cte->columns = type_select(typing, scope, select->larg);
    rw_columns_rename(cte->columns, it->aliascolnames, it->n_aliascolnames);
    scope->ctes = cte;
    rw_columns right = type_select(typing, scope, select->rarg);
    unite(typing, &cte->columns, &right);
    resolve(typing, cte->columns);
}

static void add_cte(rw_typing *typing, rw_scope *scope, const PgQuery__CommonTableExpr *it,
                    bool recursive)
{
    rw_cte *cte = pgw_arena_alloc(typing->arena, sizeof *cte);
    node query = it->ctequery;
    *cte = (rw_cte){.next = scope->ctes, .name = it->ctename};
    bool itself = recursive && query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT &&
                  query->select_stmt->larg != NULL && query->select_stmt->with_clause == NULL;
    if (itself) {
        type_recursive(typing, scope, cte, it);
        return;
    }
    cte->columns = type_query(typing, scope, query);
    rw_columns_rename(cte->columns, it->aliascolnames, it->n_aliascolnames);
    scope->ctes = cte;
}

static void add_with(rw_typing *typing, rw_scope *scope, const PgQuery__WithClause *with)
{
    for (size_t i = 0; with != NULL && i < with->n_ctes; i++)
        add_cte(typing, scope, with->ctes[i]->common_table_expr, with->recursive);
}

/* --- what a query gives --- */

/* The name that PostgreSQL gives a column that has none, as far as it matters here. */
static const char *usual_name(node it)
{
    switch ((int)it->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return rw_node_name(it->column_ref->fields[it->column_ref->n_fields - 1]);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return rw_node_name(it->func_call->funcname[it->func_call->n_funcname - 1]);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return usual_name(it->type_cast->arg);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return "coalesce";
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return "case";
    default:
        return "";
    }
}

static bool is_star(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           it->column_ref->fields[it->column_ref->n_fields - 1]->node_case ==
               PG_QUERY__NODE__NODE_A_STAR;
}

static rw_columns type_targets(rw_typing *typing, const rw_scope *scope, PgQuery__Node *const *list,
                               size_t count)
{
    rw_columns out = {pgw_arena_alloc(typing->arena, count * sizeof(rw_named) + 1), 0};
    for (size_t i = 0; i < count; i++) {
        const PgQuery__ResTarget *target = list[i]->res_target;
        uint32_t type = rw_type_expression(typing, scope, target->val);
        if (target->val == NULL)
            continue;
        if (is_star(target->val)) {
            rw_columns_append(&out, rw_scope_star(scope, target->val->column_ref, typing->arena),
                              typing->arena);
            rw_named *room = pgw_arena_alloc(typing->arena, (out.count + count) * sizeof *room);
            memcpy(room, out.list, out.count * sizeof *room);
            out.list = room;
            continue;
        }
        const char *name = target->name[0] != '\0' ? target->name : usual_name(target->val);
        out.list[out.count++] = (rw_named){name, type, target->val};
    }
    return out;
}

/* Gives the type text to columns of which nothing said the type, where a query ends. */
static void resolve(rw_typing *typing, rw_columns columns)
{
    for (size_t i = 0; i < columns.count; i++) {
        rw_named *it = &columns.list[i];
        rw_type_expect(typing, it->node, PGW_TEXT);
        it->type = it->type == PGW_UNKNOWN ? PGW_TEXT : it->type;
        it->node = NULL;
    }
}

/* Gives the columns of both arms of UNION the type that they have together. */
static void unite(rw_typing *typing, rw_columns *columns, const rw_columns *other)
{
    for (size_t i = 0; i < columns->count && i < other->count; i++) {
        rw_named *left = &columns->list[i], *right = &other->list[i];
        uint32_t common = rw_common_type((uint32_t[]){left->type, right->type}, 2);
        rw_type_expect(typing, left->node, common);
        rw_type_expect(typing, right->node, common);
        left->type = common;
        left->node = NULL;
    }
}

static rw_columns type_row(rw_typing *typing, const rw_scope *scope, node row)
{
    const PgQuery__List *list = row->list;
    rw_columns out = {pgw_arena_alloc(typing->arena, list->n_items * sizeof(rw_named) + 1), 0};
    for (; out.count < list->n_items; out.count++) {
        node it = list->items[out.count];
        char *name = pgw_arena_printf(typing->arena, "column%zu", out.count + 1);
        out.list[out.count] = (rw_named){name, rw_type_expression(typing, scope, it), it};
    }
    return out;
}

/* Types VALUES: each column is of the type that all its rows have together. */
static rw_columns type_values(rw_typing *typing, const rw_scope *scope,
                              const PgQuery__SelectStmt *select)
{
    size_t rows = select->n_values_lists, width = 0;
    rw_columns *read = pgw_arena_alloc(typing->arena, rows * sizeof *read + 1);
    uint32_t *types = pgw_arena_alloc(typing->arena, rows * sizeof *types + 1);
    for (size_t i = 0; i < rows; i++)
        read[i] = type_row(typing, scope, select->values_lists[i]);
    for (size_t i = 0; i < rows; i++)
        width = i == 0 || read[i].count < width ? read[i].count : width;
    for (size_t column = 0; column < width; column++) {
        for (size_t i = 0; i < rows; i++)
            types[i] = read[i].list[column].type;
        uint32_t common = rw_common_type(types, rows);
        for (size_t i = 0; i < rows; i++)
            rw_type_expect(typing, read[i].list[column].node, common);
        read[0].list[column].type = common;
    }
    return read[0];
}

static void type_end(rw_typing *typing, const rw_scope *scope, const PgQuery__SelectStmt *select)
{
    expressions(typing, scope, select->sort_clause, select->n_sort_clause);
    expressions(typing, scope, select->group_clause, select->n_group_clause);
    expressions(typing, scope, select->distinct_clause, select->n_distinct_clause);
    rw_type_as(typing, scope, select->limit_offset, PGW_INT8);
    rw_type_as(typing, scope, select->limit_count, PGW_INT8);
    expressions(typing, scope, select->window_clause, select->n_window_clause);
}

static rw_columns type_union(rw_typing *typing, const rw_scope *scope,
                             const PgQuery__SelectStmt *select)
{
    rw_columns left = type_select(typing, scope, select->larg);
    rw_columns right = type_select(typing, scope, select->rarg);
    unite(typing, &left, &right);
    return left;
}

static rw_columns type_select(rw_typing *typing, const rw_scope *outer,
                              const PgQuery__SelectStmt *select)
{
    rw_scope scope = {.outer = outer};
    rw_columns out;
    add_with(typing, &scope, select->with_clause);
    if (select->larg != NULL) {
        out = type_union(typing, &scope, select);
    } else if (select->n_values_lists > 0) {
        out = type_values(typing, &scope, select);
    } else {
        rw_type_from(typing, &scope, select->from_clause, select->n_from_clause);
        out = type_targets(typing, &scope, select->target_list, select->n_target_list);
        rw_type_as(typing, &scope, select->where_clause, PGW_BOOL);
        rw_type_as(typing, &scope, select->having_clause, PGW_BOOL);
    }
    type_end(typing, &scope, select);
    return out;
}

/* --- what writes --- */

static uint32_t column_type(rw_columns columns, const char *name)
{
    for (size_t i = 0; i < columns.count; i++)
        if (strcmp(columns.list[i].name, name) == 0)
            return columns.list[i].type;
    return PGW_UNSPECIFIED;
}

/* Types one assignment of (a, b) = (1, 2), which is two assignments of the same row in the tree. */
static void type_of_several(rw_typing *typing, const rw_scope *scope,
                            const PgQuery__MultiAssignRef *it, uint32_t type)
{
    if (it->source->node_case != PG_QUERY__NODE__NODE_ROW_EXPR) {
        if (it->colno == 1)
            rw_type_expression(typing, scope, it->source);
        return;
    }
    const PgQuery__RowExpr *row = it->source->row_expr;
    if (it->colno >= 1 && (size_t)it->colno <= row->n_args)
        rw_type_as(typing, scope, row->args[it->colno - 1], type);
}

static void type_set(rw_typing *typing, const rw_scope *scope, rw_columns columns,
                     PgQuery__Node *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PgQuery__ResTarget *target = list[i]->res_target;
        uint32_t type = column_type(columns, target->name);
        if (target->n_indirection > 0) /* an assignment to `a[1]` takes one of its elements */
            type = pgw_array_element(type);
        if (target->val != NULL && target->val->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF)
            type_of_several(typing, scope, target->val->multi_assign_ref, type);
        else
            rw_type_as(typing, scope, target->val, type);
    }
}

/* The columns that the values go into, in their order. */
static rw_columns written_columns(const rw_typing *typing, const PgQuery__InsertStmt *insert,
                                  rw_columns all)
{
    if (insert->n_cols == 0)
        return all;
    rw_columns out = {pgw_arena_alloc(typing->arena, insert->n_cols * sizeof(rw_named)),
                      insert->n_cols};
    for (size_t i = 0; i < out.count; i++) {
        const char *name = insert->cols[i]->res_target->name;
        out.list[i] = (rw_named){name, column_type(all, name), NULL};
    }
    return out;
}

/* Types what is inserted: values have the types of their columns, and so have a query's columns of
 * which nothing says the type. */
static void type_source(rw_typing *typing, const rw_scope *scope, const PgQuery__SelectStmt *select,
                        rw_columns into)
{
    if (select->n_values_lists == 0) {
        rw_columns from = type_select(typing, scope, select);
        for (size_t i = 0; i < from.count && i < into.count; i++)
            rw_type_expect(typing, from.list[i].node, into.list[i].type);
        return;
    }
    for (size_t row = 0; row < select->n_values_lists; row++) {
        const PgQuery__List *cells = select->values_lists[row]->list;
        for (size_t i = 0; i < cells->n_items; i++)
            rw_type_as(typing, scope, cells->items[i],
                       i < into.count ? into.list[i].type : PGW_UNSPECIFIED);
    }
}

static void type_conflict(rw_typing *typing, rw_scope *scope, const PgQuery__OnConflictClause *it,
                          rw_columns columns)
{
    if (it == NULL)
        return;
    if (it->infer != NULL) {
        expressions(typing, scope, it->infer->index_elems, it->infer->n_index_elems);
        rw_type_as(typing, scope, it->infer->where_clause, PGW_BOOL);
    }
    rw_scope_add(scope, "excluded", columns, typing->arena);
    type_set(typing, scope, columns, it->target_list, it->n_target_list);
    rw_type_as(typing, scope, it->where_clause, PGW_BOOL);
}

static const char *called(const PgQuery__RangeVar *relation)
{
    return relation->alias != NULL ? relation->alias->aliasname : relation->relname;
}

static rw_columns type_insert(rw_typing *typing, const rw_scope *outer,
                              const PgQuery__InsertStmt *insert)
{
    rw_scope with = {.outer = outer}, scope = {.outer = &with};
    rw_columns columns = rw_typing_table(typing, insert->relation);
    add_with(typing, &with, insert->with_clause);
    if (insert->select_stmt != NULL) {
        const PgQuery__SelectStmt *select = insert->select_stmt->select_stmt;
        add_with(typing, &with, select->n_values_lists > 0 ? select->with_clause : NULL);
        type_source(typing, &with, select, written_columns(typing, insert, columns));
    }
    rw_scope_add(&scope, called(insert->relation), columns, typing->arena);
    type_conflict(typing, &scope, insert->on_conflict_clause, columns);
    return type_targets(typing, &scope, insert->returning_list, insert->n_returning_list);
}

static rw_columns type_update(rw_typing *typing, const rw_scope *outer,
                              const PgQuery__UpdateStmt *update)
{
    rw_scope scope = {.outer = outer};
    rw_columns columns = rw_typing_table(typing, update->relation);
    add_with(typing, &scope, update->with_clause);
    rw_scope_add(&scope, called(update->relation), columns, typing->arena);
    rw_type_from(typing, &scope, update->from_clause, update->n_from_clause);
    rw_type_as(typing, &scope, update->where_clause, PGW_BOOL);
    rw_columns out = type_targets(typing, &scope, update->returning_list, update->n_returning_list);
    resolve(typing, out); /* RETURNING has its types before SET could say others */
    type_set(typing, &scope, columns, update->target_list, update->n_target_list);
    return out;
}

static rw_columns type_delete(rw_typing *typing, const rw_scope *outer,
                              const PgQuery__DeleteStmt *delete)
{
    rw_scope scope = {.outer = outer};
    add_with(typing, &scope, delete->with_clause);
    rw_scope_add(&scope, called(delete->relation), rw_typing_table(typing, delete->relation),
                 typing->arena);
    rw_type_from(typing, &scope, delete->using_clause, delete->n_using_clause);
    rw_type_as(typing, &scope, delete->where_clause, PGW_BOOL);
    return type_targets(typing, &scope, delete->returning_list, delete->n_returning_list);
}

static rw_columns type_query(rw_typing *typing, const rw_scope *scope, node query)
{
    rw_columns columns = {NULL, 0};
    switch ((int)query->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        columns = type_select(typing, scope, query->select_stmt);
        break;
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        columns = type_insert(typing, scope, query->insert_stmt);
        break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        columns = type_update(typing, scope, query->update_stmt);
        break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        columns = type_delete(typing, scope, query->delete_stmt);
        break;
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
        return type_query(typing, scope, query->explain_stmt->query);
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
        return type_query(typing, scope, query->declare_cursor_stmt->query);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
        return type_query(typing, scope, query->create_table_as_stmt->query);
    default:
        rw_type_expression(typing, scope, query);
    }
    resolve(typing, columns);
    return columns;
}

void rw_type_statement(rw_typing *typing, node statement)
{
    const rw_scope nothing = {0};
    typing->query = type_query;
    type_query(typing, &nothing, statement);
}
