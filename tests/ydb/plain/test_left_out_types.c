/* Statements with parameters, a word left out, or twice: the types of the parameters. */
#include "ydb/plain/infer.h"
#include "rewrite/statement/script/types.h"

#include "tests/rewrite/left_out.h"
#include "typed_tables.h"

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static pgw_buf lines;

static void describe(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {&env, &arena, &error};
    rw_inferred found;
    if (rw_infer(text, &catalog, (rw_declared){NULL, 0}, &reading, &found))
        for (size_t i = 0; i < found.count; i++)
            pgw_buf_addf(out, " %u", found.types[i]);
    else
        pgw_buf_addf(out, "!%s %zu %s", error.sqlstate, error.position, error.message);
    pgw_arena_free(&arena);
}

static void add_line(const vector_line *line)
{
    if (pgw_slice_eq_str(line->fields[0], "table")) {
        add_table(line);
        return;
    }
    pgw_buf_addf(&lines, "%u", line->number);
    left_out_variants(line->fields[0], 1, describe, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/plain/types.txt", add_line);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out_types.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
