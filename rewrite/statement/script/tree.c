#include "rewrite/statement/script/tree.h"

#include "protocol/utf8.h"
#include "rewrite/statement/lookup/lookup_tree.h"
#include "rewrite/statement/lookup/ranges_tree.h"
#include "rewrite/statement/lookup/reads_tree.h"
#include "rewrite/statement/tree/parse_tree.h"
#include "rewrite/statement/tree/readable.h"
#include "rewrite/statement/lookup/sql_prepare.h"
#include "rewrite/statement/key/keeps_key.h"
#include "rewrite/statement/hidden/hidden_stars.h"
#include "rewrite/statement/key/unseen_key.h"
#include "rewrite/statement/tree/walk.h"
#include "rewrite/statement/words/write_scan.h"

#include <pg_query.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the walk through the tree knows. */
typedef struct walker {
    pgw_slice text;
    const rw_catalog *catalog;
    const pgw_env *env;
    pgw_error *error;
    rw_tree_found *found;
    const char *inside; /* what the write stands in, such as "WITH" or "PREPARE" */
    const void *spared; /* the INSERT that is the statement itself, or that PREPARE keeps */
    const void *itself; /* the UPDATE that is the statement itself */
    size_t same_count;  /* pairs of equal parameters that belong to `itself` */
    bool sets_by_zone;  /* TimeZone decides what a key is set to; WHERE must be read by it */
    pgw_arena *arena;
} walker;

static const rw_table *find(const walker *walk, const PgQuery__RangeVar *relation)
{
    return relation == NULL ? NULL
                            : rw_catalog_find(walk->catalog, pgw_slice_str(relation->schemaname),
                                              pgw_slice_str(relation->relname));
}

static void set_position(walker *walk, int32_t location)
{
    if (location >= 0)
        walk->error->position = pgw_characters(walk->text, (size_t)location, walk->env->utf8) + 1;
}

/* --- the statements that write --- */

static bool refuse_insert(walker *walk, const PgQuery__RangeVar *relation, const rw_table *table)
{
    pgw_fail(walk->error, "0A000", "cannot write table \"%s\" inside %s through keyspread",
             table->name, walk->inside);
    pgw_error_detail(walk->error, "The hash column \"%s\" is not filled in there.",
                     table->columns[table->hash_column].name);
    if (strcmp(walk->inside, "PREPARE") == 0)
        pgw_error_hint(walk->error,
                       "Send the INSERT itself, or prepare it with the protocol's Parse "
                       "message as drivers do.");
    else if (strcmp(walk->inside, "EXPLAIN ANALYZE") == 0)
        pgw_error_hint(walk->error, "Use EXPLAIN without ANALYZE.");
    else
        pgw_error_hint(walk->error,
                       "Send the INSERT … VALUES into \"%s\" as a statement of its own.",
                       table->name);
    set_position(walk, relation->location);
    return false;
}

static size_t count_uses(const walker *walk, int32_t parameter)
{
    return rw_parameter_uses(walk->text, walk->env->conforming, (uint32_t)parameter);
}

/* Parameters whose values the Bind is to compare: no other use may give one another type. What
 * PREPARE declares is not looked at, and a Bind of an INSERT has other things to do. */
static bool note_same(walker *walk, const rw_column *column, int32_t set, int32_t where)
{
    rw_tree_found *found = walk->found;
    if (walk->spared != NULL || strcmp(walk->inside, "PREPARE") == 0 ||
        found->same_count == RW_EQUAL_PARAMETERS_MAX || set < 1 || set > UINT16_MAX || where < 1 ||
        where > UINT16_MAX || count_uses(walk, set) != (set == where ? 2 : 1) ||
        (set != where && count_uses(walk, where) != 1))
        return false;
    found->same[found->same_count++] =
        (rw_equal_parameters){(unsigned short)set, (unsigned short)where, column->type};
    return true;
}

/* Whether an UPDATE leaves a column of the key what it is. */
static bool keeps(walker *walk, const rw_table *table, const PgQuery__UpdateStmt *update,
                  const PgQuery__ResTarget *target)
{
    size_t column = rw_table_column(table, pgw_slice_str(target->name));
    int32_t set, where;
    if (update == NULL || column == table->hash_column)
        return false;
    rw_keeps why = rw_keeps_column(update, target, &set, &where);
    walk->found->by_value |= why != RW_KEEPS_ALWAYS;
    if (why == RW_KEEPS_ALWAYS)
        return true;
    /* An = operator of the database's own may find other rows. */
    if (why == RW_KEEPS_NOT || table->columns[column].own_equals)
        return false;
    if (why == RW_KEEPS_PARAMETER)
        return note_same(walk, &table->columns[column], set, where);
    /* Where backslashes escape, libpg_query has not seen the strings as they are. */
    return walk->env->conforming;
}

static void refuse_target(walker *walk, const rw_table *table, const PgQuery__ResTarget *target,
                          const char *hint)
{
    const char *hash = table->columns[table->hash_column].name;
    if (table->strict && strcmp(target->name, hash) == 0) {
        pgw_fail(walk->error, "42703", "column \"%s\" of relation \"%s\" does not exist", hash,
                 table->name);
        set_position(walk, target->location);
        return;
    }
    pgw_fail(walk->error, "0A000", "cannot update column \"%s\" of table \"%s\" through keyspread",
             target->name, table->name);
    if (strcmp(target->name, hash) == 0) {
        pgw_error_hint(walk->error, "keyspread computes the hash column; leave it out.");
    } else {
        pgw_error_detail(walk->error, "The hash column \"%s\" is computed from it.", hash);
        pgw_error_hint(walk->error, "%s", hint);
    }
    set_position(walk, target->location);
}

/* Whether it is the statement itself, and can be given the hash of the new key: then no column of
 * the key need be left to what it is. */
static bool changes_key(walker *walk, const rw_table *table, const PgQuery__UpdateStmt *update)
{
    rw_key_change *change = &walk->found->change;
    change->hint = "Delete the row and insert it with its new key.";
    if (update == NULL || update != walk->itself)
        return false;
    walk->found->same_count = 0;
    return rw_key_change_find(update, table, walk->text, walk->env->conforming, walk->arena,
                              change);
}

/* Notes the change of a key for the case that parameters do not leave it what it is. */
static void change_otherwise(walker *walk, const rw_table *table, const PgQuery__UpdateStmt *update)
{
    size_t same = walk->found->same_count;
    if (same == 0)
        return;
    bool can = changes_key(walk, table, update);
    /* The equal parameters stay noted even if the key cannot be changed. */
    walk->found->same_count = same;
    if (!can)
        return;
    walk->same_count = same;
    walk->found->change.otherwise = true;
}

/* SET of a column that the hash is made of. `update` NULL: it is MERGE's. */
static bool check_targets(walker *walk, const rw_table *table, const PgQuery__UpdateStmt *update,
                          PgQuery__Node **targets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (targets[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
            continue;
        const PgQuery__ResTarget *target = targets[i]->res_target;
        if (!rw_table_is_hash_input(table, pgw_slice_str(target->name)) ||
            keeps(walk, table, update, target))
            continue;
        if (changes_key(walk, table, update))
            return true;
        refuse_target(walk, table, target, walk->found->change.hint);
        return false;
    }
    change_otherwise(walk, table, update);
    return true;
}

static bool visit_insert(walker *walk, const PgQuery__InsertStmt *insert)
{
    const rw_table *table = find(walk, insert->relation);
    return table == NULL || walk->spared == insert || refuse_insert(walk, insert->relation, table);
}

static bool sets_by_zone(const rw_table *table, const PgQuery__Node *target)
{
    if (target->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
        return false;
    pgw_slice name = pgw_slice_str(target->res_target->name);
    return rw_table_is_hash_input(table, name) &&
           rw_sets_by_zone(target->res_target, table->columns[rw_table_column(table, name)].type);
}

/* A text that sets an unseen key must be read again once the table is seen. */
static void note_unseen(walker *walk, const PgQuery__RangeVar *relation,
                        PgQuery__Node *const *targets, size_t count)
{
    rw_tree_found *found = walk->found;
    found->unseen |= rw_sets_unseen_key(walk->catalog, relation, targets, count);
    found->by_value |= found->unseen;
}

static bool visit_update(walker *walk, const PgQuery__UpdateStmt *update)
{
    const rw_table *table = find(walk, update->relation);
    for (size_t i = 0; table != NULL && i < update->n_target_list; i++)
        walk->sets_by_zone |= sets_by_zone(table, update->target_list[i]);
    if (table == NULL)
        note_unseen(walk, update->relation, update->target_list, update->n_target_list);
    return table == NULL ||
           check_targets(walk, table, update, update->target_list, update->n_target_list);
}

static void refuse_merge(walker *walk, const rw_table *table, int32_t location)
{
    pgw_fail(walk->error, "0A000", "cannot MERGE rows into table \"%s\" through keyspread",
             table->name);
    pgw_error_detail(walk->error, "The hash column \"%s\" is not filled in there.",
                     table->columns[table->hash_column].name);
    pgw_error_hint(walk->error, "Use INSERT … VALUES … ON CONFLICT DO UPDATE.");
    set_position(walk, location);
}

static bool visit_merge(walker *walk, const PgQuery__MergeStmt *merge)
{
    const rw_table *table = find(walk, merge->relation);
    for (size_t i = 0; i < merge->n_merge_when_clauses; i++) {
        if (merge->merge_when_clauses[i]->node_case != PG_QUERY__NODE__NODE_MERGE_WHEN_CLAUSE)
            continue;
        const PgQuery__MergeWhenClause *when = merge->merge_when_clauses[i]->merge_when_clause;
        bool updates = when->command_type == PG_QUERY__CMD_TYPE__CMD_UPDATE;
        if (table == NULL && updates)
            note_unseen(walk, merge->relation, when->target_list, when->n_target_list);
        if (table == NULL)
            continue;
        if (when->command_type == PG_QUERY__CMD_TYPE__CMD_INSERT) {
            refuse_merge(walk, table, merge->relation->location);
            return false;
        }
        if (updates && !check_targets(walk, table, NULL, when->target_list, when->n_target_list))
            return false;
    }
    return true;
}

static bool visit_copy(walker *walk, const PgQuery__CopyStmt *copy)
{
    const rw_table *table = copy->is_from ? find(walk, copy->relation) : NULL;
    rw_copy *out = table != NULL ? pgw_arena_alloc(walk->arena, sizeof *out) : NULL;
    if (table == NULL)
        return true;
    if (!rw_copy_from_read(copy, table, &(pgw_reading){walk->env, walk->arena, walk->error}, out)) {
        set_position(walk, copy->relation->location);
        return false;
    }
    walk->found->copy = out;
    walk->found->by_value = true;
    return true;
}

/* Reads an option's argument as defGetBoolean() does; what that refuses counts as true. */
static bool is_false(const PgQuery__Node *arg)
{
    if (arg == NULL)
        return false;
    if (arg->node_case == PG_QUERY__NODE__NODE_INTEGER)
        return arg->integer->ival == 0;
    if (arg->node_case != PG_QUERY__NODE__NODE_STRING)
        return false;
    pgw_slice text = pgw_slice_str(arg->string->sval);
    return pgw_slice_ieq_str(text, "false") || pgw_slice_ieq_str(text, "off");
}

/* Only ANALYZE runs the statement. The plan of a plain EXPLAIN is shown as it is for the statement
 * as written. */
static bool executes(const PgQuery__ExplainStmt *explain)
{
    for (size_t i = 0; i < explain->n_options; i++) {
        const PgQuery__Node *option = explain->options[i];
        if (option->node_case == PG_QUERY__NODE__NODE_DEF_ELEM &&
            strcmp(option->def_elem->defname, "analyze") == 0 && !is_false(option->def_elem->arg))
            return true;
    }
    return false;
}

/* --- the walk --- */

/* Visits a node. False: it, or a node below it, has to be refused. */
static bool visit(void *context, const ProtobufCMessage *message)
{
    walker *walk = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__rule_stmt__descriptor ||
        type == &pg_query__create_function_stmt__descriptor)
        return true; /* A rule or function is only defined now; when it runs, the table itself
                        catches a missing hash. */
    if (type == &pg_query__explain_stmt__descriptor) {
        const PgQuery__ExplainStmt *explain = (const PgQuery__ExplainStmt *)message;
        walk->inside = "EXPLAIN ANALYZE";
        return !executes(explain) || visit(walk, (const ProtobufCMessage *)explain->query);
    }
    if (type == &pg_query__prepare_stmt__descriptor)
        walk->inside = "PREPARE";
    else if (type == &pg_query__copy_stmt__descriptor)
        walk->inside = "COPY";
    bool fine = true;
    if (type == &pg_query__insert_stmt__descriptor)
        fine = visit_insert(walk, (const PgQuery__InsertStmt *)message);
    else if (type == &pg_query__update_stmt__descriptor)
        fine = visit_update(walk, (const PgQuery__UpdateStmt *)message);
    else if (type == &pg_query__merge_stmt__descriptor)
        fine = visit_merge(walk, (const PgQuery__MergeStmt *)message);
    else if (type == &pg_query__copy_stmt__descriptor)
        fine = visit_copy(walk, (const PgQuery__CopyStmt *)message);
    return fine && rw_walk(message, visit, walk);
}

/* --- in and out --- */

bool rw_tree_can_read(pgw_slice text, const rw_piece *piece)
{
    return text.len <= RW_TREE_MAX_BYTES && piece->tokens <= RW_TREE_MAX_TOKENS;
}

/* Whether libpg_query can be asked of the whole text. Behind a token that cannot be read anything
 * may stand. */
static bool can_read_all(pgw_slice text, const pgw_env *env)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_token token = rw_lexer_next(&lexer);
    size_t tokens = 0;
    for (; token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer))
        tokens++;
    if (token.kind == RW_TOKEN_BAD)
        tokens += text.len - token.start;
    return text.len <= RW_TREE_MAX_BYTES && tokens <= RW_TREE_MAX_TOKENS;
}

bool rw_tree_rejects(pgw_slice text, const pgw_env *env)
{
    if (rw_grammar_is_older(env) || !can_read_all(text, env))
        return false;
    bool ours;
    pgw_arena arena = {0};
    const char *copy = rw_readable_copy(text, env, &arena, &ours);
    PgQueryProtobufParseResult parsed = pg_query_parse_protobuf(copy);
    bool rejects = parsed.error != NULL && !ours;
    pg_query_free_protobuf_parse_result(parsed);
    pgw_arena_free(&arena);
    return rejects;
}

static void unparsed(const char *message, int position, const pgw_env *env, pgw_error *error)
{
    pgw_fail(error, "42601", "%s", message);
    if (rw_grammar_is_older(env))
        pgw_error_hint(error,
                       "The statement names a table that keyspread fills a hash column of, so it "
                       "has to be understood: by the grammar of PostgreSQL " PG_MAJORVERSION
                       ". The server is PostgreSQL %d; what is new there has to be written in "
                       "the older way.",
                       env->server);
    else
        pgw_error_hint(error,
                       "The statement names a table that keyspread fills a hash column of, so it "
                       "has to be understood: by the grammar of PostgreSQL " PG_MAJORVERSION ".");
    if (position > 0)
        error->position = (size_t)position;
}

/* What SQL's PREPARE keeps must be known for what it is, so that it can be prepared otherwise. */
static void find_lookups(walker *walk, const PgQuery__Node *top, pgw_arena *arena)
{
    rw_tree_found *found = walk->found;
    found->prepares = rw_sql_prepare_find(top, walk->text, arena);
    if (found->prepares != NULL || top->node_case != PG_QUERY__NODE__NODE_PREPARE_STMT)
        found->lookups = rw_lookup_find(top, walk->text, walk->catalog, found->stars, arena);
}

static void find_ranges(walker *walk, const PgQuery__Node *top, pgw_arena *arena)
{
    rw_tree_found *found = walk->found;
    rw_ranges_found ranges =
        rw_ranges_find(top, walk->text, walk->catalog, found->stars, found->lookups, arena);
    found->ranges = ranges.map;
    found->by_value |= ranges.by_value;
}

/* The INSERT … VALUES of a PREPARE; `other`: it is none. */
static const void *prepared_rows(const PgQuery__Node *top, const void *other)
{
    if (top->node_case != PG_QUERY__NODE__NODE_PREPARE_STMT ||
        top->prepare_stmt->query->node_case != PG_QUERY__NODE__NODE_INSERT_STMT)
        return other;
    const PgQuery__InsertStmt *insert = top->prepare_stmt->query->insert_stmt;
    const PgQuery__Node *source = insert->select_stmt;
    bool rows = source == NULL || (source->node_case == PG_QUERY__NODE__NODE_SELECT_STMT &&
                                   source->select_stmt->n_values_lists > 0);
    return rows && insert->with_clause == NULL ? (const void *)insert : other;
}

static rw_tree_answer check(walker *walk, const PgQuery__ParseResult *result, pgw_arena *arena)
{
    const PgQuery__Node *top = result->stmts[0]->stmt;
    if (top->node_case == PG_QUERY__NODE__NODE_INSERT_STMT) {
        walk->spared = top->insert_stmt;
        walk->found->inserts = find(walk, top->insert_stmt->relation) != NULL;
    }
    if (walk->catalog->executes)
        walk->spared = prepared_rows(top, walk->spared);
    if (top->node_case == PG_QUERY__NODE__NODE_UPDATE_STMT)
        walk->itself = top->update_stmt;
    if (!visit(walk, (const ProtobufCMessage *)top))
        return RW_TREE_REFUSED;
    rw_tree_found *found = walk->found;
    if (found->change.otherwise && found->same_count != walk->same_count)
        /* Another UPDATE in the statement needs equal parameters, too. */
        found->change = (rw_key_change){.table = NULL};
    rw_hidden_stars shown;
    if (!rw_hidden_stars_find(top, walk->text, walk->catalog,
                              &(pgw_reading){walk->env, arena, walk->error}, &shown)) {
        found->denied = true;
        return RW_TREE_REFUSED;
    }
    found->stars = shown.map;
    found->by_value |= shown.by_value;
    if (walk->env->conforming && !found->inserts && !walk->sets_by_zone) {
        find_lookups(walk, top, arena);
        find_ranges(walk, top, arena);
    }
    if (!found->inserts)
        found->reads = rw_reads_find(top, walk->text, walk->catalog, found->ranges, arena);
    return RW_TREE_HARMLESS;
}

static bool is_one(const PgQuery__ParseResult *result)
{
    return result != NULL && result->n_stmts == 1 && result->stmts[0]->stmt != NULL;
}

/* The tree of a text; NULL: the error is filled with what PostgreSQL's grammar says (42601). */
static PgQuery__ParseResult *parse(pgw_slice text, const pgw_env *env, pgw_arena *arena,
                                   pgw_error *error)
{
    bool ours;
    PgQueryProtobufParseResult parsed =
        pg_query_parse_protobuf(rw_readable_copy(text, env, arena, &ours));
    PgQuery__ParseResult *result = NULL;
    if (parsed.error == NULL)
        result = pg_query__parse_result__unpack(NULL, parsed.parse_tree.len,
                                                (const uint8_t *)parsed.parse_tree.data);
    if (parsed.error != NULL)
        unparsed(parsed.error->message, parsed.error->cursorpos, env, error);
    else if (!is_one(result))
        unparsed("cannot tell where the statement ends", 0, env, error);
    pg_query_free_protobuf_parse_result(parsed);
    return result;
}

/* Refuses a MERGE in a form that is newer than the grammar. */
static rw_tree_answer check_unread(walker *walk)
{
    size_t at;
    const rw_table *table =
        rw_grammar_is_older(walk->env)
            ? rw_scan_merges(walk->text, walk->catalog, walk->env, walk->arena, &at)
            : NULL;
    if (table == NULL)
        return RW_TREE_UNPARSED;
    pgw_error_clear(walk->error);
    refuse_merge(walk, table, (int32_t)at);
    return RW_TREE_REFUSED;
}

rw_tree_answer rw_tree_check(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                             pgw_arena *arena, rw_tree_found *found, pgw_error *error)
{
    *found = (rw_tree_found){0};
    PgQuery__ParseResult *result = parse(text, env, arena, error);
    walker walk = {.text = text,
                   .catalog = catalog,
                   .env = env,
                   .error = error,
                   .found = found,
                   .arena = arena,
                   .inside = "WITH"};
    rw_tree_answer answer = is_one(result) ? check(&walk, result, arena) : check_unread(&walk);
    pg_query__parse_result__free_unpacked(result, NULL);
    return answer;
}

bool rw_tree_define(pgw_slice text, pgw_slice next, const rw_catalog *catalog,
                    const pgw_reading *reading, rw_definition *out)
{
    *out = (rw_definition){0};
    PgQuery__ParseResult *result = parse(text, reading->env, reading->arena, reading->error);
    bool fine = result != NULL || !rw_grammar_is_older(reading->env) ||
                !rw_scan_may_define(text, catalog->planned, reading->env, reading->arena);
    if (is_one(result))
        fine = rw_define_find(result->stmts[0]->stmt, text, next, catalog, reading, out);
    pg_query__parse_result__free_unpacked(result, NULL);
    return fine;
}
