#include "ydb/plain/assigned.h"

#include "rewrite/lex/lexer.h"
#include "rewrite/lex/splitter.h"
#include "ydb/plain/expression_types.h"
#include "ydb/plain/pg_type.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/types.h"
#include "rewrite/statement/script/tree.h"

#include <string.h>

/* ---- types ---- */

enum {
    XML = 142,
    PG_NODE_TREE = 194,
    POINT = 600,
    PATH = 602,
    BOX = 603,
    POLYGON = 604,
    CIDR = 650,
    MACADDR8 = 774,
    MONEY = 790,
    MACADDR = 829,
    INET = 869,
    BIT = 1560,
    VARBIT = 1562,
    REGPROC = 24,
    REGPROCEDURE = 2202,
    REGOPER = 2203,
    REGOPERATOR = 2204,
    REGCLASS = 2205,
    REGTYPE = 2206,
    REGCONFIG = 3734,
    REGDICTIONARY = 3769,
    REGNAMESPACE = 4089,
    REGROLE = 4096,
    REGCOLLATION = 4191
};

enum { FROM_MOST = 17 };

/* pg_cast of PostgreSQL 15 where castcontext is not 'e', but for the types of statistics; what a
 * string can be assigned to besides, and what is assigned to strings, is told by rules. */
static const struct {
    uint32_t to, from[FROM_MOST]; /* the list ends with 0 */
} casts[] = {
    {RW_CHAR, {PGW_TEXT, PGW_BPCHAR, PGW_VARCHAR}},
    {PGW_INT8,
     {PGW_INT2, PGW_INT4, REGPROC, RW_OID, PGW_FLOAT4, PGW_FLOAT8, PGW_NUMERIC, REGPROCEDURE,
      REGOPER, REGOPERATOR, REGCLASS, REGTYPE, REGCONFIG, REGDICTIONARY, REGNAMESPACE, REGROLE,
      REGCOLLATION}},
    {PGW_INT2, {PGW_INT8, PGW_INT4, PGW_FLOAT4, PGW_FLOAT8, PGW_NUMERIC}},
    {PGW_INT4,
     {PGW_INT8, PGW_INT2, REGPROC, RW_OID, PGW_FLOAT4, PGW_FLOAT8, PGW_NUMERIC, REGPROCEDURE,
      REGOPER, REGOPERATOR, REGCLASS, REGTYPE, REGCONFIG, REGDICTIONARY, REGNAMESPACE, REGROLE,
      REGCOLLATION}},
    {REGPROC, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID, REGPROCEDURE}},
    {RW_OID,
     {PGW_INT8, PGW_INT2, PGW_INT4, REGPROC, REGPROCEDURE, REGOPER, REGOPERATOR, REGCLASS, REGTYPE,
      REGCONFIG, REGDICTIONARY, REGNAMESPACE, REGROLE, REGCOLLATION}},
    {RW_JSON, {RW_JSONB}},
    {PATH, {POLYGON}},
    {BOX, {POINT}},
    {POLYGON, {PATH, BOX}},
    {CIDR, {INET}},
    {PGW_FLOAT4, {PGW_INT8, PGW_INT2, PGW_INT4, PGW_FLOAT8, PGW_NUMERIC}},
    {PGW_FLOAT8, {PGW_INT8, PGW_INT2, PGW_INT4, PGW_FLOAT4, PGW_NUMERIC}},
    {MACADDR8, {MACADDR}},
    {MONEY, {PGW_INT8, PGW_INT4, PGW_NUMERIC}},
    {MACADDR, {MACADDR8}},
    {INET, {CIDR}},
    {PGW_DATE, {PGW_TIMESTAMP, PGW_TIMESTAMPTZ}},
    {RW_TIME, {PGW_TIMESTAMP, PGW_TIMESTAMPTZ, RW_INTERVAL, RW_TIMETZ}},
    {PGW_TIMESTAMP, {PGW_DATE, PGW_TIMESTAMPTZ}},
    {PGW_TIMESTAMPTZ, {PGW_DATE, PGW_TIMESTAMP}},
    {RW_INTERVAL, {RW_TIME}},
    {RW_TIMETZ, {RW_TIME, PGW_TIMESTAMPTZ}},
    {BIT, {VARBIT}},
    {VARBIT, {BIT}},
    {PGW_NUMERIC, {PGW_INT8, PGW_INT2, PGW_INT4, PGW_FLOAT4, PGW_FLOAT8, MONEY}},
    {REGPROCEDURE, {PGW_INT8, PGW_INT2, PGW_INT4, REGPROC, RW_OID}},
    {REGOPER, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID, REGOPERATOR}},
    {REGOPERATOR, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID, REGOPER}},
    {REGCLASS, {PGW_INT8, PGW_INT2, PGW_INT4, PGW_TEXT, RW_OID, PGW_VARCHAR}},
    {REGTYPE, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
    {REGCONFIG, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
    {REGDICTIONARY, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
    {RW_JSONB, {RW_JSON}},
    {REGNAMESPACE, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
    {REGROLE, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
    {REGCOLLATION, {PGW_INT8, PGW_INT2, PGW_INT4, RW_OID}},
};

static bool is_listed(uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
        for (size_t k = 0; casts[i].to == to && k < FROM_MOST && casts[i].from[k] != 0; k++)
            if (casts[i].from[k] == from)
                return true;
    return false;
}

/* Whether the type is one of strings, to which PostgreSQL assigns every type. */
static bool is_string(uint32_t type)
{
    return type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BPCHAR || type == PGW_NAME;
}

/* Whether values of a type can be assigned to another. True, too, if a type is not known here, or
 * `from` is PGW_UNKNOWN: a string, which is read as the other type. */
static bool is_assignable(uint32_t from, uint32_t to)
{
    rw_pg_type given, wanted;
    if (from == to || is_string(to) || from == PGW_UNKNOWN || !rw_pg_type_of(from, &given) ||
        !rw_pg_type_of(to, &wanted) || given.kind == 'p' || wanted.kind == 'p')
        return true;
    if (given.is_array && wanted.is_array)
        return is_assignable(given.element, wanted.element);
    return is_listed(from, to);
}

/* ---- arguments ---- */

/* Whether the argument is a string or NULL, which fits wherever it can be read, as most are. */
static bool is_untyped(pgw_slice expression, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, expression, conforming);
    const rw_token first = rw_lexer_next(&lexer);
    return (first.kind == RW_TOKEN_STRING || rw_token_is(expression, first, "null")) &&
           rw_lexer_next(&lexer).kind == RW_TOKEN_END;
}

/* A query has no columns here: EXECUTE's arguments hold no queries. */
static rw_columns no_columns(rw_typing *typing, const rw_scope *scope, const PgQuery__Node *query)
{
    (void)typing, (void)scope, (void)query;
    return (rw_columns){NULL, 0};
}

/* The type of a SELECT's only column; COLLATE says nothing of a string's type. */
static uint32_t type_of_target(const PgQuery__SelectStmt *select, pgw_arena *arena)
{
    rw_typing typing = {.arena = arena, .query = no_columns};
    if (select->n_target_list != 1)
        return PGW_UNSPECIFIED;
    const PgQuery__Node *value = select->target_list[0]->res_target->val;
    while (value != NULL && value->node_case == PG_QUERY__NODE__NODE_COLLATE_CLAUSE)
        value = value->collate_clause->arg;
    return rw_type_expression(&typing, NULL, value);
}

static bool can_read(pgw_slice text, const pgw_env *env)
{
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, env->conforming);
    return rw_split_next(&lexer, &piece) && rw_tree_can_read(text, &piece);
}

static uint32_t type_of(pgw_slice expression, const pgw_reading *reading)
{
    pgw_error unused;
    rw_syntax syntax;
    if (is_untyped(expression, reading->env->conforming))
        return PGW_UNKNOWN;
    const char *text =
        pgw_arena_printf(reading->arena, "SELECT %.*s\n", (int)expression.len, expression.ptr);
    if (!can_read(pgw_slice_str(text), reading->env) ||
        !rw_syntax_parse(pgw_slice_str(text), reading->env, reading->arena, &syntax, &unused))
        return PGW_UNSPECIFIED;
    const uint32_t type = syntax.statement->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
                              ? type_of_target(syntax.statement->select_stmt, reading->arena)
                              : PGW_UNSPECIFIED;
    rw_syntax_free(&syntax);
    return type;
}

static const char *shown(uint32_t type, pgw_arena *arena)
{
    rw_pg_type known;
    return rw_pg_type_of(type, &known) ? pgw_arena_printf(arena, "%s", known.shown) : "unknown";
}

bool rw_arguments_fit(const pgw_slice *arguments, const uint32_t *types, size_t count,
                      const pgw_reading *reading)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t given = type_of(arguments[i], reading);
        if (is_assignable(given, types[i]))
            continue;
        pgw_fail(reading->error, "42804",
                 "parameter $%zu of type %s cannot be coerced to the expected type %s", i + 1,
                 shown(given, reading->arena), shown(types[i], reading->arena));
        pgw_error_hint(reading->error, "You will need to rewrite or cast the expression.");
        return false;
    }
    return true;
}
