#include "rewrite/statement/catalog/system_calls.h"

#include "rewrite/statement/catalog/system_catalog.h"
#include "rewrite/statement/tree/walk.h"

/* Puts an expression around the call. In a FROM it is a COALESCE, which can stand where a function
 * can, and whose column is called as the alias says. */
static void put_value(rw_edit_writer *texts, const PgQuery__FuncCall *call,
                      const PgQuery__RangeFunction *from, const rw_system_function *function,
                      const rw_system_marks *marks)
{
    pgw_buf before = {0}, behind = {0}, name = {0};
    pgw_buf_add_str(&before, from != NULL ? " coalesce(" : "");
    rw_system_add(&before, function->before, marks);
    rw_system_add(&behind, function->behind, marks);
    pgw_buf_add_str(&behind, from != NULL ? ") " : "");
    if (from != NULL && from->alias == NULL && !from->is_rowsfrom)
        pgw_buf_addf(&name, " as %s ", function->name);
    if (name.len > 0 && from->ordinality)
        rw_edit_put_after(texts, call->location, 2, &name); /* WITH ORDINALITY */
    else
        pgw_buf_add_slice(&behind, pgw_slice_buf(&name));
    pgw_buf_free(&name);
    rw_edit_put_around(texts, call->location, &before, &behind);
}

static void put_around(rw_edit_writer *texts, rw_system_marks marks, const PgQuery__FuncCall *call,
                       const PgQuery__RangeFunction *from, const rw_system_function *function)
{
    for (size_t i = 0; i < call->n_args && i < RW_SYSTEM_ARGUMENTS; i++)
        marks.arguments[i] = rw_edit_argument(texts, call->location, i);
    pgw_buf opens = {0}, closes = {0};
    if (function->before != NULL)
        put_value(texts, call, from, function, &marks);
    if (function->opens == NULL || call->n_args <= function->argument)
        return;
    rw_system_add(&opens, function->opens, &marks);
    rw_system_add(&closes, function->closes, &marks);
    rw_edit_put_before(texts, marks.arguments[function->argument], &opens);
    rw_edit_put_behind(texts, marks.arguments[function->argument], &closes);
}

/* Columns, constants and operators on them: they say the same when they are read twice, and their
 * parameters, of which there is none, have no other types for it. */
static bool is_plain(const PgQuery__Node *node)
{
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
    case PG_QUERY__NODE__NODE_A_CONST:
        return true;
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return is_plain(node->type_cast->arg);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP &&
               (node->a_expr->lexpr == NULL || is_plain(node->a_expr->lexpr)) &&
               is_plain(node->a_expr->rexpr);
    default:
        return false;
    }
}

static bool are_plain(const PgQuery__FuncCall *call)
{
    bool plain = true;
    for (size_t i = 0; i < call->n_args && plain; i++)
        plain = is_plain(call->args[i]);
    return plain;
}

void rw_system_call(rw_edit_writer *texts, const rw_system_marks *marks,
                    const PgQuery__FuncCall *call, const PgQuery__RangeFunction *from)
{
    size_t last = call->n_funcname - 1;
    if (call->n_funcname == 0 || call->n_funcname > 2 || call->n_args == 0)
        return;
    const rw_system_function *function = rw_system_function_of(
        marks->catalog, last == 1 ? rw_node_name(call->funcname[0]) : "",
        rw_node_name(call->funcname[last]), call->n_args, from == NULL && are_plain(call));
    if (function == NULL || call->args[0]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR)
        return;
    put_around(texts, *marks, call, from, function);
}
