#include "rewrite/statement/lookup/equation.h"

#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

bool rw_is_row(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_ROW_EXPR;
}

static bool is_reference(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_COLUMN_REF || rw_is_row(it);
}

/* The left side's columns, and what they are compared with. */
static rw_equation compared(const node *left, const node *values, size_t count)
{
    rw_equation out = {.width = 1, .columns = left, .count = count, .values = values};
    if (rw_is_row(*left)) {
        out.rows = true;
        out.width = (*left)->row_expr->n_args;
        out.columns = (const node *)(*left)->row_expr->args;
    }
    return out;
}

/* `column = ANY (…)`; rows in an array are records, which are compared otherwise. */
static bool read_any(const PgQuery__AExpr *it, rw_equation *out)
{
    const node *left = (const node *)&it->lexpr, *right = (const node *)&it->rexpr;
    node list = *right;
    if ((*left)->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    if (list->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
        list = list->type_cast->arg;
    *out = compared(left, right, 1);
    out->array = list->node_case != PG_QUERY__NODE__NODE_A_ARRAY_EXPR;
    if (out->array)
        return true;
    out->values = (const node *)list->a_array_expr->elements;
    out->count = list->a_array_expr->n_elements;
    out->elements = true;
    out->cast = list == *right ? NULL : (*right)->type_cast->type_name;
    return out->count > 0;
}

static bool read_equation(const PgQuery__AExpr *it, rw_equation *out)
{
    size_t count = it->n_name;
    if (count == 0 || strcmp(rw_node_name(it->name[count - 1]), "=") != 0 || it->lexpr == NULL ||
        it->rexpr == NULL || count > 2 ||
        (count == 2 && strcmp(rw_node_name(it->name[0]), "pg_catalog") != 0))
        return false;
    const node *left = (const node *)&it->lexpr, *right = (const node *)&it->rexpr;
    if (it->kind == PG_QUERY__A__EXPR__KIND__AEXPR_IN &&
        (*right)->node_case == PG_QUERY__NODE__NODE_LIST)
        *out = compared(left, (const node *)(*right)->list->items, (*right)->list->n_items);
    else if (it->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY)
        return read_any(it, out);
    else if (it->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP)
        *out = is_reference(*left) ? compared(left, right, 1) : compared(right, left, 1);
    else
        return false;
    return true;
}

static bool is_bool(node it, PgQuery__BoolExprType operator)
{
    return it->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR && it->bool_expr->boolop == operator;
}

/* Conditions that must all be true are joined by AND. */
void rw_equations_collect(node where, rw_equation *list, size_t *count, size_t most)
{
    if (is_bool(where, PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)) {
        for (size_t i = 0; i < where->bool_expr->n_args; i++)
            rw_equations_collect(where->bool_expr->args[i], list, count, most);
    } else if (where->node_case == PG_QUERY__NODE__NODE_A_EXPR && *count < most &&
               read_equation(where->a_expr, &list[*count])) {
        ++*count;
    }
}

void rw_alternatives_collect(node where, const PgQuery__BoolExpr **list, size_t *count, size_t most)
{
    if (is_bool(where, PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)) {
        for (size_t i = 0; i < where->bool_expr->n_args; i++)
            rw_alternatives_collect(where->bool_expr->args[i], list, count, most);
    } else if (is_bool(where, PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR) && *count < most) {
        list[(*count)++] = where->bool_expr;
    }
}

bool rw_equation_is_join(const rw_equation *it)
{
    return it->count == 1 && !it->array &&
           it->values[0]->node_case == PG_QUERY__NODE__NODE_COLUMN_REF;
}
