/* The DDL of tables of every kind, as a whole: in PostgreSQL's words, YQL's, and both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/command/commands.h"

#define FILES VECTORS "/ddl/"

/* What the command prints; to be freed. */
static char *ddl(const char *form, const char *table)
{
    const char *words[] = {"keyspread", "ddl", form, FILES "tables.yaml", table};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int count = table != NULL ? 5 : 4;
    assert_int_equal(px_commands_run(count, (char **)words, stdin, out, stderr), 0);
    fclose(out);
    return text;
}

/* To be freed. Not inlined: gcc 12 would take what is in `text` for its address, and warn. */
static __attribute__((noinline)) char *content(const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

static void all_tables_as_postgres_writes_them(void **state)
{
    (void)state;
    char *got = ddl("--postgres", NULL), *wanted = content(FILES "postgres.sql");
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
}

static void all_tables_as_yql_writes_them(void **state)
{
    (void)state;
    char *got = ddl("--yql", NULL), *wanted = content(FILES "yql.sql");
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
}

/* Where the server is known to take boundaries of a pgint8 key. */
static void boundaries_where_they_work(void **state)
{
    (void)state;
    const char *words[] = {"keyspread", "ddl", "--yql", FILES "boundaries.yaml"};
    char *got = NULL, *wanted = content(FILES "boundaries.sql");
    size_t size;
    FILE *out = open_memstream(&got, &size), *errors = fopen("/dev/null", "w");
    assert_int_equal(px_commands_run(4, (char **)words, stdin, out, errors), 0);
    fclose(out);
    fclose(errors);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
}

static char *columnar(const char *choice, const char *table, char **said)
{
    const char *words[] = {"keyspread", "ddl", choice, FILES "column.yaml", table};
    char *got = NULL;
    size_t size, length;
    FILE *out = open_memstream(&got, &size), *errors = open_memstream(said, &length);
    int count = table != NULL ? 5 : 4;
    assert_int_equal(px_commands_run(count, (char **)words, stdin, out, errors), 0);
    fclose(out);
    fclose(errors);
    return got;
}

static void column_oriented_tables(void **state)
{
    (void)state;
    char *said, *unsaid, *got = columnar("--yql", NULL, &said);
    char *wanted = content(FILES "column.sql"), *against = content(FILES "column.txt");
    assert_string_equal(got, wanted);
    for (char *line = said, *at = against, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        char *text = strstr(line, "column.yaml:"); /* behind the folder */
        assert_memory_equal(text, at, (size_t)(end + 1 - text));
        at += end + 1 - text;
        assert_true(end[1] != '\0' || *at == '\0');
    }
    free(got);
    got = columnar("--yql", "moments", &unsaid);
    assert_non_null(strstr(wanted, got));
    assert_true(strncmp(got, "-- app.moments:", 15) == 0 && strstr(got, "sides") == NULL);
    free(got);
    free(unsaid);
    got = columnar("--postgres", "moments", &unsaid); /* which could not make it */
    assert_string_equal(got, "");
    free(got);
    free(unsaid);
    free(said);
    free(wanted);
    free(against);
}

static void one_table_alone(void **state)
{
    (void)state;
    char *got = ddl("--postgres", "one"), *all = content(FILES "postgres.sql");
    char *from = strstr(all, "-- public.one:"), *to = strstr(all, "\n-- public.unsigned");
    assert_true(from != NULL && to != NULL);
    *to = '\0';
    assert_string_equal(got, from);
    free(got);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tables_as_postgres_writes_them),
        cmocka_unit_test(all_tables_as_yql_writes_them),
        cmocka_unit_test(boundaries_where_they_work),
        cmocka_unit_test(column_oriented_tables),
        cmocka_unit_test(one_table_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
