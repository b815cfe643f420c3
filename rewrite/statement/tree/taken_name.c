#include "rewrite/statement/tree/taken_name.h"

#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* Whether the node is a column that is called so. */
static bool is_column(const PgQuery__Node *node, const char *name)
{
    if (node == NULL || node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *it = node->column_ref;
    return it->n_fields > 0 && strcmp(rw_node_name(it->fields[it->n_fields - 1]), name) == 0;
}

/* Whether no column of this name stands in the node. */
static bool has_none(void *context, const ProtobufCMessage *message)
{
    const PgQuery__ColumnRef *it = (const void *)message;
    const char *name = *(const char **)context;
    if (message->descriptor == &pg_query__column_ref__descriptor)
        return it->n_fields == 0 || strcmp(rw_node_name(it->fields[it->n_fields - 1]), name) != 0;
    return rw_walk(message, has_none, context);
}

/* Whether something is called so that is not made of a column of that name: who writes that one
 * means it. */
static bool any_shown(PgQuery__Node *const *targets, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (targets[i]->node_case == PG_QUERY__NODE__NODE_RES_TARGET &&
            strcmp(targets[i]->res_target->name, name) == 0 &&
            (targets[i]->res_target->val == NULL ||
             has_none(&name, (const ProtobufCMessage *)targets[i]->res_target->val)))
            return true;
    return false;
}

static bool any_name(PgQuery__Node *const *names, size_t count, const char *name)
{
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = strcmp(rw_node_name(names[i]), name) == 0;
    return any;
}

/* What SELECT, or RETURNING, calls its columns. */
static bool shows(const ProtobufCMessage *message, const char *name)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const PgQuery__SelectStmt *select = (const void *)message;
    const PgQuery__InsertStmt *insert = (const void *)message;
    const PgQuery__UpdateStmt *update = (const void *)message;
    const PgQuery__DeleteStmt *delete = (const void *)message;
    if (type == &pg_query__select_stmt__descriptor)
        return any_shown(select->target_list, select->n_target_list, name);
    if (type == &pg_query__insert_stmt__descriptor)
        return any_shown(insert->returning_list, insert->n_returning_list, name);
    if (type == &pg_query__update_stmt__descriptor)
        return any_shown(update->returning_list, update->n_returning_list, name);
    return type == &pg_query__delete_stmt__descriptor &&
           any_shown(delete->returning_list, delete->n_returning_list, name);
}

/* What is called so for a statement, or longer; "": nothing is. */
static const char *called(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__alias__descriptor)
        return ((const PgQuery__Alias *)message)->aliasname;
    if (type == &pg_query__common_table_expr__descriptor)
        return ((const PgQuery__CommonTableExpr *)message)->ctename;
    if (type == &pg_query__window_def__descriptor)
        return ((const PgQuery__WindowDef *)message)->name;
    if (type == &pg_query__declare_cursor_stmt__descriptor)
        return ((const PgQuery__DeclareCursorStmt *)message)->portalname;
    return type == &pg_query__prepare_stmt__descriptor
               ? ((const PgQuery__PrepareStmt *)message)->name
               : "";
}

/* Columns that get other names. */
static bool renames(const ProtobufCMessage *message, const char *name)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const PgQuery__Alias *alias = (const void *)message;
    const PgQuery__CommonTableExpr *cte = (const void *)message;
    const PgQuery__ViewStmt *view = (const void *)message;
    const PgQuery__IntoClause *into = (const void *)message;
    if (type == &pg_query__alias__descriptor)
        return any_name(alias->colnames, alias->n_colnames, name);
    if (type == &pg_query__view_stmt__descriptor)
        return any_name(view->aliases, view->n_aliases, name);
    if (type == &pg_query__into_clause__descriptor)
        return any_name(into->col_names, into->n_col_names, name);
    return type == &pg_query__common_table_expr__descriptor &&
           any_name(cte->aliascolnames, cte->n_aliascolnames, name);
}

/* Columns of a function's rows: `f() AS r (name type)`, XMLTABLE (… COLUMNS name type). */
static bool declares(const ProtobufCMessage *message, const char *name)
{
    const PgQuery__RangeFunction *from = (const void *)message;
    const PgQuery__RangeTableFuncCol *column = (const void *)message;
    if (message->descriptor == &pg_query__range_table_func_col__descriptor)
        return strcmp(column->colname, name) == 0;
    size_t count =
        message->descriptor == &pg_query__range_function__descriptor ? from->n_coldeflist : 0;
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = from->coldeflist[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
              strcmp(from->coldeflist[i]->column_def->colname, name) == 0;
    return any;
}

/* Visits a node; false: the name is taken. */
static bool visit(void *context, const ProtobufCMessage *message)
{
    const char *name = *(const char **)context;
    bool takes = shows(message, name) || renames(message, name) || declares(message, name) ||
                 strcmp(called(message), name) == 0;
    return !takes && rw_walk(message, visit, context);
}

bool rw_takes_name(const PgQuery__Node *statement, const char *name)
{
    return !visit(&name, (const ProtobufCMessage *)statement);
}

bool rw_takes_group(const PgQuery__SelectStmt *query, const char *name)
{
    bool grouped = false;
    for (size_t i = 0; i < query->n_group_clause && !grouped; i++)
        grouped = is_column(query->group_clause[i], name) &&
                  query->group_clause[i]->column_ref->n_fields == 1;
    return grouped && any_shown(query->target_list, query->n_target_list, name);
}
