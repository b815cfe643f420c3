#include "rewrite/statement/catalog/system_calls.h"

#include "rewrite/statement/catalog/system_catalog.h"
#include "rewrite/statement/tree/walk.h"

/* In a FROM an expression of this syntax can stand where a function can, and its column is called
 * as the alias says. */
static void put_value(rw_star_texts *texts, const PgQuery__FuncCall *call,
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
        rw_star_put_after(texts, call->location, 2, &name); /* WITH ORDINALITY */
    else
        pgw_buf_add_slice(&behind, pgw_slice_buf(&name));
    pgw_buf_free(&name);
    rw_star_put_around(texts, call->location, &before, &behind);
}

static void put_around(rw_star_texts *texts, const rw_catalog *catalog,
                       const PgQuery__FuncCall *call, const PgQuery__RangeFunction *from,
                       const rw_system_function *function)
{
    rw_system_marks marks = {.catalog = catalog};
    for (size_t i = 0; i < call->n_args && i < RW_SYSTEM_ARGUMENTS; i++)
        marks.arguments[i] = rw_star_argument(texts, call->location, i);
    pgw_buf opens = {0}, closes = {0};
    if (function->before != NULL)
        put_value(texts, call, from, function, &marks);
    if (function->opens == NULL || call->n_args <= function->argument)
        return;
    rw_system_add(&opens, function->opens, &marks);
    rw_system_add(&closes, function->closes, &marks);
    rw_star_put_before(texts, marks.arguments[function->argument], &opens);
    rw_star_put_behind(texts, marks.arguments[function->argument], &closes);
}

void rw_system_call(rw_star_texts *texts, const rw_catalog *catalog, const PgQuery__FuncCall *call,
                    const PgQuery__RangeFunction *from)
{
    size_t last = call->n_funcname - 1;
    if (call->n_funcname == 0 || call->n_funcname > 2 || call->n_args == 0)
        return;
    const rw_system_function *function =
        rw_system_function_of(catalog, last == 1 ? rw_node_name(call->funcname[0]) : "",
                              rw_node_name(call->funcname[last]), call->n_args);
    if (function == NULL || call->args[0]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR)
        return;
    put_around(texts, catalog, call, from, function);
}
