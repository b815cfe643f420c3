/* Statements for YDB about tables that are none of ours, of which the names and types of the
 * columns are learned: what RETURNING takes, by vectors; and all statements of programs.txt as if
 * their tables were such, with a word left out, or twice. */
#include "ydb/plain/clean.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/returning.h"

#include "tests/rewrite/left_out.h"
#include "programs.h"

static const rw_catalog learned = {.others = &catalog};
static pgw_slice answers;
static pgw_buf lines;
static unsigned wrong;

/* Nothing is hidden in them; of what is called odd nobody knows the type. */
static void learn(void)
{
    rw_table *table = &tables[catalog.count - 1];
    table->column_count = table->hash_column;
    table->hash_key_count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "odd") == 0) {
            free(table->columns[i].type_name);
            table->columns[i].type = 999999;
            table->columns[i].type_name = NULL;
        }
}

static void forget(void)
{
    for (size_t i = 0; i < catalog.count; i++) {
        for (size_t c = 0; c < tables[i].column_count; c++) {
            free(tables[i].columns[c].name);
            free(tables[i].columns[c].type_name);
            free(tables[i].columns[c].default_text);
        }
        free(tables[i].name);
    }
    catalog.count = 0;
}

static bool sets_up(const vector_line *line)
{
    const size_t count = catalog.count;
    bool is = is_set_up(line);
    if (catalog.count > count)
        learn();
    return is;
}

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

/* --- with a word left out --- */

static void add_types(pgw_slice text, const pgw_reading *reading, pgw_buf *out)
{
    rw_inferred found;
    if (!rw_infer(text, &learned, (rw_declared){NULL, 0}, reading, &found)) {
        add_error(reading->error, out);
        return;
    }
    for (size_t i = 0; i < found.count; i++)
        pgw_buf_addf(out, " %u", found.types[i]);
}

static void describe_text(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    const pgw_reading reading = {&env, &arena, &error};
    rw_clean statement;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    while (rw_clean_next(&lexer, &env, &arena, &statement)) {
        if (statement.kind == RW_CLEAN_WRONG)
            continue;
        add_types(statement.text, &reading, out);
        add_steps(statement.text, answers, out);
        const rw_relation *target = rw_returning_target(statement.text, &catalog, &reading);
        if (target != NULL)
            pgw_buf_addf(out, " %s %s", target->schema, target->name);
    }
    pgw_arena_free(&arena);
}

static void add_line(const vector_line *line)
{
    if (sets_up(line))
        return;
    answers = line->count > 2 ? line->fields[1] : (pgw_slice){"", 0};
    pgw_buf_addf(&lines, "%s %u", strrchr(line->file, '/') + 1, line->number);
    left_out_some(line->fields[0], line->number % 2, 2, describe_text, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    static const char *const files[] = {VECTORS "/plain/learned.txt",
                                        VECTORS "/plain/programs.txt"};
    lines = (pgw_buf){0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        forget();
        vector_each(files[i], add_line);
    }
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out_learned.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returning_takes_what_is_learned),
        cmocka_unit_test(nothing_changes_unseen),
    };
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
