/* The commands about tables that the configuration knows by patterns: the backend is asked for them
 * by their names, and what explain reads may make them. */
#define _GNU_SOURCE
#include "tests/proxy/asking.h"

#define TABLES                                                                                     \
    "  - { name: log_own, primary_key: [a], hash_function: xxh3, columns: [{ name: a, type: "      \
    "bigint }] }\n"                                                                                \
    "  - { name: \"app.log_*\", primary_key: auto, hash_function: xxh3 }\n"                        \
    "  - { name: \"log_*\", primary_key: auto, hash_function: xxh3 }\n"                            \
    "  - { name: \"log_long_*\", primary_key: auto, hash_key: [b], hash_function: xxh3 }\n"        \
    "  - { name: \"fix_*\", primary_key: [a], hash_column: keyspread_hash, hash_function: xxh3 "   \
    "}\n"

#define NO_KEY                                                                                     \
    "keyspread: table public.log_3 has no primary key, which its hash is made of: give it one, "   \
    "or leave it as it is (`except` in the configuration)\n"

/* Which table is looked for: its schema, its name, whether that is a beginning, the hash column,
 * whether the schema is a beginning. */
#define FOUND(of, rows)                                                                            \
    {                                                                                              \
        of "keyspread_hashf", rows, NULL                                                           \
    }
/* A table with the key (keyspread_hash, a), and a b. */
#define FROM(schema, table, column) schema "|" table "|" TABLE "|" column
#define LOG_OF(schema, table)                                                                      \
    FROM(schema, table, COLUMN("a", "1", "20", "bigint", "true", "2"))                             \
    "\n" FROM(schema, table, COLUMN("b", "2", "25", "text", "false", "0")) "\n" FROM(              \
        schema, table, COLUMN("keyspread_hash", "3", "20", "bigint", "true", "1")) "\n"
#define LOG(table) LOG_OF("public", table)
#define SPREAD(schema, table) schema "|" table "|t|keyspread_hash\n" schema "|" table "|t|a\n"
#define HASH_OF_1 "keyspread_hash: 3439722301264460078\n"
#define ROWS_OF(table)                                                                             \
    {                                                                                              \
        "select \"keyspread_hash\", \"a\" from " table, FIRST, NULL                                \
    }
#define VERIFIED "rows: 1\nwrong: 0\nmissing: 0\n"

static const asking cases[] = {
    /* by any of its names */
    {"hash @ log_1 a=1",
     {FOUND("publiclog_1f", SPREAD("public", "log_1")), SCHEMA(LOG("log_1")), SETTINGS},
     0,
     "*" HASH_OF_1,
     "",
     NULL,
     NULL},
    {"hash @ public.log_1 a=1",
     {FOUND("publiclog_1f", SPREAD("public", "log_1")), SCHEMA(LOG("log_1")), SETTINGS},
     0,
     "*" HASH_OF_1,
     "",
     NULL,
     NULL},
    {"hash @ app.log_1 a=1",
     {FOUND("applog_1f", SPREAD("app", "log_1")), SCHEMA(LOG_OF("app", "log_1")), SETTINGS},
     0,
     "*" HASH_OF_1,
     "",
     NULL,
     NULL},
    /* one in public counts, and where there is none, that of another schema */
    {"verify @ log_1",
     {FOUND("publiclog_1f", SPREAD("public", "log_1")), FOUND("applog_1f", SPREAD("app", "log_1")),
      SCHEMA(LOG("log_1") LOG_OF("app", "log_1")), ROWS_OF("\"public\".\"log_1\""), SETTINGS},
     0,
     VERIFIED,
     "",
     NULL,
     NULL},
    {"verify @ log_1",
     {FOUND("publiclog_1f", ""), FOUND("applog_1f", SPREAD("app", "log_1")),
      SCHEMA(LOG_OF("app", "log_1")), ROWS_OF("\"app\".\"log_1\""), SETTINGS},
     0,
     VERIFIED,
     "",
     NULL,
     NULL},
    /* what is no table of the pattern's own */
    {"verify @ log_*",
     {FOUND("publiclog_t",
            "public|log_1|t|keyspread_hash\npublic|log_1|t|a\npublic|log_2|f|a\npublic|log_3|f|~"
            "\npublic|log_4|t|a\n"
            "public|log_long_1|t|keyspread_hash\npublic|log_long_1|t|a\npublic|log_own|f|a\n"),
      SCHEMA(LOG("log_1")), ROWS_OF("\"public\".\"log_1\""), SETTINGS},
     0,
     "table: public.log_1\n" VERIFIED,
     NO_KEY
     "keyspread: warning: public.log_2 is not spread: it has no column keyspread_hash in its "
     "primary key\n"
     "keyspread: warning: public.log_4 is not spread: it has no column keyspread_hash in its "
     "primary key\n",
     NULL,
     NULL},
    {"verify @ public.log_*",
     {FOUND("publiclog_t", SPREAD("public", "log_0") SPREAD("public", "log_1")),
      SCHEMA(LOG("log_0") LOG("log_1")), ROWS_OF("\"public\".\"log_0\""),
      ROWS_OF("\"public\".\"log_1\""), SETTINGS},
     0,
     "table: public.log_0\n" VERIFIED "table: public.log_1\n" VERIFIED,
     "",
     NULL,
     NULL},
    /* an entry of public is none of another schema */
    {"verify @ app.log_*",
     {FOUND("applog_t", SPREAD("app", "log_own")), SCHEMA(LOG_OF("app", "log_own")),
      ROWS_OF("\"app\".\"log_own\""), SETTINGS},
     0,
     "table: app.log_own\n" VERIFIED,
     "",
     NULL,
     NULL},
    /* of a key that the configuration names, the table needs the hash column alone */
    {"verify @ fix_*",
     {FOUND("publicfix_t", "public|fix_1|t|~\npublic|fix_2|f|~\n"), SCHEMA(LOG("fix_1")),
      ROWS_OF("\"public\".\"fix_1\""), SETTINGS},
     0,
     "table: public.fix_1\n" VERIFIED,
     "keyspread: warning: public.fix_2 is not spread: it has no column keyspread_hash in its "
     "primary key\n",
     NULL,
     NULL},
    {"hash @ log_long_1 b=x",
     {FOUND("publiclog_long_1f", SPREAD("public", "log_long_1") "public|log_long_1|t|b\n"),
      SCHEMA(FROM("public", "log_long_1", COLUMN("a", "1", "20", "bigint", "true", "2")) "\n" FROM(
          "public", "log_long_1",
          COLUMN("b", "2", "25", "text", "true", "3")) "\n" FROM("public", "log_long_1",
                                                                 COLUMN("keyspread_hash", "3", "20",
                                                                        "bigint", "true", "1"))),
      SETTINGS},
     0,
     "*keyspread_hash: ",
     "",
     NULL,
     NULL},
    {"hash @ log_* a=1",
     {FOUND("publiclog_t", SPREAD("public", "log_1")), SCHEMA(LOG("log_1")), SETTINGS},
     1,
     "",
     "*is a pattern",
     NULL,
     NULL},
    {"ddl --postgres @ log_2",
     {FOUND("publiclog_2f", "public|log_2|f|a\n"),
      SCHEMA(FROM("public", "log_2", COLUMN("a", "1", "20", "bigint", "true", "1"))),
      {"publiclog_2keyspread_hash", "of the key", NULL},
      SETTINGS},
     0,
     "*CREATE TABLE \"public\".\"log_2\" (\n    \"a\" bigint NOT NULL,\n"
     "    \"keyspread_hash\" bigint NOT NULL,\n    PRIMARY KEY (\"a\", \"keyspread_hash\")\n",
     "",
     NULL,
     NULL},
    {"ddl --yql @",
     {SETTINGS},
     0,
     "*CREATE TABLE `log_own`",
     "*keyspread: app.log_* is a pattern: name it",
     NULL,
     NULL},

    /* none can be had */
    {"verify @ log_9",
     {FOUND("log_9f", ""), SETTINGS},
     1,
     "",
     "keyspread: the backend of backend.dsn has no table \"log_9\"\n",
     NULL,
     NULL},
    {"verify @ log_*", {FOUND("publiclog_t", ""), SETTINGS}, 0, "", "", NULL, NULL},
    {"verify @ log_3",
     {FOUND("publiclog_3f", "public|log_3|f|~\n"), SETTINGS},
     1,
     "",
     NO_KEY,
     NULL,
     NULL},
    {"verify @ log_3",
     {FOUND("publiclog_3f", "public|log_3|t|keyspread_hash\n"), SETTINGS},
     1,
     "",
     NO_KEY,
     NULL,
     NULL},
    {"verify @ log_long_1",
     {FOUND("publiclog_long_1f", SPREAD("public", "log_long_1")), SETTINGS},
     1,
     "",
     "%:6: the primary key of table public.log_long_1 has no column b, which hash_key names\n",
     NULL,
     NULL},
    {"verify @ other.log_1",
     {SETTINGS},
     1,
     "",
     "keyspread: % has no table \"other.log_1\": its tables are log_own, app.log_*, log_*, "
     "log_long_*, fix_*\n",
     NULL,
     NULL},
    {"verify @ publiclog_1",
     {SETTINGS},
     1,
     "",
     "*has no table \"publiclog_1\": its tables are ",
     NULL,
     NULL},
    {"verify @ log_1",
     {{"publiclog_1fkeyspread_hash", NULL, "57014"}, SETTINGS},
     1,
     "",
     "*%:1: the backend could not be asked for its tables: ERROR:  the server's reason",
     NULL,
     NULL},
    {"verify @ log_1",
     {SETTINGS},
     1,
     "",
     "*%:1: the backend of backend.dsn cannot be reached: ",
     "host=/nowhere",
     NULL},

    /* explain reads of what is there, and of what the text itself makes */
    {"explain @",
     {SETTINGS, SCHEMA(LOG("log_1"))},
     0,
     "*\nhash: 3439722301264460078\n",
     "",
     NULL,
     "insert into log_1 (a) values (1)"},
    {"explain @",
     {SETTINGS, SCHEMA("")},
     0,
     "*not spread: log_1 has the name of a pattern",
     "",
     NULL,
     "insert into log_1 (a) values (1)"},
    {"explain @",
     {{"set client_encoding", NULL, "22023"}},
     0,
     "*\nhash: 3439722301264460078\n",
     "*keyspread: of tables of patterns those alone are known that the text makes\n",
     NULL,
     "create table log_1 (a bigint primary key); insert into log_1 values (1)"},
};

static void every_case_is_as_told(void **state)
{
    (void)state;
    ask_each(cases, sizeof cases / sizeof *cases, TABLES);
}

/* To be freed. */
static char *content(const char *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    assert_true(getdelim(&text, &size, '\0', in) > 0);
    fclose(in);
    return text;
}

/* With the backend away: by what the CREATE TABLEs of the text say, the first of each name. */
static void explain_knows_what_its_text_makes(void **state)
{
    (void)state;
    char *sql = content(VECTORS "/explain_made.sql"), *told = content(VECTORS "/explain_made.txt");
    const asking it = {.line = "explain @", .sql = sql, .dsn = "host=/nowhere"};
    char *out = NULL, *errors = NULL;
    write_config(it.dsn, TABLES);
    assert_int_equal(run(&it, &out, &errors), 0);
    assert_string_equal(out, told);
    assert_non_null(strstr(errors, "those alone are known that the text makes"));
    unlink(path);
    free(out);
    free(errors);
    free(told);
    free(sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_case_is_as_told, start, stop),
        cmocka_unit_test(explain_knows_what_its_text_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
