/*
 * As YDB's extract_predicate does: the first column of the key that no condition is about ends the
 * range, and so does one that is not compared with points alone. As KqpRemoveRedundantSortByPk and
 * the pushing of limits do: the order is the key's only if ORDER BY names it from its first column
 * on, in one direction.
 */
#include "tests/ydb_endpoint/reads.h"

#include "rewrite/statement/tree/walk.h"

#include <pg_query.h>
#include <string.h>

typedef const PgQuery__Node *node;

enum { KEY = 5, MOST = 32 };

typedef struct reader {
    ye_session *session;
    uint64_t rows;
} reader;

/* A table in a FROM, and what its query says. */
typedef struct scan {
    const PgQuery__RangeVar *relation;
    node where;
    const PgQuery__SelectStmt *select; /* NULL: UPDATE or DELETE */
    bool alone;                        /* the only table of the query */
    const char *key[KEY];
    size_t key_count;
    node all[MOST]; /* the conditions that must all be true */
    size_t count;
    node used[MOST]; /* the conditions of them that make the range */
    size_t used_count;
} scan;

/* --- texts --- */

/* The statement as SQL says it; empty: it cannot be said. */
static void deparse(const PgQuery__SelectStmt *select, pgw_buf *out)
{
    PgQuery__Node top = PG_QUERY__NODE__INIT;
    PgQuery__RawStmt raw = PG_QUERY__RAW_STMT__INIT, *list = &raw;
    PgQuery__ParseResult result = PG_QUERY__PARSE_RESULT__INIT;
    top.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
    top.select_stmt = (PgQuery__SelectStmt *)select;
    raw.stmt = &top;
    result.n_stmts = 1;
    result.stmts = &list;
    PgQueryProtobuf packed = {.len = pg_query__parse_result__get_packed_size(&result)};
    packed.data = pgw_alloc(packed.len);
    pg_query__parse_result__pack(&result, (uint8_t *)packed.data);
    PgQueryDeparseResult text = pg_query_deparse_protobuf(packed);
    if (text.error == NULL)
        pgw_buf_add_str(out, text.query);
    pg_query_free_deparse_result(text);
    free(packed.data);
}

static PgQuery__SelectStmt empty_select(void)
{
    PgQuery__SelectStmt select = PG_QUERY__SELECT_STMT__INIT;
    select.limit_option = PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_DEFAULT;
    select.op = PG_QUERY__SET_OPERATION__SETOP_NONE;
    return select;
}

/* An expression, as the only thing that is selected. */
static void add_expression(node value, pgw_buf *out)
{
    PgQuery__SelectStmt select = empty_select();
    PgQuery__Node target = PG_QUERY__NODE__INIT, *list = &target;
    PgQuery__ResTarget result = PG_QUERY__RES_TARGET__INIT;
    target.node_case = PG_QUERY__NODE__NODE_RES_TARGET;
    target.res_target = &result;
    result.val = (PgQuery__Node *)value;
    select.n_target_list = 1;
    select.target_list = &list;
    pgw_buf text = {0};
    deparse(&select, &text);
    const size_t word = sizeof "SELECT " - 1;
    pgw_buf_add_byte(out, '(');
    if (text.len > word)
        pgw_buf_add(out, text.ptr + word, text.len - word);
    pgw_buf_add_byte(out, ')');
    pgw_buf_free(&text);
}

static void add_all(const node *list, size_t count, pgw_buf *out)
{
    pgw_buf_add_str(out, "true");
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_str(out, " and ");
        add_expression(list[i], out);
    }
}

static void add_from(const scan *it, pgw_buf *out)
{
    pgw_buf_addf(out, " from \"%s\"", it->relation->relname);
    if (it->relation->alias != NULL)
        pgw_buf_addf(out, " as \"%s\"", it->relation->alias->aliasname);
}

/* --- conditions --- */

static bool is_bool(node it, PgQuery__BoolExprType operator)
{
    return it->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR && it->bool_expr->boolop == operator;
}

static void collect(scan *it, node condition)
{
    if (is_bool(condition, PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR))
        for (size_t i = 0; i < condition->bool_expr->n_args; i++)
            collect(it, condition->bool_expr->args[i]);
    else if (it->count < MOST)
        it->all[it->count++] = condition;
}

static bool is_column(const scan *it, node value, const char *name)
{
    if (value == NULL || value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *reference = value->column_ref;
    const size_t count = reference->n_fields;
    const char *called =
        it->relation->alias != NULL ? it->relation->alias->aliasname : it->relation->relname;
    if (strcmp(rw_node_name(reference->fields[count - 1]), name) != 0)
        return false;
    return count == 1 ? it->alone : strcmp(rw_node_name(reference->fields[count - 2]), called) == 0;
}

static bool visit_value(void *context, const ProtobufCMessage *message)
{
    return message->descriptor != &pg_query__column_ref__descriptor &&
           message->descriptor != &pg_query__sub_link__descriptor &&
           rw_walk(message, visit_value, context);
}

static bool is_constant(node value)
{
    return value != NULL && visit_value(NULL, &value->base);
}

typedef enum about { NOTHING, RANGE, POINTS } about;

static bool is_operator(const PgQuery__AExpr *it, const char *names)
{
    const char *name = rw_node_name(it->name[it->n_name - 1]);
    const char *found = strstr(names, name);
    return found != NULL && found[strlen(name)] == ' ';
}

static bool begins_with_text(node pattern)
{
    if (pattern->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
        pattern = pattern->type_cast->arg;
    return pattern->node_case == PG_QUERY__NODE__NODE_A_CONST &&
           pattern->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL &&
           strchr("%_\\", pattern->a_const->sval->sval[0]) == NULL;
}

static about about_comparison(const scan *it, const PgQuery__AExpr *expression, const char *name)
{
    bool left = is_column(it, expression->lexpr, name) && is_constant(expression->rexpr);
    bool right = is_column(it, expression->rexpr, name) && is_constant(expression->lexpr);
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return !left && !right                                                        ? NOTHING
               : is_operator(expression, "= ")                                        ? POINTS
               : is_operator(expression, "<= >= ") || is_operator(expression, "< > ") ? RANGE
                                                                                      : NOTHING;
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
        return left && is_operator(expression, "= ") ? POINTS : NOTHING;
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
        return left ? RANGE : NOTHING;
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
        return left && is_operator(expression, "~~ ") && begins_with_text(expression->rexpr)
                   ? RANGE
                   : NOTHING;
    default:
        return NOTHING;
    }
}

/* A condition and its table. */
typedef struct scope {
    const scan *it;
    bool key; /* all columns in it are of the key */
} scope;

static bool visit_reference(void *context, const ProtobufCMessage *message)
{
    scope *in = context;
    PgQuery__Node value = PG_QUERY__NODE__INIT;
    bool of_key = false;
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return rw_walk(message, visit_reference, in);
    value.node_case = PG_QUERY__NODE__NODE_COLUMN_REF;
    value.column_ref = (PgQuery__ColumnRef *)message;
    for (size_t i = 0; i < in->it->key_count && !of_key; i++)
        of_key = is_column(in->it, &value, in->it->key[i]);
    in->key = in->key && of_key;
    return true;
}

static bool is_of_key(const scan *it, node condition)
{
    scope in = {it, true};
    visit_reference(&in, &condition->base);
    return in.key;
}

/* What a condition says of a column: each arm of an OR has to be about it, and beside it about
 * columns of the key alone; what is joined by AND in an arm need not all be. */
static about about_of(const scan *it, node condition, const char *name)
{
    if (condition->node_case == PG_QUERY__NODE__NODE_A_EXPR)
        return about_comparison(it, condition->a_expr, name);
    if (condition->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR ||
        is_bool(condition, PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR) || !is_of_key(it, condition))
        return NOTHING;
    bool any = is_bool(condition, PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR);
    about found = any ? NOTHING : POINTS;
    for (size_t i = 0; i < condition->bool_expr->n_args; i++) {
        about one = about_of(it, condition->bool_expr->args[i], name);
        found = (any ? one > found : one < found) ? one : found;
    }
    return found;
}

/* The conditions that make the range, from the first column of the key on. */
static void choose(scan *it)
{
    about found = POINTS;
    for (size_t i = 0; i < it->key_count && found == POINTS; i++) {
        found = NOTHING;
        for (size_t k = 0; k < it->count; k++) {
            about one = about_of(it, it->all[k], it->key[i]);
            found = one > found ? one : found;
            if (one != NOTHING)
                it->used[it->used_count++] = it->all[k];
        }
    }
}

/* --- limits --- */

static bool visit_call(void *context, const ProtobufCMessage *message)
{
    return message->descriptor != &pg_query__func_call__descriptor &&
           rw_walk(message, visit_call, context);
}

static bool makes_rows_of_one(const PgQuery__SelectStmt *select)
{
    bool makes = select->n_group_clause == 0 && select->n_distinct_clause == 0;
    for (size_t i = 0; i < select->n_target_list && makes; i++)
        makes = visit_call(NULL, &select->target_list[i]->base);
    return makes;
}

/* Whether rows come as the table has them, and no more are read than LIMIT wants. */
static bool is_limited(const scan *it, bool *down)
{
    const PgQuery__SelectStmt *select = it->select;
    *down = false;
    if (select == NULL || select->limit_count == NULL || !it->alone || !makes_rows_of_one(select) ||
        select->n_sort_clause > it->key_count)
        return false;
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__SortBy *by = select->sort_clause[i]->sort_by;
        bool descends = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        if (!is_column(it, by->node, it->key[i]) || (i > 0 && descends != *down))
            return false;
        *down = descends;
    }
    return true;
}

static void add_order(const scan *it, bool down, pgw_buf *out)
{
    for (size_t i = 0; i < it->key_count; i++)
        pgw_buf_addf(out, "%s\"%s\"%s", i > 0 ? ", " : "", it->key[i], down ? " desc" : "");
}

static void add_wanted(const PgQuery__SelectStmt *select, pgw_buf *out)
{
    add_expression(select->limit_count, out);
    if (select->limit_offset != NULL) {
        pgw_buf_add_byte(out, '+');
        add_expression(select->limit_offset, out);
    }
}

static void add_whole(const scan *it, pgw_buf *out)
{
    pgw_buf_add_str(out, "select count(*)");
    add_from(it, out);
    pgw_buf_add_str(out, " where ");
    add_all(it->used, it->used_count, out);
}

/* Up to the last row that is wanted, those between that are not among them; all of the range, where
 * there are fewer. */
static void add_first(const scan *it, bool down, pgw_buf *out)
{
    pgw_buf_add_str(out, "select coalesce((select max(n) from (select n from (select row_number() "
                         "over (order by ");
    add_order(it, down, out);
    pgw_buf_add_str(out, ") as n, (");
    add_all(it->all, it->count, out);
    pgw_buf_add_str(out, ") as fits");
    add_from(it, out);
    pgw_buf_add_str(out, " where ");
    add_all(it->used, it->used_count, out);
    pgw_buf_add_str(out, ") as a where fits order by n limit ");
    add_wanted(it->select, out);
    pgw_buf_add_str(out, ") as b having count(*) >= ");
    add_wanted(it->select, out);
    pgw_buf_add_str(out, "), (");
    add_whole(it, out);
    pgw_buf_add_str(out, "))");
}

/* --- the statement --- */

static bool is_known(reader *in, scan *it)
{
    ye_map *map = &in->session->endpoint->map;
    const size_t number = ye_map_find(map, it->relation->relname);
    const ye_table *table = &map->tables[number];
    if (number == YE_TABLES || table->key[0][0] == '\0')
        return false;
    it->key[it->key_count++] = table->column;
    for (size_t i = 0; i < KEY - 1 && table->key[i][0] != '\0'; i++)
        it->key[it->key_count++] = table->key[i];
    return true;
}

static void count(reader *in, scan it)
{
    bool down;
    pgw_buf text = {0};
    uint64_t rows;
    pgw_error error;
    if (!is_known(in, &it))
        return;
    if (it.where != NULL)
        collect(&it, it.where);
    choose(&it);
    if (is_limited(&it, &down))
        add_first(&it, down, &text);
    else
        add_whole(&it, &text);
    pgw_buf_add_byte(&text, '\0');
    if (ye_store_number(&in->session->store, text.ptr, &rows, &error))
        in->rows += rows;
    pgw_buf_free(&text);
}

static void count_from(reader *in, const PgQuery__SelectStmt *select, node where, node from,
                       bool alone)
{
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
        count(in, (scan){from->range_var, where, select, alone, .key_count = 0});
    } else if (from->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR) {
        count_from(in, select, where, from->join_expr->larg, false);
        count_from(in, select, where, from->join_expr->rarg, false);
    }
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    reader *in = context;
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *it = (const PgQuery__SelectStmt *)message;
        for (size_t i = 0; i < it->n_from_clause; i++)
            count_from(in, it, it->where_clause, it->from_clause[i], it->n_from_clause == 1);
    } else if (message->descriptor == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        count(in, (scan){it->relation, it->where_clause, .alone = it->n_from_clause == 0});
    } else if (message->descriptor == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        count(in, (scan){it->relation, it->where_clause, .alone = it->n_using_clause == 0});
    }
    return rw_walk(message, visit, in);
}

static bool is_any_known(const ye_map *map)
{
    bool known = false;
    for (size_t i = 0; i < map->count && !known; i++)
        known = map->tables[i].key[0][0] != '\0';
    return known;
}

void ye_reads_count(ye_session *session, const PgQuery__Node *statement)
{
    reader in = {.session = session};
    if (!is_any_known(&session->endpoint->map))
        return;
    visit(&in, &statement->base);
    atomic_fetch_add(&session->endpoint->counters.rows_read, in.rows);
}
