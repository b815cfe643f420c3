/* What is known of a text by its words alone, with a word of it left out, or twice. */
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
#include "tests/rewrite/left_out.h"

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

static void describe(pgw_slice text, pgw_buf *out)
{
    char name[RW_COMMAND_NAME_MOST];
    rw_command_name(text, tables.env.conforming, name);
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

static void add_lines(const char *name, unsigned round, pgw_buf *out)
{
    char path[256];
    snprintf(path, sizeof path, VECTORS "/%s.sql", name);
    char *text = left_out_read(path), *rest;
    unsigned number = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest), number++) {
        pgw_buf_addf(out, "%u %s %u", round, name, number);
        left_out_some(pgw_slice_str(line), round, 3, describe, out);
        pgw_buf_add_byte(out, '\n');
    }
    free(text);
}

static char *all(void)
{
    pgw_buf out = {0};
    for (unsigned round = 0; round < 3; round++) {
        any_tables_make(&tables, round);
        rw_prefilter_init(&filter, &tables.catalog);
        add_lines("left_out", round, &out);
        add_lines("define", round, &out);
        rw_prefilter_free(&filter);
    }
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_texts.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
