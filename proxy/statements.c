#include "proxy/statements.h"

#include <stdlib.h>

px_statement *px_statements_find(px_statements *statements, pgw_slice name)
{
    for (size_t i = statements->count; i-- > 0;) /* the latest is the likeliest */
        if (pgw_slice_eq_str(name, statements->list[i].name))
            return &statements->list[i];
    return NULL;
}

static void release(px_statements *statements, px_statement *statement)
{
    if (statement->plan != NULL)
        statements->ours--;
    px_plan_drop(statement->plan);
    pgw_buf_free(&statement->parse);
    free(statement->name);
}

px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link)
{
    if (plan != NULL)
        px_plan_take(plan);
    px_statements_remove(statements, name);
    if (statements->count == statements->cap) {
        statements->cap = statements->cap ? statements->cap * 2 : 4;
        statements->list =
            pgw_realloc(statements->list, statements->cap * sizeof *statements->list);
    }
    px_statement *statement = &statements->list[statements->count++];
    *statement =
        (px_statement){.name = pgw_strndup(name.ptr, name.len), .plan = plan, .on_link = on_link};
    if (plan != NULL)
        statements->ours++;
    return statement;
}

void px_statements_remove(px_statements *statements, pgw_slice name)
{
    px_statement *statement = px_statements_find(statements, name);
    if (statement == NULL)
        return;
    release(statements, statement);
    *statement = statements->list[--statements->count];
}

void px_statements_clear(px_statements *statements)
{
    for (size_t i = 0; i < statements->count; i++)
        release(statements, &statements->list[i]);
    free(statements->list);
    *statements = (px_statements){0};
}
