#include "ydb/plain/infer.h"

#include "protocol/utf8.h"
#include "rewrite/insert/parse.h"
#include "rewrite/lex/splitter.h"
#include "ydb/plain/long_list.h"
#include "ydb/plain/query_types.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/walk.h"

#include <stdlib.h>
#include <string.h>

/* --- parameters where PostgreSQL has none --- */

/* Whether it is `date $1`, which libpg_query takes for the sake of texts whose constants were taken
 * out. PostgreSQL does not, and would read a constant in its place by its first word. */
static bool is_prefixed(const PgQuery__TypeCast *it)
{
    return it->arg != NULL && it->arg->node_case == PG_QUERY__NODE__NODE_PARAM_REF &&
           it->type_name != NULL && it->type_name->location < it->arg->param_ref->location;
}

/* Whether it is extract($1 FROM x), which libpg_query takes and PostgreSQL does not. */
static bool is_extracted(const PgQuery__FuncCall *it)
{
    return it->funcformat == PG_QUERY__COERCION_FORM__COERCE_SQL_SYNTAX && it->n_args == 2 &&
           it->args[0]->node_case == PG_QUERY__NODE__NODE_PARAM_REF &&
           strcmp(rw_node_name(it->funcname[it->n_funcname - 1]), "extract") == 0;
}

static const PgQuery__ParamRef *misplaced(const ProtobufCMessage *message)
{
    const PgQuery__TypeCast *cast = (const PgQuery__TypeCast *)message;
    const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
    if (message->descriptor == &pg_query__type_cast__descriptor && is_prefixed(cast))
        return cast->arg->param_ref;
    if (message->descriptor == &pg_query__func_call__descriptor && is_extracted(call))
        return call->args[0]->param_ref;
    return NULL;
}

static bool find_misplaced(void *context, const ProtobufCMessage *message)
{
    const PgQuery__ParamRef **found = context;
    *found = misplaced(message);
    return *found == NULL && rw_walk(message, find_misplaced, context);
}

static bool refuse_misplaced(pgw_slice text, const PgQuery__Node *statement,
                             const pgw_reading *reading)
{
    const PgQuery__ParamRef *found = NULL;
    if (find_misplaced(&found, (const ProtobufCMessage *)statement))
        return true;
    pgw_fail(reading->error, "42601", "syntax error at or near \"$%d\"", found->number);
    if (found->location >= 0)
        reading->error->position =
            pgw_characters(text, (size_t)found->location, reading->env->utf8) + 1;
    return false;
}

/* --- parameters that are columns --- */

typedef struct unnamed_list {
    rw_inferred *out;
    pgw_arena *arena;
    size_t room;
} unnamed_list;

static void add_unnamed(unnamed_list *list, int32_t location)
{
    rw_inferred *out = list->out;
    if (location < 0)
        return;
    if (out->unnamed_count == list->room) {
        list->room = 2 * list->room + 8;
        size_t *more = pgw_arena_alloc(list->arena, list->room * sizeof *more);
        for (size_t i = 0; i < out->unnamed_count; i++)
            more[i] = out->unnamed[i];
        out->unnamed = more;
    }
    out->unnamed[out->unnamed_count++] = (size_t)location;
}

/* A column without what leaves it its name: `($1 COLLATE "C")[1]` is $1. */
static const PgQuery__Node *bare(const PgQuery__Node *it)
{
    for (;;) {
        if (it == NULL)
            return NULL;
        if (it->node_case == PG_QUERY__NODE__NODE_COLLATE_CLAUSE) {
            it = it->collate_clause->arg;
        } else if (it->node_case == PG_QUERY__NODE__NODE_A_INDIRECTION) {
            for (size_t i = 0; i < it->a_indirection->n_indirection; i++)
                if (it->a_indirection->indirection[i]->node_case != PG_QUERY__NODE__NODE_A_INDICES)
                    return NULL;
            it = it->a_indirection->arg;
        } else {
            return it;
        }
    }
}

static void add_targets(unnamed_list *list, PgQuery__Node *const *targets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const PgQuery__ResTarget *it = targets[i]->res_target;
        const PgQuery__Node *value = it->name[0] == '\0' ? bare(it->val) : NULL;
        if (value != NULL && value->node_case == PG_QUERY__NODE__NODE_PARAM_REF)
            add_unnamed(list, value->param_ref->location);
    }
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    unnamed_list *list = context;
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *it = (const PgQuery__SelectStmt *)message;
        add_targets(list, it->target_list, it->n_target_list);
    } else if (message->descriptor == &pg_query__insert_stmt__descriptor) {
        const PgQuery__InsertStmt *it = (const PgQuery__InsertStmt *)message;
        add_targets(list, it->returning_list, it->n_returning_list);
    } else if (message->descriptor == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        add_targets(list, it->returning_list, it->n_returning_list);
    } else if (message->descriptor == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        add_targets(list, it->returning_list, it->n_returning_list);
    }
    return rw_walk(message, visit, context);
}

static int by_place(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

static void find_unnamed(const PgQuery__Node *statement, pgw_arena *arena, rw_inferred *out)
{
    unnamed_list list = {.out = out, .arena = arena};
    visit(&list, (const ProtobufCMessage *)statement);
    if (out->unnamed_count > 0)
        qsort(out->unnamed, out->unnamed_count, sizeof *out->unnamed, by_place);
}

/* --- types --- */

static bool begin(pgw_slice text, rw_declared declared, const pgw_reading *reading,
                  rw_inferred *out)
{
    size_t highest = rw_highest_parameter(text, reading->env->conforming);
    *out = (rw_inferred){.count = highest > declared.count ? highest : declared.count};
    if (out->count > UINT16_MAX)
        return pgw_fail(reading->error, "42P02", "there is no parameter $%zu", out->count);
    out->types = pgw_arena_alloc(reading->arena, out->count * sizeof *out->types + 1);
    for (size_t i = 0; i < out->count; i++)
        out->types[i] = i < declared.count && declared.types[i] != PGW_UNSPECIFIED
                            ? declared.types[i]
                            : PGW_UNKNOWN;
    return true;
}

static void end(rw_inferred *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->types[i] == PGW_UNKNOWN)
            out->types[i] = PGW_TEXT;
}

/* Whether libpg_query can read the text; `blank` of its bytes need no stack. */
static bool can_read(pgw_slice text, size_t blank, const pgw_env *env)
{
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, env->conforming);
    pgw_slice counted = {text.ptr, text.len - blank};
    return rw_split_next(&lexer, &piece) && rw_tree_can_read(counted, &piece);
}

/* Whether PostgreSQL takes parameters in the statement; not in SET, PREPARE or CREATE FUNCTION. */
static bool takes_parameters(const PgQuery__Node *statement)
{
    switch ((int)statement->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
    case PG_QUERY__NODE__NODE_INSERT_STMT:
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
    case PG_QUERY__NODE__NODE_DELETE_STMT:
    case PG_QUERY__NODE__NODE_MERGE_STMT:
    case PG_QUERY__NODE__NODE_CALL_STMT:
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
        return true;
    default:
        return false;
    }
}

static bool by_tree(const PgQuery__Node *statement, pgw_slice text, const rw_catalog *catalog,
                    const pgw_reading *reading, rw_inferred *out)
{
    if (!takes_parameters(statement)) {
        out->count = 0;
        return true;
    }
    if (!refuse_misplaced(text, statement, reading))
        return false;
    rw_typing typing = {
        .catalog = catalog, .arena = reading->arena, .types = out->types, .count = out->count};
    rw_type_statement(&typing, statement);
    out->missing = typing.missing;
    find_unnamed(statement, reading->arena, out);
    return true;
}

static bool parse_and_infer(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading,
                            rw_inferred *out)
{
    rw_syntax syntax;
    if (!rw_syntax_parse(text, reading->env, reading->arena, &syntax, reading->error))
        return false;
    bool fine = by_tree(syntax.statement, text, catalog, reading, out);
    rw_syntax_free(&syntax);
    return fine;
}

/* Takes the types that the parser of INSERT … VALUES saw, where the text is too large for a
 * tree. */
static void by_insert(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading,
                      rw_inferred *out)
{
    pgw_error unused;
    rw_insert *insert;
    if (!rw_insert_parse(text, catalog, reading->env, reading->arena, &insert, &unused) ||
        insert == NULL)
        return;
    for (size_t i = 0; i < out->count && i < insert->param_count; i++)
        if (out->types[i] == PGW_UNKNOWN && insert->inferred[i] != PGW_UNSPECIFIED)
            out->types[i] = insert->inferred[i];
}

static void follow(const uint32_t *leaders, rw_inferred *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->types[i] == PGW_UNKNOWN && leaders[i] > 0)
            out->types[i] = out->types[leaders[i] - 1];
}

/* Finds the types of a text that is too large for a tree: without most of its lists it may not
 * be. */
static bool by_parts(pgw_slice text, const rw_catalog *catalog, rw_declared declared,
                     const pgw_reading *reading, rw_inferred *out)
{
    rw_shortened shortened = rw_shorten_lists(text, declared, out->count, reading);
    if (!can_read(shortened.text, shortened.cut, reading->env)) {
        by_insert(text, catalog, reading, out);
        return true;
    }
    if (!parse_and_infer(shortened.text, catalog, reading, out))
        return false;
    follow(shortened.leaders, out);
    return true;
}

bool rw_infer(pgw_slice text, const rw_catalog *catalog, rw_declared declared,
              const pgw_reading *reading, rw_inferred *out)
{
    if (!begin(text, declared, reading, out))
        return false;
    bool fine = can_read(text, 0, reading->env) ? parse_and_infer(text, catalog, reading, out)
                                                : by_parts(text, catalog, declared, reading, out);
    if (fine)
        end(out);
    return fine;
}
