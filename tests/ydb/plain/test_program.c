/* What statements take on YDB: by vectors. */
#include "ydb/plain/returning.h"
#include "programs.h"

static unsigned wrong;

/* The same again behind a rewind. */
static void check_rewound(rw_program *program, pgw_slice answers, const pgw_buf *first)
{
    pgw_buf again = {0};
    if (answers.len > 0 && answers.ptr[0] == '!')
        return;
    rw_program_rewind(program);
    describe(program, answers, &again);
    assert_true(pgw_slice_eq(pgw_slice_buf(first), pgw_slice_buf(&again)));
    pgw_buf_free(&again);
}

static void check(const vector_line *line)
{
    pgw_error error;
    pgw_buf got = {0};
    if (is_set_up(line))
        return;
    rw_program *program = rw_program_new(line->fields[0], &catalog, &options, &error);
    if (program == NULL) {
        add_error(&error, &got);
    } else {
        describe(program, line->fields[1], &got);
        check_rewound(program, line->fields[1], &got);
    }
    wrong += !vector_same(line, line->fields[2], &got);
    rw_program_free(program);
    pgw_buf_free(&got);
}

static void programs_are_planned(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/plain/programs.txt", check) > 50);
    assert_int_equal(wrong, 0);
}

/* Up to the step that writes, of rows of which none is there yet. */
static void go_to_write(rw_program *program, const char *failure)
{
    rw_step step;
    assert_true(rw_program_next(program, &step));
    for (; !step.writes; assert_true(rw_program_next(program, &step))) {
        assert_false(rw_program_was_overtaken(program, failure));
        rw_program_stepped(program, PGW_LITERAL("SELECT 0"));
    }
}

/* Three times it is believed that somebody's row came between, though as many are missing as
 * before: the fourth time it is another constraint that is met. */
static void what_is_overtaken_is_done_again(void **state)
{
    (void)state;
    static const char text[] =
        "insert into t (k, i) values (1, 2), (2, 3) on conflict (k) do nothing";
    static const char duplicate[] = "23505";
    pgw_error error;
    set_options(PGW_LITERAL(""));
    rw_program *program = rw_program_new(pgw_slice_str(text), &catalog, &options, &error);
    assert_non_null(program);
    for (int i = 0; i < 4; i++) {
        go_to_write(program, duplicate);
        assert_false(rw_program_was_overtaken(program, "23503"));
        assert_int_equal(rw_program_was_overtaken(program, duplicate), i < 3);
        rw_program_rewind(program);
    }
    rw_program_free(program);
    program = rw_program_new(PGW_LITERAL("insert into t (k, i) values (1, 2)"), &catalog, &options,
                             &error);
    assert_non_null(program);
    go_to_write(program, duplicate);
    assert_false(rw_program_was_overtaken(program, duplicate));
    rw_program_free(program);
}

/* What a statement is described by; NULL: by nothing. */
static void returning_is_described(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"insert into t values (NULL::int8) returning *", " SELECT * FROM t"},
        {"insert into s.t as x (a, b) values (1, 2) on conflict do nothing RETURNING x.a, b + 1 c",
         " SELECT x.a, b + 1 c FROM s.t as x"},
        {"update only t set a = 1 from u where t.a = u.a returning t.a, u.b",
         " SELECT t.a, u.b FROM only t, u"},
        {"with w as (select 1) delete from t x where a in (table w) returning a",
         "with w as (select 1)  SELECT a FROM t x"},
        {"delete from t where b = 'returning'", NULL},
        {"select returning from t", NULL},
        {"insert into t values (1)", NULL},
    };
    pgw_arena arena = {0};
    pgw_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_slice query;
        assert_true(rw_returning_query(pgw_slice_str(cases[i][0]),
                                       &(pgw_reading){&env, &arena, &error}, &query));
        pgw_slice wanted = {NULL, 0};
        if (cases[i][1] != NULL)
            wanted = pgw_slice_str(cases[i][1]);
        if (!pgw_slice_eq(query, wanted))
            fail_msg("%s: %.*s", cases[i][0], (int)query.len, query.ptr);
    }
    pgw_arena_free(&arena);
}

/* They are refused before anybody believes that they can be run. */
static void writes_in_with_are_not_described(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "with w as (delete from t where k = 1 returning v) select * from w",
        "with w as (insert into t values (1)) select 1",
        "with w as (update t set k = 2 returning k) delete from t returning k",
    };
    pgw_arena arena = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pgw_error error;
        pgw_slice query;
        assert_false(rw_returning_query(pgw_slice_str(texts[i]),
                                        &(pgw_reading){&env, &arena, &error}, &query));
        assert_string_equal(error.sqlstate, "0A000");
        assert_int_equal(error.position, 1);
    }
    pgw_arena_free(&arena);
}

static size_t bytes_of(const char *text, size_t *later)
{
    char tag[RW_TAG_MOST];
    pgw_error error;
    pgw_buf out = {0};
    rw_program *program = rw_program_new(pgw_slice_str(text), &catalog, &options, &error);
    assert_non_null(program);
    size_t bytes = rw_program_bytes(program);
    describe(program, (pgw_slice){"", 0}, &out);
    rw_program_tag(program, tag);
    *later = rw_program_bytes(program);
    rw_program_free(program);
    pgw_buf_free(&out);
    return bytes;
}

/* Each row takes its part, and so do the texts that are made on the way. */
static void programs_are_weighed(void **state)
{
    (void)state;
    set_options(PGW_LITERAL(""));
    size_t later, longer;
    size_t select = bytes_of("select 1", &later);
    size_t one = bytes_of("insert into t (k) values (1)", &longer);
    assert_true(select > 100 && select < 10000);
    assert_true(one > 100 && one < 10000);
    assert_true(later >= select && longer >= one && longer < 20000);
    static const char upsert[] = " on conflict (k) do update set v = excluded.v";
    pgw_buf text = {0};
    size_t last = 0;
    for (int rows = 1; rows <= 64; rows *= 4) {
        pgw_buf_clear(&text);
        pgw_buf_add_str(&text, "insert into t (k, v) values (0, 'x')");
        for (int i = 1; i < rows; i++)
            pgw_buf_addf(&text, ", (%d, 'x')", i);
        pgw_buf_add(&text, upsert, sizeof upsert);
        size_t bytes = bytes_of(text.ptr, &later);
        assert_true(bytes >= last + (size_t)rows);
        assert_true(later >= bytes);
        last = bytes;
    }
    pgw_buf_free(&text);
}

/* What RETURNING shows of a column has its type, which somebody must know. */
static void a_type_without_a_name_is_not_known(void **state)
{
    (void)state;
    rw_column *column = &tables[0].columns[1];
    const rw_column known = *column;
    pgw_error error;
    set_options(PGW_LITERAL(""));
    column->type = 999999;
    column->type_name = NULL;
    assert_null(rw_program_new(PGW_LITERAL("insert into t (k, v) values (1, 'a') returning k, v"),
                               &catalog, &options, &error));
    assert_string_equal(error.sqlstate, "0A000");
    assert_string_equal(error.message, "RETURNING \"v\": the type of the column is not known");
    *column = known;
}

/* --- what is cut into several texts --- */

static size_t count_of(pgw_slice text, const char *what)
{
    size_t count = 0;
    for (size_t at = 0; at + strlen(what) <= text.len; at++)
        count += memcmp(text.ptr + at, what, strlen(what)) == 0;
    return count;
}

/* Whether it asks which rows are there: all that it asks for are. */
static bool are_there(rw_program *program, pgw_slice text, size_t rows)
{
    pgw_error error;
    bool asks = count_of(text, "SELECT \"v\".\"n\"") > 0;
    for (size_t i = 0; i < rows && asks; i++) {
        char asked[40];
        snprintf(asked, sizeof asked, "(%zu, CAST(", i);
        pgw_slice digits = {asked + 1, strcspn(asked + 1, ",")};
        const pgw_slice cells[] = {digits, digits, PGW_LITERAL("1")};
        if (count_of(text, asked) > 0)
            assert_true(rw_program_row(program, cells, 3, &error));
    }
    return asks;
}

/* INSERT … ON CONFLICT of so many rows, all of which are there already: how many of `what` are in
 * each text that is run behind the question for them. */
static void cut(size_t rows, const char *value, const char *conflict, const char *what,
                pgw_buf *out)
{
    pgw_error error;
    rw_step step;
    pgw_buf text = {0};
    pgw_buf_clear(out);
    for (size_t i = 0; i < rows; i++)
        pgw_buf_addf(&text, "%s (%zu, 1, %s)", i == 0 ? "insert into t (k, i, v) values" : ",", i,
                     value);
    pgw_buf_addf(&text, " on conflict (k) do %s", conflict);
    rw_program *program = rw_program_new(pgw_slice_buf(&text), &catalog, &options, &error);
    assert_non_null(program);
    while (rw_program_next(program, &step)) {
        if (!are_there(program, step.text, rows))
            pgw_buf_addf(out, " %zu", count_of(step.text, what));
        rw_program_stepped(program, PGW_LITERAL("SELECT 1"));
    }
    pgw_buf_add_byte(out, '\0');
    rw_program_free(program);
    pgw_buf_free(&text);
}

/* Values that no row takes are evaluated all the same, so many in a text; and a text is no longer
 * than it may be, unless it has but one. */
static void texts_are_cut(void **state)
{
    (void)state;
#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
    static const struct {
        const char *options, *value, *conflict, *what;
        size_t rows;
        const char *counts;
    } cases[] = {
        {"most=10000000", "upper('a')", "nothing", "upper(", 1000, " 1000"},
        {"most=10000000", "upper('a')", "nothing", "upper(", 1001, " 1000 1"},
        {"most=530", "upper('" LONG "')", "nothing", "upper(", 7, " 3 3 1"},
        {"most=529", "upper('" LONG "')", "nothing", "upper(", 7, " 2 2 2 1"},
        {"update_from most=10000", "'a'", "update set i = t.i + 1, v = excluded.v", "'a'", 9, " 9"},
        {"update_from most=4300", "'a'", "update set i = t.i + 1, v = excluded.v", "'a'", 9,
         " 5 4"},
    };
    pgw_buf out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_options(pgw_slice_str(cases[i].options));
        cut(cases[i].rows, cases[i].value, cases[i].conflict, cases[i].what, &out);
        if (strcmp(out.ptr, cases[i].counts) != 0)
            fail_msg("%s, %s:%s", cases[i].options, cases[i].conflict, out.ptr);
    }
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_are_planned),
                                       cmocka_unit_test(what_is_overtaken_is_done_again),
                                       cmocka_unit_test(programs_are_weighed),
                                       cmocka_unit_test(a_type_without_a_name_is_not_known),
                                       cmocka_unit_test(texts_are_cut),
                                       cmocka_unit_test(writes_in_with_are_not_described),
                                       cmocka_unit_test(returning_is_described)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
