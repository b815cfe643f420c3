#include "rewrite/statement/key/keeps_key.h"

#include "rewrite/insert/spell.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* What SET gives, in `(a, b) = (1, 2)`, too; NULL: it is not written there. */
static const PgQuery__Node *value_of(const PgQuery__ResTarget *target)
{
    const PgQuery__Node *value = target->val;
    if (value == NULL || value->node_case != PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF)
        return value;
    const PgQuery__MultiAssignRef *part = value->multi_assign_ref;
    const PgQuery__Node *source = part->source;
    if (source == NULL || source->node_case != PG_QUERY__NODE__NODE_ROW_EXPR || part->colno < 1 ||
        (size_t)part->colno > source->row_expr->n_args)
        return NULL;
    return source->row_expr->args[part->colno - 1];
}

/* `column`, or `table.column` of the table that is updated. */
static bool is_column(const PgQuery__UpdateStmt *update, const PgQuery__Node *node,
                      const char *column)
{
    if (node == NULL || node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *reference = node->column_ref;
    const PgQuery__RangeVar *table = update->relation;
    const char *called = table->alias != NULL ? table->alias->aliasname : table->relname;
    size_t count = reference->n_fields;
    return count >= 1 && count <= 2 &&
           strcmp(rw_node_name(reference->fields[count - 1]), column) == 0 &&
           (count == 1 || strcmp(rw_node_name(reference->fields[0]), called) == 0);
}

static bool same_constant(const PgQuery__AConst *a, const PgQuery__AConst *b)
{
    if (a->isnull || b->isnull || a->val_case != b->val_case)
        return false;
    switch (a->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        return a->ival->ival == b->ival->ival;
    case PG_QUERY__A__CONST__VAL_FVAL:
        return strcmp(a->fval->fval, b->fval->fval) == 0;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        return a->boolval->boolval == b->boolval->boolval;
    case PG_QUERY__A__CONST__VAL_SVAL:
        return strcmp(a->sval->sval, b->sval->sval) == 0;
    default:
        return false;
    }
}

bool rw_sets_by_zone(const PgQuery__ResTarget *target, uint32_t type)
{
    const PgQuery__Node *value = value_of(target);
    bool string = value != NULL && value->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                  value->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL;
    return string && rw_text_heeds_zone(type, pgw_slice_str(value->a_const->sval->sval));
}

static rw_keeps compare(const PgQuery__Node *value, const PgQuery__Node *with, int32_t *set,
                        int32_t *where)
{
    if (with == NULL || value->node_case != with->node_case)
        return RW_KEEPS_NOT;
    if (value->node_case == PG_QUERY__NODE__NODE_A_CONST)
        return same_constant(value->a_const, with->a_const) ? RW_KEEPS_CONSTANT : RW_KEEPS_NOT;
    if (value->node_case != PG_QUERY__NODE__NODE_PARAM_REF)
        return RW_KEEPS_NOT;
    *set = value->param_ref->number;
    *where = with->param_ref->number;
    return RW_KEEPS_PARAMETER;
}

/* What a condition compares the column with: `column = with`, `with = column`, `column IN (with)`;
 * NULL: it is another condition. */
static const PgQuery__Node *compared_with(const PgQuery__UpdateStmt *update,
                                          const PgQuery__AExpr *condition, const char *column)
{
    const PgQuery__Node *with = condition->rexpr;
    if (condition->n_name != 1 || strcmp(rw_node_name(condition->name[0]), "=") != 0)
        return NULL;
    bool left = is_column(update, condition->lexpr, column);
    if (condition->kind == PG_QUERY__A__EXPR__KIND__AEXPR_IN)
        return left && with != NULL && with->node_case == PG_QUERY__NODE__NODE_LIST &&
                       with->list->n_items == 1
                   ? with->list->items[0]
                   : NULL;
    if (condition->kind != PG_QUERY__A__EXPR__KIND__AEXPR_OP)
        return NULL;
    return left ? with : is_column(update, with, column) ? condition->lexpr : NULL;
}

/* Looks for the comparison among conditions that must all be true. */
static rw_keeps search(const PgQuery__UpdateStmt *update, const PgQuery__Node *condition,
                       const PgQuery__ResTarget *target, int32_t *set, int32_t *where)
{
    if (condition == NULL)
        return RW_KEEPS_NOT;
    if (condition->node_case == PG_QUERY__NODE__NODE_A_EXPR)
        return compare(value_of(target), compared_with(update, condition->a_expr, target->name),
                       set, where);
    rw_keeps keeps = RW_KEEPS_NOT;
    if (condition->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR &&
        condition->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        for (size_t i = 0; i < condition->bool_expr->n_args && keeps == RW_KEEPS_NOT; i++)
            keeps = search(update, condition->bool_expr->args[i], target, set, where);
    return keeps;
}

rw_keeps rw_keeps_column(const PgQuery__UpdateStmt *update, const PgQuery__ResTarget *target,
                         int32_t *set, int32_t *where)
{
    if (target->n_indirection > 0 || value_of(target) == NULL)
        return RW_KEEPS_NOT;
    if (is_column(update, value_of(target), target->name))
        return RW_KEEPS_ALWAYS;
    return search(update, update->where_clause, target, set, where);
}
