/* Statements for YDB about tables that are none of ours, of which the names and types of the
 * columns are learned: what RETURNING takes. */
#include "ydb/plain/returning.h"

#include "learned_tables.h"

static unsigned wrong;

static void add_steps(pgw_slice text, pgw_slice given, pgw_buf *out)
{
    pgw_error error;
    rw_program *program = rw_program_new(text, &learned, &options, &error);
    if (program == NULL)
        add_error(&error, out);
    else
        describe(program, given, out);
    rw_program_free(program);
}

/* What must be learned of first. */
static void add_target(pgw_slice text, const pgw_reading *reading, pgw_buf *out)
{
    static const rw_catalog none = {.tables = NULL};
    const rw_relation *target = rw_returning_target(text, &none, reading);
    if (target != NULL)
        pgw_buf_addf(out, "%s%s%s: ", target->schema, target->schema[0] != '\0' ? "." : "",
                     target->name);
}

static void check(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_buf got = {0};
    if (sets_up(line))
        return;
    add_target(line->fields[0], &(pgw_reading){&env, &arena, &error}, &got);
    add_steps(line->fields[0], line->fields[1], &got);
    wrong += !vector_same(line, line->fields[2], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void returning_takes_what_is_learned(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/plain/learned.txt", check) > 20);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returning_takes_what_is_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
