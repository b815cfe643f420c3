/* What statements take on YDB: by vectors. */
#include "rewrite/plain/program.h"
#include "rewrite/plain/returning.h"
#include "rewrite/plain/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { TABLES = 8, COLUMNS = 16 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static unsigned wrong;

/* --- tables: "name|column type [(typmod)], …|key columns" --- */

static rw_column columns[TABLES][COLUMNS];
static size_t keys[TABLES][COLUMNS];
static rw_table tables[TABLES];
static const rw_table *pointers[TABLES];
static rw_catalog catalog = {.tables = pointers};
static rw_program_options options = {.env = &env};

static char *copy(pgw_slice slice)
{
    return pgw_strndup(slice.ptr, slice.len);
}

/* "name type", with `=` behind it if it has a default. */
static void add_column(rw_table *table, char *text)
{
    char *type = strchr(text, ' '), *length = strchr(text, '('), *given = strchr(text, '=');
    *type++ = '\0';
    if (given != NULL)
        *given = '\0';
    rw_column *column = &table->columns[table->column_count++];
    *column = (rw_column){.name = strdup(text),
                          .type_name = strdup(type),
                          .typmod = length == NULL ? -1 : atoi(length + 1) + 4,
                          .has_default = given != NULL};
    if (length != NULL)
        *length = '\0';
    column->type = rw_type_named(pgw_slice_str(type));
    assert_int_not_equal(column->type, PGW_UNSPECIFIED);
    if (column->typmod >= 0 && strstr(type, "bit") != NULL)
        column->typmod -= 4;
}

static void add_table(const vector_line *line)
{
    size_t number = catalog.count++;
    rw_table *table = &tables[number];
    char *list = copy(line->fields[2]), *key = copy(line->fields[3]), *rest = NULL;
    *table = (rw_table){.schema = "public",
                        .name = copy(line->fields[1]),
                        .columns = columns[number],
                        .primary_key = keys[number],
                        .hash_key = keys[number]};
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        add_column(table, name);
    for (char *name = strtok_r(key, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        keys[number][table->primary_key_count++] = rw_table_column(table, pgw_slice_str(name));
    table->hash_key_count = table->primary_key_count;
    table->hash_column = table->column_count;
    table->columns[table->column_count++] = (rw_column){
        .name = "h", .type = PGW_INT8, .type_name = "bigint", .typmod = -1, .not_null = true};
    pointers[number] = table;
    free(list);
    free(key);
}

static void set_options(pgw_slice words)
{
    char *text = copy(words);
    options = (rw_program_options){.env = &env,
                                   .exact = strstr(text, "exact") != NULL,
                                   .insert_first = strstr(text, "insert_first") != NULL,
                                   .update_from = strstr(text, "update_from") != NULL,
                                   .drops_typmods = strstr(text, "drops_typmods") != NULL,
                                   .most = 10000};
    const char *most = strstr(text, "most=");
    if (most != NULL)
        options.most = (size_t)atoi(most + 5);
    for (size_t i = 0; i < catalog.count; i++)
        tables[i].repeats_upserts = strstr(text, "repeats") != NULL;
    free(text);
}

/* --- programs --- */

/* The rows that the endpoint gives for the next step: "1 2,3 4;" of cells, rows and steps. */
static bool give_rows(rw_program *program, char **answers, pgw_error *error)
{
    char *step = strsep(answers, ";"), *row;
    while (step != NULL && (row = strsep(&step, ",")) != NULL && *row != '\0') {
        enum { WIDTH = 3 };
        pgw_slice *cells = malloc(WIDTH * sizeof *cells); /* no more than are there are read */
        size_t count = 0;
        for (char *cell; count < WIDTH && (cell = strsep(&row, " ")) != NULL;)
            cells[count++] = pgw_slice_str(cell);
        cells = realloc(cells, count * sizeof *cells);
        bool fine = rw_program_row(program, cells, count, error);
        free(cells);
        if (!fine)
            return false;
    }
    return true;
}

static void add_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, "!%s %zu %s", error->sqlstate, error->position, error->message);
}

/* What it is told as, if that is something else. */
static void add_blame(const rw_program *program, const rw_step *step, const char *state,
                      pgw_buf *out)
{
    pgw_error error;
    pgw_fail(&error, state, "that is wrong");
    if (step->rows == RW_ROWS_OURS)
        rw_program_blame(program, &error);
    if (strcmp(error.sqlstate, state) != 0)
        pgw_buf_addf(out, "!%s", error.sqlstate);
}

/* Each step with whether it writes (`+`), what its rows are (`<` the client's, `?` ours), and the
 * tag; "again" if it may be done once more when it may be done already. An answer that begins with
 * "!" is the SQLSTATE with which the step fails. */
static bool run(rw_program *program, char *answers, pgw_buf *out)
{
    rw_step step;
    pgw_error error;
    while (rw_program_next(program, &step)) {
        pgw_buf_addf(out, "%s%s%.*s; ", step.writes ? "+" : "",
                     step.rows == RW_ROWS_OURS     ? "?"
                     : step.rows == RW_ROWS_CLIENT ? "<"
                                                   : "",
                     (int)step.text.len, step.text.ptr);
        if (answers != NULL && *answers == '!') {
            char *state = strsep(&answers, ";");
            if (!rw_program_failed(program, state + 1)) {
                add_blame(program, &step, state + 1, out);
                return false;
            }
            pgw_buf_add_str(out, "or: ");
            continue;
        }
        if (step.rows == RW_ROWS_OURS && !give_rows(program, &answers, &error)) {
            add_error(&error, out);
            return false;
        }
        rw_program_stepped(program, step.rows == RW_ROWS_CLIENT ? PGW_LITERAL("SELECT 2")
                                                                : PGW_LITERAL("CREATE TABLE"));
    }
    return true;
}

static void describe(rw_program *program, pgw_slice answers, pgw_buf *out)
{
    char tag[RW_TAG_MOST], *text = copy(answers);
    if (rw_program_is_single(program))
        pgw_buf_add_str(out, "1: ");
    if (run(program, text, out)) {
        rw_program_tag(program, tag);
        pgw_buf_addf(out, "%s%s", tag, rw_program_is_repeatable(program) ? ", again" : "");
    }
    free(text);
}

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
    if (pgw_slice_eq_str(line->fields[0], "table")) {
        add_table(line);
        return;
    }
    if (pgw_slice_eq_str(line->fields[0], "options")) {
        set_options(line->fields[1]);
        return;
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_are_planned),
                                       cmocka_unit_test(writes_in_with_are_not_described),
                                       cmocka_unit_test(returning_is_described)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
