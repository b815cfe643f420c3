#include "ydb/plain/expression_types.h"

#include "protocol/array.h"
#include "ydb/plain/functions.h"
#include "ydb/plain/rules.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

void rw_type_expect(rw_typing *typing, node it, uint32_t type)
{
    if (it == NULL || it->node_case != PG_QUERY__NODE__NODE_PARAM_REF)
        return;
    int32_t number = it->param_ref->number;
    if (number > 0 && (size_t)number <= typing->count && typing->types[number - 1] == PGW_UNKNOWN &&
        type != PGW_UNSPECIFIED)
        typing->types[number - 1] = type;
}

void rw_type_as(rw_typing *typing, const rw_scope *scope, node it, uint32_t type)
{
    rw_type_expression(typing, scope, it);
    rw_type_expect(typing, it, type);
}

static void type_each(rw_typing *typing, const rw_scope *scope, PgQuery__Node *const *list,
                      size_t count, uint32_t type)
{
    for (size_t i = 0; i < count; i++)
        rw_type_as(typing, scope, list[i], type);
}

/* --- constants, parameters --- */

/* The type of a number, as in make_const(): digits alone are an integer while they fit one, with
 * the sign that the grammar has put in front of them. */
static uint32_t type_digits(const char *digits)
{
    const char *most = digits[0] == '-' ? "9223372036854775808" : "9223372036854775807";
    digits += digits[0] == '-';
    size_t length = strspn(digits, "0123456789");
    bool large = length > 19 || (length == 19 && strcmp(digits, most) > 0);
    return digits[length] != '\0' || large ? PGW_NUMERIC : PGW_INT8;
}

static uint32_t type_constant(const PgQuery__AConst *it)
{
    enum { BIT = 1560 };
    switch ((int)it->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        return PGW_INT4;
    case PG_QUERY__A__CONST__VAL_FVAL:
        return type_digits(it->fval->fval);
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        return PGW_BOOL;
    case PG_QUERY__A__CONST__VAL_BSVAL:
        return BIT;
    default:
        return PGW_UNKNOWN;
    }
}

static uint32_t type_parameter(const rw_typing *typing, const PgQuery__ParamRef *it)
{
    return it->number > 0 && (size_t)it->number <= typing->count ? typing->types[it->number - 1]
                                                                 : PGW_UNSPECIFIED;
}

/* --- operators --- */

/* What stands on a side of an operator: a row, or one expression. Each is looked at once, however
 * often it is compared, because what it holds may be as large as the statement. */
typedef struct side {
    const node *list;
    uint32_t *types;
    size_t count;
    bool row;
} side;

static bool is_row(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_ROW_EXPR;
}

static side side_of(rw_typing *typing, const rw_scope *scope, const node *it)
{
    side out = {.list = it, .count = 1, .row = is_row(*it)};
    if (out.row) {
        out.list = (const node *)(*it)->row_expr->args;
        out.count = (*it)->row_expr->n_args;
    }
    out.types = pgw_arena_alloc(typing->arena, out.count * sizeof *out.types + 1);
    for (size_t i = 0; i < out.count; i++)
        out.types[i] = rw_type_expression(typing, scope, out.list[i]);
    return out;
}

static void expect(rw_typing *typing, side *it, uint32_t type)
{
    if (it->row)
        return;
    rw_type_expect(typing, it->list[0], type);
    if (it->types[0] == PGW_UNKNOWN)
        it->types[0] = type;
}

/* The type of one expression of a side, which an expression further on in the statement may have
 * said. */
static uint32_t type_now(const rw_typing *typing, const side *it, size_t i)
{
    return it->list[i]->node_case == PG_QUERY__NODE__NODE_PARAM_REF
               ? type_parameter(typing, it->list[i]->param_ref)
               : it->types[i];
}

/* Compares the expressions number `i` of both sides, of which one may say the type of the other. */
static uint32_t compare_at(rw_typing *typing, const char *name, side *left, side *right, size_t i)
{
    uint32_t l = type_now(typing, left, i), r = type_now(typing, right, i);
    if (l == PGW_UNKNOWN && r == PGW_UNKNOWN)
        l = r = rw_operand_both(name);
    else if (l == PGW_UNKNOWN)
        l = rw_operand_left(name, r);
    else if (r == PGW_UNKNOWN)
        r = rw_operand_right(name, l);
    rw_type_expect(typing, left->list[i], l);
    rw_type_expect(typing, right->list[i], r);
    return rw_operator_result(name, l, r);
}

/* Compares both sides; (a, b) = (c, d) column by column. */
static uint32_t compare(rw_typing *typing, const char *name, side *left, side *right)
{
    if (!left->row && !right->row)
        return compare_at(typing, name, left, right, 0);
    for (size_t i = 0; i < left->count && i < right->count; i++)
        compare_at(typing, name, left, right, i);
    return PGW_BOOL;
}

static uint32_t type_sides(rw_typing *typing, const rw_scope *scope, const char *name,
                           const node *left, const node *right)
{
    side l = side_of(typing, scope, left), r = side_of(typing, scope, right);
    return compare(typing, name, &l, &r);
}

static uint32_t type_prefix(rw_typing *typing, const rw_scope *scope, const char *name, node right)
{
    return rw_operator_result(name, PGW_UNSPECIFIED, rw_type_expression(typing, scope, right));
}

/* False: the expression holds a column, which an array of constants does not. */
static bool has_no_column(void *context, const ProtobufCMessage *message)
{
    return message->descriptor != &pg_query__column_ref__descriptor &&
           rw_walk(message, has_no_column, context);
}

/* The type that the listed expressions without columns and the one looked for have together, where
 * the list becomes an array. PGW_UNSPECIFIED: they have none, or are not several. */
static uint32_t listed_type(rw_typing *typing, const side *left, const side *items, size_t count)
{
    uint32_t *types = pgw_arena_alloc(typing->arena, (count + 1) * sizeof *types);
    size_t listed = 0;
    if (left->row)
        return PGW_UNSPECIFIED;
    types[listed++] = type_now(typing, left, 0);
    for (size_t i = 0; i < count; i++)
        if (!items[i].row && has_no_column(NULL, (const ProtobufCMessage *)items[i].list[0]))
            types[listed++] = type_now(typing, &items[i], 0);
    return listed > 2 ? rw_common_type(types, listed) : PGW_UNSPECIFIED;
}

static uint32_t type_in(rw_typing *typing, const rw_scope *scope, const node *looked_for,
                        const PgQuery__List *list)
{
    side left = side_of(typing, scope, looked_for);
    side *items = pgw_arena_alloc(typing->arena, list->n_items * sizeof *items + 1);
    for (size_t i = 0; i < list->n_items; i++)
        items[i] = side_of(typing, scope, (const node *)&list->items[i]);
    uint32_t type = listed_type(typing, &left, items, list->n_items);
    for (size_t i = 0; i < list->n_items; i++) {
        if (type != PGW_UNSPECIFIED)
            expect(typing, &items[i], type);
        compare(typing, "=", &left, &items[i]);
    }
    return PGW_BOOL;
}

/* Types `x = ANY (array)` and `x <> ALL (array)`. */
static uint32_t type_any(rw_typing *typing, const rw_scope *scope, const char *name, node left,
                         node right)
{
    uint32_t l = rw_type_expression(typing, scope, left);
    uint32_t array = rw_type_expression(typing, scope, right);
    if (array == PGW_UNKNOWN) {
        uint32_t r = l == PGW_UNKNOWN ? rw_operand_both(name) : rw_operand_right(name, l);
        array = pgw_array_of(r);
        rw_type_expect(typing, right, array);
    }
    rw_type_expect(typing, left, rw_operand_left(name, pgw_array_element(array)));
    return PGW_BOOL;
}

static uint32_t type_between(rw_typing *typing, const rw_scope *scope, const PgQuery__AExpr *it)
{
    const node *bounds = (const node *)it->rexpr->list->items;
    side value = side_of(typing, scope, (const node *)&it->lexpr);
    side least = side_of(typing, scope, &bounds[0]), most = side_of(typing, scope, &bounds[1]);
    compare(typing, ">=", &value, &least);
    compare(typing, "<=", &value, &most);
    return PGW_BOOL;
}

static uint32_t type_nullif(rw_typing *typing, const rw_scope *scope, const PgQuery__AExpr *it)
{
    side left = side_of(typing, scope, (const node *)&it->lexpr);
    side right = side_of(typing, scope, (const node *)&it->rexpr);
    compare(typing, "=", &left, &right);
    return left.row ? PGW_UNSPECIFIED : type_now(typing, &left, 0);
}

static uint32_t type_operator(rw_typing *typing, const rw_scope *scope, const PgQuery__AExpr *it)
{
    const char *name = it->n_name > 0 ? rw_node_name(it->name[it->n_name - 1]) : "";
    switch ((int)it->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return type_in(typing, scope, (const node *)&it->lexpr, it->rexpr->list);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
        return type_any(typing, scope, name, it->lexpr, it->rexpr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        return type_between(typing, scope, it);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        return type_nullif(typing, scope, it);
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
        return type_sides(typing, scope, "~", (const node *)&it->lexpr, (const node *)&it->rexpr);
    default:
        return it->lexpr == NULL ? type_prefix(typing, scope, name, it->rexpr)
                                 : type_sides(typing, scope, name, (const node *)&it->lexpr,
                                              (const node *)&it->rexpr);
    }
}

/* --- what has one type for several expressions --- */

/* Types expressions that give one value: those of CASE, COALESCE, GREATEST, ARRAY[…]. */
static uint32_t type_alike(rw_typing *typing, const rw_scope *scope, const node *list, size_t count)
{
    uint32_t *types = pgw_arena_alloc(typing->arena, count * sizeof *types + 1);
    for (size_t i = 0; i < count; i++)
        types[i] = rw_type_expression(typing, scope, list[i]);
    uint32_t common = rw_common_type(types, count);
    for (size_t i = 0; i < count; i++)
        rw_type_expect(typing, list[i], common);
    return common;
}

/* Types CASE x WHEN y: each y is compared with x, which is text if nothing says otherwise. */
static void type_whens(rw_typing *typing, const rw_scope *scope, const PgQuery__CaseExpr *it)
{
    side subject = {0};
    if (it->arg != NULL) {
        subject = side_of(typing, scope, (const node *)&it->arg);
        expect(typing, &subject, PGW_TEXT);
    }
    for (size_t i = 0; i < it->n_args; i++) {
        const node *condition = (const node *)&it->args[i]->case_when->expr;
        if (it->arg == NULL) {
            rw_type_as(typing, scope, *condition, PGW_BOOL);
            continue;
        }
        side when = side_of(typing, scope, condition);
        compare(typing, "=", &subject, &when);
    }
}

/* Types CASE; what ELSE gives decides first. */
static uint32_t type_case(rw_typing *typing, const rw_scope *scope, const PgQuery__CaseExpr *it)
{
    node *results = pgw_arena_alloc(typing->arena, (it->n_args + 1) * sizeof *results);
    size_t count = 0;
    if (it->defresult != NULL)
        results[count++] = it->defresult;
    for (size_t i = 0; i < it->n_args; i++)
        results[count++] = it->args[i]->case_when->result;
    type_whens(typing, scope, it);
    return type_alike(typing, scope, results, count);
}

static uint32_t type_array_of(rw_typing *typing, const rw_scope *scope,
                              const PgQuery__AArrayExpr *it)
{
    uint32_t type = type_alike(typing, scope, (const node *)it->elements, it->n_elements);
    return pgw_array_element(type) != PGW_UNSPECIFIED ? type : pgw_array_of(type);
}

/* Types ARRAY[…]::type[]: the cast is of each element. */
static void type_elements(rw_typing *typing, const rw_scope *scope, node it, uint32_t element)
{
    if (it->node_case != PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
        rw_type_as(typing, scope, it, element);
        return;
    }
    for (size_t i = 0; i < it->a_array_expr->n_elements; i++)
        type_elements(typing, scope, it->a_array_expr->elements[i], element);
}

static uint32_t type_cast(rw_typing *typing, const rw_scope *scope, const PgQuery__TypeCast *it)
{
    uint32_t type = rw_type_of_name(it->type_name), element = pgw_array_element(type);
    if (element != PGW_UNSPECIFIED)
        type_elements(typing, scope, it->arg,
                      it->arg->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR ? element : type);
    else
        rw_type_as(typing, scope, it->arg, type);
    return type;
}

/* --- the others --- */

typedef struct visit_place {
    rw_typing *typing;
    const rw_scope *scope;
} visit_place;

/* Types the parts of an expression that has no rule of its own. */
static bool visit(void *context, const ProtobufCMessage *message)
{
    visit_place *place = context;
    if (message->descriptor != &pg_query__node__descriptor)
        return rw_walk(message, visit, context);
    rw_type_expression(place->typing, place->scope, (node)message);
    return true;
}

static uint32_t type_other(rw_typing *typing, const rw_scope *scope, node it)
{
    rw_walk((const ProtobufCMessage *)it, visit, &(visit_place){typing, scope});
    return PGW_UNSPECIFIED;
}

/* Types a window, with the number of rows, or groups, that its frame reaches from the current
 * row. */
static void type_window(rw_typing *typing, const rw_scope *scope, const PgQuery__WindowDef *it)
{
    enum { ROWS = 0x4, GROUPS = 0x8 }; /* bits of PostgreSQL's FRAMEOPTION flags */
    uint32_t offset = it->frame_options & (ROWS | GROUPS) ? PGW_INT8 : PGW_UNSPECIFIED;
    type_each(typing, scope, it->partition_clause, it->n_partition_clause, PGW_UNSPECIFIED);
    type_each(typing, scope, it->order_clause, it->n_order_clause, PGW_UNSPECIFIED);
    rw_type_as(typing, scope, it->start_offset, offset);
    rw_type_as(typing, scope, it->end_offset, offset);
}

static uint32_t type_call(rw_typing *typing, const rw_scope *scope, const PgQuery__FuncCall *it)
{
    size_t count = it->n_args;
    uint32_t *types = pgw_arena_alloc(typing->arena, count * sizeof *types + 1);
    for (size_t i = 0; i < count; i++)
        types[i] = rw_type_expression(typing, scope, it->args[i]);
    rw_call_types call = {.arguments = types, .count = count};
    call.name = it->n_funcname > 0 ? rw_node_name(it->funcname[it->n_funcname - 1]) : "";
    rw_call_types_find(&call);
    for (size_t i = 0; i < count; i++)
        rw_type_expect(typing, it->args[i], types[i]);
    rw_type_as(typing, scope, it->agg_filter, PGW_BOOL);
    type_each(typing, scope, it->agg_order, it->n_agg_order, PGW_UNSPECIFIED);
    if (it->over != NULL)
        type_window(typing, scope, it->over);
    return strcmp(call.name, "unnest") == 0 && count == 1 ? pgw_array_element(types[0])
                                                          : call.result;
}

static uint32_t type_sublink(rw_typing *typing, const rw_scope *scope, const PgQuery__SubLink *it)
{
    rw_columns columns = typing->query(typing, scope, it->subselect);
    uint32_t first = columns.count > 0 ? columns.list[0].type : PGW_UNSPECIFIED;
    const char *name = it->n_oper_name > 0 ? rw_node_name(it->oper_name[it->n_oper_name - 1]) : "=";
    switch ((int)it->sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK:
        return first;
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
        return pgw_array_of(first);
    default:
        break;
    }
    if (it->testexpr == NULL)
        return PGW_BOOL;
    side test = side_of(typing, scope, (const node *)&it->testexpr);
    for (size_t i = 0; i < test.count && i < columns.count; i++)
        rw_type_expect(typing, test.list[i], rw_operand_left(name, columns.list[i].type));
    return PGW_BOOL;
}

static uint32_t type_indirection(rw_typing *typing, const rw_scope *scope,
                                 const PgQuery__AIndirection *it)
{
    uint32_t type = rw_type_expression(typing, scope, it->arg);
    bool slice = false;
    for (size_t i = 0; i < it->n_indirection; i++) {
        if (it->indirection[i]->node_case != PG_QUERY__NODE__NODE_A_INDICES)
            return PGW_UNSPECIFIED;
        const PgQuery__AIndices *at = it->indirection[i]->a_indices;
        uint32_t index = type == RW_JSONB ? PGW_TEXT : PGW_INT4;
        rw_type_as(typing, scope, at->lidx, index);
        rw_type_as(typing, scope, at->uidx, index);
        slice |= at->is_slice;
    }
    return slice || type == RW_JSONB ? type : pgw_array_element(type);
}

static uint32_t type_keyword(const PgQuery__SQLValueFunction *it)
{
    switch ((int)it->op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
        return PGW_DATE;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
        return RW_TIMETZ;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
        return PGW_TIMESTAMPTZ;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
        return RW_TIME;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
        return PGW_TIMESTAMP;
    default:
        return PGW_NAME;
    }
}

static uint32_t type_collated(rw_typing *typing, const rw_scope *scope,
                              const PgQuery__CollateClause *it)
{
    uint32_t type = rw_type_expression(typing, scope, it->arg);
    rw_type_expect(typing, it->arg, PGW_TEXT);
    return type == PGW_UNKNOWN ? PGW_TEXT : type;
}

uint32_t rw_type_expression(rw_typing *typing, const rw_scope *scope, node it)
{
    if (it == NULL)
        return PGW_UNSPECIFIED;
    switch ((int)it->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return type_constant(it->a_const);
    case PG_QUERY__NODE__NODE_PARAM_REF:
        return type_parameter(typing, it->param_ref);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return rw_scope_type(scope, it->column_ref);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return type_cast(typing, scope, it->type_cast);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return type_operator(typing, scope, it->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        type_each(typing, scope, it->bool_expr->args, it->bool_expr->n_args, PGW_BOOL);
        return PGW_BOOL;
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        rw_type_as(typing, scope, it->boolean_test->arg, PGW_BOOL);
        return PGW_BOOL;
    case PG_QUERY__NODE__NODE_NULL_TEST:
        rw_type_expression(typing, scope, it->null_test->arg);
        return PGW_BOOL;
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return type_case(typing, scope, it->case_expr);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return type_alike(typing, scope, (const node *)it->coalesce_expr->args,
                          it->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return type_alike(typing, scope, (const node *)it->min_max_expr->args,
                          it->min_max_expr->n_args);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return type_array_of(typing, scope, it->a_array_expr);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return type_call(typing, scope, it->func_call);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return type_sublink(typing, scope, it->sub_link);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        return type_indirection(typing, scope, it->a_indirection);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return type_collated(typing, scope, it->collate_clause);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return type_keyword(it->sqlvalue_function);
    case PG_QUERY__NODE__NODE_WINDOW_DEF:
        type_window(typing, scope, it->window_def);
        return PGW_UNSPECIFIED;
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        typing->query(typing, scope, it);
        return PGW_UNSPECIFIED;
    default:
        return type_other(typing, scope, it);
    }
}
