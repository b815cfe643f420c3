/*
 * plain_probe: what rewrite/plain makes of values and statements, a line each, for the tests that
 * ask PostgreSQL the same. Fields in and out are separated by tabs, bytes are in hexadecimal:
 *   inline STATEMENT TYPE:FORMAT:BYTES …   -> the statement with constants; FORMAT is t, b or n
 *   send TYPE TEXT                         -> the value in binary
 *   table NAME COLUMN:TYPE …               -> nothing: there is such a table, with names of ASCII
 *   infer STATEMENT TYPE …                 -> the types of its parameters, of which some are
 * declared or "error" with its SQLSTATE and its message. Types are in decimal; between the answers
 * of `infer` are blanks.
 */
#include "rewrite/plain/infer.h"
#include "rewrite/plain/inline.h"
#include "rewrite/plain/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 66, MOST = 1 << 24, TABLES = 8 };

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static size_t split(char *line, char separator, char **fields, size_t most)
{
    size_t count = 0;
    while (line != NULL && count < most) {
        fields[count++] = line;
        line = strchr(line, separator);
        if (line != NULL)
            *line++ = '\0';
    }
    return count;
}

static pgw_slice unhex(const char *hex, pgw_arena *arena)
{
    size_t length = strlen(hex) / 2;
    char *bytes = pgw_arena_alloc(arena, length + 1);
    for (size_t i = 0; i < length; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (char)strtol(pair, NULL, 16);
    }
    return (pgw_slice){bytes, length};
}

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
    free(line);
    return 0;
}
