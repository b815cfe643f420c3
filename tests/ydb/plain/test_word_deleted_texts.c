/* What is known of a text by its words alone, with a word of it left out, or twice: it is what
 * PostgreSQL's grammar says of the text, where that takes it; and what is certain is so. */
#include "rewrite/insert/spell.h"
#include "rewrite/lex/encoding.h"
#include "rewrite/lex/splitter.h"
#include "ydb/plain/blame.h"
#include "ydb/plain/command_name.h"
#include "ydb/plain/doubt.h"
#include "rewrite/statement/special/explain_query.h"
#include "rewrite/statement/special/unspread.h"
#include "rewrite/statement/tree/made_columns.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/words/reach.h"
#include "rewrite/statement/words/settings.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/rewrite/any_tables.h"
#include "tests/rewrite/statement_holds.h"

static any_tables tables;
static rw_prefilter filter;

static void add_flags(pgw_slice text, pgw_buf *out)
{
    const rw_catalog *catalog = &tables.catalog;
    bool conforming = tables.env.conforming;
    pgw_arena arena = {0};
    const bool flags[] = {
        rw_reaches_tables(text, catalog, conforming),
        rw_stands_by(text, conforming),
        rw_moves_columns(text, catalog->tables[0], conforming),
        rw_moves_columns(text, catalog->tables[4], conforming),
        rw_moves_columns(text, catalog->tables[9], conforming),
        rw_prefilter_mentions(text, catalog),
        rw_prefilter_asks(text, catalog),
        rw_catalog_mentioned(catalog, text),
        rw_lexer_heeds_conforming(text),
        rw_configures_no_names(text, conforming, &arena),
        rw_cast_may_be_clients(text, PGW_LITERAL("cannot cast type text to bigint"), conforming),
        rw_cast_may_be_clients(text, PGW_LITERAL("text to timestamp with time zone"), conforming),
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        pgw_buf_add_byte(out, flags[i] ? 'y' : 'n');
    for (rw_encoding i = RW_ENCODING_UTF8; i <= RW_ENCODING_MULE; i++)
        pgw_buf_add_byte(out, rw_encoding_hides_marks(i, text) ? 'y' : 'n');
    unsigned effects = 0;
    bool passes = rw_prefilter_passes(text, &filter, &effects);
    pgw_buf_addf(out, " %d %x $%u", passes, effects, rw_highest_parameter(text, conforming));
    for (uint32_t parameter = 0; parameter < 4; parameter++)
        pgw_buf_addf(out, " %zu", rw_parameter_uses(text, conforming, parameter));
    pgw_arena_free(&arena);
}

static void add_doubts(pgw_slice text, pgw_buf *out)
{
    for (unsigned asked = 1; asked <= RW_DOUBT_UNTYPED; asked <<= 1) {
        rw_part found = rw_find_doubt(text, (rw_part){0, text.len}, asked, tables.env.conforming);
        pgw_buf_addf(out, " %zu-%zu", found.from, found.to);
    }
}

static void add_made(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    rw_made_column *columns;
    size_t count = rw_made_columns(text, &tables.env, &arena, &columns);
    for (size_t i = 0; i < count; i++)
        pgw_buf_addf(out, " %s %s %d%d", columns[i].name, columns[i].type, columns[i].not_null,
                     columns[i].serial);
    rw_unspread_say(text, &tables.catalog, &tables.env, &arena, out);
    pgw_arena_free(&arena);
}

/* Of a text that asks for its own explanation, with its rows. */
static void add_explained(pgw_slice text, pgw_buf *out)
{
    pgw_buf explain = {0};
    pgw_arena arena = {0};
    rw_script script;
    pgw_buf_add_str(&explain, "explain ");
    pgw_buf_add_slice(&explain, text);
    pgw_slice whole = pgw_slice_buf(&explain);
    rw_script_parse(whole, &tables.catalog, &tables.env, NULL, &arena, &script);
    rw_explain_query(whole, &tables.catalog, &tables.env, &arena, &script);
    for (size_t i = 0; i < script.count; i++) {
        const rw_statement *it = &script.statements[i];
        pgw_buf_addf(out, " %d %x %zu", it->kind, it->effects, it->star_count);
        for (size_t k = 0; k < it->star_count; k++)
            pgw_buf_addf(out, " %zu-%zu: %.*s", it->stars[k].at, it->stars[k].cut,
                         (int)it->stars[k].text.len, it->stars[k].text.ptr);
    }
    pgw_arena_free(&arena);
    pgw_buf_free(&explain);
}

/* --- what must be true --- */

enum { PARAMETERS = 4 };

typedef struct text_facts {
    size_t uses[PARAMETERS]; /* of $1, $2 …, from 0 on */
    int highest;             /* parameter */
    bool names;              /* a configured table */
    bool touches;            /* it reads or writes rows */
} text_facts;

static bool note_text(void *context, const ProtobufCMessage *node)
{
    text_facts *it = context;
    if (node->descriptor == &pg_query__param_ref__descriptor) {
        int number = ((const PgQuery__ParamRef *)node)->number;
        it->highest = number > it->highest ? number : it->highest;
        if (number > 0 && number <= PARAMETERS)
            it->uses[number - 1]++;
    } else if (node->descriptor == &pg_query__range_var__descriptor)
        it->names |= table_of(&tables.catalog, (const PgQuery__RangeVar *)node) != NULL;
    else if (node->descriptor == &pg_query__insert_stmt__descriptor ||
             node->descriptor == &pg_query__update_stmt__descriptor ||
             node->descriptor == &pg_query__delete_stmt__descriptor ||
             node->descriptor == &pg_query__select_stmt__descriptor)
        it->touches = true;
    return rw_walk(node, note_text, it);
}

static void holds_of_made(const PgQuery__Node *node, pgw_slice text)
{
    pgw_arena arena = {0};
    rw_made_column *columns;
    size_t count = rw_made_columns(text, &tables.env, &arena, &columns), at = 0;
    bool creates = node->node_case == PG_QUERY__NODE__NODE_CREATE_STMT;
    word_deleted_holds(count == 0 || creates, "columns are listed by CREATE TABLE alone");
    for (size_t i = 0; creates && i < node->create_stmt->n_table_elts && at < count; i++) {
        const PgQuery__Node *element = node->create_stmt->table_elts[i];
        if (element->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            word_deleted_holds(strcmp(columns[at++].name, element->column_def->colname) == 0,
                               "columns are those of the list, in its order");
    }
    pgw_arena_free(&arena);
}

static void holds_of_words(const PgQuery__Node *node, pgw_slice text)
{
    bool conforming = tables.env.conforming;
    text_facts facts = {.highest = 0};
    note_text(&facts, &node->base);
    word_deleted_holds(!facts.names || rw_catalog_mentioned(&tables.catalog, text),
                       "a text that names a configured table mentions it");
    word_deleted_holds(!facts.names || rw_prefilter_mentions(text, &tables.catalog),
                       "the prefilter finds the name of a configured table");
    word_deleted_holds(!facts.touches || !rw_stands_by(text, conforming),
                       "what reads or writes rows does not leave tables alone");
    word_deleted_holds((int)rw_highest_parameter(text, conforming) == facts.highest,
                       "the highest parameter is the grammar's");
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        size_t uses = rw_parameter_uses(text, conforming, i + 1);
        /* In its tree a row of `SET (a, b) = ($1, $2)` stands once for each column. */
        word_deleted_holds(uses <= facts.uses[i] && (uses > 0) == (facts.uses[i] > 0),
                           "parameters are used where the grammar says");
    }
    holds_of_made(node, text);
}

/* Whether both read the same words. */
static void holds_of_backslashes(pgw_slice text)
{
    pgw_arena arena = {0};
    size_t counts[2];
    const rw_token *words[2];
    for (int i = 0; i < 2; i++)
        words[i] = rw_tokens_of(text, i == 1, &arena, &counts[i]);
    bool same = counts[0] == counts[1];
    for (size_t i = 0; same && i < counts[0]; i++)
        same = words[0][i].kind == words[1][i].kind && words[0][i].start == words[1][i].start &&
               words[0][i].end == words[1][i].end;
    word_deleted_holds(same || rw_lexer_heeds_conforming(text),
                       "a text that does not heed backslashes has the same words either way");
    pgw_arena_free(&arena);
}

static void holds_of_prefilter(pgw_slice text)
{
    pgw_arena arena = {0};
    rw_script script;
    unsigned effects = 0;
    if (rw_prefilter_passes(text, &filter, &effects)) {
        rw_script_parse(text, &tables.catalog, &tables.env, NULL, &arena, &script);
        word_deleted_holds(!script.refused && !script.changes && script.inserts == 0,
                           "what passes the prefilter is neither refused nor changed");
        word_deleted_holds((script.effects & ~effects) == 0,
                           "what passes the prefilter has no other effects");
    }
    pgw_arena_free(&arena);
}

static void holds_of_text(pgw_slice text)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    for (unsigned asked = 1; asked <= RW_DOUBT_UNTYPED; asked <<= 1) {
        rw_part found = rw_find_doubt(text, (rw_part){0, text.len}, asked, tables.env.conforming);
        word_deleted_holds(found.from <= found.to && found.to <= text.len,
                           "a doubt is about a part of the text");
    }
    holds_of_backslashes(text);
    holds_of_prefilter(text);
    if (!is_unsafe(text, &tables.env) &&
        rw_syntax_parse(text, &tables.env, &arena, &syntax, &error)) {
        holds_of_words(syntax.statement, text);
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
}

static void judge(pgw_slice text, pgw_buf *out)
{
    char name[RW_COMMAND_NAME_MOST];
    rw_command_name(text, tables.env.conforming, name);
    holds_of_text(text);
    pgw_buf_addf(out, "%s ", name);
    add_flags(text, out);
    add_doubts(text, out);
    add_made(text, out);
    add_explained(text, out);
    for (size_t i = 0; i + 10 <= text.len; i += 10) /* no text of a time is longer than some */
        pgw_buf_add_byte(
            out, rw_text_heeds_zone(PGW_TIMESTAMPTZ, (pgw_slice){text.ptr + i, 10}) ? 'y' : 'n');
    pgw_buf_add_byte(out, '\n');
}

static void every_text_holds(void **state)
{
    (void)state;
    enum { ROUNDS = 3 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, round);
        rw_prefilter_init(&filter, &tables.catalog);
        word_deleted_lines(VECTORS "/left_out.sql", round, ROUNDS, judge);
        word_deleted_lines(VECTORS "/define.sql", round, ROUNDS, judge);
        rw_prefilter_free(&filter);
    }
    assert_in_range(word_deleted_count, 2000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
