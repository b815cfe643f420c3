/* INSERT of a query into a table whose key its defaults make. */
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"
#include "tests/rewrite/shorten.h"
#include "tests/rewrite/tables.h"

static rw_column columns[] = {
    COLUMN("v", PGW_TEXT, -1, .not_null = false),
    COLUMN("id", PGW_INT8, -1, .default_text = "nextval('s')", .has_default = true, .always = true,
           .identity = true),
    COLUMN("w", PGW_TEXT, -1, .has_default = true),
    COLUMN("at", PGW_TIMESTAMPTZ, -1, .default_text = "now()", .has_default = true),
    HASH("h"),
};
static size_t key[] = {1, 3};
static rw_table made = TEST_TABLE("public", "made", columns, 4, key, key, 2, .mergeable = true);

/* What the server gets, "pass", or the error. */
static void describe(const char *sql, const pgw_env *env, pgw_buf *out)
{
    const rw_table *tables[] = {&made};
    const rw_catalog catalog = {.tables = tables, .count = 1};
    pgw_arena arena = {0};
    pgw_error error;
    rw_insert *insert = NULL;
    if (!rw_insert_parse(exact(sql), &catalog, env, &arena, &insert, &error)) {
        pgw_buf_addf(out, "%s %zu %s", error.sqlstate, error.position, error.message);
    } else if (insert == NULL) {
        pgw_buf_add_str(out, "pass");
    } else {
        rw_render_statement(insert, RW_HASH_CONSTANT, NULL, out);
        test_shorten(out);
    }
    pgw_buf_add_byte(out, '\0');
    pgw_arena_free(&arena);
}

static void check(const char *sql, const pgw_env *env, const char *expected)
{
    pgw_buf out = {0};
    describe(sql, env, &out);
    assert_string_equal(out.ptr, expected);
    pgw_buf_free(&out);
}

/* Each default is made once a row, for the row and for its hash. */
static void defaults_are_made_beside_the_query(void **state)
{
    (void)state;
    check("INSERT INTO made (v) SELECT 'x'", &test_env,
          "INSERT INTO made (v, \"id\", \"at\", \"h\") OVERRIDING SYSTEM VALUE SELECT 'x', "
          "\"keyspread\".\"keyspread default 1\", \"keyspread\".\"keyspread default 2\", <hash> "
          "FROM (SELECT \"keyspread\".*, (pg_catalog.nextval('s')) AS \"keyspread default 1\", "
          "(pg_catalog.now()) AS "
          "\"keyspread default 2\" FROM (SELECT NULL) \"keyspread\" OFFSET 0) "
          "\"keyspread\"(\"keyspread 1\")");
    check("INSERT INTO made (v, w) SELECT * FROM o", &test_env,
          "INSERT INTO made (v, w, \"id\", \"at\", \"h\") OVERRIDING SYSTEM VALUE SELECT "
          "\"keyspread\".*, <hash> FROM (SELECT \"keyspread\".*, (pg_catalog.nextval('s')) AS "
          "\"keyspread "
          "default 1\", (pg_catalog.now()) AS \"keyspread default 2\" FROM (SELECT * FROM o) "
          "\"keyspread\" "
          "OFFSET 0) \"keyspread\"");
    check("INSERT INTO made (v, id) OVERRIDING SYSTEM VALUE SELECT a, b FROM o", &test_env,
          "INSERT INTO made (v, id, \"at\", \"h\") OVERRIDING SYSTEM VALUE SELECT "
          "\"keyspread\".\"keyspread 1\", \"keyspread\".\"keyspread 2\", "
          "\"keyspread\".\"keyspread default 1\", <hash> FROM (SELECT \"keyspread\".*, "
          "(pg_catalog.now()) AS "
          "\"keyspread default 1\" FROM (SELECT a, b FROM o) \"keyspread\" OFFSET 0) "
          "\"keyspread\"(\"keyspread 1\", \"keyspread 2\")");
    check("INSERT INTO made (v) OVERRIDING SYSTEM VALUE SELECT 'x'", &test_env,
          "INSERT INTO made (v, \"id\", \"at\", \"h\") OVERRIDING SYSTEM VALUE SELECT 'x', "
          "\"keyspread\".\"keyspread default 1\", \"keyspread\".\"keyspread default 2\", <hash> "
          "FROM (SELECT \"keyspread\".*, (pg_catalog.nextval('s')) AS \"keyspread default 1\", "
          "(pg_catalog.now()) AS "
          "\"keyspread default 2\" FROM (SELECT NULL) \"keyspread\" OFFSET 0) "
          "\"keyspread\"(\"keyspread 1\")");
}

static void what_user_value_overrides_is_made(void **state)
{
    (void)state;
    check("INSERT INTO made (v) OVERRIDING USER VALUE SELECT a FROM o", &test_env,
          "INSERT INTO made (v, \"id\", \"at\", \"h\") OVERRIDING SYSTEM VALUE SELECT "
          "\"keyspread\".\"keyspread 1\", \"keyspread\".\"keyspread default 1\", "
          "\"keyspread\".\"keyspread default 2\", <hash> FROM (SELECT \"keyspread\".*, "
          "(pg_catalog.nextval('s')) AS \"keyspread default 1\", (pg_catalog.now()) AS \"keyspread "
          "default 2\" FROM "
          "(SELECT a FROM o) \"keyspread\" OFFSET 0) \"keyspread\"(\"keyspread 1\")");
    columns[1].type_name = "bigint";
    check("INSERT INTO made (id, at) OVERRIDING USER VALUE SELECT a, b FROM o", &test_env,
          "INSERT INTO made (id, at, \"h\") OVERRIDING SYSTEM VALUE SELECT "
          "coalesce(\"keyspread\".\"keyspread default 1\"::bigint, "
          "\"keyspread\".\"keyspread 1\")::bigint, \"keyspread\".\"keyspread 2\", <hash> "
          "FROM (SELECT \"keyspread\".*, (pg_catalog.nextval('s')) AS \"keyspread default 1\" FROM "
          "(SELECT a, b FROM o) \"keyspread\" OFFSET 0) \"keyspread\"(\"keyspread 1\", "
          "\"keyspread 2\")");
    columns[1].type_name = "";
}

/* … but not beside another one, which would be written then. */
static void an_identity_beside_it_is_not_overridden(void **state)
{
    (void)state;
    columns[2].identity = true;
    check("INSERT INTO made (v, w) OVERRIDING USER VALUE SELECT a, b FROM o", &test_env,
          "0A000 22 cannot compute the hash of table \"made\": column \"w\" is an identity beside "
          "another (OVERRIDING USER VALUE)");
    check("INSERT INTO made (v, w) OVERRIDING USER VALUE VALUES ('x', 'y')", &test_env,
          "0A000 22 cannot compute the hash of table \"made\": column \"w\" is an identity beside "
          "another (OVERRIDING USER VALUE)");
    columns[2].identity = false;
}

/* PostgreSQL says 428C9. */
static void an_identity_column_is_the_servers_to_refuse(void **state)
{
    (void)state;
    check("INSERT INTO made (id) SELECT 5", &test_env, "pass");
    check("INSERT INTO made SELECT 'x', 5", &test_env, "pass");
}

static void a_default_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    const char *refused = "0A000 25 cannot compute the hash of table \"made\": column \"at\" is "
                          "not listed";
    pgw_env other = test_env;
    other.conforming = false; /* what a backslash means in the default's text is another thing */
    columns[3].default_text = "f('\\')";
    check("INSERT INTO made (v, w) SELECT 'x', 'y'", &other, refused);
    columns[3].default_text = "now()";
    columns[3].generated = true;
    check("INSERT INTO made (v, w) SELECT 'x', 'y'", &test_env, refused);
    columns[3].generated = false;
    check("INSERT INTO made (v, id) OVERRIDING USER VALUE SELECT * FROM o", &test_env,
          "0A000 48 cannot compute the hash of table \"made\": column \"id\" is drawn from its "
          "sequence (OVERRIDING USER VALUE)");
}

static void no_function_of_the_servers_hashes_by_cityhash(void **state)
{
    (void)state;
    made.hash_function = RW_CITYHASH64;
    check("INSERT INTO made SELECT * FROM o", &test_env,
          "0A000 18 cannot compute the hash of table \"made\": column \"id\" comes from a query");
    made.hash_function = RW_XXH3;
}

/* More than one growth of the list. */
static void many_columns_are_read(void **state)
{
    (void)state;
    check(
        "INSERT INTO made (v) SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18",
        &test_env, "pass");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_made_beside_the_query),
        cmocka_unit_test(what_user_value_overrides_is_made),
        cmocka_unit_test(an_identity_beside_it_is_not_overridden),
        cmocka_unit_test(an_identity_column_is_the_servers_to_refuse),
        cmocka_unit_test(a_default_that_cannot_be_made_is_refused),
        cmocka_unit_test(no_function_of_the_servers_hashes_by_cityhash),
        cmocka_unit_test(many_columns_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
