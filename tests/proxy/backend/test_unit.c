/* A unit as it is written, fails, and is tried again: nothing of the first time is left. */
#include "proxy/backend/base/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/error.h"

static unsigned dropped;

static void write_rows(const void *of, size_t statement, pgw_buf *out)
{
    pgw_buf_addf(out, "(%s %zu)", (const char *)of, statement);
}

static void write_alone(const void *of, pgw_buf *out)
{
    pgw_buf_addf(out, "insert %s", (const char *)of);
}

static void drop(void *of)
{
    assert_string_equal(of, "text");
    dropped++;
}

static void assert_written(px_unit *unit, size_t statement, const char *expected)
{
    pgw_buf out = {0};
    px_unit_write_statement(unit, statement, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), expected));
    pgw_buf_free(&out);
}

static void each_kind_is_written_by_its_source(void **state)
{
    (void)state;
    struct px_unit_statement statements[2] = {{.messages = PGW_LITERAL("bind and execute")},
                                              {.messages = PGW_LITERAL("once more")}};
    px_unit *unit = px_unit_new(NULL);
    assert_true(unit->deadline == UINT64_MAX);
    unit->kind = PX_UNIT_PARAMS;
    unit->statements = statements;
    assert_written(unit, 0, "bind and execute");
    assert_written(unit, 1, "once more");
    unit->kind = PX_UNIT_ROWS;
    unit->source.of = (char *)"text";
    unit->source.write_rows = write_rows;
    unit->source.write_alone = write_alone;
    unit->source.drop = drop;
    assert_written(unit, 1, "(text 1)");
    pgw_buf out = {0};
    px_unit_write_alone(unit, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "insert text"));
    pgw_buf_free(&out);
    assert_int_equal(dropped, 0);
    px_unit_free(unit);
    assert_int_equal(dropped, 1);
    px_unit_free(NULL);
}

static void the_last_error_counts(void **state)
{
    (void)state;
    pgw_error error;
    px_unit *unit = px_unit_new(NULL);
    pgw_fail(&error, "22000", "the first");
    px_unit_fail(unit, &error);
    px_unknown_outcome(&error);
    px_unit_fail(unit, &error);
    pgw_slice body = pgw_slice_buf(&unit->error);
    assert_int_equal(unit->outcome, PX_UNIT_FAILED);
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'S'), "ERROR"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'C'), "08007"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'H'),
                                 "Look whether the rows are there before you send them again."));
    px_unit_free(unit);
}

static void nothing_is_left_for_another_attempt(void **state)
{
    (void)state;
    struct px_unit_statement statements[3];
    pgw_error error;
    px_unit *unit = px_unit_new(NULL);
    unit->statements = statements;
    unit->statement_count = 3;
    for (size_t i = 0; i < 3; i++)
        statements[i] = (struct px_unit_statement){.rows = 4,
                                                   .prepared = i,
                                                   .bound = true,
                                                   .suspended = true,
                                                   .tag = 5,
                                                   .returned = 6,
                                                   .noticed = 7};
    unit->completed = 2;
    pgw_fail(&error, "22000", "the first");
    px_unit_fail(unit, &error);
    pgw_buf_add_str(&unit->notices, "notice");
    pgw_buf_add_str(&unit->returned, "row");
    px_unit_reset(unit);
    assert_int_equal(unit->completed, 0);
    assert_int_equal(unit->error.len, 0);
    assert_int_equal(unit->notices.len, 0);
    assert_int_equal(unit->returned.len, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_false(statements[i].bound);
        assert_false(statements[i].suspended);
        assert_int_equal(statements[i].tag, 0);
        assert_int_equal(statements[i].returned, 0);
        assert_int_equal(statements[i].noticed, 0);
        assert_int_equal(statements[i].rows, 4);
        assert_int_equal(statements[i].prepared, i);
    }
    px_unit_free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_written_by_its_source),
        cmocka_unit_test(the_last_error_counts),
        cmocka_unit_test(nothing_is_left_for_another_attempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
