#include "ydb/plain/order.h"

#include "protocol/utf8.h"
#include "protocol/value_parts.h"
#include "rewrite/statement/script/names.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/walk.h"

#include <limits.h>
#include <string.h>

typedef struct reader {
    pgw_slice all;  /* the client's text */
    pgw_slice text; /* the statement, which is a part of `all` */
    const pgw_reading *reading;
    pgw_order *out;
} reader;

static pgw_slice keep(const reader *it, const char *name)
{
    return pgw_arena_copy(it->reading->arena, pgw_slice_str(name));
}

/* Refuses a part of the statement, unless it is refused already. `location`: the byte of the
 * statement that the error is about; negative: none. */
static void refuse_at(const reader *it, int32_t location, const char *sqlstate, const char *message)
{
    if (it->out->refusal != NULL)
        return;
    pgw_error *error = pgw_arena_alloc(it->reading->arena, sizeof *error);
    size_t before = (size_t)(it->text.ptr - it->all.ptr);
    pgw_fail(error, sqlstate, "%s", message);
    if (location >= 0)
        error->position =
            pgw_characters(it->all, before + (size_t)location, it->reading->env->utf8) + 1;
    it->out->refusal = error;
}

/* Refuses the whole statement, unless it is refused already. */
static void refuse(const reader *it, const char *sqlstate, const char *message, const char *hint)
{
    if (it->out->refusal != NULL)
        return;
    pgw_error *error = pgw_arena_alloc(it->reading->arena, sizeof *error);
    pgw_fail(error, sqlstate, "%s", message);
    pgw_error_hint(error, "%s", hint);
    it->out->refusal = error;
}

/* ---- where things stand, which the tree does not tell ---- */

static bool is_char(const reader *it, rw_token token, const char *chars)
{
    return token.kind == RW_TOKEN_CHAR && strchr(chars, it->text.ptr[token.start]) != NULL;
}

/* A lexer behind the statement's word and the name. */
static rw_lexer behind_name(const reader *it)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, it->text, it->reading->env->conforming);
    rw_lexer_next(&lexer);
    rw_lexer_next(&lexer);
    return lexer;
}

static bool ends(rw_token token)
{
    return token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD;
}

/* Reads the statement of PREPARE or DECLARE: what stands behind a word that is in no
 * parentheses. */
static void read_inner(reader *it, const char *word)
{
    rw_lexer lexer = behind_name(it);
    rw_token token;
    rw_clean inner;
    size_t depth = 0;
    do {
        token = rw_lexer_next(&lexer);
        depth += is_char(it, token, "(");
        depth -= depth > 0 && is_char(it, token, ")");
    } while (!ends(token) && (depth > 0 || !rw_token_is(it->text, token, word)));
    lexer = (rw_lexer){.text = it->text, .at = token.end, .conforming = lexer.conforming};
    it->out->command = PGW_COMMAND_WRITE;
    if (!rw_clean_next(&lexer, it->reading->env, it->reading->arena, &inner))
        return;
    it->out->text = inner.text;
    if (inner.kind == RW_CLEAN_READ)
        it->out->command = PGW_COMMAND_READ;
}

/* Reads EXECUTE's `count` arguments: what stands between the commas of its parentheses. */
static void read_arguments(reader *it, size_t count)
{
    pgw_slice *arguments = pgw_arena_alloc(it->reading->arena, count * sizeof *arguments + 1);
    rw_lexer lexer = behind_name(it);
    rw_token token = rw_lexer_next(&lexer);
    while (!ends(token) && !is_char(it, token, "("))
        token = rw_lexer_next(&lexer);
    for (size_t depth = 1, found = 0, start = 0, end = 0; depth > 0 && found < count;) {
        token = rw_lexer_next(&lexer);
        depth += is_char(it, token, "([");
        depth -= is_char(it, token, ")]");
        start = end == 0 ? token.start : start;
        if (ends(token))
            break;
        if (depth == 0 || (depth == 1 && is_char(it, token, ","))) {
            arguments[found++] = (pgw_slice){it->text.ptr + start, end - start};
            end = 0;
        } else {
            end = token.end;
        }
    }
    it->out->arguments = arguments;
    it->out->count = count;
}

/* ---- what an argument of EXECUTE must not hold ---- */

/* Whether a function may give another value each time, because EXECUTE's argument is put in the
 * place of each $n. */
static bool is_volatile(const PgQuery__FuncCall *call)
{
    static const char *const names[] = {"clock_timestamp",  "gen_random_uuid",  "nextval",
                                        "random",           "setval",           "timeofday",
                                        "uuid_generate_v1", "uuid_generate_v4", "pg_sleep"};
    const char *name = rw_node_name(call->funcname[call->n_funcname - 1]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void check_call(const reader *it, const PgQuery__FuncCall *call)
{
    if (call->over != NULL)
        refuse_at(it, call->location, "42P20",
                  "window functions are not allowed in EXECUTE parameters");
    else if (call->agg_star || call->agg_distinct || call->n_agg_order > 0)
        refuse_at(it, call->location, "42803",
                  "aggregate functions are not allowed in EXECUTE parameters");
    else if (call->n_funcname > 0 && is_volatile(call))
        refuse(it, "0A000", "volatile functions are not supported in EXECUTE parameters",
               "Select the value first, and pass it as a constant.");
}

static void check_column(const reader *it, const PgQuery__ColumnRef *column)
{
    const char *name = column->n_fields > 0 ? rw_node_name(column->fields[0]) : "";
    bool of_table = column->n_fields > 1;
    refuse_at(it, column->location, of_table ? "42P01" : "42703",
              pgw_arena_printf(it->reading->arena,
                               of_table ? "missing FROM-clause entry for table \"%s\""
                                        : "column \"%s\" does not exist",
                               name));
}

static void check_parameter(const reader *it, const PgQuery__ParamRef *parameter)
{
    refuse_at(it, parameter->location, "42P02",
              pgw_arena_printf(it->reading->arena, "there is no parameter $%d", parameter->number));
}

static bool check_argument(void *context, const ProtobufCMessage *node)
{
    reader *it = context;
    if (node->descriptor == &pg_query__column_ref__descriptor)
        check_column(it, (const PgQuery__ColumnRef *)node);
    else if (node->descriptor == &pg_query__param_ref__descriptor)
        check_parameter(it, (const PgQuery__ParamRef *)node);
    else if (node->descriptor == &pg_query__sub_link__descriptor)
        refuse_at(it, ((const PgQuery__SubLink *)node)->location, "0A000",
                  "cannot use subquery in EXECUTE parameter");
    else if (node->descriptor == &pg_query__set_to_default__descriptor)
        refuse_at(it, ((const PgQuery__SetToDefault *)node)->location, "42601",
                  "DEFAULT is not allowed in this context");
    else if (node->descriptor == &pg_query__func_call__descriptor)
        check_call(it, (const PgQuery__FuncCall *)node);
    return it->out->refusal == NULL && rw_walk(node, check_argument, context);
}

/* ---- each statement ---- */

static pgw_command read_prepare(reader *it, const PgQuery__PrepareStmt *stmt)
{
    uint32_t *types = pgw_arena_alloc(it->reading->arena, stmt->n_argtypes * sizeof *types + 1);
    for (size_t i = 0; i < stmt->n_argtypes; i++) {
        types[i] = rw_type_of_name(stmt->argtypes[i]->type_name);
        if (types[i] == PGW_UNSPECIFIED)
            refuse(it, "42704",
                   pgw_arena_printf(it->reading->arena, "the type of parameter $%zu is not known",
                                    i + 1),
                   "Use one of PostgreSQL's own scalar types, or an array of one.");
    }
    it->out->name = keep(it, stmt->name);
    it->out->types = types;
    it->out->count = stmt->n_argtypes;
    read_inner(it, "as");
    return PGW_COMMAND_PREPARE;
}

static pgw_command read_execute(reader *it, const PgQuery__ExecuteStmt *stmt)
{
    it->out->name = keep(it, stmt->name);
    read_arguments(it, stmt->n_params);
    for (size_t i = 0; i < stmt->n_params; i++)
        if (!check_argument(it, (const ProtobufCMessage *)stmt->params[i]))
            break;
    return PGW_COMMAND_EXECUTE;
}

static pgw_command read_declare(reader *it, const PgQuery__DeclareCursorStmt *stmt)
{
    enum { BINARY = 1, SCROLL = 2, HOLD = 32 }; /* CURSOR_OPT flags of parsenodes.h */
    it->out->name = keep(it, stmt->portalname);
    it->out->binary = (stmt->options & BINARY) != 0;
    read_inner(it, "for");
    if (it->out->command != PGW_COMMAND_READ)
        refuse(it, "0A000", "DECLARE CURSOR must not contain data-modifying statements in WITH",
               "");
    if (stmt->options & SCROLL)
        refuse(it, "0A000", "SCROLL cursors are not supported",
               "Declare it NO SCROLL; its rows can be fetched forward, once.");
    if (stmt->options & HOLD)
        refuse(it, "0A000", "cursors WITH HOLD are not supported",
               "The database gives a cursor's rows within its transaction only: fetch them before "
               "COMMIT.");
    return PGW_COMMAND_DECLARE;
}

static pgw_command read_fetch(reader *it, const PgQuery__FetchStmt *stmt)
{
    it->out->name = keep(it, stmt->portalname);
    bool forward = stmt->direction == PG_QUERY__FETCH_DIRECTION__FETCH_FORWARD;
    if (!forward || stmt->how_many <= 0)
        refuse(it, "0A000", "cursors can only be moved forward, from where they are",
               "Use NEXT, FORWARD n or FORWARD ALL.");
    else if (stmt->how_many <= INT32_MAX)
        it->out->rows = (uint32_t)stmt->how_many;
    return stmt->ismove ? PGW_COMMAND_MOVE : PGW_COMMAND_FETCH;
}

static pgw_command read_statement(reader *it, const PgQuery__Node *node)
{
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
        return read_prepare(it, node->prepare_stmt);
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
        return read_execute(it, node->execute_stmt);
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
        it->out->name = keep(it, node->deallocate_stmt->name);
        return PGW_COMMAND_DEALLOCATE;
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
        return read_declare(it, node->declare_cursor_stmt);
    case PG_QUERY__NODE__NODE_FETCH_STMT:
        return read_fetch(it, node->fetch_stmt);
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT:
        it->out->name = keep(it, node->close_portal_stmt->portalname);
        return PGW_COMMAND_CLOSE;
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
        it->out->all = node->discard_stmt->target == PG_QUERY__DISCARD_MODE__DISCARD_ALL;
        return PGW_COMMAND_DISCARD;
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
        return PGW_COMMAND_SESSION;
    default:
        return PGW_COMMAND_WRITE;
    }
}

/* Whether libpg_query can read the text; of a longer one only the length can be told. */
static bool can_be_read(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, conforming);
    return rw_split_next(&lexer, &piece) && rw_tree_can_read(text, &piece);
}

/* Whether SET holds no parameter: libpg_query takes one there, PostgreSQL's grammar does not. */
static bool check_set(const reader *it, const PgQuery__Node *node, size_t start)
{
    rw_lexer lexer;
    rw_token token = {.kind = RW_TOKEN_END};
    const pgw_reading *reading = it->reading;
    rw_lexer_init(&lexer, it->text, reading->env->conforming);
    if (node->node_case == PG_QUERY__NODE__NODE_VARIABLE_SET_STMT)
        do
            token = rw_lexer_next(&lexer);
        while (token.kind != RW_TOKEN_PARAM && token.kind != RW_TOKEN_END);
    if (token.kind == RW_TOKEN_END)
        return true;
    pgw_fail(reading->error, "42601", "syntax error at or near \"%.*s\"",
             PGW_SHOWN(rw_token_text(it->text, token)));
    reading->error->position = pgw_characters(it->all, start + token.start, reading->env->utf8) + 1;
    return false;
}

bool rw_order_read(pgw_slice all, const rw_clean *statement, const pgw_reading *reading,
                   pgw_piece *out)
{
    rw_syntax syntax;
    reader it = {all, statement->text, reading, pgw_arena_alloc(reading->arena, sizeof *it.out)};
    if (!can_be_read(statement->text, reading->env->conforming))
        return pgw_fail(reading->error, "54000",
                        "the statement is longer than %d bytes or %d tokens", RW_TREE_MAX_BYTES,
                        RW_TREE_MAX_TOKENS);
    if (!rw_syntax_parse(statement->text, reading->env, reading->arena, &syntax, reading->error)) {
        if (reading->error->position > 0)
            reading->error->position += pgw_characters(all, statement->start, reading->env->utf8);
        return false;
    }
    *out = (pgw_piece){.text = statement->text};
    out->command = read_statement(&it, syntax.statement);
    if (out->command >= PGW_COMMAND_PREPARE)
        out->order = it.out;
    bool fine = check_set(&it, syntax.statement, statement->start);
    rw_syntax_free(&syntax);
    return fine;
}
