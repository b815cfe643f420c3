/*
 * statement_holds: what must be true of every text of statements, however it is written.
 * PostgreSQL's own grammar (libpg_query) says what a statement is; it is asked here by itself.
 */
#ifndef TEST_STATEMENT_HOLDS_H
#define TEST_STATEMENT_HOLDS_H

#include "protocol/frontend.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/walk.h"

#include "error_holds.h"

/* --- what is put in --- */

/* Whether a word or a sign goes on over this place of the text. A function's body may be changed.
 */
static inline bool is_inside_of_a_word(pgw_slice text, bool conforming, size_t at)
{
    pgw_arena arena = {0};
    size_t count;
    const rw_token *words = rw_tokens_of(text, conforming, &arena, &count);
    bool inside = false;
    for (size_t i = 0; i < count; i++)
        inside |= words[i].start < at && at < words[i].end &&
                  !(words[i].kind == RW_TOKEN_STRING && text.ptr[words[i].start] == '$');
    pgw_arena_free(&arena);
    return inside;
}

/* The client's text with what is put in, in the order of the text and between its words. */
static inline void add_edited(pgw_slice text, bool conforming, const rw_change *edits, size_t count,
                              pgw_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        const rw_change *edit = &edits[i];
        word_deleted_holds(edit->at >= from && edit->at + edit->cut <= text.len,
                           "what is put in follows in the order of the text");
        word_deleted_holds(!is_inside_of_a_word(text, conforming, edit->at) &&
                               !is_inside_of_a_word(text, conforming, edit->at + edit->cut),
                           "what is put in stands between words");
        pgw_buf_add(out, text.ptr + from, edit->at - from);
        pgw_buf_add_slice(out, edit->text);
        from = edit->at + edit->cut;
    }
    pgw_buf_add(out, text.ptr + from, text.len - from);
}

/* Where an error at this character of what is put in is told to stand, from 1: where that was put
 * in, or where the client wrote what it comes from. */
static inline size_t place_of_edit(const rw_change *edit, pgw_slice text, size_t character)
{
    size_t from = edit->from > 0 ? edit->from - 1 : edit->at;
    return pgw_characters(text, from, true) + 1 + (edit->moved ? character : 0);
}

/* A character of what is sent, counted from 1, stands there in the client's text. */
static inline void holds_of_position(const rw_conditions *it, pgw_slice text, size_t character,
                                     size_t place, bool put_in)
{
    word_deleted_holds(rw_conditions_position(it, text, character, true) == place,
                       "a position leads to where the client wrote it");
    word_deleted_holds(rw_conditions_put_in(it, text, character, true) == put_in,
                       "a position is known to be the client's or not");
}

/* Of the first and the last character of what the client wrote between two edits, and of each edit.
 */
static inline void holds_of_positions(const rw_conditions *it, pgw_slice text)
{
    size_t from = 0, sent = 0; /* characters of the client's text and of what is sent, so far */
    for (size_t i = 0; i <= it->count; i++) {
        const rw_change *edit = i < it->count ? &it->list[i] : NULL;
        size_t at = pgw_characters(text, edit != NULL ? edit->at : text.len, true);
        if (at > from) {
            holds_of_position(it, text, sent + 1, from + 1, false);
            holds_of_position(it, text, sent + at - from, at, false);
        }
        if (edit == NULL)
            break;
        size_t len = pgw_characters(edit->text, edit->text.len, true);
        sent += at - from;
        if (len > 0) {
            holds_of_position(it, text, sent + 1, place_of_edit(edit, text, 0), !edit->moved);
            holds_of_position(it, text, sent + len, place_of_edit(edit, text, len - 1),
                              !edit->moved);
        }
        sent += len;
        from = pgw_characters(text, edit->at + edit->cut, true);
    }
}

/* --- what PostgreSQL's grammar says --- */

/* Whether PostgreSQL's grammar takes it as one statement. */
static inline bool parses(pgw_slice text, const pgw_env *env)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    bool right = rw_syntax_parse(text, env, &arena, &syntax, &error);
    if (right)
        rw_syntax_free(&syntax);
    pgw_arena_free(&arena);
    return right;
}

static inline void holds_of_sent(pgw_slice text, pgw_slice sent, const pgw_env *env)
{
    if (pgw_slice_eq(text, sent) || rw_text_mentions(text, "not deferrable deferrable"))
        return; /* PostgreSQL refuses both together, but only behind its grammar */
    word_deleted_holds(
        parses(text, env) == parses(sent, env),
        "what is sent is an error of syntax where the client's text is, and only there");
}

/* Of what is sent for a statement that passes. */
static inline void holds_of_conditions(const rw_conditions *it, pgw_slice text, pgw_slice sent,
                                       const pgw_env *env)
{
    pgw_buf edited = {0};
    add_edited(text, env->conforming, it->list, it->count, &edited);
    word_deleted_holds(pgw_slice_eq(pgw_slice_buf(&edited), sent),
                       "what is sent is the client's text with what is put in");
    pgw_buf_free(&edited);
    holds_of_positions(it, text);
    holds_of_sent(text, sent, env);
}

/* --- what the grammar's tree says of a statement --- */

typedef struct tree_facts {
    const rw_catalog *catalog;
    bool writes;     /* it writes rows of any table */
    bool inserts;    /* it inserts into a configured table, of which the server may store rows */
    bool rekeys;     /* it computes a column of which a configured table's hash is made */
    bool calls;      /* it calls a function, or has words that may look like a call or a lock */
    bool impossible; /* it has a parameter that none can be */
} tree_facts;

static inline const rw_table *table_of(const rw_catalog *catalog, const PgQuery__RangeVar *name)
{
    if (name == NULL || name->catalogname[0] != '\0')
        return NULL;
    return rw_catalog_find(catalog, pgw_slice_str(name->schemaname), pgw_slice_str(name->relname));
}

static inline void note_update(tree_facts *facts, const PgQuery__UpdateStmt *update)
{
    const rw_table *table = table_of(facts->catalog, update->relation);
    facts->writes = true;
    for (size_t i = 0; table != NULL && i < update->n_target_list; i++) {
        const PgQuery__ResTarget *target = update->target_list[i]->res_target;
        const PgQuery__Node *value = target->val;
        bool computed = value != NULL && value->node_case != PG_QUERY__NODE__NODE_A_CONST &&
                        value->node_case != PG_QUERY__NODE__NODE_PARAM_REF &&
                        value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF &&
                        value->node_case != PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF;
        for (size_t k = 0; k < table->hash_key_count; k++)
            facts->rekeys |=
                computed && strcmp(table->columns[table->hash_key[k]].name, target->name) == 0;
    }
}

static inline bool lists_column(const PgQuery__InsertStmt *it, const char *name)
{
    for (size_t i = 0; i < it->n_cols; i++)
        if (strcmp(it->cols[i]->res_target->name, name) == 0)
            return true;
    return false;
}

static inline bool has_nothing_strange(const PgQuery__InsertStmt *it, const rw_table *table)
{
    for (size_t i = 0; i < it->n_cols; i++)
        if (rw_table_column(table, pgw_slice_str(it->cols[i]->res_target->name)) ==
            table->column_count)
            return false;
    return true;
}

/* Whether the server certainly rejects its rows: a column is none of the table's; or the hash
 * column cannot be NULL, and the query has too many values or too few, or there is one for a column
 * that is always generated. */
static inline bool is_rejected(const PgQuery__InsertStmt *it, const rw_table *table)
{
    const PgQuery__SelectStmt *query =
        it->select_stmt != NULL ? it->select_stmt->select_stmt : NULL;
    bool always = false;
    for (size_t i = 0; i < table->column_count; i++)
        always |= table->columns[i].always;
    return !has_nothing_strange(it, table) || (query != NULL && query->into_clause != NULL) ||
           (table->columns[table->hash_column].not_null && query != NULL &&
            (always || (query->n_values_lists == 0 && query->n_target_list != it->n_cols)));
}

static inline bool is_analyzed(const PgQuery__ExplainStmt *explain)
{
    for (size_t i = 0; i < explain->n_options; i++)
        if (strcmp(explain->options[i]->def_elem->defname, "analyze") == 0)
            return true;
    return false;
}

/* Whether the server rejects strings of it that the grammar here takes. */
static inline bool is_unsafe(pgw_slice text, const pgw_env *env)
{
    return !env->conforming && rw_text_mentions(text, "u&");
}

static bool note_fact(void *context, const ProtobufCMessage *node)
{
    tree_facts *facts = context;
    if (node->descriptor == &pg_query__insert_stmt__descriptor) {
        const PgQuery__InsertStmt *insert = (const PgQuery__InsertStmt *)node;
        facts->writes = true;
        const rw_table *table = table_of(facts->catalog, insert->relation);
        facts->inserts |=
            table != NULL && !table->forward_uncomputable && !is_rejected(insert, table);
    } else if (node->descriptor == &pg_query__update_stmt__descriptor)
        note_update(facts, (const PgQuery__UpdateStmt *)node);
    else if (node->descriptor == &pg_query__delete_stmt__descriptor ||
             node->descriptor == &pg_query__merge_stmt__descriptor)
        facts->writes = true;
    else if (node->descriptor == &pg_query__func_call__descriptor ||
             node->descriptor == &pg_query__range_table_func__descriptor ||
             node->descriptor == &pg_query__range_table_sample__descriptor)
        facts->calls = true;
    else if (node->descriptor == &pg_query__a__expr__descriptor)
        facts->calls |= ((const PgQuery__AExpr *)node)->n_name > 1;
    else if (node->descriptor == &pg_query__alias__descriptor)
        facts->calls |= ((const PgQuery__Alias *)node)->n_colnames > 0 ||
                        strcmp(((const PgQuery__Alias *)node)->aliasname, "update") == 0;
    else if (node->descriptor == &pg_query__param_ref__descriptor)
        facts->impossible |= ((const PgQuery__ParamRef *)node)->number < 1 ||
                             ((const PgQuery__ParamRef *)node)->number > PGW_MAX_PARAMETERS;
    else if (node->descriptor == &pg_query__explain_stmt__descriptor)
        return !is_analyzed((const PgQuery__ExplainStmt *)node) || rw_walk(node, note_fact, facts);
    return rw_walk(node, note_fact, facts);
}

/* Effects of which a statement has at least one, by what PostgreSQL's grammar says that it is. */
static inline unsigned least_effects(const PgQuery__Node *node)
{
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        return RW_EFFECT_TRANSACTION;
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
        return RW_EFFECT_PREPARE;
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
        return RW_EFFECT_DEALLOCATE;
    case PG_QUERY__NODE__NODE_COPY_STMT:
        return RW_EFFECT_COPY;
    case PG_QUERY__NODE__NODE_FETCH_STMT:
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
        return RW_EFFECT_RESUMES;
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
        return RW_EFFECT_STATE;
    case PG_QUERY__NODE__NODE_CREATE_STMT:
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
    case PG_QUERY__NODE__NODE_DROP_STMT:
    case PG_QUERY__NODE__NODE_RENAME_STMT:
    case PG_QUERY__NODE__NODE_INDEX_STMT:
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
        return RW_EFFECT_DDL | RW_EFFECT_NAMES;
    case PG_QUERY__NODE__NODE_GRANT_STMT:
    case PG_QUERY__NODE__NODE_GRANT_ROLE_STMT:
        return RW_EFFECT_RIGHTS;
    case PG_QUERY__NODE__NODE_INSERT_STMT:
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
    case PG_QUERY__NODE__NODE_DELETE_STMT:
    case PG_QUERY__NODE__NODE_MERGE_STMT:
        return RW_EFFECT_WRITES;
    case PG_QUERY__NODE__NODE_DO_STMT:
    case PG_QUERY__NODE__NODE_CALL_STMT:
        return RW_EFFECT_SETTINGS;
    default:
        return 0;
    }
}

/* What PostgreSQL's grammar calls a SELECT without any call or write does nothing to the session
 * but what views, operators and casts may do. */
static inline bool only_reads(const PgQuery__Node *node, const tree_facts *facts)
{
    return node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT && !facts->writes && !facts->calls &&
           node->select_stmt->into_clause == NULL && node->select_stmt->n_locking_clause == 0;
}

static inline void holds_of_tree(const rw_statement *it, const PgQuery__Node *node,
                                 const tree_facts *facts)
{
    unsigned least = least_effects(node), quiet = RW_EFFECT_READS | RW_EFFECT_RUNS;
    bool refused = it->kind == RW_STATEMENT_REFUSED;
    word_deleted_holds(refused || least == 0 || (it->effects & least) != 0,
                       "a statement has the effects of what PostgreSQL's grammar says that it is");
    word_deleted_holds(!only_reads(node, facts) || (it->effects & ~quiet) == 0,
                       "a SELECT of columns alone leaves nothing in the session");
    word_deleted_holds(!facts->inserts || facts->impossible || it->kind != RW_STATEMENT_FORWARD ||
                           rw_statement_is_changed(it) || it->prepares != NULL,
                       "an INSERT into a configured table never passes as it is");
    word_deleted_holds(!facts->rekeys || refused || rw_statement_is_changed(it),
                       "an UPDATE that computes a column of the hash never passes as it is");
}

/* --- a text --- */

static inline void holds_of_statement(const rw_statement *it, pgw_slice text,
                                      const rw_catalog *catalog, const pgw_env *env)
{
    pgw_slice own = rw_statement_text(it, text);
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    word_deleted_holds(it->kind == RW_STATEMENT_FORWARD || it->kind == RW_STATEMENT_INSERT ||
                           it->kind == RW_STATEMENT_REFUSED,
                       "a verdict is pass, rewrite or refuse");
    word_deleted_holds(it->kind != RW_STATEMENT_INSERT || it->insert != NULL,
                       "a rewritten INSERT is known");
    word_deleted_holds(it->kind != RW_STATEMENT_REFUSED || it->error != NULL,
                       "a refusal has an error");
    if (it->error != NULL)
        holds_of_refusal(it->error, text, env->utf8);
    if (it->kind != RW_STATEMENT_REFUSED && rw_syntax_parse(own, env, &arena, &syntax, &error)) {
        tree_facts facts = {.catalog = catalog, .impossible = is_unsafe(own, env)};
        note_fact(&facts, &syntax.statement->base);
        holds_of_tree(it, syntax.statement, &facts);
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
}

/* Statements follow each other, with semicolons alone between them. */
static inline void holds_of_places(const rw_script *script, pgw_slice text, const pgw_env *env)
{
    pgw_arena arena = {0};
    size_t count, next = 0;
    const rw_token *words = rw_tokens_of(text, env->conforming, &arena, &count);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *it = &script->statements[i];
        for (; next < count && words[next].start < it->start; next++)
            word_deleted_holds(pgw_slice_eq_str(rw_token_text(text, words[next]), ";"),
                               "every word belongs to a statement");
        word_deleted_holds(next < count && words[next].start == it->start && it->end > it->start,
                           "a statement begins with a word");
        while (next < count && words[next].start < it->end)
            next++;
        word_deleted_holds(words[next - 1].end <= it->end && it->end <= text.len,
                           "a statement ends in the text");
    }
    for (; next < count; next++)
        word_deleted_holds(pgw_slice_eq_str(rw_token_text(text, words[next]), ";"),
                           "every word belongs to a statement");
    pgw_arena_free(&arena);
}

static inline void holds_of_script(const rw_script *script, pgw_slice text,
                                   const rw_catalog *catalog, const pgw_env *env)
{
    size_t inserts = 0;
    unsigned effects = 0;
    bool refused = false, changes = false;
    holds_of_places(script, text, env);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *it = &script->statements[i];
        holds_of_statement(it, text, catalog, env);
        inserts += it->kind == RW_STATEMENT_INSERT;
        refused |= it->kind == RW_STATEMENT_REFUSED;
        changes |= it->lookup_count > 0 || it->star_count > 0 || rw_statement_has_more(it);
        effects |= it->effects;
    }
    word_deleted_holds(script->inserts == inserts, "a text knows how many INSERTs it has");
    word_deleted_holds(script->refused == refused, "a text knows whether a statement is refused");
    word_deleted_holds(script->changes == changes, "a text knows whether a statement is changed");
    word_deleted_holds(script->effects == effects, "a text has the effects of its statements");
}

#endif
