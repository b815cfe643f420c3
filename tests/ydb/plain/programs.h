/*
 * programs: the tables and options of tests/vectors/plain/programs.txt, and how a program runs with
 * the answers that stand there.
 */
#ifndef TEST_PROGRAMS_H
#define TEST_PROGRAMS_H

#include "ydb/plain/program.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { TABLES = 8, COLUMNS = 16 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
/* --- tables: "name|column type [(typmod)], …|key columns" --- */

static rw_column columns[TABLES][COLUMNS];
static size_t keys[TABLES][COLUMNS];
static rw_table tables[TABLES];
static const rw_table *pointers[TABLES];
static rw_catalog catalog = {.tables = pointers};
static rw_program_options options = {.env = &env};

static inline char *copy(pgw_slice slice)
{
    return pgw_strndup(slice.ptr, slice.len);
}

/* "name type", with `=` behind it if it has a default, and perhaps that; `!` if it is NOT NULL. */
static inline void add_column(rw_table *table, char *text)
{
    char *type = strchr(text, ' '), *given = strchr(text, '=');
    *type++ = '\0';
    if (given != NULL)
        *given++ = '\0';
    char *length = strchr(type, '(');
    char *always = strchr(type, '!');
    if (always != NULL)
        *always = '\0';
    rw_column *column = &table->columns[table->column_count++];
    *column = (rw_column){.name = strdup(text),
                          .type_name = strdup(type),
                          .typmod = length == NULL ? -1 : atoi(length + 1) + 4,
                          .has_default = given != NULL,
                          .default_text = given != NULL && *given != '\0' ? strdup(given) : NULL,
                          .not_null = always != NULL};
    if (length != NULL)
        *length = '\0';
    column->type = rw_type_named(pgw_slice_str(type));
    assert_int_not_equal(column->type, PGW_UNSPECIFIED);
    if (column->typmod >= 0 && strstr(type, "bit") != NULL)
        column->typmod -= 4;
}

static inline void add_table(const vector_line *line)
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

static inline void set_options(pgw_slice words)
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

static void (*judge_step)(const rw_step *step); /* of each step that is run; NULL: nobody judges */

/* The rows that the endpoint gives for the next step: "1 2,3 4;" of cells, rows and steps. */
static inline bool give_rows(rw_program *program, char **answers, pgw_error *error)
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

static inline void add_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, "!%s %zu %s", error->sqlstate, error->position, error->message);
}

/* What it is told as, if that is something else. */
static inline void add_blame(const rw_program *program, const rw_step *step, const char *state,
                             pgw_buf *out)
{
    pgw_error error;
    pgw_fail(&error, state, "%s", strlen(state) > 5 ? state + 6 : "that is wrong");
    if (step->rows != RW_ROWS_NONE)
        rw_program_blame(program, &error);
    if (strncmp(error.sqlstate, state, 5) != 0)
        pgw_buf_addf(out, "!%s", error.sqlstate);
}

/* Each step with whether it writes (`+`), what its rows are (`<` the client's, `?` ours), and the
 * tag; "again" if it may be done once more when it may be done already. An answer that begins with
 * "!" is the SQLSTATE with which the step fails, perhaps with words. */
static inline bool run(rw_program *program, char *answers, pgw_buf *out)
{
    rw_step step;
    pgw_error error;
    while (rw_program_next(program, &step)) {
        if (judge_step != NULL)
            judge_step(&step);
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

static inline void describe(rw_program *program, pgw_slice answers, pgw_buf *out)
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

/* Whether the line is one of a table or of options, which is then in force. */
static inline bool is_set_up(const vector_line *line)
{
    bool table = pgw_slice_eq_str(line->fields[0], "table");
    if (table)
        add_table(line);
    else if (pgw_slice_eq_str(line->fields[0], "options"))
        set_options(line->fields[1]);
    else
        return false;
    return true;
}

#endif
