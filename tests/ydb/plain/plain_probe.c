/*
 * plain_probe: what ydb/plain makes of values and statements, a line each, for the tests that
 * ask PostgreSQL the same. Fields in and out are separated by tabs, bytes are in hexadecimal:
 *   inline STATEMENT TYPE:FORMAT:BYTES …   -> the statement with constants; FORMAT is t, b or n
 *   send TYPE TEXT                         -> the value in binary
 *   table NAME COLUMN:TYPE …               -> nothing: there is such a table, with names of ASCII
 *   infer STATEMENT TYPE …                 -> the types of its parameters, of which some are
 *   keyed NAME KEYS COLUMN:TYPE:TYPMOD:TYPENAME:HASDEFAULT …  -> nothing: as `table`; the first
 * KEYS columns are its key plan OPTIONS STATEMENT                 -> the program's first step, as
 * `go` tells it row CELL …, failed SQLSTATE, rewind    -> nothing go [TAG] -> the next step, behind
 * one that ended with TAG: its rows' letter (n, c, o), w or r, 1 or m and its text; or t and the
 * tag declared or "error" with its SQLSTATE and its message. Types are in decimal; between the
 * answers of `infer` are blanks.
 */
#include "ydb/plain/assigned.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/program.h"
#include "ydb/plain/result.h"
#include "tests/protocol/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 66, MOST = 1 << 24, TABLES = 8 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static rw_param read_param(char *text, pgw_arena *arena)
{
    char *parts[3];
    if (split(text, ':', parts, 3) != 3)
        return (rw_param){0};
    return (rw_param){.type = (uint32_t)atoi(parts[0]),
                      .binary = parts[1][0] == 'b',
                      .null = parts[1][0] == 'n',
                      .bytes = unhex(parts[2], arena)};
}

static bool inline_all(char **fields, size_t count, const pgw_reading *reading, pgw_buf *out)
{
    rw_param params[FIELDS];
    const pgw_slice *texts;
    for (size_t i = 1; i < count; i++)
        params[i - 1] = read_param(fields[i], reading->arena);
    if (!rw_bound_texts((rw_params){params, count - 1}, MOST, reading, &texts))
        return false;
    rw_inlining how = {.texts = texts, .count = count - 1, .conforming = true, .most = MOST};
    return rw_inline(unhex(fields[0], reading->arena), &how, out, reading->error);
}

static rw_table tables[TABLES];
static const rw_table *pointers[TABLES];
static rw_catalog catalog = {.tables = pointers};

/* With a hash column behind the others, which nobody sees. */
static bool add_table(char **fields, size_t count)
{
    rw_table *table = &tables[catalog.count];
    char *parts[2];
    pointers[catalog.count++] = table;
    table->schema = strdup("public");
    table->name = strdup(fields[0]);
    table->columns = calloc(count, sizeof *table->columns);
    for (size_t i = 1; i < count; i++)
        if (split(fields[i], ':', parts, 2) == 2)
            table->columns[table->column_count++] = (rw_column){
                .name = strdup(parts[0]), .type = (uint32_t)atoi(parts[1]), .typmod = -1};
    table->hash_column = table->column_count;
    table->columns[table->column_count++] = (rw_column){.name = strdup("hash"), .type = PGW_INT8};
    return true;
}

/* What is known of its columns is all there is. */
static bool add_keyed(char **fields, size_t count)
{
    rw_table *table = &tables[catalog.count];
    char *parts[5];
    add_table(fields + 1, 1);
    free(table->name);
    table->name = strdup(fields[0]);
    table->column_count = 0;
    free(table->columns[0].name);
    free(table->columns);
    table->columns = calloc(count, sizeof *table->columns);
    table->primary_key = calloc(FIELDS, sizeof *table->primary_key);
    table->primary_key_count = (size_t)atoi(fields[1]);
    for (size_t i = 0; i < table->primary_key_count; i++)
        table->primary_key[i] = i;
    for (size_t i = 2; i < count; i++)
        if (split(fields[i], ':', parts, 5) == 5)
            table->columns[table->column_count++] = (rw_column){.name = strdup(parts[0]),
                                                                .type = (uint32_t)atoi(parts[1]),
                                                                .typmod = atoi(parts[2]),
                                                                .type_name = strdup(parts[3]),
                                                                .has_default = parts[4][0] == '1'};
    table->hash_column = table->column_count - 1;
    return true;
}

/* --- programs --- */

static rw_program *program;
static rw_program_options options;
static char *program_text;

static void tell_step(pgw_buf *out)
{
    rw_step step;
    char tag[RW_TAG_MOST];
    if (rw_program_next(program, &step)) {
        pgw_buf_addf(out, "%c%c%c", "nco"[step.rows], step.writes ? 'w' : 'r',
                     rw_program_is_single(program) ? '1' : 'm');
        pgw_buf_add_slice(out, step.text);
    } else {
        rw_program_tag(program, tag);
        pgw_buf_addf(out, "t%s", tag);
    }
}

static bool plan(char **fields, const pgw_reading *reading, pgw_buf *out)
{
    pgw_slice text = unhex(fields[1], reading->arena);
    rw_program_free(program);
    free(program_text);
    program_text = pgw_strndup(text.ptr, text.len);
    options = (rw_program_options){.env = &env,
                                   .exact = strchr(fields[0], 'e') != NULL,
                                   .insert_first = strchr(fields[0], 'i') != NULL,
                                   .update_from = strchr(fields[0], 'u') != NULL,
                                   .most = 4000};
    program =
        rw_program_new((pgw_slice){program_text, text.len}, &catalog, &options, reading->error);
    if (program != NULL)
        tell_step(out);
    return program != NULL;
}

static bool give_row(char **fields, size_t count, const pgw_reading *reading)
{
    pgw_slice cells[FIELDS];
    for (size_t i = 0; i < count; i++)
        cells[i] = unhex(fields[i], reading->arena);
    return rw_program_row(program, cells, count, reading->error);
}

static bool run(char **fields, size_t count, const pgw_reading *reading, pgw_buf *out)
{
    if (strcmp(fields[0], "row") == 0)
        return give_row(fields + 1, count - 1, reading);
    if (strcmp(fields[0], "failed") == 0)
        return rw_program_failed(program, fields[1]) ||
               pgw_fail(reading->error, "00000", "no other way");
    if (strcmp(fields[0], "rewind") == 0) {
        rw_program_rewind(program);
        return true;
    }
    if (count > 1)
        rw_program_stepped(program, pgw_slice_str(fields[1]));
    tell_step(out);
    return true;
}

static bool infer_types(char **fields, size_t count, const pgw_reading *reading, rw_inferred *out)
{
    uint32_t declared[FIELDS];
    for (size_t i = 1; i < count; i++)
        declared[i - 1] = (uint32_t)atoi(fields[i]);
    return rw_infer(unhex(fields[0], reading->arena), &catalog, (rw_declared){declared, count - 1},
                    reading, out);
}

static bool infer(char **fields, size_t count, const pgw_reading *reading, pgw_buf *out)
{
    rw_inferred found;
    if (!infer_types(fields, count, reading, &found))
        return false;
    for (size_t i = 0; i < found.count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? " " : "", found.types[i]);
    return true;
}

static bool describe(char **fields, size_t count, const pgw_reading *reading, pgw_buf *out)
{
    rw_inferred found;
    if (!infer_types(fields, count, reading, &found))
        return false;
    rw_inlining how = {.texts = rw_null_texts(found.types, found.count, reading->arena),
                       .count = found.count,
                       .conforming = true,
                       .most = MOST,
                       .unnamed = found.unnamed,
                       .unnamed_count = found.unnamed_count};
    return rw_inline(unhex(fields[0], reading->arena), &how, out, reading->error);
}

/* Whether an EXECUTE may give this expression to a parameter of this type. */
static bool argument(char **fields, const pgw_reading *reading)
{
    const pgw_slice expression = unhex(fields[1], reading->arena);
    const uint32_t type = (uint32_t)atoi(fields[0]);
    return rw_arguments_fit(&expression, &type, 1, reading);
}

static bool answer(char **fields, size_t count, const pgw_reading *reading, pgw_buf *out)
{
    if (strcmp(fields[0], "inline") == 0)
        return inline_all(fields + 1, count - 1, reading, out);
    if (strcmp(fields[0], "table") == 0)
        return add_table(fields + 1, count - 1);
    if (strcmp(fields[0], "infer") == 0)
        return infer(fields + 1, count - 1, reading, out);
    if (strcmp(fields[0], "describe") == 0)
        return describe(fields + 1, count - 1, reading, out);
    if (strcmp(fields[0], "argument") == 0)
        return argument(fields + 1, reading);
    if (strcmp(fields[0], "keyed") == 0)
        return add_keyed(fields + 1, count - 1);
    if (strcmp(fields[0], "plan") == 0)
        return plan(fields + 1, reading, out);
    if (strcmp(fields[0], "send") != 0)
        return run(fields, count, reading, out);
    return rw_result_send((uint32_t)atoi(fields[1]), unhex(fields[2], reading->arena), reading->env,
                          out, reading->error);
}

int main(void)
{
    char *line = NULL, *fields[FIELDS];
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        pgw_error error = PGW_ERROR_NONE;
        line[length - 1] = '\0';
        size_t count = split(line, '\t', fields, FIELDS);
        if (answer(fields, count, &(pgw_reading){&env, &arena, &error}, &out)) {
            for (size_t i = 0; i < out.len; i++)
                printf("%02x", (unsigned char)out.ptr[i]);
            putchar('\n');
        } else {
            printf("error\t%s\t%s\n", error.sqlstate, error.message);
        }
        fflush(stdout);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
    rw_program_free(program);
    free(program_text);
    free(line);
    return 0;
}
