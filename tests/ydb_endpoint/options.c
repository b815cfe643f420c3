#include "tests/ydb_endpoint/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_row {
    const char *name;
    const char *choices[3]; /* of a choice: the words for 0, 1 and perhaps 2 */
    size_t at;              /* in ye_options: a long if `number`, an int if it has choices */
    bool number;
} option_row;

#define TEXT(name, field)                                                                          \
    {                                                                                              \
        name, {NULL, NULL}, offsetof(ye_options, field), false                                     \
    }
#define NUMBER(name, field)                                                                        \
    {                                                                                              \
        name, {NULL, NULL}, offsetof(ye_options, field), true                                      \
    }
#define CHOICE(name, field, ...)                                                                   \
    {                                                                                              \
        name, {__VA_ARGS__}, offsetof(ye_options, field), false                                    \
    }

static const option_row rows[] = {
    TEXT("listen", listen),
    TEXT("monitoring", monitoring),
    TEXT("store", store),
    TEXT("database", database),
    TEXT("user", user),
    TEXT("password", password),
    TEXT("certificate", certificate),
    TEXT("key", key),
    TEXT("server-version", server_version),
    NUMBER("idle-ms", idle_ms),
    NUMBER("node", node),
    NUMBER("request-us", request_us),
    NUMBER("row-us", row_us),
    NUMBER("factor", factor),
    NUMBER("compile-us-per-kb", compile_us_per_kb),
    NUMBER("max-text", max_text),
    NUMBER("max-parameters", max_parameters),
    CHOICE("away", away_unavailable, "overloaded", "unavailable"),
    CHOICE("drop", drop_late, "at-once", "late"),
    CHOICE("conflicts", commit_conflicts, "statement", "commit"),
    CHOICE("parameters", inferred_parameters, "unknown", "inferred"),
    CHOICE("ddl-in-transaction", ddl_ends_transaction, "keeps", "ends"),
    CHOICE("empty-query", empty_query_silent, "answered", "silent"),
    CHOICE("for-update", refuse_locking, "ignored", "refused"),
    CHOICE("uuid-keys", uuid_keys, "refused", "allowed"),
    CHOICE("describe", plain_describe, "json", "plain"),
    CHOICE("boundary-values", boundary_values, "int64", "text", "bytes"),
    CHOICE("duplicate", duplicate_constraint, "conflict", "constraint"),
    CHOICE("native-writes", refuse_native, "allowed", "refused"),
    CHOICE("hash-functions", no_hash_functions, "callable", "unknown"),
    CHOICE("typmods", drop_typmods, "kept", "dropped"),
    CHOICE("syntax-hint", refuse_hint, "ignored", "refused"),
};

static bool take_choice(const option_row *row, const char *value, char *field)
{
    for (int i = 0; i < 3 && row->choices[i] != NULL; i++)
        if (strcmp(value, row->choices[i]) == 0) {
            memcpy(field, &i, sizeof i);
            return true;
        }
    fprintf(stderr, "--%s is not %s\n", row->name, value);
    return false;
}

static bool take_number(const option_row *row, const char *value, char *field)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < 0) {
        fprintf(stderr, "--%s is a number\n", row->name);
        return false;
    }
    memcpy(field, &number, sizeof number);
    return true;
}

static bool take_table(const char *value, ye_options *options)
{
    const size_t room = sizeof options->tables / sizeof *options->tables;
    size_t i = 0;
    while (i < room && options->tables[i] != NULL)
        i++;
    if (i < room)
        options->tables[i] = value;
    return i < room;
}

static bool take(const char *name, const char *value, ye_options *options)
{
    if (strcmp(name, "table") == 0)
        return take_table(value, options);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *field = (char *)options + rows[i].at;
        if (strcmp(rows[i].name, name) != 0)
            continue;
        if (rows[i].choices[0] != NULL)
            return take_choice(&rows[i], value, field);
        if (rows[i].number)
            return take_number(&rows[i], value, field);
        memcpy(field, &value, sizeof value);
        return true;
    }
    fprintf(stderr, "no such option: --%s\n", name);
    return false;
}

bool ye_options_read(int argc, char **argv, ye_options *options)
{
    *options = (ye_options){.listen = "127.0.0.1:2137",
                            .store = "host=127.0.0.1 port=5432",
                            .database = "/local",
                            .server_version = "14.5 (ydb stable-23-4)",
                            .idle_ms = 600000,
                            .factor = 3,
                            .node = 1};
    for (int i = 1; i < argc; i += 2) {
        if (strncmp(argv[i], "--", 2) != 0 || i + 1 == argc) {
            fprintf(stderr, "options are --NAME VALUE\n");
            return false;
        }
        if (!take(argv[i] + 2, argv[i + 1], options))
            return false;
    }
    return true;
}
