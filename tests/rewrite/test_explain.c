/* The lines of explain, whole. */
#include "rewrite/statement/special/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewrite/statement/catalog/system_catalog.h"

#include "exact.h"
#include "planned.h"

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    pgw_buf text = {0};
    char part[4096];
    for (size_t len; (len = fread(part, 1, sizeof part, file)) > 0;)
        pgw_buf_add(&text, part, len);
    fclose(file);
    pgw_buf_add_byte(&text, '\0');
    return text.ptr;
}

static char *explain_by(const char *text, const rw_catalog *catalog)
{
    pgw_buf out = {0};
    rw_explain(exact(text), catalog, &test_env, &out);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static char *explain(const char *text)
{
    test_planned it;
    return explain_by(text, test_planned_catalog(&it));
}

static void every_statement_is_explained(void **state)
{
    (void)state;
    static const char *const files[][2] = {{VECTORS "/explain.sql", VECTORS "/explain.txt"},
                                           {VECTORS "/lookups.sql", VECTORS "/lookups.txt"},
                                           {VECTORS "/stars.sql", VECTORS "/stars.txt"},
                                           {VECTORS "/define.sql", VECTORS "/define.txt"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = read_file(files[i][0]);
        char *expected = read_file(files[i][1]);
        char *lines = explain(text);
        assert_string_equal(lines, expected);
        free(text);
        free(expected);
        free(lines);
    }
}

static void rows_of_copy_have_their_hashes(void **state)
{
    (void)state;
    char *lines = explain("copy public.events (userid, ts) from stdin csv");
    assert_string_equal(lines,
                        "original: copy public.events (userid, ts) from stdin csv\n"
                        "rewritten: copy public.events (userid, ts, \"userhash\") from stdin csv\n"
                        "table: public.events\nhash: per row\npartition: per row\n"
                        "batchable: no, because COPY stores all of its rows or none\n---\n");
    free(lines);
}

static void check_catalog(const rw_catalog *catalog, const char *file)
{
    char *text = read_file(VECTORS "/system_catalog.sql");
    char *expected = read_file(file);
    char *lines = explain_by(text, catalog);
    assert_string_equal(lines, expected);
    free(text);
    free(expected);
    free(lines);
}

/* What each statement of the text in front says of the session counts for an INSERT behind it. */
static void the_session_is_as_the_text_has_left_it(void **state)
{
    (void)state;
    static const struct {
        const char *before, *batchable;
    } cases[] = {
        {"select 1", "yes"},
        {"begin", "no, because it is inside of a transaction"},
        {"begin; rollback to a", "no, because it is inside of a transaction"},
        {"start transaction; commit", "yes"},
        {"begin; set row_security = off; rollback", "no, because the session has set row_security"},
        {"set escape_string_warning = off; set client_min_messages = error", "yes"},
        {"set row_security = off", "no, because the session has set row_security"},
        {"set xmloption = document; set row_security = off; reset xmloption",
         "no, because the session has set row_security"},
        {"set row_security = off; set row_security to default", "yes"},
        {"set row_security = off; reset all", "yes"},
        {"set row_security = off; discard all", "yes"},
        {"set a1 = 1; set a2 = 1; set a3 = 1; set a4 = 1; set a5 = 1; set a6 = 1; set a7 = 1; "
         "set a8 = 1; set a9 = 1; reset a9", "no, because the session has set a1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], line[128];
        snprintf(text, sizeof text,
                 "%s; insert into public.events (userid, ts) values (1, '2026-01-01 00:00:00+00')",
                 cases[i].before);
        snprintf(line, sizeof line, "\nbatchable: %s\n", cases[i].batchable);
        char *lines = explain(text);
        if (strstr(lines, line) == NULL)
            fail_msg("%s: %s", cases[i].before, lines);
        free(lines);
    }
}

/* One table that PostgreSQL's catalog does not tell of, and one that it does. */
static void the_catalog_is_asked(void **state)
{
    (void)state;
    rw_table events = test_tables[0], told = test_tables[1];
    told.listed = true;
    told.in_parts = true;
    events.system_columns = "1249.attrelid 1249.attname 1249.attisdropped 1259.oid 1259.relnatts"
                            " 2606.conname 2606.conkey 2610.indexrelid 2610.indkey";
    const rw_table *pointers[] = {&told, &events};
    const rw_catalog catalog = {.tables = pointers, .count = 2};
    check_catalog(&catalog, VECTORS "/system_catalog.txt");
    events.part_names = told.part_names = "partitioned";
    events.in_parts = true;
    events.last = 9; /* behind its hash column */
    check_catalog(&catalog, VECTORS "/system_catalog_parts.txt");
}

/* With every table listed there, PostgreSQL's catalog is as it is. */
static void the_catalog_is_left_where_it_tells_of_all(void **state)
{
    (void)state;
    rw_table told = test_tables[0], shown = test_tables[1];
    told.listed = true;
    shown.shows_hash = true;
    const rw_table *pointers[] = {&told, &shown};
    const rw_catalog catalog = {.tables = pointers, .count = 2};
    char *lines = explain_by("SELECT count(*) FROM pg_inherits", &catalog);
    assert_non_null(strstr(lines, "rewritten: SELECT count(*) FROM pg_inherits\n"));
    free(lines);
}

/* Names that are more than letters, also in a pattern. */
static void names_are_quoted(void **state)
{
    (void)state;
    rw_column columns[] = {{.name = "a'\\\".é h"}};
    rw_table table = {.schema = "s'", .name = "T", .columns = columns, .column_count = 1};
    const rw_table *tables[] = {&table, &table};
    const rw_catalog catalog = {.tables = tables, .count = 2};
    pgw_buf out = {0};
    rw_system_add(&out, "%p %h %q %2",
                  &(rw_system_marks){.catalog = &catalog,
                                     .arguments = {pgw_slice_str("1"), pgw_slice_str("2")}});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr, "(('s''', 'T'), ('s''', 'T')) (E'a''\\\\\".\\U000000e9 h') "
                                 "(?:\"?a''\\\\\\\\\"\"\\\\.é\\\\ h\"?) 2");
    pgw_buf_clear(&out);
    columns[0].name = "\xc3\xa9";
    rw_system_add(&out, "%h",
                  &(rw_system_marks){.catalog = &(rw_catalog){.tables = tables, .count = 1}});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr, "(E'\\U000000e9')");
    pgw_buf_clear(&out);
    columns[0].name = "09azAZ_/:@[`{~\x7f\x80\xff";
    rw_system_add(&out, "%q",
                  &(rw_system_marks){.catalog = &(rw_catalog){.tables = tables, .count = 1}});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr,
                        "(?:\"?09azAZ_\\\\/\\\\:\\\\@\\\\[\\\\`\\\\{\\\\~\\\\\x7f\x80\xff\"?)");
    pgw_buf_free(&out);
}

static void nothing_is_explained_by_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " ; ;", "-- nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *lines = explain(texts[i]);
        assert_string_equal(lines, "");
        free(lines);
    }
}

/* Each line is one line, whatever the statement holds. */
static void values_stay_on_their_line(void **state)
{
    (void)state;
    char *lines = explain("SELECT 'a\r\n\\n'\n, 1");
    assert_non_null(strstr(lines, "original: SELECT 'a\\r\\n\\\\n'\\n, 1\n"));
    assert_non_null(strstr(lines, "rewritten: SELECT 'a\\r\\n\\\\n'\\n, 1\n"));
    free(lines);
}

/* The names of all tables, which are constants where they are the same ones. */
static void names_stand_in_arrays(void **state)
{
    (void)state;
    rw_column columns[] = {{.name = "a'\\\"h"}}, others[] = {{.name = "h"}};
    rw_table one = {.schema = "s", .name = "T", .columns = columns, .column_count = 1};
    rw_table two = {.schema = "s", .name = "u{,}", .columns = columns, .column_count = 1};
    const rw_table *tables[] = {&one, &two};
    const rw_catalog catalog = {.tables = tables, .count = 2};
    pgw_buf out = {0};
    rw_system_add(&out, "%G", &(rw_system_marks){.catalog = &catalog});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr,
                        "(select 's'::pg_catalog.name, u.name, E'a''\\\\\"h'::pg_catalog.name from"
                        " pg_catalog.unnest('{\"T\",\"u{,}\"}'::pg_catalog.name[]) u(name))"
                        " g(schema, name, hash)");
    pgw_buf_clear(&out);
    two.columns = others;
    rw_system_add(&out, "%G", &(rw_system_marks){.catalog = &catalog});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr,
                        "rows from (pg_catalog.unnest('{\"s\",\"s\"}'::pg_catalog.name[]),"
                        " pg_catalog.unnest('{\"T\",\"u{,}\"}'::pg_catalog.name[]),"
                        " pg_catalog.unnest(E'{\"a''\\\\\\\\\\\\\"h\",\"h\"}'::pg_catalog.name[]))"
                        " g(schema, name, hash)");
    pgw_buf_clear(&out);
    one.listed = true; /* and so is not asked for */
    rw_system_add(&out, "%G", &(rw_system_marks){.catalog = &catalog});
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr, "(select 's'::pg_catalog.name, u.name, 'h'::pg_catalog.name from"
                                 " pg_catalog.unnest('{\"u{,}\"}'::pg_catalog.name[]) u(name))"
                                 " g(schema, name, hash)");
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_is_explained),
        cmocka_unit_test(rows_of_copy_have_their_hashes),
        cmocka_unit_test(the_session_is_as_the_text_has_left_it),
        cmocka_unit_test(the_catalog_is_asked),
        cmocka_unit_test(the_catalog_is_left_where_it_tells_of_all),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(names_stand_in_arrays),
        cmocka_unit_test(nothing_is_explained_by_nothing),
        cmocka_unit_test(values_stay_on_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
