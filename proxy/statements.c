#include "proxy/statements.h"

#include <stdlib.h>

px_statement *px_statements_find(px_statements *statements, pgw_slice name)
{
    for (size_t i = statements->count; i-- > 0;) /* the latest is the likeliest */
        if (pgw_slice_eq_str(name, statements->list[i].name))
            return &statements->list[i];
    return NULL;
}

static px_statement *append(px_statements *statements)
{
    if (statements->count == statements->cap) {
        statements->cap = statements->cap ? statements->cap * 2 : 4;
        statements->list =
            pgw_realloc(statements->list, statements->cap * sizeof *statements->list);
    }
    return &statements->list[statements->count++];
}

void px_statement_free(px_statement *taken)
{
    px_plan_drop(taken->plan);
    pgw_buf_free(&taken->parse);
    free(taken->name);
    *taken = (px_statement){0};
}

px_statement px_statements_take(px_statements *statements, pgw_slice name)
{
    px_statement *statement = px_statements_find(statements, name);
    if (statement == NULL)
        return (px_statement){0};
    px_statement taken = *statement;
    statements->ours -= taken.plan != NULL;
    *statement = statements->list[--statements->count];
    return taken;
}

void px_statements_restore(px_statements *statements, pgw_slice name, px_statement *taken)
{
    px_statements_remove(statements, name);
    if (taken->name == NULL)
        return;
    *append(statements) = *taken;
    statements->ours += taken->plan != NULL;
    *taken = (px_statement){0};
}

px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link)
{
    if (plan != NULL)
        px_plan_take(plan);
    px_statements_remove(statements, name);
    px_statement *statement = append(statements);
    *statement =
        (px_statement){.name = pgw_strndup(name.ptr, name.len), .plan = plan, .on_link = on_link};
    if (plan != NULL)
        statements->ours++;
    return statement;
}

void px_statements_remove(px_statements *statements, pgw_slice name)
{
    px_statement taken = px_statements_take(statements, name);
    px_statement_free(&taken);
}

void px_statements_clear(px_statements *statements)
{
    for (size_t i = 0; i < statements->count; i++)
        px_statement_free(&statements->list[i]);
    free(statements->list);
    *statements = (px_statements){0};
}
