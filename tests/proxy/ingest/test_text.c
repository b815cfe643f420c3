/* A Query's text: what is sent in its place, and why what fails has to. */
#include "proxy/ingest/text.h"
#include "proxy/ingest/plan_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proxy/ingest/plans.h"
#include "tests/rewrite/vectors.h"

static px_plan_cache cache;
static cfg_config config = {.limits = {.row_bytes = 1 << 20, .key_bytes = 1 << 20}};
static px_worker worker = {.config = &config, .plans = &cache};

static px_text *parse(const char *sql, const pgw_env *env)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog view = test_catalog(pointers);
    px_text *text = px_text_parse(&worker, pgw_slice_str(sql), &plans.catalog, &view, env);
    px_text_hash(&worker, text, *env);
    px_plan_cache_clear(&cache);
    return text;
}

/* The text that is sent, and behind it for each statement, if there is anything to tell, its number
 * with the rows that are superseded and why it is refused. */
static void describe(const px_text *text, pgw_buf *out)
{
    px_text_render(text, NULL, out);
    for (size_t i = 0; i < text->script.count; i++) {
        if (text->superseded[i] > 0)
            pgw_buf_addf(out, " {%zu superseded %zu}", i, text->superseded[i]);
        const pgw_error *error = text->refusals[i];
        if (error != NULL)
            pgw_buf_addf(out, " {%zu refused %s at %zu: %s}", i, error->sqlstate, error->position,
                         error->message);
    }
}

static void check_places(const px_text *text)
{
    size_t at[16], count = text->script.count;
    pgw_buf plain = {0}, sent = {0};
    assert_true(count <= 16);
    px_text_render(text, NULL, &plain);
    px_text_render(text, at, &sent);
    assert_true(pgw_slice_eq(pgw_slice_buf(&plain), pgw_slice_buf(&sent)));
    for (size_t i = 0; i < count; i++) {
        const rw_statement *it = &text->script.statements[i];
        bool begins = i == 0 || at[i] > at[i - 1];
        assert_true(begins && at[i] < sent.len);
        if (it->kind == RW_STATEMENT_FORWARD && text->refusals[i] == NULL)
            assert_memory_equal(sent.ptr + at[i], text->text.ptr + it->start, it->end - it->start);
    }
    pgw_buf_free(&plain);
    pgw_buf_free(&sent);
}

static void texts_are_sent_as(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/texts.txt", "r")};
    assert_non_null(it.file);
    int wrong = 0, cases = 0;
    for (; vectors_next(&it, 2); cases++) {
        pgw_buf got = {0};
        px_text *text = parse(it.field[0], &test_env);
        describe(text, &got);
        check_places(text);
        if (!pgw_slice_eq_str(pgw_slice_buf(&got), it.field[1])) {
            print_error("line %d: %.*s\n", it.line, (int)got.len, got.ptr);
            wrong++;
        }
        if (text->refused)
            assert_non_null(text->refusals[px_text_first_refused(text)]);
        pgw_buf_free(&got);
        px_text_drop(text);
    }
    fclose(it.file);
    assert_int_equal(wrong, 0);
    assert_true(cases > 15);
}

static void a_text_lives_as_long_as_somebody_has_it(void **state)
{
    (void)state;
    px_text *text = parse("INSERT INTO events (userid) VALUES (1)", &test_env);
    px_text_take(text);
    px_text_drop(text);
    assert_int_equal(text->references, 1);
    assert_int_equal(plans.catalog.references, 2);
    px_text_drop(text);
    px_text_drop(NULL);
}

/* What is filled in keeps what its client wrote, where errors are told of. */
static void what_was_wanted_is_filled_in(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *filled;
    } cases[] = {
        {"insert into events (userid) values (1 + 4)", "insert into events (userid) values ('5')"},
        {"/* é */ insert into events (userid) values (1 + 4); ",
         "/* é */ insert into events (userid) values ('5'); "},
    };
    const rw_answer answer = {.text = PGW_LITERAL("5")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rw_table *pointers[TEST_TABLE_COUNT];
        rw_catalog view = test_catalog(pointers);
        pgw_error error;
        px_text *text = parse(cases[i].asked, &test_env);
        assert_int_equal(px_text_wants(text, NULL), 1);
        px_text *filled = px_text_fill(&worker, text, &answer, &view, &test_env, &error);
        px_text_drop(text);
        assert_true(pgw_slice_eq_str(filled->text, cases[i].filled));
        assert_int_equal(px_text_wants(filled, NULL), 0);
        size_t close = filled->filled[0]->text.len,
               asked = strlen("insert into events (userid) values (1 + 4)");
        assert_int_equal(rw_filled_position(filled->filled[0], close, true), asked);
        px_text_drop(filled);
        px_plan_cache_clear(&cache);
    }
}

static void the_first_refusal_stays(void **state)
{
    (void)state;
    pgw_error one, two;
    px_text *text = parse("SELECT 1; SELECT 2; SELECT 3", &test_env);
    assert_false(text->refused);
    pgw_fail(&one, "22000", "one");
    pgw_fail(&two, "22000", "two");
    px_text_refuse(text, 1, &one);
    px_text_refuse(text, 1, &two);
    px_text_refuse(text, 2, &two);
    assert_true(text->refused);
    assert_int_equal(px_text_first_refused(text), 1);
    assert_string_equal(text->refusals[1]->message, "one");
    assert_string_equal(text->refusals[2]->message, "two");
    px_text_drop(text);
}

static void rows_that_are_committed_are_left_out(void **state)
{
    (void)state;
    static const bool rows[] = {true, false, true};
    px_text *text = parse("INSERT INTO events (userid) VALUES (1), (2), (3)", &test_env);
    px_text_leave_out(text, rows);
    assert_true(text->in_parts);
    assert_int_equal(text->superseded[0], 2);
    pgw_buf sent = {0};
    px_text_render(text, NULL, &sent);
    pgw_buf_add_byte(&sent, '\0');
    assert_null(strstr(sent.ptr, "(1,"));
    assert_non_null(strstr(sent.ptr, "(2, "));
    assert_null(strstr(sent.ptr, "(3,"));
    pgw_buf_free(&sent);
    px_text_drop(text);
}

static void effects_that_move_the_zone(void **state)
{
    (void)state;
    const unsigned moving =
        RW_EFFECT_TRACKED | RW_EFFECT_SETTINGS | RW_EFFECT_DISCARD_ALL | RW_EFFECT_TRANSACTION;
    for (unsigned effect = 1; effect <= RW_EFFECT_WRITES; effect <<= 1)
        assert_int_equal(px_moves_zone(effect), (effect & moving) != 0);
    assert_false(px_moves_zone(0));
}

/* The linker puts it in front of every call. */
bool __real_rw_moves_columns(pgw_slice text, const rw_table *table, bool conforming);
bool __wrap_rw_moves_columns(pgw_slice text, const rw_table *table, bool conforming);

static size_t judged;

bool __wrap_rw_moves_columns(pgw_slice text, const rw_table *table, bool conforming)
{
    judged++;
    return __real_rw_moves_columns(text, table, conforming);
}

/* Many writes behind many statements that may change their tables. */
static void each_change_is_read_once_for_a_table(void **state)
{
    enum { MANY = 100 };
    (void)state;
    pgw_buf sql = {0};
    for (size_t i = 0; i < MANY; i++)
        pgw_buf_add_str(&sql, "alter table nope add y int; ");
    for (size_t i = 0; i < MANY; i++)
        pgw_buf_add_str(&sql, "insert into public.events (userid) values (1); "
                              "insert into public.nullable (userid) values (1); ");
    pgw_buf_add_str(&sql, "alter table nullable add y int; "
                          "insert into public.events (userid) values (1); "
                          "insert into public.nullable (userid) values (1)");
    pgw_buf_add_byte(&sql, '\0');
    judged = 0;
    px_text *text = parse(sql.ptr, &test_env);
    assert_int_equal(text->script.count, 3 * MANY + 3);
    assert_int_equal(px_text_first_refused(text), 3 * MANY + 2);
    assert_int_equal(judged, 2 * (MANY + 1));
    pgw_buf_free(&sql);
    px_text_drop(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, plans_setup, plans_teardown)
    const struct CMUnitTest tests[] = {
        TEST(texts_are_sent_as),
        TEST(a_text_lives_as_long_as_somebody_has_it),
        TEST(what_was_wanted_is_filled_in),
        TEST(the_first_refusal_stays),
        TEST(rows_that_are_committed_are_left_out),
        TEST(effects_that_move_the_zone),
        TEST(each_change_is_read_once_for_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
