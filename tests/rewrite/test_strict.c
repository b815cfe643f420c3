/* What is said of a hash column that nobody is to know of, and what is put in where another column
 * of its name may be meant. */
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"
#include "lines.h"
#include "tables.h"

static rw_column ev_columns[] = {
    COLUMN("userid", PGW_INT8, -1, .not_null = true),
    COLUMN("ts", PGW_TIMESTAMPTZ, -1, .not_null = true),
    COLUMN("event", PGW_TEXT, -1),
    HASH("userid_hash"),
};
static rw_column tx_columns[] = {
    COLUMN("a", PGW_VARCHAR, 9, .not_null = true),
    COLUMN("b", PGW_INT4, -1, .not_null = true),
    COLUMN("v", PGW_NUMERIC, -1),
    HASH("userid_hash"),
};
static const rw_table ev = TEST_TABLE("public", "ev", ev_columns, 3, test_first_two, test_first_two,
                                      2, .mergeable = true, .strict = true, .in_parts = true);
static const rw_table tx = TEST_TABLE("public", "tx", tx_columns, 3, test_first_two, test_first_two,
                                      2, .mergeable = true, .strict = true);
static const rw_table *const tables[] = {&ev, &tx};
static const rw_catalog catalog = {.tables = tables, .count = 2};

static void describe_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, "%s at %zu: %s", error->sqlstate, (size_t)error->position, error->message);
    if (error->detail[0] != '\0')
        pgw_buf_addf(out, " DETAIL %s", error->detail);
    if (error->hint[0] != '\0')
        pgw_buf_addf(out, " HINT %s", error->hint);
}

static void describe_text(pgw_slice text, const rw_statement *statement, pgw_arena *arena,
                          pgw_buf *out)
{
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {&test_env, arena, &error};
    rw_prepared prepared = {text, {NULL, 0}, rw_highest_parameter(text, true)};
    rw_conditions conditions;
    if (statement->kind == RW_STATEMENT_INSERT) {
        rw_render_statement(statement->insert, RW_HASH_PARAMETER, NULL, out);
        return;
    }
    rw_conditions_of(statement, &prepared, &reading, &conditions);
    rw_conditions_render(&conditions, text, out);
}

/* What becomes of the text: its error, or what is sent. */
static char *outcome(const char *text)
{
    pgw_arena arena = {0};
    pgw_buf out = {0};
    pgw_slice slice = exact(text);
    rw_script script;
    rw_script_parse(slice, &catalog, &test_env, NULL, &arena, &script);
    assert_int_equal(script.count, 1);
    if (script.statements[0].kind == RW_STATEMENT_REFUSED)
        describe_error(script.statements[0].error, &out);
    else
        describe_text(slice, &script.statements[0], &arena, &out);
    pgw_buf_add_byte(&out, '\0');
    pgw_arena_free(&arena);
    return out.ptr;
}

static void every_text_has_its_outcome(void **state)
{
    (void)state;
    test_lines lines = {.file = fopen(VECTORS "/strict.txt", "r")};
    assert_non_null(lines.file);
    char text[MAX_LINE];
    unsigned wrong = 0;
    while (test_next_line(&lines)) {
        snprintf(text, sizeof text, "%s", lines.fields[0]);
        char *found = outcome(text);
        assert_true(test_next_line(&lines));
        if (strcmp(found, lines.fields[0]) != 0)
            fprintf(stderr, "%s:%d: wanted %s\n  got %s\n", VECTORS "/strict.txt", lines.number,
                    lines.fields[0], found);
        wrong += strcmp(found, lines.fields[0]) != 0;
        free(found);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_its_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
