/*
 * insert_holds: what must be true of every INSERT into a configured table, however it is written.
 */
#ifndef TEST_INSERT_HOLDS_H
#define TEST_INSERT_HOLDS_H

#include "rewrite/hash/partition.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"

#include "statement_holds.h"

enum { INSERT_ROWS = 8 /* rows of a text whose keys are taken, at most */ };

/* The grammar's INSERT; NULL: the text is none, or one that PostgreSQL's grammar refuses. */
static inline const PgQuery__InsertStmt *insert_of(pgw_slice text, const pgw_env *env,
                                                   pgw_arena *arena, rw_syntax *syntax)
{
    pgw_error error = PGW_ERROR_NONE;
    if (!rw_syntax_parse(text, env, arena, syntax, &error))
        return NULL;
    return syntax->statement->node_case == PG_QUERY__NODE__NODE_INSERT_STMT
               ? syntax->statement->insert_stmt
               : NULL;
}

/* What is read in a single pass is what PostgreSQL's grammar finds. */
static inline void holds_of_reading(const rw_insert *it, const PgQuery__InsertStmt *tree,
                                    const pgw_env *env)
{
    const rw_table *table = it->table;
    const PgQuery__SelectStmt *from =
        tree->select_stmt != NULL ? tree->select_stmt->select_stmt : NULL;
    word_deleted_holds(it->row_count == (from == NULL ? 1 : from->n_values_lists),
                       "an INSERT has the rows that stand behind VALUES");
    word_deleted_holds(it->default_values == 0 || from == NULL, "DEFAULT VALUES has no query");
    word_deleted_holds(it->returning == 0 || tree->n_returning_list > 0,
                       "RETURNING is known where it stands");
    word_deleted_holds(tree->n_returning_list == 0 || it->returning > 0,
                       "RETURNING is known where it stands");
    word_deleted_holds(it->verb != RW_VERB_INSERT ||
                           it->has_conflict == (tree->on_conflict_clause != NULL),
                       "ON CONFLICT is known where it stands");
    word_deleted_holds(it->hash_listed ==
                           lists_column(tree, table->columns[table->hash_column].name),
                       "it is known whether the client lists the hash column");
    word_deleted_holds(it->param_count == rw_highest_parameter(it->text, env->conforming),
                       "as many parameters are counted as there are");
}

/* Rows stand in their brackets, in order, between VALUES and the tail. */
static inline void holds_of_rows(const rw_insert *it)
{
    size_t last = it->values;
    for (size_t i = 0; i < it->row_count && it->default_values == 0; i++) {
        const rw_row *row = &it->rows[i];
        word_deleted_holds(row->open >= last && row->close > row->open &&
                               row->close < it->text.len && it->text.ptr[row->open] == '(' &&
                               it->text.ptr[row->close] == ')',
                           "a row stands in its brackets");
        word_deleted_holds(row->hash_end <= row->close,
                           "a hash that the client wrote is in its row");
        last = row->close;
    }
    word_deleted_holds(it->tail <= it->end && it->end <= it->text.len &&
                           (it->tail == 0 || it->tail > last),
                       "what stands behind the rows is behind the last of them");
}

/* Each character of what is sent either is put in, or is the client's own, in the client's order.
 */
static inline void holds_of_rendered(const rw_insert *it, const uint64_t *hashes,
                                     pgw_slice rendered)
{
    enum { STEP = 19 }; /* Each text begins elsewhere. */
    size_t last = 0;
    for (size_t at = word_deleted_count % STEP; at < rendered.len; at += STEP) {
        bool put_in = false;
        if (pgw_utf8_continues(rendered.ptr[at]))
            continue;
        size_t position = pgw_characters(rendered, at, it->utf8) + 1;
        size_t here = rw_render_offset(it, RW_HASH_CONSTANT, hashes, position, &put_in);
        word_deleted_holds(here <= it->text.len && (put_in || here >= last),
                           "what is sent keeps the order of what the client wrote");
        word_deleted_holds(put_in ||
                               (here < it->text.len && it->text.ptr[here] == rendered.ptr[at]),
                           "what is not put in is what the client wrote");
        size_t place = rw_render_position(it, RW_HASH_CONSTANT, hashes, position);
        word_deleted_holds(place == 0 || put_in ||
                               place == pgw_characters(it->text, here, it->utf8) + 1,
                           "a position leads to where the client wrote it");
        last = put_in ? last : here;
    }
}

/* Takes the keys of the rows; false: a value is wrong, or not known. */
static inline bool take_keys(const rw_insert *it, const pgw_env *env, pgw_arena *arena,
                             rw_key *keys, uint64_t *hashes)
{
    for (size_t row = 0; row < it->row_count; row++) {
        pgw_error error = PGW_ERROR_NONE;
        pgw_reading reading = {env, arena, &error};
        pgw_verdict verdict = rw_insert_key(it, row, RW_NO_PARAMS, &reading, &keys[row]);
        if (verdict != PGW_KNOWN) {
            holds_of_refusal(&error, it->text, it->utf8);
            return false;
        }
        word_deleted_holds(keys[row].partition == rw_partition_of(it->table, keys[row].hash),
                           "a row is sent to the partition of its hash");
        hashes[row] = keys[row].hash;
    }
    return true;
}

/* What was put in is taken as it is: the statement lists the hash now, and it is right. */
static inline void holds_of_again(const rw_insert *it, pgw_slice rendered,
                                  const rw_catalog *catalog, const pgw_env *env, pgw_arena *arena)
{
    rw_insert *again = NULL;
    pgw_error error = PGW_ERROR_NONE;
    rw_key keys[INSERT_ROWS];
    uint64_t hashes[INSERT_ROWS];
    pgw_buf twice = {0};
    if (it->verb != RW_VERB_INSERT || rw_guard_wanted(it) || it->new_key > 0)
        return; /* the table's columns, or a new key's hash, are asked for in what is sent */
    bool read = rw_insert_parse(rendered, catalog, env, arena, &again, &error) && again != NULL;
    word_deleted_holds(read && again->row_count == it->row_count && again->hash_listed,
                       "what is sent is an INSERT of as many rows that lists the hash");
    if (!read || again->row_count != it->row_count || !take_keys(again, env, arena, keys, hashes))
        return;
    rw_render_statement(again, RW_HASH_CONSTANT, hashes, &twice);
    word_deleted_holds(pgw_slice_eq(rendered, pgw_slice_buf(&twice)), "nothing is put in twice");
    pgw_buf_free(&twice);
}

/* The words of a text, with a blank behind each. */
static inline void add_words(pgw_slice text, bool conforming, pgw_buf *out)
{
    pgw_arena arena = {0};
    size_t count;
    const rw_token *words = rw_tokens_of(text, conforming, &arena, &count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_slice(out, rw_token_text(text, words[i]));
        pgw_buf_add_byte(out, ' ');
    }
    pgw_arena_free(&arena);
}

/* The head, the rows and the tail, of which merged statements are made, are the whole. */
static inline void holds_of_parts(const rw_insert *it, const uint64_t *hashes, pgw_slice rendered,
                                  const pgw_env *env)
{
    pgw_buf parts = {0}, words[2] = {{0}};
    rw_render_head(it, &parts);
    for (size_t row = 0; row < it->row_count; row++) {
        pgw_buf_add_str(&parts, row > 0 ? "," : " ");
        rw_render_row(it, row, hashes[row], row == 0, &parts);
    }
    rw_render_tail(it, &parts);
    add_words(pgw_slice_buf(&parts), env->conforming, &words[0]);
    add_words(rendered, env->conforming, &words[1]);
    word_deleted_holds(pgw_slice_eq(pgw_slice_buf(&words[0]), pgw_slice_buf(&words[1])),
                       "the parts of an INSERT make the whole");
    pgw_buf_free(&parts);
    pgw_buf_free(&words[0]);
    pgw_buf_free(&words[1]);
}

/* With parameters for what is asked for it is as much an INSERT, which asks for nothing. */
static inline void holds_of_filled(const rw_insert *it, const rw_catalog *catalog,
                                   const pgw_env *env, pgw_arena *arena)
{
    rw_filled filled;
    rw_question question;
    rw_insert *again = NULL;
    pgw_error error = PGW_ERROR_NONE;
    rw_question_of(it, false, arena, &question);
    word_deleted_holds(question.count <= it->wanted_count && parses(question.sql, env),
                       "what is asked is a statement, of no more values than are wanted");
    rw_fill_parameters(it, it->param_count + 1, arena, &filled);
    word_deleted_holds(rw_insert_parse(filled.text, catalog, env, arena, &again, &error) &&
                           again != NULL && again->wanted_count == 0 && again->row_count > 0,
                       "an INSERT whose values have come asks for nothing more");
    size_t last = 0;
    for (size_t at = 0; at <= filled.text.len; at++) {
        size_t here = rw_filled_offset(&filled, at);
        word_deleted_holds(here >= last && here <= it->text.len,
                           "what is filled in keeps the order of what the client wrote");
        last = here;
    }
}

/* With parameters for its constants it is the same INSERT. */
static inline void holds_of_lifted(const rw_insert *it, const rw_catalog *catalog,
                                   const pgw_env *env, pgw_arena *arena)
{
    rw_insert *again = NULL;
    pgw_error error = PGW_ERROR_NONE;
    pgw_buf text = {0};
    if (it->lifts == NULL)
        return;
    rw_lift_text(it, &text);
    if (rw_insert_parse(pgw_slice_buf(&text), catalog, env, arena, &again, &error))
        word_deleted_holds(again != NULL && again->row_count == 1 && again->wanted_count == 0 &&
                               again->param_count == it->lift_count &&
                               again->blocker == it->blocker,
                           "an INSERT whose constants travel as parameters is the same INSERT");
    pgw_buf_free(&text);
}

/* Rows that a later row of the same key takes the place of are left out, and no others. */
static inline void holds_of_superseded(rw_insert *it, const rw_key *keys, pgw_arena *arena)
{
    size_t left = rw_insert_supersede(it, keys, arena), seen = 0;
    for (size_t i = 0; i < it->row_count; i++) {
        bool later = false;
        for (size_t k = i + 1; k < it->row_count; k++)
            later |= keys[i].all_known && keys[k].all_known && keys[i].whole == keys[k].whole;
        word_deleted_holds(!it->rows[i].superseded || (later && it->verb != RW_VERB_INSERT),
                           "a row is left out only for a later one of the same key");
        seen += it->rows[i].superseded;
    }
    word_deleted_holds(left == seen, "as many rows are counted as are left out");
}

static inline void holds_of_insert(rw_insert *it, const rw_catalog *catalog, const pgw_env *env,
                                   pgw_arena *arena)
{
    rw_key keys[INSERT_ROWS];
    uint64_t hashes[INSERT_ROWS];
    pgw_buf rendered = {0};
    rw_syntax syntax = {NULL, NULL};
    const PgQuery__InsertStmt *tree = insert_of(it->text, env, arena, &syntax);
    bool right = tree != NULL;
    if (right && !it->query && it->row_count > 0 && it->blocker != RW_BLOCKER_UNCOMPUTABLE)
        holds_of_reading(it, tree, env);
    rw_syntax_free(&syntax);
    if (it->row_count > 0 && !it->query)
        holds_of_rows(it);
    if (it->wanted_count > 0 && right)
        holds_of_filled(it, catalog, env, arena);
    if (it->wanted_count > 0)
        return;
    if (it->row_count > INSERT_ROWS || !take_keys(it, env, arena, keys, hashes))
        return;
    rw_render_statement(it, RW_HASH_CONSTANT, hashes, &rendered);
    pgw_slice sent = pgw_slice_buf(&rendered);
    word_deleted_holds(
        right == parses(sent, env),
        "what is sent is an error of syntax where the client's text is, and only there");
    if (!it->query)
        holds_of_rendered(it, hashes, sent);
    if (right && !it->query && it->row_count > 0) {
        holds_of_parts(it, hashes, sent, env);
        holds_of_again(it, sent, catalog, env, arena);
        holds_of_lifted(it, catalog, env, arena);
        holds_of_superseded(it, keys, arena);
    }
    pgw_buf_free(&rendered);
}

/* An INSERT into a configured table passes as it is only where the server rejects it. */
static inline void holds_of_passed(pgw_slice text, const rw_catalog *catalog, const pgw_env *env)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    tree_facts facts = {.catalog = catalog, .impossible = is_unsafe(text, env)};
    if (rw_syntax_parse(text, env, &arena, &syntax, &error)) {
        note_fact(&facts, &syntax.statement->base);
        rw_syntax_free(&syntax);
    }
    word_deleted_holds(!facts.inserts || facts.impossible,
                       "an INSERT into a configured table never passes as it is");
    pgw_arena_free(&arena);
}

#endif
