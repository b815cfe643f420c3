/* What pgjdbc's DatabaseMetaData is told about tables, by vectors; its questions with a word left
 * out, or twice, are others, or have answers of whole rows. */
#include "ydb/plain/table_answer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/rewrite/word_deleted.h"
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

static void judge(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_buf body = {0};
    rw_said said;
    const rw_table_question *question = ask(text, &arena, &said);
    if (question != NULL) {
        rw_table_columns(question, &body);
        pgw_reader columns = pgw_reader_of(pgw_slice_buf(&body));
        word_deleted_holds(said.rows == 0 || said.width == pgw_read_u16(&columns),
                           "each row has a cell for each column");
        word_deleted_holds(question->search != RW_TABLE_NOTHING || said.rows == 0,
                           "what has no rows is told none");
        word_deleted_holds(question->search != RW_TABLE_ONCE || said.rows == 1,
                           "what is told once has one row");
        said_rows(&said, out);
    }
    pgw_buf_free(&body);
    pgw_arena_free(&arena);
}

static void vary_line(const vector_line *line)
{
    word_deleted_some(line->fields[0], 0, 1, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    vector_each(VECTORS "/plain/table_answers.txt", vary_line);
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_the_file),
        cmocka_unit_test(every_text_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
