#include "rewrite/statement/lookup/bound.h"

#include "rewrite/statement/lookup/equation.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

/* A column without a table before it may be one that USING has merged. */
bool rw_is_sought(const rw_sought *it, node column)
{
    const char *name = rw_from_column(it->in, it->of, it->column);
    if (rw_from_is_column(it->in, it->of, column, name))
        return true;
    return it->in->merge_count > 0 && column->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
           column->column_ref->n_fields == 1 &&
           strcmp(rw_node_name(column->column_ref->fields[0]), name) == 0;
}

/* --- what a column is compared with --- */

/* Which tables' columns an expression holds. */
typedef struct others {
    const rw_sought *it;
    bool own, joined;
} others;

static bool is_called(const rw_from *in, const char *name)
{
    bool called = false;
    for (size_t i = 0; i < in->count && !called; i++)
        called = strcmp(in->items[i].called, name) == 0;
    return called;
}

static bool visit_value(void *context, const ProtobufCMessage *message)
{
    others *found = context;
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return rw_walk(message, visit_value, found);
    const PgQuery__ColumnRef *column = (const PgQuery__ColumnRef *)message;
    const rw_from *in = found->it->in;
    if (column->n_fields < 2) { /* A column without a table before it may be any table's. */
        found->own = found->own || in->count == 1;
        found->joined = true;
        return true;
    }
    const char *name = rw_node_name(column->fields[column->n_fields - 2]);
    found->own = found->own || strcmp(name, found->it->of->called) == 0;
    found->joined = found->joined || is_called(in, name);
    return true;
}

static rw_bound bound_by(const rw_sought *it, node value)
{
    others found = {.it = it};
    if (value == NULL || !visit_value(&found, (const ProtobufCMessage *)value))
        return RW_UNBOUND;
    return found.own ? RW_UNBOUND : found.joined ? RW_JOINED : RW_BOUND;
}

/* --- conditions --- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Whether an index can be asked for what is compared so. */
static bool is_comparison(const PgQuery__AExpr *it, bool equal)
{
    static const char *const equals[] = {"=", NULL}, *const orders[] = {"=",  "<",  ">",
                                                                        "<=", ">=", NULL},
                             *const between[] = {"BETWEEN", "BETWEEN SYMMETRIC", NULL};
    const char *name = it->n_name > 0 ? rw_node_name(it->name[it->n_name - 1]) : "";
    switch (it->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return is_one_of(name, equal ? equals : orders);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return is_one_of(name, equals);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
        return !equal && is_one_of(name, between);
    default:
        return false;
    }
}

/* The sought column stands there, or in a row: as its first, unless all of it must be equal. */
static bool stands_in(const rw_sought *it, const PgQuery__AExpr *of, node side)
{
    if (!rw_is_row(side))
        return rw_is_sought(it, side);
    bool equal = strcmp(rw_node_name(of->name[of->n_name - 1]), "=") == 0;
    bool stands = false;
    for (size_t i = 0; i < side->row_expr->n_args && !stands && (i == 0 || equal); i++)
        stands = rw_is_sought(it, side->row_expr->args[i]);
    return stands;
}

static rw_bound bound_by_comparison(const rw_sought *it, const PgQuery__AExpr *expression)
{
    node left = expression->lexpr, right = expression->rexpr;
    if (left == NULL || right == NULL || !is_comparison(expression, it->equal))
        return RW_UNBOUND;
    if (stands_in(it, expression, left))
        return bound_by(it, right);
    bool turns = expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP;
    return turns && stands_in(it, expression, right) ? bound_by(it, left) : RW_UNBOUND;
}

rw_bound rw_bound_more(rw_bound a, rw_bound b)
{
    return a > b ? a : b;
}

rw_bound rw_bound_of(const rw_sought *it, node condition)
{
    if (condition == NULL)
        return RW_UNBOUND;
    if (condition->node_case == PG_QUERY__NODE__NODE_A_EXPR)
        return bound_by_comparison(it, condition->a_expr);
    if (condition->node_case == PG_QUERY__NODE__NODE_SUB_LINK) {
        const PgQuery__SubLink *link = condition->sub_link;
        bool any = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK &&
                   link->n_oper_name == 0 && link->testexpr != NULL;
        return any && rw_is_sought(it, link->testexpr) ? RW_BOUND : RW_UNBOUND;
    }
    if (condition->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR)
        return RW_UNBOUND;
    const PgQuery__BoolExpr *list = condition->bool_expr;
    bool all = list->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR;
    if (!all && list->boolop != PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        return RW_UNBOUND;
    rw_bound found = all ? RW_BOUND : RW_UNBOUND;
    for (size_t i = 0; i < list->n_args; i++) {
        rw_bound one = rw_bound_of(it, list->args[i]);
        found = all ? (one < found ? one : found) : rw_bound_more(found, one);
    }
    return found;
}
