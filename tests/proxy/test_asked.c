/* The commands that ask the backend: what its tables are, which of their rows have a wrong hash,
 * and what belongs to a table; with a pretended PostgreSQL behind them. */
#define _GNU_SOURCE
#include "tests/proxy/fake_postgres.h"

#include "proxy/command/commands.h"

/* A table's columns as proxy/backend/schema_query asks for them, but for the first two cells and
 * what is told of a column itself. */
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
    postgres_line part[5];
    int code;
    const char *out;    /* all of it, or, with a * in front, what is in it */
    const char *errors; /* as well; % stands for the configuration's path */
    const char *dsn;    /* if it is another */
} asking;

#define TOLD_WRONG "keyspread: the hash should be 3439722301264460078: c1=5 c2=1\n"
#define NO_EXPRESSION                                                                              \
    "keyspread: such rows are not found by their key; write them again through keyspread\n"

static const asking cases[] = {
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA(FIRST SECOND, NULL)},
     0,
     "rows: 2\nwrong: 0\nmissing: 0\n",
     "",
     NULL},
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA("5|1", NULL)},
     1,
     "rows: 1\nwrong: 1\nmissing: 0\n",
     TOLD_WRONG NO_EXPRESSION,
     NULL},
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA(FIRST "~|1\n" SECOND "~|~", NULL)},
     1,
     "rows: 4\nwrong: 0\nmissing: 2\n",
     "keyspread: the hash is missing: c1=NULL c2=1\n"
     "keyspread: the hash is missing: c1=NULL c2=NULL\n" NO_EXPRESSION,
     NULL},
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA("7|x\n" FIRST, NULL)},
     1,
     "rows: 2\nwrong: 0\nmissing: 0\nunreadable: 1\n",
     "keyspread: the key cannot be read: c1=7 c2=x\n" NO_EXPRESSION,
     NULL},
    /* no more are named than help */
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD),
      DATA(WRONG WRONG "~|1\n" WRONG WRONG WRONG "7|x\n" WRONG FIRST, NULL)},
     1,
     "rows: 9\nwrong: 6\nmissing: 1\nunreadable: 1\n",
     TOLD_WRONG TOLD_WRONG
     "keyspread: the hash is missing: c1=NULL c2=1\n" TOLD_WRONG TOLD_WRONG NO_EXPRESSION,
     NULL},
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA(FIRST, "57014")},
     1,
     "",
     "*keyspread: public.t: the table could not be read: ERROR:  the server's reason",
     NULL},
    {"verify @ t",
     {SETTINGS, SCHEMA(GOOD), DATA(NULL, "42501")},
     1,
     "",
     "*keyspread: public.t: the table could not be read: ERROR:  the server's reason",
     NULL},
    {"verify @ t",
     {{"set client_encoding", NULL, "22023"}, SCHEMA(GOOD)},
     1,
     "",
     "*%:1: the backend refused a setting: ERROR:  the server's reason",
     NULL},
    {"verify @ t",
     {SETTINGS, {"with recursive", NULL, "XX000"}},
     1,
     "",
     "*%:1: the backend could not be asked for its tables: ERROR:  the server's reason",
     NULL},
    {"verify @ t",
     {SETTINGS},
     1,
     "",
     "*%:1: the backend of backend.dsn cannot be reached: ",
     "host=/nowhere"},
    {"verify @ t", {SETTINGS, SCHEMA(ROW("other", KEY))}, 1, "", "*%:3: table ", NULL},
    {"verify @ t", {SETTINGS, SCHEMA(T)}, 1, "", "*%:3: table t: ", NULL},
    {"verify @ t", {SETTINGS, SCHEMA("a|b|c")}, 1, "", "*%:3: table ", NULL},
    {"verify @ nobody",
     {SETTINGS},
     1,
     "",
     "keyspread: % has no table \"nobody\": its tables are t, n\n",
     NULL},
    /* a table whose columns are written; its hash can be told in SQL */
    {"verify @ n",
     {SETTINGS,
      SCHEMA(ROW("n", KEY) "\n" ROW("n", HASH)),
      {"from \"public\".\"n\"", "4|1\n~|2", NULL}},
     1,
     "rows: 2\nwrong: 1\nmissing: 1\n",
     "*keyspread: this gives the right hash: ",
     NULL},
    {"explain @", {SETTINGS, SCHEMA(GOOD)}, 0, "*\nhash: 3439722301264460078\n", "", NULL},
    {"explain @",
     {SETTINGS, SCHEMA(T)},
     0,
     "*original: ",
     "*keyspread: writes to table public.t would be refused: ",
     NULL},
    {"explain @",
     {{"set client_encoding", NULL, "22023"}},
     1,
     "",
     "*the backend refused a setting",
     NULL},
    {"ddl --postgres @ t",
     {SETTINGS,
      SCHEMA(GOOD),
      {"publicta_hashf{\"a\"}", "COMMENT ON TABLE public.t IS 'x';\nGRANT", NULL}},
     0,
     "*PRIMARY KEY (\"a_hash\", \"a\")\n",
     "",
     NULL},
    {"ddl --postgres @ t",
     {SETTINGS,
      SCHEMA(GOOD),
      {"publicta_hashf{\"a\"}", "COMMENT ON TABLE public.t IS 'x';\nGRANT", NULL}},
     0,
     "*\nCOMMENT ON TABLE public.t IS 'x';\nGRANT\n",
     "",
     NULL},
    {"ddl --postgres @ t",
     {SETTINGS, SCHEMA(T), {"publicta_hashf{\"a\"}", "one line", NULL}},
     0,
     "*\none line\n",
     "",
     NULL},
    {"ddl @ t",
     {SETTINGS, SCHEMA(GOOD), {"publicta_hashf{\"a\"}", "of the key", NULL}},
     0,
     "*\nof the key\n-- The same",
     "",
     NULL},
    {"ddl --yql @ t",
     {SETTINGS, SCHEMA(GOOD), {"publicta_hashf{\"a\"}", NULL, "XX000"}},
     0,
     "*CREATE TABLE `t` (",
     "",
     NULL},
    {"ddl @ t",
     {SETTINGS, SCHEMA(GOOD), {"publicta_hashf{\"a\"}", NULL, "42501"}},
     1,
     "*CREATE TABLE \"public\"",
     "*keyspread: what belongs to public.t cannot be read: ERROR:  the server's reason",
     NULL},
    {"ddl @ n", {{"set", NULL, "XX000"}}, 0, "*CREATE TABLE \"public\".\"n\"", "", NULL},
    {"ddl @ t",
     {SETTINGS, SCHEMA(ROW("t", COLUMN("a", "1", "3802", "jsonb", "true", "2")))},
     1,
     "",
     "*%: table public.t: ",
     NULL},
    {"hash @ t a=1", {SETTINGS, SCHEMA(GOOD)}, 0, "*a_hash: 3439722301264460078\n", "", NULL},
};

static char path[64];

static void write_config(const char *dsn)
{
    char own[96];
    snprintf(own, sizeof own, "host=%s user=somebody", postgres.folder);
    strcpy(path, "/tmp/keyspread-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd,
            "backend: { dsn: \"%s\" }\ntables:\n"
            "  - { name: t, primary_key: [a], hash_function: xxh3 }\n"
            "  - { name: n, primary_key: [a], hash_function: pg_hash, columns: [{ name: a, type: "
            "bigint }] }\n",
            dsn != NULL ? dsn : own);
    close(fd);
}

static int run(const char *line, char **out, char **errors)
{
    char text[128], *words[8] = {(char *)"keyspread"};
    int count = 1;
    size_t size;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; count < 8 && (words[count] = strsep(&at, " ")) != NULL; count++)
        if (strcmp(words[count], "@") == 0)
            words[count] = path;
    static char sql[] = "insert into t (a, b) values (1, 'x')";
    FILE *in = fmemopen(sql, strlen(sql), "r");
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

static void every_case_is_as_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const asking *it = &cases[i];
        char *out = NULL, *errors = NULL;
        postgres_lines = it->part;
        write_config(it->dsn);
        int code = run(it->line, &out, &errors);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_case_is_as_told, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
