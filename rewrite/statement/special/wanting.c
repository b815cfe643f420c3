#include "rewrite/statement/special/wanting.h"

#include "protocol/utf8.h"
#include "rewrite/insert/answers.h"

/* Whether anything is to be asked for. */
static bool wants(const rw_script *script)
{
    for (size_t i = 0; i < script->count && script->inserts > 0; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert != NULL && insert->wanted_count > 0)
            return true;
    }
    return false;
}

void rw_wanting_refuse(rw_script *script, size_t i, const pgw_error *error, pgw_arena *arena)
{
    rw_statement *statement = &script->statements[i];
    pgw_error *kept = pgw_arena_alloc(arena, sizeof *kept);
    *kept = *error;
    statement->kind = RW_STATEMENT_REFUSED;
    script->inserts -= statement->insert != NULL;
    statement->insert = NULL;
    statement->error = kept;
    script->refused = true;
}

/* Whether the table has neither triggers nor defaults that may run code, in any column. */
static bool runs_no_code(const rw_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].computed)
            return false;
    return table->mergeable;
}

/* Whether a value that is wanted may be a number of this sequence; 0: of one that is not known. */
static bool is_wanted_of(const rw_script *script, uint32_t sequence)
{
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        for (size_t k = 0; insert != NULL && k < insert->wanted_count; k++) {
            const rw_column *column = &insert->table->columns[insert->wanted[k].column];
            if (column->sequence &&
                (sequence == 0 || column->draws_from == 0 || column->draws_from == sequence))
                return true;
        }
    }
    return false;
}

static bool is_hashed(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (table->hash_key[i] == column)
            return true;
    return false;
}

/* Whether an INSERT into the table may draw a wanted number when it runs, by the default of a
 * column that is not hashed. */
static bool may_draw_later(const rw_script *script, const rw_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].sequence && !is_hashed(table, i) &&
            is_wanted_of(script, table->columns[i].draws_from))
            return true;
    return false;
}

/* Whether the INSERT draws only the numbers that are asked for, and does not ask what was drawn. */
static bool is_plain_insert(const rw_script *script, const rw_statement *statement)
{
    const unsigned usual = RW_EFFECT_RUNS | RW_EFFECT_WRITES;
    const rw_insert *insert = statement->insert;
    if (insert == NULL || insert->query || (statement->effects & ~usual) != 0 ||
        !runs_no_code(insert->table) || may_draw_later(script, insert->table))
        return false;
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (insert->wanted[i].expression)
            return false;
    return true;
}

static bool begins_transaction(pgw_slice text, const rw_statement *statement)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    lexer.at = statement->start;
    rw_token first = rw_lexer_next(&lexer);
    return statement->effects == RW_EFFECT_TRANSACTION &&
           (rw_token_is(text, first, "begin") || rw_token_is(text, first, "start"));
}

static bool wants_anything(const rw_statement *statement)
{
    return statement->insert != NULL && statement->insert->wanted_count > 0;
}

/* Whether the key can be asked for as if the INSERT were alone: the question leaves nothing that a
 * transaction could undo. */
static bool is_as_alone(const rw_insert *insert)
{
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (insert->wanted[i].expression && !insert->wanted[i].draws)
            return false;
    return true;
}

/* Whether keys can be asked for before the text runs. Statements behind the last one that asks do
 * not matter, nor does that one if none runs before it. */
static bool can_be_asked_first(pgw_slice text, const rw_script *script)
{
    size_t last = script->count - 1, first = 0;
    while (!wants_anything(&script->statements[last]))
        last--;
    while (begins_transaction(text, &script->statements[first]))
        first++;
    if (first == last && is_as_alone(script->statements[last].insert))
        return true;
    for (size_t i = first; i <= last; i++)
        if (!is_plain_insert(script, &script->statements[i]))
            return false;
    return true;
}

static void refuse(pgw_slice text, rw_script *script, size_t i, pgw_arena *arena)
{
    pgw_error error;
    const rw_insert *insert = script->statements[i].insert;
    pgw_fail(&error, "0A000",
             "cannot compute the hash of table \"%s\": the value of column \"%s\" is asked for "
             "before any statement of a Query is run",
             insert->table->name, insert->table->columns[insert->wanted[0].column].name);
    pgw_error_hint(&error, "Send the INSERT in a Query of its own.");
    error.position =
        pgw_characters(text, script->statements[i].start + insert->wanted[0].from, script->utf8) +
        1;
    rw_wanting_refuse(script, i, &error, arena);
    script->statements[i].apart = true;
    if (i + 1 < script->count && !is_as_alone(insert))
        script->statements[i + 1].apart = true;
}

void rw_wanting_check(pgw_slice text, rw_script *script, pgw_arena *arena)
{
    if (script->count < 2)
        return;
    for (size_t i = 0; i < script->count; i++)
        if (script->statements[i].insert != NULL)
            rw_forgo_constants(script->statements[i].insert);
    if (!wants(script) || can_be_asked_first(text, script))
        return;
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert != NULL && insert->wanted_count > 0)
            refuse(text, script, i, arena);
    }
}
