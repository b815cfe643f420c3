/* Statements about settings with a word left out, or twice, in a new session, within a transaction
 * and outside: what is answered, and what the session's settings are then. */
#include "ydb/plain/session.h"

#include "tests/rewrite/left_out.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LIMIT = 300 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static pgw_buf lines;

static void add_said(const rw_said *said, pgw_buf *out)
{
    pgw_buf_addf(out, "%s %zu %zu %s %s|", said->tag, said->rows, said->width,
                 said->warning.sqlstate, said->warning.message);
    pgw_buf_add_slice(out, said->columns);
    for (size_t i = 0; i < said->rows * said->width; i++)
        pgw_buf_add_slice(out, said->cells[i].ptr != NULL ? said->cells[i] : PGW_LITERAL("null"));
}

static void add_run(rw_variables *variables, pgw_slice text, bool in_block, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {&env, &arena, &error};
    rw_said said;
    if (rw_session_describe(variables, text, &reading, &said))
        pgw_buf_add_slice(out, said.columns);
    if (rw_session_run(variables, text, in_block, &reading, &said))
        add_said(&said, out);
    else
        pgw_buf_addf(out, "!%s %zu %s|%s|%s", error.sqlstate, error.position, error.message,
                     error.detail, error.hint);
    pgw_arena_free(&arena);
}

static void add_reports(rw_variables *variables, pgw_buf *out)
{
    pgw_slice name, value;
    while (rw_variables_report(variables, &name, &value))
        pgw_buf_addf(out, " {%.*s=%.*s}", (int)name.len, name.ptr, (int)value.len, value.ptr);
}

/* Set before, set in the transaction, which ends in one way or the other. */
static void describe(pgw_slice text, pgw_buf *out)
{
    for (int way = 0; way < 3; way++) {
        rw_variables *variables = rw_variables_new(LIMIT);
        add_run(variables, PGW_LITERAL("set application_name = 'before'"), false, out);
        rw_variables_commit(variables);
        add_reports(variables, out);
        add_run(variables, text, way > 0, out);
        if (way == 1)
            rw_variables_rollback(variables);
        else
            rw_variables_commit(variables);
        add_reports(variables, out);
        add_run(variables, PGW_LITERAL("show all"), false, out);
        rw_variables_free(variables);
    }
}

static void add_line(const vector_line *line)
{
    enum { EVERY = 2 };
    pgw_slice text = line->fields[0];
    if (text.len > 0 && text.ptr[0] == '~') /* PostgreSQL answers something else */
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    pgw_buf_addf(&lines, "%u", line->number);
    left_out_variants(text, EVERY, describe, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/plain/settings.txt", add_line);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out_settings.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
