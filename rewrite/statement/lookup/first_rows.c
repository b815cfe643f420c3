#include "rewrite/statement/lookup/first_rows.h"

#include "rewrite/statement/lookup/equation.h"
#include "rewrite/statement/lookup/lookup_value.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

typedef const PgQuery__Node *node;

enum { MOST_CONDITIONS = 32 };

/* A SELECT and its table. */
typedef struct query {
    const PgQuery__SelectStmt *select;
    const rw_from *in;
    const rw_from_item *of;
    const rw_table *table;
    const rw_tokens *tokens;
    rw_equation equations[MOST_CONDITIONS];
    size_t equation_count;
} query;

/* --- columns --- */

/* The table's column that a value is; column_count: none. */
static size_t column_of(const query *it, node value)
{
    size_t i = 0;
    while (i < it->table->column_count &&
           !rw_from_is_column(it->in, it->of, value, rw_from_column(it->in, it->of, i)))
        i++;
    return i;
}

static size_t column_of_reference(const query *it, const PgQuery__ColumnRef *reference)
{
    PgQuery__Node value = PG_QUERY__NODE__INIT;
    value.node_case = PG_QUERY__NODE__NODE_COLUMN_REF;
    value.column_ref = (PgQuery__ColumnRef *)reference;
    return column_of(it, &value);
}

/* The reference that a value is; NULL: it is something else. */
static const PgQuery__ColumnRef *reference_of(node value)
{
    return value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ? value->column_ref : NULL;
}

static const char *last_name(const PgQuery__ColumnRef *reference)
{
    return rw_node_name(reference->fields[reference->n_fields - 1]);
}

/* A row of the table, or a column by its schema's name: a subquery in its place has no such. */
static bool names_relation(const query *it, const PgQuery__ColumnRef *reference)
{
    return reference->n_fields > 2 ||
           (reference->n_fields == 1 && strcmp(last_name(reference), it->of->called) == 0 &&
            column_of_reference(it, reference) == it->table->column_count);
}

static bool visit_names(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__column_ref__descriptor &&
        names_relation(context, (const PgQuery__ColumnRef *)message))
        return false;
    return rw_walk(message, visit_names, context);
}

/* --- expressions --- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* A function of PostgreSQL's own that gives one value for a row, the same within a statement. */
static bool is_steady(const PgQuery__FuncCall *call)
{
    static const char *const names[] = {
        "abs",         "btrim",      "ceil",        "ceiling",      "char_length",
        "concat",      "date_part",  "date_trunc",  "extract",      "floor",
        "left",        "length",     "lower",       "lpad",         "ltrim",
        "md5",         "mod",        "now",         "octet_length", "position",
        "replace",     "right",      "round",       "rpad",         "rtrim",
        "sign",        "split_part", "starts_with", "strpos",       "substr",
        "substring",   "timezone",   "to_char",     "trunc",        "upper",
        "like_escape", NULL};
    size_t count = call->n_funcname;
    bool own =
        count == 1 || (count == 2 && strcmp(rw_node_name(call->funcname[0]), "pg_catalog") == 0);
    return own && call->over == NULL && call->agg_filter == NULL && call->n_agg_order == 0 &&
           !call->agg_star && !call->agg_distinct &&
           is_one_of(rw_node_name(call->funcname[count - 1]), names);
}

/* Whether a condition can be repeated, and is about one row of the table alone. */
static bool visit_condition(void *context, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const query *it = context;
    if (type == &pg_query__column_ref__descriptor)
        return column_of_reference(it, (const PgQuery__ColumnRef *)message) <
               it->table->column_count;
    if (type == &pg_query__sub_link__descriptor || type == &pg_query__current_of_expr__descriptor ||
        (type == &pg_query__func_call__descriptor &&
         !is_steady((const PgQuery__FuncCall *)message)))
        return false;
    return rw_walk(message, visit_condition, context);
}

/* Whether no call in a target may make one row of many, or many of one. */
static bool visit_target(void *context, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__sub_link__descriptor)
        return true;
    if (type == &pg_query__grouping_func__descriptor ||
        (type == &pg_query__func_call__descriptor &&
         !is_steady((const PgQuery__FuncCall *)message)))
        return false;
    return rw_walk(message, visit_target, context);
}

/* --- the order of the key --- */

static bool has_value(const query *it, const rw_equation *equation, size_t column)
{
    rw_lookup_value value;
    return equation->count == 1 && !equation->array && !equation->rows &&
           column_of(it, equation->columns[0]) == column &&
           rw_lookup_value_read(equation, equation->values[0], &value);
}

/* Whether all rows that the WHERE lets through have the same value in the column. */
static bool is_fixed(const query *it, size_t column)
{
    bool fixed = false;
    for (size_t i = 0; i < it->equation_count && !fixed; i++)
        fixed = has_value(it, &it->equations[i], column);
    return fixed;
}

/* Whether the column has no NULLs: where a store orders them is not known here. */
static bool is_ordered(const query *it, size_t column)
{
    return it->table->columns[column].not_null || !it->table->allow_null_key;
}

/* Passes those columns of the key that are fixed. */
static size_t skip_fixed(const query *it, size_t place)
{
    while (place < it->table->primary_key_count && is_fixed(it, it->table->primary_key[place]))
        place++;
    return place;
}

/* --- ORDER BY and LIMIT --- */

static const PgQuery__ResTarget *target_at(const query *it, size_t i)
{
    return it->select->target_list[i]->res_target;
}

static bool is_star(const PgQuery__ResTarget *target)
{
    const PgQuery__ColumnRef *reference = reference_of(target->val);
    return reference != NULL &&
           reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

/* Whether a target that is no column of that name may be what ORDER BY means by it. */
static bool takes_name(const query *it, const PgQuery__ResTarget *target, const char *name,
                       size_t column)
{
    node value = target->val;
    if (is_star(target))
        return false;
    if (target->name[0] != '\0')
        return strcmp(target->name, name) == 0 && column_of(it, value) != column;
    switch (value->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
    case PG_QUERY__NODE__NODE_A_CONST:
    case PG_QUERY__NODE__NODE_PARAM_REF:
        return false;
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return strcmp(rw_node_name(value->func_call->funcname[value->func_call->n_funcname - 1]),
                      name) == 0;
    default: /* A cast has the name of what it casts. */
        return true;
    }
}

/* ORDER BY 1 means what is shown first; a name what is shown by it, before a column. */
static size_t sorted_by(const query *it, node by)
{
    size_t none = it->table->column_count, count = it->select->n_target_list;
    if (by->node_case == PG_QUERY__NODE__NODE_A_CONST &&
        by->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
        size_t number = by->a_const->ival->ival > 0 ? (size_t)by->a_const->ival->ival : count + 1;
        for (size_t i = 0; i < number && i < count; i++)
            number = is_star(target_at(it, i)) ? count + 1 : number;
        return number <= count ? column_of(it, target_at(it, number - 1)->val) : none;
    }
    const PgQuery__ColumnRef *reference = reference_of(by);
    size_t column = reference != NULL ? column_of(it, by) : none;
    for (size_t i = 0; i < count && column < none && reference->n_fields == 1; i++)
        if (takes_name(it, target_at(it, i), last_name(reference), column))
            column = none;
    return column;
}

static bool is_usual(const PgQuery__SortBy *by)
{
    return by->n_use_op == 0;
}

/* Whether the rows come in the order of the first columns of the key. */
static bool read_order(const query *it, rw_first_rows *out)
{
    const rw_table *table = it->table;
    size_t place = 0;
    for (size_t i = 0; i < it->select->n_sort_clause && place < table->primary_key_count; i++) {
        const PgQuery__SortBy *by = it->select->sort_clause[i]->sort_by;
        size_t column = sorted_by(it, by->node);
        bool down = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        if (column == table->column_count || !is_usual(by))
            return false;
        if (is_fixed(it, column))
            continue;
        place = skip_fixed(it, place);
        if (place == table->primary_key_count)
            break; /* There is one row at most. */
        if (column != table->primary_key[place] || !is_ordered(it, column) ||
            (down ? out->up : out->down))
            return false;
        *(down ? &out->down : &out->up) = true;
        place++;
    }
    out->depth = place;
    return out->up || out->down;
}

static bool is_token(const query *it, uint32_t at, rw_token_kind kind)
{
    return at < it->tokens->count && it->tokens->list[at].kind == kind;
}

static bool is_char(const query *it, uint32_t at, char wanted)
{
    return is_token(it, at, RW_TOKEN_CHAR) &&
           it->tokens->text.ptr[it->tokens->list[at].start] == wanted;
}

/* Finds the tokens of a number or parameter, with a cast by `::` to a type of one word. */
static bool read_number(const query *it, node value, rw_token_span *out)
{
    bool cast = value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST;
    node inner = cast ? value->type_cast->arg : value;
    int32_t location = -1;
    if (inner->node_case == PG_QUERY__NODE__NODE_PARAM_REF)
        location = inner->param_ref->location;
    else if (inner->node_case == PG_QUERY__NODE__NODE_A_CONST && !inner->a_const->isnull)
        location = inner->a_const->location;
    int token = rw_where_token(it->tokens, location);
    uint32_t at = (uint32_t)token;
    if (token == RW_NO_TOKEN ||
        (!is_token(it, at, RW_TOKEN_INTEGER) && !is_token(it, at, RW_TOKEN_PARAM)))
        return false; /* The constant of -1 begins with its sign. */
    *out = (rw_token_span){at, cast ? at + 3 : at + 1};
    return !cast ||
           (is_token(it, at + 1, RW_TOKEN_CAST) && is_token(it, at + 2, RW_TOKEN_WORD) &&
            !is_char(it, at + 3, '.') && !is_char(it, at + 3, '(') && !is_char(it, at + 3, '['));
}

static bool read_limit(const query *it, rw_first_rows *out)
{
    const PgQuery__SelectStmt *select = it->select;
    return select->limit_count != NULL &&
           select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_COUNT &&
           read_number(it, select->limit_count, &out->limit) &&
           (select->limit_offset == NULL || read_number(it, select->limit_offset, &out->offset));
}

static bool are_targets(const query *it, rw_visit visit, void *context)
{
    bool are = it->select->n_target_list > 0;
    for (size_t i = 0; i < it->select->n_target_list && are; i++)
        are = visit(context, (const ProtobufCMessage *)target_at(it, i)->val);
    return are;
}

/* --- min() and max() --- */

typedef struct extremes {
    const query *it;
    size_t column; /* The column of all calls so far; column_count: none was met. */
    bool least, greatest;
} extremes;

/* Visits a target; false: it asks for more than the least or greatest value of one column. */
static bool visit_extreme(void *context, const ProtobufCMessage *message)
{
    extremes *found = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__column_ref__descriptor || type == &pg_query__sub_link__descriptor ||
        type == &pg_query__grouping_func__descriptor)
        return false;
    if (type != &pg_query__func_call__descriptor || is_steady((const PgQuery__FuncCall *)message))
        return rw_walk(message, visit_extreme, found);
    const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
    const char *name = rw_node_name(call->funcname[call->n_funcname - 1]);
    bool least = strcmp(name, "min") == 0, greatest = strcmp(name, "max") == 0;
    if (!(least || greatest) || call->n_funcname != 1 || call->n_args != 1 || call->over != NULL ||
        call->agg_filter != NULL || call->n_agg_order > 0 || call->agg_distinct)
        return false;
    size_t column = column_of(found->it, call->args[0]), none = found->it->table->column_count;
    bool same = found->column == none || found->column == column;
    found->column = column;
    found->least |= least;
    found->greatest |= greatest;
    return same && column < none;
}

static bool read_extremes(const query *it, rw_first_rows *out)
{
    const rw_table *table = it->table;
    extremes found = {.it = it, .column = table->column_count};
    if (!are_targets(it, visit_extreme, &found) || found.column == table->column_count)
        return false;
    size_t place = 0;
    while (place < table->primary_key_count && table->primary_key[place] != found.column &&
           is_fixed(it, table->primary_key[place]))
        place++;
    *out = (rw_first_rows){.depth = place + 1, .up = found.least, .down = found.greatest};
    return place < table->primary_key_count && table->primary_key[place] == found.column &&
           is_ordered(it, found.column);
}

/* --- all of it --- */

static bool is_plain(const PgQuery__SelectStmt *select)
{
    return select->op == PG_QUERY__SET_OPERATION__SETOP_NONE && select->n_from_clause == 1 &&
           select->from_clause[0]->node_case == PG_QUERY__NODE__NODE_RANGE_VAR &&
           select->from_clause[0]->range_var->inh && select->n_group_clause == 0 &&
           select->having_clause == NULL && select->n_window_clause == 0 &&
           select->n_distinct_clause == 0 && select->n_locking_clause == 0 &&
           select->into_clause == NULL && select->with_clause == NULL;
}

bool rw_first_rows_find(const PgQuery__SelectStmt *select, const rw_from *in,
                        const rw_tokens *tokens, rw_first_rows *out)
{
    query it = {.select = select, .in = in, .of = &in->items[0], .tokens = tokens};
    *out = (rw_first_rows){0};
    if (!is_plain(select) || (it.of->alias != NULL && it.of->alias->n_colnames > 0))
        return false;
    it.table = in->catalog->tables[it.of->table];
    node where = select->where_clause;
    if (!rw_walk((const ProtobufCMessage *)select, visit_names, &it) ||
        (where != NULL && !visit_condition(&it, (const ProtobufCMessage *)where)))
        return false;
    if (where != NULL)
        rw_equations_collect(where, it.equations, &it.equation_count, MOST_CONDITIONS);
    bool sorts = select->n_sort_clause > 0, limits = select->limit_count != NULL;
    if (sorts || limits || select->limit_offset != NULL)
        return sorts && limits && are_targets(&it, visit_target, NULL) && read_limit(&it, out) &&
               read_order(&it, out);
    return read_extremes(&it, out);
}
