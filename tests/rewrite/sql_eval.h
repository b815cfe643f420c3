/*
 * sql_eval: what an expression of SQL is worth, of those forms that the hash of a key is written
 * in, parsed by PostgreSQL's own grammar. Whatever else is met fails the test.
 */
#ifndef TEST_SQL_EVAL_H
#define TEST_SQL_EVAL_H

#include "tests/rewrite/sql_function.h"

#include <pg_query.h>

typedef const PgQuery__Node *sql_node;

/* A name that has a value. */
typedef struct sql_name {
    const struct sql_name *outer;
    const char *name;
    sql_value value;
} sql_name;

static sql_value sql_eval(sql_run *run, sql_node node, const sql_name *names);

/* --- queries --- */

static sql_node sql_target(const PgQuery__SelectStmt *select, size_t i)
{
    return select->target_list[i]->res_target->val;
}

/* OFFSET 0 keeps PostgreSQL from computing the columns wherever they are used. */
static sql_value sql_subquery(sql_run *run, const PgQuery__SelectStmt *select,
                              const sql_name *names)
{
    const PgQuery__RangeSubselect *from = select->from_clause[0]->range_subselect;
    const PgQuery__SelectStmt *inner = from->subquery->select_stmt;
    sql_name columns[4];
    assert_int_equal(inner->n_target_list, from->alias->n_colnames);
    assert_non_null(inner->limit_offset);
    const sql_name *inside = names;
    for (size_t i = 0; i < inner->n_target_list; i++) {
        columns[i] = (sql_name){inside, from->alias->colnames[i]->string->sval,
                                sql_eval(run, sql_target(inner, i), names)};
        inside = &columns[i];
    }
    return sql_eval(run, sql_target(select, 0), inside);
}

/* SELECT coalesce(sum(term), 0) FROM generate_series(first, last) i WHERE … */
static sql_value sql_sum(sql_run *run, const PgQuery__SelectStmt *select, const sql_name *names)
{
    const PgQuery__RangeFunction *from = select->from_clause[0]->range_function;
    const PgQuery__FuncCall *series = from->functions[0]->list->items[0]->func_call;
    const PgQuery__CoalesceExpr *target = sql_target(select, 0)->coalesce_expr;
    const PgQuery__FuncCall *sum = target->args[0]->func_call;
    sql_value first = sql_eval(run, series->args[0], names),
              last = sql_eval(run, series->args[1], names), total = {.kind = SQL_NULL};
    assert_string_equal(sum->funcname[1]->string->sval, "sum");
    for (int64_t i = sql_c(&first); i <= sql_c(&last); i++) {
        const sql_name row = {names, from->alias->aliasname, sql_int8(run, i)};
        if (!sql_eval(run, select->where_clause, &row).is)
            continue;
        sql_value term = sql_eval(run, sum->args[0], &row);
        assert_int_equal(term.kind, SQL_NUMERIC);
        total = total.kind == SQL_NULL ? term : sql_arithmetic(run, '+', total, term);
    }
    return total.kind == SQL_NULL ? sql_eval(run, target->args[1], names) : total;
}

static sql_value sql_select(sql_run *run, const PgQuery__SubLink *link, const sql_name *names)
{
    const PgQuery__SelectStmt *select = link->subselect->select_stmt;
    assert_int_equal(link->sub_link_type, PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK);
    return select->from_clause[0]->node_case == PG_QUERY__NODE__NODE_RANGE_FUNCTION
               ? sql_sum(run, select, names)
               : sql_subquery(run, select, names);
}

/* --- the rest --- */

static sql_value sql_operator(sql_run *run, const PgQuery__AExpr *it, const sql_name *names)
{
    const char *sign = it->name[it->n_name - 1]->string->sval;
    sql_value a = sql_eval(run, it->lexpr, names), b = sql_eval(run, it->rexpr, names);
    assert_true(it->n_name == 2 && strcmp(it->name[0]->string->sval, "pg_catalog") == 0);
    if (a.kind == SQL_NULL || b.kind == SQL_NULL)
        return (sql_value){.kind = SQL_NULL};
    if (a.kind == SQL_STORED && strcmp(sign, "=") == 0)
        return sql_bool(a.stored->as.real != a.stored->as.real); /* 'nan' */
    assert_true(a.number != NULL && b.number != NULL);
    if (strcmp(sign, "=") == 0)
        return sql_bool(BN_cmp(a.number, b.number) == 0);
    if (strcmp(sign, "<=") == 0)
        return sql_bool(BN_cmp(a.number, b.number) <= 0);
    assert_true(strlen(sign) == 1 && strchr("+-*/", sign[0]) != NULL);
    return sql_arithmetic(run, sign[0], a, b);
}

static sql_value sql_call(sql_run *run, const PgQuery__FuncCall *call, const sql_name *names)
{
    sql_value a[4] = {{.kind = SQL_NULL}};
    const char *name = call->funcname[call->n_funcname - 1]->string->sval;
    assert_true(call->n_funcname == 2 &&
                strcmp(call->funcname[0]->string->sval, "pg_catalog") == 0 && call->n_args <= 4);
    for (size_t i = 0; i < call->n_args; i++) {
        a[i] = sql_eval(run, call->args[i], names);
        if (a[i].kind == SQL_NULL && strcmp(name, "concat") != 0)
            return a[i];
    }
    return sql_apply(run, name, a, call->n_args);
}

static sql_value sql_constant(sql_run *run, const PgQuery__AConst *it)
{
    if (it->isnull)
        return (sql_value){.kind = SQL_NULL};
    if (it->val_case == PG_QUERY__A__CONST__VAL_SVAL)
        return sql_bytes(SQL_TEXT, pgw_slice_str(it->sval->sval));
    if (it->val_case == PG_QUERY__A__CONST__VAL_IVAL)
        return sql_int8(run, it->ival->ival);
    assert_int_equal(it->val_case, PG_QUERY__A__CONST__VAL_FVAL);
    BIGNUM *number = sql_decimal(run, it->fval->fval);
    return sql_is_bigint(run, number) ? sql_integer(run, number) : sql_numeric(number);
}

static sql_value sql_case(sql_run *run, const PgQuery__CaseExpr *it, const sql_name *names)
{
    for (size_t i = 0; i < it->n_args; i++)
        if (sql_eval(run, it->args[i]->case_when->expr, names).is)
            return sql_eval(run, it->args[i]->case_when->result, names);
    return sql_eval(run, it->defresult, names);
}

static sql_value sql_coalesce(sql_run *run, const PgQuery__CoalesceExpr *it, const sql_name *names)
{
    sql_value first = sql_eval(run, it->args[0], names);
    return first.kind != SQL_NULL ? first : sql_eval(run, it->args[1], names);
}

/* (array)[index], from 1; one that is not there is NULL. */
static sql_value sql_element(sql_run *run, const PgQuery__AIndirection *it, const sql_name *names)
{
    sql_value array = sql_eval(run, it->arg, names);
    sql_value index = sql_eval(run, it->indirection[0]->a_indices->uidx, names);
    char *rest = NULL, *copy = (char *)sql_text(run, array.bytes);
    assert_int_equal(array.kind, SQL_ARRAY);
    char *word = strtok_r(copy, "{,}", &rest);
    for (int64_t i = sql_c(&index); word != NULL && i > 1; i--)
        word = strtok_r(NULL, "{,}", &rest);
    if (word == NULL || sql_c(&index) < 1)
        return (sql_value){.kind = SQL_NULL};
    return sql_integer(run, sql_decimal(run, word));
}

static sql_value sql_row(sql_run *run, const PgQuery__RowExpr *it, const sql_name *names)
{
    sql_value *row = pgw_arena_alloc(run->arena, it->n_args * sizeof *row);
    for (size_t i = 0; i < it->n_args; i++)
        row[i] = sql_eval(run, it->args[i], names);
    return (sql_value){.kind = SQL_ROW, .row = row, .count = it->n_args};
}

static sql_value sql_look_up(const PgQuery__ColumnRef *it, const sql_name *names)
{
    const char *name = it->fields[0]->string->sval;
    for (; names != NULL; names = names->outer)
        if (strcmp(names->name, name) == 0)
            return names->value;
    fail_msg("column \"%s\" does not exist", name);
    return (sql_value){.kind = SQL_NULL};
}

static sql_value sql_eval(sql_run *run, sql_node node, const sql_name *names)
{
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return sql_constant(run, node->a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return sql_look_up(node->column_ref, names);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return sql_cast(run, node->type_cast->type_name,
                        sql_eval(run, node->type_cast->arg, names));
    case PG_QUERY__NODE__NODE_A_EXPR:
        return sql_operator(run, node->a_expr, names);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return sql_call(run, node->func_call, names);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return sql_select(run, node->sub_link, names);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return sql_case(run, node->case_expr, names);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return sql_coalesce(run, node->coalesce_expr, names);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        return sql_element(run, node->a_indirection, names);
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return sql_row(run, node->row_expr, names);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return sql_bool(sql_eval(run, node->null_test->arg, names).kind == SQL_NULL);
    default:
        fail_msg("node %d", (int)node->node_case);
        return (sql_value){.kind = SQL_NULL};
    }
}

/* What SELECT `expression` would show, of columns k0, k1, … with these values: "NULL", "ERROR …".
 */
static const char *sql_shown(const char *expression, const pgw_value *values, size_t count,
                             pgw_arena *arena)
{
    sql_run run = {.numbers = BN_CTX_new(), .arena = arena};
    PgQueryProtobufParseResult parsed =
        pg_query_parse_protobuf(pgw_arena_printf(arena, "SELECT %s", expression));
    if (parsed.error != NULL)
        fail_msg("%s: %s", parsed.error->message, expression);
    PgQuery__ParseResult *tree = pg_query__parse_result__unpack(
        NULL, parsed.parse_tree.len, (const uint8_t *)parsed.parse_tree.data);
    sql_name *names = pgw_arena_alloc(arena, count * sizeof *names);
    BN_CTX_start(run.numbers);
    for (size_t i = 0; i < count; i++)
        names[i] = (sql_name){i > 0 ? &names[i - 1] : NULL, pgw_arena_printf(arena, "k%zu", i),
                              sql_of_column(&run, &values[i])};
    sql_value value =
        sql_eval(&run, sql_target(tree->stmts[0]->stmt->select_stmt, 0), &names[count - 1]);
    const char *shown = "NULL";
    if (run.error != NULL) {
        shown = pgw_arena_printf(arena, "ERROR %s", run.error);
    } else if (value.kind != SQL_NULL) {
        char *digits = BN_bn2dec(value.number);
        shown = pgw_arena_printf(arena, "%s", digits);
        OPENSSL_free(digits);
    }
    BN_CTX_end(run.numbers);
    BN_CTX_free(run.numbers);
    pg_query__parse_result__free_unpacked(tree, NULL);
    pg_query_free_protobuf_parse_result(parsed);
    return shown;
}

#endif
