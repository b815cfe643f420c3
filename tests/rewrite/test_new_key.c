/* A key that DO UPDATE changes gets its hash in the statement, where the server can compute it. */
#define _GNU_SOURCE
#include "rewrite/insert/new_key.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables.h"

#define CONFLICT                                                                                   \
    "INSERT INTO events (userid, ts) VALUES (1, $1) ON CONFLICT (userid, ts) DO UPDATE SET "
#define ONCE                                                                                       \
    ") OFFSET 0 operator(pg_catalog.*) pg_catalog.num_nulls(\"events\".\"userhash\")) "            \
    "\"keyspread\"(\"keyspread\"))"

/* The insert, or NULL if it is refused. */
static rw_insert *parse(const char *text, const rw_table *table, pgw_arena *arena)
{
    const rw_table *const tables[] = {table};
    rw_catalog catalog = {.tables = tables, .count = 1};
    pgw_error error;
    rw_insert *insert = NULL;
    if (!rw_insert_parse(pgw_slice_str(text), &catalog, &test_env, arena, &insert, &error)) {
        assert_string_equal(error.sqlstate, "0A000");
        return NULL;
    }
    return insert;
}

/* What stands around the hash, which is long, in the statement that is sent. */
static void check(const char *set, const char *before, const char *behind)
{
    static const uint64_t hash[] = {901};
    pgw_arena arena = {0};
    char text[512];
    snprintf(text, sizeof text, CONFLICT "%s", set);
    const rw_insert *insert = parse(text, &test_tables[0], &arena);
    assert_non_null(insert);
    assert_int_equal(insert->blocker, RW_BLOCKER_EXPRESSION);
    assert_true(insert->new_key > 0);
    pgw_buf out = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, hash, &out);
    pgw_buf_add_byte(&out, '\0');
    const char *from = strstr(out.ptr, "DO UPDATE SET ") + strlen("DO UPDATE SET ");
    size_t left = strlen(from), end = strlen(behind);
    if (strncmp(from, before, strlen(before)) != 0 || left < end ||
        strcmp(from + left - end, behind) != 0)
        fail_msg("%s:\n%s", set, out.ptr);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void a_new_key_gets_its_hash(void **state)
{
    (void)state;
    const char *new =
        "(\"userid\", \"userhash\") = (SELECT \"keyspread\".\"keyspread\", case when ";
    check("userid = 2", new, " FROM (VALUES (2" ONCE);
    check("userid /* its */ = 1 + events.userid", new, " FROM (VALUES (1 + events.userid" ONCE);
    check("userid = excluded.userid::int8 WHERE true", new,
          " FROM (VALUES (excluded.userid::int8" ONCE " WHERE true");
    check("userid = '2', event = 'x'", new,
          " FROM (VALUES (cast('2' as bigint)" ONCE ", event = 'x'");
    check("userid = (($2)) RETURNING ts", new,
          " FROM (VALUES (cast((($2)) as bigint)" ONCE " RETURNING ts");
    check("userid = U&'!0032' UESCAPE '!'", new,
          " FROM (VALUES (cast(U&'!0032' UESCAPE '!' as bigint)" ONCE);
    check("userid = N'2'", new, " FROM (VALUES (N'2'" ONCE); /* the server says what is wrong */
    check("userid = (NULL)", new, " FROM (VALUES (cast((NULL) as bigint)" ONCE);
    char own[512];
    snprintf(own, sizeof own, "event = 'x', %s", new);
    check("event = 'x', userid = 2", own, " FROM (VALUES (2" ONCE);
}

/* What is sent when parameter 2 has this type. */
static bool is_cast(uint32_t type)
{
    static const uint64_t hash[] = {901};
    pgw_arena arena = {0};
    pgw_buf out = {0};
    const uint32_t types[] = {PGW_UNSPECIFIED, type};
    rw_insert *insert = parse(CONFLICT "userid = $2", &test_tables[0], &arena);
    assert_non_null(insert);
    rw_new_key_declared(insert, types, 2);
    rw_render_statement(insert, RW_HASH_CONSTANT, hash, &out);
    pgw_buf_add_byte(&out, '\0');
    bool cast = strstr(out.ptr, " FROM (VALUES (cast($2 as bigint)" ONCE) != NULL;
    assert_true(cast || strstr(out.ptr, " FROM (VALUES ($2" ONCE) != NULL);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
    return cast;
}

static void a_declared_parameter_keeps_its_type(void **state)
{
    (void)state;
    assert_true(is_cast(PGW_UNSPECIFIED));
    assert_true(is_cast(PGW_UNKNOWN));
    assert_false(is_cast(PGW_TEXT));
    assert_false(is_cast(PGW_INT8));
}

static void what_the_server_cannot_hash_is_refused(void **state)
{
    (void)state;
    static const char *const sets[] = {"userid = DEFAULT",
                                       "userid = 2, userid = 3",
                                       "userid[1] = 2",
                                       "userhash = 2",
                                       "(userid, event) = (2, 'x')",
                                       "userid = $1",
                                       "userid =",
                                       "userid + 1"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        pgw_arena arena = {0};
        char text[512];
        snprintf(text, sizeof text, CONFLICT "%s", sets[i]);
        if (parse(text, &test_tables[0], &arena) != NULL)
            fail_msg("%s is taken", sets[i]);
        pgw_arena_free(&arena);
    }
    rw_table table = test_tables[0];
    pgw_arena arena = {0};
    table.hash_function = RW_CITYHASH64;
    assert_null(parse(CONFLICT "userid = 2", &table, &arena));
    table.hash_function = RW_XXH3;
    table.heeds_updates = true;
    assert_null(parse(CONFLICT "userid = 2", &table, &arena));
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_key_gets_its_hash),
        cmocka_unit_test(a_declared_parameter_keeps_its_type),
        cmocka_unit_test(what_the_server_cannot_hash_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
