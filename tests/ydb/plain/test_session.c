/* A session's settings, statement by statement, by vectors; bounds, and what others ask for. */
#include "ydb/plain/session.h"
#include "ydb/plain/variable_list.h"
#include "rewrite/statement/script/tree.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
enum { LIMIT = 2000 };
static rw_variables *variables;
static bool in_block;
static unsigned wrong;

static void describe_rows(const rw_said *said, pgw_buf *out)
{
    if (said->columns.len == 0)
        return;
    const char *name = said->columns.ptr + 2;
    for (size_t i = 0; i < said->width && said->rows == 1; i++) {
        pgw_slice cell = said->cells[i];
        pgw_buf_addf(out, " %s=%.*s", name, cell.ptr != NULL ? (int)cell.len : 4,
                     cell.ptr != NULL ? cell.ptr : "null");
        name += strlen(name) + 1 + 18;
    }
    assert_true(name <= said->columns.ptr + said->columns.len || said->rows != 1);
}

static void describe_reports(pgw_buf *out)
{
    pgw_slice name, value;
    while (rw_variables_report(variables, &name, &value))
        pgw_buf_addf(out, " {%.*s=%.*s}", (int)name.len, name.ptr, (int)value.len, value.ptr);
}

static void begin_session(void)
{
    pgw_buf ignored = {0};
    if (variables != NULL)
        rw_variables_free(variables);
    variables = rw_variables_new(LIMIT);
    describe_reports(&ignored);
    pgw_buf_free(&ignored);
}

static bool control(pgw_slice text)
{
    if (pgw_slice_eq_str(text, "new"))
        begin_session();
    else if (pgw_slice_eq_str(text, "commit"))
        rw_variables_commit(variables);
    else if (pgw_slice_eq_str(text, "rollback"))
        rw_variables_rollback(variables);
    else if (!pgw_slice_eq_str(text, "begin"))
        return false;
    in_block = pgw_slice_eq_str(text, "begin");
    return true;
}

/* COMMIT or ROLLBACK AND CHAIN, and SELECT, which only PostgreSQL's rows are of. */
static bool go_on(pgw_slice text, pgw_buf *out)
{
    if (pgw_slice_eq_str(text, "select 1")) {
        rw_variables_queried(variables);
        pgw_buf_add_str(out, "SELECT 1 ?column?=1");
        return true;
    }
    if (pgw_slice_eq_str(text, "commit and chain"))
        rw_variables_commit(variables);
    else if (pgw_slice_eq_str(text, "rollback and chain"))
        rw_variables_rollback(variables);
    else
        return false;
    rw_variables_chain(variables);
    return true;
}

/* Describing comes to the same columns, or to the same error, and changes nothing. */
static void check_described(pgw_slice text, bool ran, const rw_said *said)
{
    pgw_arena arena = {0};
    pgw_error error;
    rw_said described;
    if (rw_session_describe(variables, text, &(pgw_reading){&env, &arena, &error}, &described) &&
        ran)
        assert_true(pgw_slice_eq(described.columns, said->columns));
    pgw_arena_free(&arena);
}

static void say(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    rw_said said;
    bool ran =
        rw_session_run(variables, text, in_block, &(pgw_reading){&env, &arena, &error}, &said);
    if (ran) {
        if (said.warning.sqlstate[0] != '\0')
            pgw_buf_addf(out, "(%s %s) ", said.warning.sqlstate, said.warning.message);
        pgw_buf_add_str(out, said.tag);
        describe_rows(&said, out);
    } else {
        pgw_buf_addf(out, "!%s %s", error.sqlstate, error.message);
        if (!in_block)
            rw_variables_rollback(variables);
    }
    check_described(text, ran, &said);
    if (!in_block && ran)
        rw_variables_commit(variables);
    pgw_arena_free(&arena);
}

static void check(const vector_line *line)
{
    pgw_buf got = {0};
    pgw_slice text = line->fields[0];
    if (text.len > 0 && text.ptr[0] == '~') /* PostgreSQL answers something else */
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    bool begins = text.len > 6 && memcmp(text.ptr, "begin ", 6) == 0;
    if (begins && in_block) /* as the server's half has it */
        pgw_buf_add_str(&got, "(25001 there is already a transaction in progress) ");
    in_block = in_block || begins;
    if (!control(text) && !go_on(text, &got))
        say(text, &got);
    got.len -= begins && got.len > 0 && got.ptr[got.len - 1] == ' ';
    describe_reports(&got);
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
}

static void statements_are_answered(void **state)
{
    (void)state;
    wrong = 0;
    begin_session();
    assert_true(vector_each(VECTORS "/plain/settings.txt", check) > 150);
    assert_int_equal(wrong, 0);
    rw_variables_free(variables);
    variables = NULL;
}

static void set(const char *name, const char *value, bool local)
{
    pgw_error error;
    assert_true(
        rw_variables_set(variables, pgw_slice_str(name), pgw_slice_str(value), local, &error));
}

static void others_ask(void **state)
{
    (void)state;
    begin_session();
    assert_int_equal(rw_variables_statement_timeout(variables), 0);
    assert_false(rw_variables_read_only(variables));
    set("statement_timeout", "90s", false);
    set("transaction_read_only", "on", false);
    assert_int_equal(rw_variables_statement_timeout(variables), 90000);
    assert_true(rw_variables_read_only(variables));
    rw_variables_commit(variables);
    assert_int_equal(rw_variables_statement_timeout(variables), 90000);
    assert_false(rw_variables_read_only(variables));
    set("statement_timeout", "0", false);
    assert_int_equal(rw_variables_statement_timeout(variables), 0);
    set("statement_timeout", "1", false);
    assert_int_equal(rw_variables_statement_timeout(variables), 1);
    assert_false(rw_variables_differs(variables, PGW_LITERAL("Default_Transaction_Read_Only")));
    set("default_transaction_read_only", "on", false);
    assert_true(rw_variables_differs(variables, PGW_LITERAL("default_transaction_read_only")));
    assert_false(rw_variables_differs(variables, PGW_LITERAL("no.such_thing")));
    assert_false(rw_variables_read_only(variables)); /* this transaction has begun */
    rw_variables_commit(variables);
    assert_true(rw_variables_read_only(variables));
    rw_variables_free(variables);
    variables = NULL;
}

static void the_start_is_what_reset_goes_back_to(void **state)
{
    (void)state;
    pgw_error error;
    pgw_slice value;
    begin_session();
    assert_true(
        rw_variables_start(variables, PGW_LITERAL("application_name"), PGW_LITERAL("me"), &error));
    assert_true(rw_variables_start(variables, PGW_LITERAL("timezone"), PGW_LITERAL("Europe/Berlin"),
                                   &error));
    assert_false(
        rw_variables_start(variables, PGW_LITERAL("datestyle"), PGW_LITERAL("German"), &error));
    assert_string_equal(error.sqlstate, "0A000");
    assert_false(
        rw_variables_start(variables, PGW_LITERAL("server_version"), PGW_LITERAL("1"), &error));
    assert_string_equal(error.sqlstate, "55P02");
    rw_variables_define(variables, "server_version", PGW_LITERAL("15.9"));
    set("application_name", "you", false);
    rw_variables_commit(variables);
    rw_variables_reset_all(variables);
    rw_variables_commit(variables);
    assert_true(rw_variables_get(variables, PGW_LITERAL("Application_Name"), &value));
    assert_true(pgw_slice_eq_str(value, "me"));
    assert_true(rw_variables_get(variables, PGW_LITERAL("TimeZone"), &value));
    assert_true(pgw_slice_eq_str(value, "UTC"));
    assert_true(rw_variables_get(variables, PGW_LITERAL("server_version"), &value));
    assert_true(pgw_slice_eq_str(value, "15.9"));
    rw_variables_free(variables);
    variables = NULL;
}

/* What stands beside the message: the detail, or the hint. */
static void errors_say_more(void **state)
{
    (void)state;
    static const char *const times = "Valid units for this parameter are \"us\", \"ms\", \"s\", "
                                     "\"min\", \"h\", and \"d\".";
    static const char *const memory = "Valid units for this parameter are \"B\", \"kB\", \"MB\", "
                                      "\"GB\", and \"TB\".";
    static const char *const names =
        "Custom parameter names must be two or more simple identifiers separated by dots.";
    const struct {
        const char *name, *value, *detail, *hint;
    } cases[] = {
        {"statement_timeout", "soon", "", times},
        {"work_mem", "much", "", memory},
        {"extra_float_digits", "many", "", ""},
        {"work_mem", "3000000000", "", "Value exceeds integer range."},
        {"extra_float_digits", "0", "", "Numbers are always shown in full: use 1, 2 or 3."},
        {"bytea_output", "base64", "", "Available values: escape, hex."},
        {"bytea_output", "escape", "", "What there is: hex."},
        {"search_path", "mine", "", "The only schema is public."},
        {"search_path", "pg_catalog", "", "The schema public is always searched."},
        {"datestyle", "iso, 'x'", "Unrecognized key word: \"'x'\".", ""},
        {"datestyle", "sql, iso", "Conflicting \"datestyle\" specifications.", ""},
        {"datestyle", "sql", "",
         "Dates are always in the form 2000-12-31: leave it at \"ISO, MDY\"."},
        {"client_encoding", "latin1", "", "The only encoding is UTF8."},
        {"client_encoding", "klingon", "", ""},
        {"a.", "x", names, ""},
        {"a", "x", "", ""},
    };
    begin_session();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error = PGW_ERROR_NONE;
        assert_false(rw_variables_set(variables, pgw_slice_str(cases[i].name),
                                      pgw_slice_str(cases[i].value), false, &error));
        assert_string_equal(error.detail, cases[i].detail);
        assert_string_equal(error.hint, cases[i].hint);
    }
    rw_variables_free(variables);
    variables = NULL;
}

static void zero_bytes_are_no_number(void **state)
{
    (void)state;
    pgw_error error = PGW_ERROR_NONE;
    begin_session();
    assert_false(rw_variables_set(variables, PGW_LITERAL("statement_timeout"),
                                  (pgw_slice){"1\0", 2}, false, &error));
    assert_string_equal(error.sqlstate, "22023");
    char digits[64];
    memset(digits, '0', sizeof digits);
    assert_true(rw_variables_set(variables, PGW_LITERAL("statement_timeout"),
                                 (pgw_slice){digits, 63}, false, &error));
    assert_false(rw_variables_set(variables, PGW_LITERAL("statement_timeout"),
                                  (pgw_slice){digits, 64}, false, &error));
    assert_string_equal(error.sqlstate, "22023");
    rw_variables_free(variables);
    variables = NULL;
    rw_variables_free(NULL);
}

/* Names and values together; what is given back can be used again. */
static void memory_is_bounded(void **state)
{
    (void)state;
    static char text[LIMIT + 1];
    pgw_error error;
    begin_session();
    memset(text, 'x', LIMIT);
    assert_false(rw_variables_set(variables, PGW_LITERAL("application_name"),
                                  (pgw_slice){text, LIMIT}, false, &error));
    assert_string_equal(error.sqlstate, "53200");
    for (size_t i = 0; i < 100; i++) {
        assert_true(rw_variables_set(variables, PGW_LITERAL("application_name"),
                                     (pgw_slice){text, LIMIT / 2 - 100}, false, &error));
        rw_variables_commit(variables);
    }
    unsigned made = 0;
    for (char name[] = "a.aa"; name[3] <= 'z'; name[3]++)
        made += rw_variables_set(variables, pgw_slice_str(name), PGW_LITERAL("1"), false, &error);
    assert_in_range(made, 1, 20);
    assert_string_equal(error.sqlstate, "53200");
    rw_variables_free(variables);
    variables = NULL;
}

static void all_are_shown(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_said said;
    begin_session();
    set("application_name", "me", true);
    assert_true(rw_session_run(variables, PGW_LITERAL("show all"), false,
                               &(pgw_reading){&env, &arena, &error}, &said));
    assert_int_equal(said.width, 3);
    assert_in_range(said.rows, 60, 100);
    for (size_t i = 0; i < 3 * said.rows; i++)
        assert_non_null(said.cells[i].ptr);
    for (size_t i = 0; i < said.rows; i++) {
        assert_false(pgw_slice_eq_str(said.cells[3 * i], "role"));
        assert_false(pgw_slice_eq_str(said.cells[3 * i], "is_superuser"));
        assert_true(said.cells[3 * i + 2].len > 0);
    }
    assert_true(pgw_slice_eq_str(said.cells[0], "application_name"));
    assert_true(pgw_slice_eq_str(said.cells[1], "me"));
    rw_variables_free(variables);
    variables = NULL;
    pgw_arena_free(&arena);
}

static bool try_number(const char *name, double number)
{
    char text[32];
    pgw_error error;
    snprintf(text, sizeof text, "%.15g", number);
    bool fine =
        rw_variables_set(variables, pgw_slice_str(name), pgw_slice_str(text), false, &error);
    assert_true(fine || pgw_error_is(&error, "22023"));
    return fine;
}

static void check_bounds(const char *name, pgw_slice least, pgw_slice most)
{
    char *low = pgw_strndup(least.ptr, least.len), *high = pgw_strndup(most.ptr, most.len);
    if (strcmp(name, "extra_float_digits") != 0) /* those that show less are refused */
        assert_true(try_number(name, atof(low)));
    assert_false(try_number(name, atof(low) - 1));
    assert_true(try_number(name, atof(high)));
    assert_false(atof(high) < 1e300 && try_number(name, atof(high) + 1));
    free(low);
    free(high);
}

static void check_refused(const char *name, pgw_slice values)
{
    char *list = pgw_strndup(values.ptr, values.len), *rest = NULL;
    for (char *one = strtok_r(list, ", ", &rest); one != NULL; one = strtok_r(NULL, ", ", &rest)) {
        pgw_error error;
        assert_false(
            rw_variables_set(variables, pgw_slice_str(name), pgw_slice_str(one), false, &error));
        assert_string_equal(error.sqlstate, "0A000");
    }
    free(list);
}

static void check_variable(const vector_line *line)
{
    char *name = pgw_strndup(line->fields[0].ptr, line->fields[0].len);
    pgw_slice told, value = {"", 0};
    bool reported = false;
    variables = rw_variables_new(LIMIT);
    while (rw_variables_report(variables, &told, &value))
        reported |= pgw_slice_eq_str(told, name);
    assert_true(rw_variables_get(variables, line->fields[0], &value));
    if (!pgw_slice_eq(value, line->fields[1]) || reported != (line->fields[2].len > 0))
        fail_msg("%s: %.*s %d", name, (int)value.len, value.ptr, reported);
    if (line->fields[3].len > 0)
        check_bounds(name, line->fields[3], line->fields[4]);
    check_refused(name, line->fields[5]);
    assert_true(pgw_slice_eq_str(line->fields[6], rw_variable_named(line->fields[0])->description));
    rw_variables_free(variables);
    variables = NULL;
    free(name);
}

static void each_is_as_postgres_has_it(void **state)
{
    (void)state;
    assert_int_equal(vector_each(VECTORS "/plain/variables.txt", check_variable), RW_VARIABLES);
}

/* RESET ALL leaves nothing that was set, in a transaction or before, but its transaction's modes.
 */
static void reset_all_resets_each(void **state)
{
    (void)state;
    pgw_slice start, value;
    pgw_error error;
    begin_session();
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        const rw_variable *it = &rw_variable_list[i];
        if (it->kind != RW_VARIABLE_BOOL || it->ours != NULL)
            continue;
        const char *other = strcmp(it->value, "on") == 0 ? "off" : "on";
        assert_true(rw_variables_set(variables, pgw_slice_str(it->name), pgw_slice_str(other),
                                     i % 2 == 0, &error));
    }
    set("app.one", "1", false);
    set("app.two", "2", true);
    rw_variables_reset_all(variables);
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        const rw_variable *it = &rw_variable_list[i];
        bool mode = strncmp(it->name, "transaction_", 12) == 0;
        assert_true(rw_variables_get(variables, pgw_slice_str(it->name), &value));
        start = pgw_slice_str(it->value);
        if (it->kind == RW_VARIABLE_BOOL && pgw_slice_eq(value, start) != !mode)
            fail_msg("%s: %.*s", it->name, (int)value.len, value.ptr);
    }
    assert_true(rw_variables_get(variables, PGW_LITERAL("app.one"), &value));
    assert_int_equal(value.len, 0);
    assert_true(rw_variables_get(variables, PGW_LITERAL("app.two"), &value));
    assert_int_equal(value.len, 0);
    rw_variables_free(variables);
    variables = NULL;
}

/* A statement may be so long, and not a byte longer. */
static void statements_are_bounded(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_said said;
    pgw_buf text = {0};
    begin_session();
    pgw_buf_add_str(&text, "show jit");
    while (text.len <= RW_TREE_MAX_BYTES)
        pgw_buf_add_byte(&text, ' ');
    pgw_slice all = pgw_slice_buf(&text);
    assert_false(
        rw_session_run(variables, all, false, &(pgw_reading){&env, &arena, &error}, &said));
    assert_string_equal(error.sqlstate, "54000");
    all.len = RW_TREE_MAX_BYTES;
    assert_true(rw_session_run(variables, all, false, &(pgw_reading){&env, &arena, &error}, &said));
    assert_false(rw_session_run(variables, PGW_LITERAL("select 1"), false,
                                &(pgw_reading){&env, &arena, &error}, &said));
    assert_string_equal(error.sqlstate, "XX000");
    assert_false(rw_session_run(variables, PGW_LITERAL("insert into t values (1)"), false,
                                &(pgw_reading){&env, &arena, &error}, &said));
    assert_string_equal(error.sqlstate, "XX000");
    assert_false(rw_session_run(variables, PGW_LITERAL("select current_setting($1)"), false,
                                &(pgw_reading){&env, &arena, &error}, &said));
    assert_string_equal(error.sqlstate, "42P02");
    assert_true(rw_session_describe(variables, PGW_LITERAL("select current_setting($1)"),
                                    &(pgw_reading){&env, &arena, &error}, &said));
    rw_variables_free(variables);
    variables = NULL;
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

static void check_select(const char *text, bool ours)
{
    pgw_arena arena = {0};
    pgw_error error;
    assert_int_equal(rw_session_selects(pgw_slice_str(text), &(pgw_reading){&env, &arena, &error}),
                     ours);
    pgw_arena_free(&arena);
}

static void selects_are_told(void **state)
{
    (void)state;
    check_select("select set_config('a', 'b', true)", true);
    check_select("select current_setting('jit') as cur, pg_catalog.set_config('jit', $1, false)",
                 true);
    check_select("select set_config('a', 'b')", false);
    check_select("select set_config('a', 'b' || 'c', true)", false);
    check_select("select set_config('a', 'b', true) from t", false);
    check_select("select set_config('a', 'b', true), 1", false);
    check_select("select x.set_config('a', 'b', true)", false);
    check_select("select set_config('a', 'b', true) where false", false);
    check_select("select set_config('a', 'b', true) union select 1", false);
    check_select("select set_config('a', 'b', true) group by 1", false);
    check_select("select set_config('a', 'b', true) having true", false);
    check_select("select set_config('a', 'b', true) window w as ()", false);
    check_select("select set_config('a', 'b', true) order by 1", false);
    check_select("select set_config('a', 'b', true) limit 1", false);
    check_select("select set_config('a', 'b', true) offset 1", false);
    check_select("with a as (select 1) select set_config('a', 'b', true)", false);
    check_select("select set_config('a', 'b', true) into t", false);
    check_select("select distinct set_config('a', 'b', true)", false);
    check_select("select set_config('a', 'b', true) for update", false);
    check_select("select set_config('a', 'b', true) over ()", false);
    check_select("select set_config(distinct 'a', 'b', true)", false);
    check_select("select set_config('a', 'b', true order by 1)", false);
    check_select("select set_config('a', 'b', true) filter (where true)", false);
    check_select("select set_config('a', 'b', variadic 'c')", false);
    check_select("select a.pg_catalog.set_config('a', 'b', true)", false);
    check_select("select current_setting(*)", false);
    check_select("select current_setting()", false);
    check_select("select current_setting('a', 'b')", true);
    check_select("select current_setting('a', 'b', 'c')", false);
    check_select("select current_setting('a', B'1')", false);
    check_select("select current_setting('a'::text::text, $1::bool)", true);
    check_select("select current_settings('a')", false);
    check_select("select 'current_setting', 1", false);
    check_select("select current_setting('a') as", false);
    check_select("show current_setting", false);
    check_select("select upper(current_setting('a'))", false);
    check_select("select 'set_config'", false);
    check_select("values (current_setting('a'))", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_answered),
        cmocka_unit_test(others_ask),
        cmocka_unit_test(the_start_is_what_reset_goes_back_to),
        cmocka_unit_test(errors_say_more),
        cmocka_unit_test(zero_bytes_are_no_number),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(all_are_shown),
        cmocka_unit_test(each_is_as_postgres_has_it),
        cmocka_unit_test(reset_all_resets_each),
        cmocka_unit_test(statements_are_bounded),
        cmocka_unit_test(selects_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
