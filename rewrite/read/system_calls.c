#include "rewrite/read/system_calls.h"

#include "rewrite/read/system_catalog.h"
#include "rewrite/read/walk.h"

static void put_around(rw_star_texts *texts, const rw_catalog *catalog,
                       const PgQuery__FuncCall *call, const rw_system_function *function)
{
    rw_system_marks marks = {.catalog = catalog};
    for (size_t i = 0; i < call->n_args && i < 2; i++)
        marks.arguments[i] = rw_star_argument(texts, call->location, i);
    pgw_buf before = {0}, behind = {0}, number = {0}, opens = {0}, closes = {0};
    if (function->before != NULL) {
        rw_system_add(&before, function->before, &marks);
        rw_system_add(&behind, function->behind, &marks);
        rw_star_put_around(texts, call->location, &before, &behind);
    }
    if (function->opens != NULL) {
        rw_system_add(&opens, function->opens, &marks);
        rw_system_add(&closes, function->closes, &marks);
        rw_star_put_before(texts, marks.arguments[0], &opens);
        rw_star_put_behind(texts, marks.arguments[0], &closes);
    }
    if (function->number == NULL || call->n_args < 2)
        return;
    rw_system_add(&number, function->number, &marks);
    rw_star_put_behind(texts, marks.arguments[1], &number);
}

void rw_system_call(rw_star_texts *texts, const rw_catalog *catalog, const PgQuery__FuncCall *call)
{
    size_t last = call->n_funcname - 1;
    if (call->n_funcname == 0 || call->n_funcname > 2 || call->n_args == 0)
        return;
    const rw_system_function *function = rw_system_function_of(
        last == 1 ? rw_node_name(call->funcname[0]) : "", rw_node_name(call->funcname[last]));
    if (function == NULL || call->args[0]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR)
        return;
    put_around(texts, catalog, call, function);
}
