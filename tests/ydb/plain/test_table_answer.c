/* What pgjdbc's DatabaseMetaData is told about tables, by vectors; and by its questions with a word
 * left out, or twice, so that nothing changes unseen. */
#include "ydb/plain/table_answer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/rewrite/left_out.h"
#include "said.h"
#include "tests/protocol/value_vectors.h"

static rw_column item_columns[] = {
    {.name = "id_hash", .type = PGW_INT8, .typmod = -1, .not_null = true},
    {.name = "word", .type = PGW_VARCHAR, .typmod = 14, .default_text = "'x'::text"},
    {.name = "id", .type = PGW_INT4, .typmod = -1, .not_null = true},
    {.name = "at", .type = PGW_TIMESTAMPTZ, .typmod = 3, .default_text = "null"},
    {.name = "own", .type = 99999, .typmod = -1},
};
static size_t id[] = {2}, id_word[] = {2, 1}, word[] = {1}, at_word[] = {3, 1};
static rw_index indexes[] = {{"by_word", word, 1}, {"by_time", at_word, 2}};
static const rw_table items = {.schema = "public",
                               .name = "items",
                               .columns = item_columns,
                               .column_count = 5,
                               .primary_key = id,
                               .primary_key_count = 1,
                               .key_name = "key_of_items",
                               .indexes = indexes,
                               .index_count = 2};
static const rw_table areas = {.schema = "public",
                               .name = "areas",
                               .columns = item_columns,
                               .column_count = 3,
                               .primary_key = id,
                               .primary_key_count = 1};
static const rw_table shown = {
    .schema = "archive",
    .name = "the_items_of_years_that_are_gone_and_are_kept_for_good_and_all_",
    .columns = item_columns,
    .column_count = 3,
    .primary_key = id_word,
    .primary_key_count = 2,
    .shows_hash = true};
static const rw_table pattern = {.schema = "public", .name = "logs", .pattern = true};
static const rw_table *const tables[] = {&items, &areas, &pattern, &shown};
static const rw_catalog catalog = {.tables = tables, .count = 4};

static const rw_table_question *ask(pgw_slice text, pgw_arena *arena, rw_said *said)
{
    rw_known_value values[RW_KNOWN_VALUES];
    const rw_table_question *question = rw_table_question_read(text, &catalog, arena, values);
    if (question != NULL)
        rw_table_answer(question, values, &catalog, arena, said);
    return question;
}

static unsigned wrong;

static void check_answer(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf body = {0}, columns = {0}, rows = {0};
    rw_said said;
    const rw_table_question *question = ask(line->fields[0], &arena, &said);
    if (question == NULL)
        fail_msg("line %u is no question", line->number);
    assert_string_equal(said.tag, pgw_arena_printf(&arena, "SELECT %zu", said.rows));
    rw_table_columns(question, &body);
    said_columns(pgw_slice_buf(&body), &columns);
    said_rows(&said, &rows);
    wrong += !vector_same(line, line->fields[1], &columns);
    wrong += !vector_same(line, line->fields[2], &rows);
    pgw_buf_free(&body);
    pgw_buf_free(&columns);
    pgw_buf_free(&rows);
    pgw_arena_free(&arena);
}

static void answers_are_of_the_file(void **state)
{
    (void)state;
    assert_int_equal(vector_each(VECTORS "/plain/table_answers.txt", check_answer), 15);
    assert_int_equal(wrong, 0);
}

/* --- a word left out, or twice --- */

static pgw_buf lines;

static void describe(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    rw_said said;
    const rw_table_question *question = ask(text, &arena, &said);
    pgw_buf_addf(out, "%d: ", question != NULL ? (int)question->search : -1);
    if (question != NULL)
        said_rows(&said, out);
    pgw_arena_free(&arena);
}

static void add_line(const vector_line *line)
{
    pgw_buf_addf(&lines, "%u", line->number);
    left_out_variants(line->fields[0], 1, describe, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/plain/table_answers.txt", add_line);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out_table_answers.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_the_file),
        cmocka_unit_test(nothing_changes_unseen),
    };
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
