/* A write group as it is written, fails, and is tried again: nothing of the first time is left. */
#include "proxy/backend/base/write_group.h"

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

static void assert_written(px_write_group *write_group, size_t statement, const char *expected)
{
    pgw_buf out = {0};
    px_write_group_write_statement(write_group, statement, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), expected));
    pgw_buf_free(&out);
}

static void each_kind_is_written_by_its_source(void **state)
{
    (void)state;
    struct px_write_group_statement statements[2] = {{.messages = PGW_LITERAL("bind and execute")},
                                                     {.messages = PGW_LITERAL("once more")}};
    px_write_group *write_group = px_write_group_new(NULL);
    assert_true(write_group->deadline == UINT64_MAX);
    write_group->kind = PX_WRITE_GROUP_PARAMS;
    write_group->statements = statements;
    assert_written(write_group, 0, "bind and execute");
    assert_written(write_group, 1, "once more");
    write_group->kind = PX_WRITE_GROUP_ROWS;
    write_group->source.of = (char *)"text";
    write_group->source.write_rows = write_rows;
    write_group->source.write_alone = write_alone;
    write_group->source.drop = drop;
    assert_written(write_group, 1, "(text 1)");
    pgw_buf out = {0};
    px_write_group_write_alone(write_group, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "insert text"));
    pgw_buf_free(&out);
    assert_int_equal(dropped, 0);
    px_write_group_free(write_group);
    assert_int_equal(dropped, 1);
    px_write_group_free(NULL);
}

static void the_last_error_counts(void **state)
{
    (void)state;
    pgw_error error;
    px_write_group *write_group = px_write_group_new(NULL);
    pgw_fail(&error, "22000", "the first");
    px_write_group_fail(write_group, &error);
    px_unknown_outcome(&error);
    px_write_group_fail(write_group, &error);
    pgw_slice body = pgw_slice_buf(&write_group->error);
    assert_int_equal(write_group->outcome, PX_WRITE_GROUP_FAILED);
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'S'), "ERROR"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'C'), "08007"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'H'),
                                 "Look whether the rows are there before you send them again."));
    px_write_group_free(write_group);
}

static void nothing_is_left_for_another_attempt(void **state)
{
    (void)state;
    struct px_write_group_statement statements[3];
    pgw_error error;
    px_write_group *write_group = px_write_group_new(NULL);
    write_group->statements = statements;
    write_group->statement_count = 3;
    for (size_t i = 0; i < 3; i++)
        statements[i] = (struct px_write_group_statement){.rows = 4,
                                                          .prepared = i,
                                                          .bound = true,
                                                          .suspended = true,
                                                          .tag = 5,
                                                          .returned = 6,
                                                          .noticed = 7};
    write_group->completed = 2;
    pgw_fail(&error, "22000", "the first");
    px_write_group_fail(write_group, &error);
    pgw_buf_add_str(&write_group->notices, "notice");
    pgw_buf_add_str(&write_group->returned, "row");
    px_write_group_reset(write_group);
    assert_int_equal(write_group->completed, 0);
    assert_int_equal(write_group->error.len, 0);
    assert_int_equal(write_group->notices.len, 0);
    assert_int_equal(write_group->returned.len, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_false(statements[i].bound);
        assert_false(statements[i].suspended);
        assert_int_equal(statements[i].tag, 0);
        assert_int_equal(statements[i].returned, 0);
        assert_int_equal(statements[i].noticed, 0);
        assert_int_equal(statements[i].rows, 4);
        assert_int_equal(statements[i].prepared, i);
    }
    px_write_group_free(write_group);
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
