#include "rewrite/statement/lookup/row_values.h"

#include "rewrite/statement/lookup/equation.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

static bool is_char(const rw_tokens *in, uint32_t at, char wanted)
{
    return at < in->count && in->list[at].kind == RW_TOKEN_CHAR &&
           in->text.ptr[in->list[at].start] == wanted;
}

/* The elements of a row, whose first token is `at`: its parenthesis, or the word ROW. False: it is
 * not written so. `end`: the token behind it. */
static bool read_elements(const rw_tokens *in, uint32_t at, size_t width, rw_token_span *list,
                          uint32_t *end)
{
    if (at < in->count && rw_token_is(in->text, in->list[at], "row"))
        at++;
    if (!is_char(in, at, '('))
        return false;
    size_t count = 0, depth = 0;
    uint32_t from = ++at;
    for (; at < in->count; at++) {
        bool ends = depth == 0 && (is_char(in, at, ',') || is_char(in, at, ')'));
        if (ends && (count == width || from == at))
            return false;
        if (ends)
            list[count++] = (rw_token_span){from, at};
        if (ends && is_char(in, at, ')'))
            break;
        from = ends ? at + 1 : from;
        depth += is_char(in, at, '(') || is_char(in, at, '[');
        depth -= depth > 0 && (is_char(in, at, ')') || is_char(in, at, ']'));
    }
    *end = at + 1;
    return count == width;
}

static bool is_value(node value)
{
    if (value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
        value = value->type_cast->arg;
    return value->node_case == PG_QUERY__NODE__NODE_PARAM_REF ||
           value->node_case == PG_QUERY__NODE__NODE_A_CONST;
}

static bool are_columns_and_values(const PgQuery__RowExpr *columns, const PgQuery__RowExpr *values)
{
    bool are = columns->n_args == values->n_args && columns->n_args >= 2 &&
               columns->n_args <= RW_ROW_WIDTH;
    for (size_t i = 0; i < columns->n_args && are; i++)
        are = columns->args[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_REF &&
              is_value(values->args[i]);
    return are;
}

static bool read(const PgQuery__AExpr *it, const rw_tokens *in, rw_row_value *out)
{
    const char *name = it->n_name == 1 ? rw_node_name(it->name[0]) : "";
    if (it->kind != PG_QUERY__A__EXPR__KIND__AEXPR_OP || (name[0] != '<' && name[0] != '>') ||
        (name[1] != '\0' && strcmp(name + 1, "=") != 0) || it->lexpr == NULL || it->rexpr == NULL ||
        !rw_is_row(it->lexpr) || !rw_is_row(it->rexpr) ||
        !are_columns_and_values(it->lexpr->row_expr, it->rexpr->row_expr))
        return false;
    int left = rw_where_token(in, it->lexpr->row_expr->location);
    int right = rw_where_token(in, it->rexpr->row_expr->location);
    uint32_t middle;
    *out = (rw_row_value){
        .width = it->lexpr->row_expr->n_args, .less = name[0] == '<', .equal = name[1] != '\0'};
    out->at.from = (uint32_t)left;
    return left != RW_NO_TOKEN && right != RW_NO_TOKEN &&
           read_elements(in, (uint32_t)left, out->width, out->columns, &middle) &&
           middle + 1 == (uint32_t)right &&
           read_elements(in, (uint32_t)right, out->width, out->values, &out->at.to);
}

static void collect(node where, const rw_tokens *in, rw_row_value *list, size_t *count)
{
    if (where->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR &&
        where->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR) {
        for (size_t i = 0; i < where->bool_expr->n_args; i++)
            collect(where->bool_expr->args[i], in, list, count);
    } else if (where->node_case == PG_QUERY__NODE__NODE_A_EXPR && *count < RW_ROW_VALUES_MAX &&
               read(where->a_expr, in, &list[*count])) {
        ++*count;
    }
}

size_t rw_row_values_find(node where, const rw_tokens *tokens, rw_row_value *list)
{
    size_t count = 0;
    collect(where, tokens, list, &count);
    return count;
}
