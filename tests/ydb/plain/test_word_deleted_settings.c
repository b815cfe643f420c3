/* Statements about settings with a word left out, or twice, in a new session, within a transaction
 * and outside: each has an answer of whole rows, or an error; and a transaction that is rolled back
 * leaves the settings as they were. */
#include "ydb/plain/session.h"

#include "tests/rewrite/error_holds.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LIMIT = 300 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

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
    if (rw_session_run(variables, text, in_block, &reading, &said)) {
        word_deleted_holds(said.rows == 0 || said.width > 0, "an answer's rows have columns");
        add_said(&said, out);
    } else {
        holds_of_error(&error, text, env.utf8);
        pgw_buf_addf(out, "!%s %zu %s|%s|%s", error.sqlstate, error.position, error.message,
                     error.detail, error.hint);
    }
    pgw_arena_free(&arena);
}

static void add_reports(rw_variables *variables, pgw_buf *out)
{
    pgw_slice name, value;
    while (rw_variables_report(variables, &name, &value))
        pgw_buf_addf(out, " {%.*s=%.*s}", (int)name.len, name.ptr, (int)value.len, value.ptr);
}

/* Set before, set in the transaction, which ends in one way or the other. */
static void judge(pgw_slice text, pgw_buf *out)
{
    for (int way = 0; way < 3; way++) {
        rw_variables *variables = rw_variables_new(LIMIT);
        add_run(variables, PGW_LITERAL("set application_name = 'before'"), false, out);
        rw_variables_commit(variables);
        add_reports(variables, out);
        pgw_buf before = {0}, after = {0};
        add_run(variables, PGW_LITERAL("show all"), false, &before);
        add_run(variables, text, way > 0, out);
        if (way == 1)
            rw_variables_rollback(variables);
        else
            rw_variables_commit(variables);
        add_reports(variables, out);
        add_run(variables, PGW_LITERAL("show all"), false, &after);
        word_deleted_holds(way != 1 || pgw_slice_eq(pgw_slice_buf(&before), pgw_slice_buf(&after)),
                           "ROLLBACK leaves the settings as they were");
        pgw_buf_add_slice(out, pgw_slice_buf(&after));
        pgw_buf_free(&before);
        pgw_buf_free(&after);
        rw_variables_free(variables);
    }
}

static void vary_line(const vector_line *line)
{
    enum { EVERY = 2 };
    pgw_slice text = line->fields[0];
    if (text.len > 0 && text.ptr[0] == '~') /* PostgreSQL answers something else */
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    word_deleted_some(text, 0, EVERY, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    vector_each(VECTORS "/plain/settings.txt", vary_line);
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
