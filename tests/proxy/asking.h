/*
 * asking: a command that asks the backend, run as a shell would, with a pretended PostgreSQL behind
 * it.
 */
#ifndef ASKING_H
#define ASKING_H

#include "tests/proxy/fake_postgres.h"

#include "proxy/command/commands.h"

/* A table's columns as proxy/backend/schema/schema_query asks for them, but for the first two cells
 * and what is told of a column itself. */
#define TABLE "16630|r|0|false|false|false|false|false"
#define REST "-1978869473527485543|t|false|~|~"
#define COLUMN(name, number, oid, type, not_null, in_key)                                          \
    name "|" number "|" oid "|-1|" type "|false|" not_null "|false|false|false|true|false|" in_key \
         "|false|~|" REST
#define ROW(table, column) "public|" table "|" TABLE "|" column
#define KEY COLUMN("a", "1", "20", "bigint", "true", "2")
#define HASH COLUMN("a_hash", "3", "20", "bigint", "true", "1")
#define T ROW("t", KEY) "\n" ROW("t", COLUMN("b", "2", "25", "text", "false", "0")) "\n"
#define GOOD T ROW("t", HASH)
#define FIRST "3439722301264460078|1\n"
#define SECOND "2343778756980564547|2\n"
#define WRONG "5|1\n"

#define SCHEMA(rows)                                                                               \
    {                                                                                              \
        "with recursive", rows, NULL                                                               \
    }
#define SETTINGS                                                                                   \
    {                                                                                              \
        "set client_encoding", NULL, NULL                                                          \
    }
#define DATA(rows, fails)                                                                          \
    {                                                                                              \
        "select \"a_hash\", \"a\" from \"public\".\"t\"", rows, fails                              \
    }

typedef struct asking {
    const char *line; /* @: the configuration */
    postgres_line part[7];
    int code;
    const char *out;    /* all of it, or, with a * in front, what is in it */
    const char *errors; /* as well; % stands for the configuration's path */
    const char *dsn;    /* if it is another */
    const char *sql;    /* for explain, if it is another */
} asking;

static char path[64];

/* `tables`: of the configuration, from its third line on. */
static void write_config(const char *dsn, const char *tables)
{
    char own[96];
    snprintf(own, sizeof own, "host=%s user=somebody", postgres.folder);
    strcpy(path, "/tmp/keyspread-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "backend: { dsn: \"%s\" }\ntables:\n%s", dsn != NULL ? dsn : own, tables);
    close(fd);
}

static int run(const asking *it, char **out, char **errors)
{
    char text[128], *words[8] = {(char *)"keyspread"};
    int count = 1;
    size_t size;
    snprintf(text, sizeof text, "%s", it->line);
    for (char *at = text; count < 8 && (words[count] = strsep(&at, " ")) != NULL; count++)
        if (strcmp(words[count], "@") == 0)
            words[count] = path;
    const char *sql = it->sql != NULL ? it->sql : "insert into t (a, b) values (1, 'x')";
    FILE *in = fmemopen((char *)sql, strlen(sql), "r");
    FILE *to = open_memstream(out, &size), *also = open_memstream(errors, &size);
    int code = px_commands_run(count, words, in, to, also);
    fclose(in);
    fclose(to);
    fclose(also);
    return code;
}

/* With the path in the place of the %. */
static bool is_said(const char *said, const char *expected)
{
    char text[1024];
    bool part = *expected == '*';
    const char *percent = strchr(expected, '%');
    snprintf(text, sizeof text, "%.*s%s%s",
             percent != NULL ? (int)(percent - expected) : (int)strlen(expected), expected,
             percent != NULL ? path : "", percent != NULL ? percent + 1 : "");
    return part ? strstr(said, text + 1) != NULL : strcmp(said, text) == 0;
}

static void ask_each(const asking *cases, size_t count, const char *tables)
{
    for (size_t i = 0; i < count; i++) {
        const asking *it = &cases[i];
        char *out = NULL, *errors = NULL;
        postgres_lines = it->part;
        write_config(it->dsn, tables);
        int code = run(it, &out, &errors);
        if (code != it->code || !is_said(out, it->out) || !is_said(errors, it->errors))
            fail_msg("%zu: %s: code %d, out: %s, errors: %s", i, it->line, code, out, errors);
        free(out);
        free(errors);
        unlink(path);
    }
}

static int start(void **state)
{
    (void)state;
    postgres_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    postgres_stop();
    return 0;
}

#endif
