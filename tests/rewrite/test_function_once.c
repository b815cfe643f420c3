/* A Query that makes a function of an INSERT, calls it and drops it: what its body becomes, and
 * which are left as they are. */
#include "rewrite/statement/special/function_once.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

static pgw_arena arena;

/* What stands in the place of the body; no pointer: it is left. */
static pgw_slice changed(const char *text, const rw_meaning *unqualified, rw_script *script)
{
    static const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    catalog.unqualified = unqualified;
    pgw_slice exact_text = exact(text);
    rw_script_parse(exact_text, &catalog, &test_env, NULL, &arena, script);
    rw_function_once(exact_text, &catalog, &test_env, &arena, script);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if (statement->star_count == 0)
            continue;
        assert_true(i == 0 && statement->star_count == 1 && script->changes);
        return statement->stars->text;
    }
    return (pgw_slice){NULL, 0};
}

#define CREATE                                                                                     \
    "CREATE OR REPLACE FUNCTION pg_temp.f(OUT response \"events\", OUT e text) RETURNS RECORD AS "
#define INSERT "INSERT INTO \"events\" (\"userid\",\"ts\",\"event\") VALUES (5,now(),'x')"
#define THEN " RETURNING * INTO response;"
#define CAUGHT                                                                                     \
    " EXCEPTION WHEN unique_violation THEN GET STACKED DIAGNOSTICS e = PG_EXCEPTION_DETAIL;"
#define END                                                                                        \
    " LANGUAGE plpgsql; SELECT (f.response).\"userid\", f.e FROM pg_temp.f(); DROP FUNCTION IF "   \
    "EXISTS pg_temp.f();"

static void the_hash_is_computed_in_the_body(void **state)
{
    (void)state;
    rw_script script;
    pgw_slice body = changed(CREATE "$b$ BEGIN " INSERT THEN CAUGHT " END $b$" END, NULL, &script);
    const char *text = pgw_arena_copy(&arena, body).ptr;
    assert_non_null(text);
    static const char *const parts[] = {
        " BEGIN INSERT INTO \"public\".\"events\" (\"userid\", \"ts\", \"event\", \"userhash\") "
        "SELECT 5, ",
        " RETURNING * INTO response; EXCEPTION WHEN unique_violation THEN GET STACKED DIAGNOSTICS "
        "e = "
        "PG_EXCEPTION_DETAIL; e := pg_catalog.regexp_replace(pg_catalog.regexp_replace(",
        "'^Key [(]userhash, (.*?)[)]=[(]-?[0-9]+, ', E'Key (\\\\1)=('), ",
        "'^Key [(](.*), userhash[)]=[(](.*), -?[0-9]+[)] ', E'Key (\\\\1)=(\\\\2) '); END "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(text, parts[i]);
        if (found == NULL)
            fail_msg("%s\nis not in\n%s", parts[i], text);
        text = found;
    }
    pgw_arena_free(&arena);
}

/* The body may end without an answer, and without a clause for errors; another spelling of one. */
static void the_rest_of_the_body_may_differ(void **state)
{
    (void)state;
    static const struct {
        const char *body, *behind; /* what follows the INSERT */
    } cases[] = {
        {"BEGIN " INSERT "; END", "; END "},
        {"BEGIN " INSERT "; END;", "; END; "},
        {"BEGIN " INSERT THEN " END", " RETURNING * INTO response; END "},
        {"BEGIN " INSERT "; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS e := "
         "pg_exception_detail; END;",
         "; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS e := pg_exception_detail; e := "
         "pg_catalog.regexp_replace(pg_catalog.regexp_replace(e, '^Key [(]userhash, (.*?)[)]=[(]-?[0-9]+, ', E'Key "
         "(\\\\1)=('), '^Key [(](.*), userhash[)]=[(](.*), -?[0-9]+[)] ', E'Key (\\\\1)=(\\\\2) '); END; "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_script script;
        pgw_buf text = {0};
        pgw_buf_addf(&text, CREATE "$b$ %s $b$" END, cases[i].body);
        pgw_buf_add_byte(&text, '\0');
        pgw_slice body = changed(text.ptr, NULL, &script);
        size_t len = strlen(cases[i].behind);
        assert_true(body.len > len);
        assert_memory_equal(body.ptr + body.len - len, cases[i].behind, len);
        pgw_buf_free(&text);
        pgw_arena_free(&arena);
    }
}

static void assert_left(const char *text, const rw_meaning *unqualified)
{
    rw_script script;
    if (changed(text, unqualified, &script).ptr != NULL)
        fail_msg("%s", text);
    pgw_arena_free(&arena);
}

#define WITH_BODY(body) CREATE "$b$ " body " $b$" END
#define WITH_INSERT(insert) WITH_BODY("BEGIN " insert THEN CAUGHT " END")

static void others_are_left(void **state)
{
    (void)state;
    static const char *const texts[] = {
        WITH_BODY("BEGIN " INSERT THEN CAUGHT " END") " SELECT 1",
        "SELECT 1; " WITH_BODY("BEGIN " INSERT THEN CAUGHT " END"),
        CREATE "'BEGIN INSERT INTO events (userid, ts) VALUES (5, now()); END'" END,
        CREATE "$b$BEGIN " INSERT
               "; END$b$ LANGUAGE sql; SELECT f.e FROM pg_temp.f(); DROP FUNCTION pg_temp.f()",
        CREATE "$b$BEGIN " INSERT
               "; END$b$ LANGUAGE plpgsql SET search_path = a; SELECT f.e FROM pg_temp.f(); "
               "DROP FUNCTION pg_temp.f()",
        "CREATE FUNCTION f(OUT r events) RETURNS RECORD AS $b$BEGIN " INSERT
        "; END$b$ LANGUAGE plpgsql; "
        "SELECT f.r FROM f(); DROP FUNCTION f()",
        CREATE "$b$BEGIN " INSERT
               "; END$b$ LANGUAGE plpgsql; SELECT f.e FROM pg_temp.f(); DROP FUNCTION pg_temp.g()",
        CREATE "$b$BEGIN " INSERT
               "; END$b$ LANGUAGE plpgsql; SELECT f.e FROM pg_temp.g(); DROP FUNCTION pg_temp.f()",
        CREATE
        "$b$BEGIN " INSERT
        "; END$b$ LANGUAGE plpgsql; SELECT g('x') FROM pg_temp.f(); DROP FUNCTION pg_temp.f()",
        CREATE "$b$BEGIN " INSERT
               "; END$b$ LANGUAGE plpgsql; SELECT * FROM pg_temp.f(); DROP FUNCTION pg_temp.f()",
        CREATE
        "$b$BEGIN " INSERT
        "; END$b$ LANGUAGE plpgsql; SELECT f.e FROM pg_temp.f(), g; DROP FUNCTION pg_temp.f()",
        CREATE "$b$BEGIN " INSERT "; END$b$ LANGUAGE plpgsql; SELECT f.e FROM pg_temp.f(); "
               "DROP FUNCTION pg_temp.f() CASCADE",
        WITH_BODY("DECLARE x int; BEGIN " INSERT THEN CAUGHT " END"),
        WITH_BODY("BEGIN SET search_path = other; " INSERT THEN CAUGHT " END"),
        WITH_BODY("BEGIN " INSERT THEN " " INSERT THEN CAUGHT " END"),
        WITH_BODY("BEGIN " INSERT " RETURNING userid INTO response;" CAUGHT " END"),
        WITH_BODY("BEGIN " INSERT THEN " EXCEPTION WHEN others THEN NULL; END"),
        WITH_BODY("BEGIN " INSERT THEN CAUGHT CAUGHT " END"),
        WITH_BODY("BEGIN " INSERT THEN " EXCEPTION END"),
        WITH_BODY("BEGIN " INSERT THEN " EXCEPTION WHEN others END"),
        WITH_BODY("BEGIN " INSERT THEN " EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS; END"),
        WITH_BODY("BEGIN " INSERT THEN
                  " EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS e; END"),
        WITH_BODY("BEGIN " INSERT THEN
                  " EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS e = MESSAGE_TEXT; END"),
        WITH_BODY(
            "BEGIN " INSERT THEN
            " EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS e > PG_EXCEPTION_DETAIL; END"),
        WITH_BODY("BEGIN " INSERT " RETURNING * INTO; END"),
        WITH_BODY("BEGIN " INSERT THEN CAUGHT " END f"),
        WITH_BODY("BEGIN " INSERT THEN CAUGHT),
        WITH_BODY("BEGIN " INSERT),
        WITH_INSERT("INSERT INTO others (userid, ts) VALUES (5, now())"),
        WITH_INSERT("INSERT INTO broken (userid, ts) VALUES (5, now())"),
        WITH_INSERT("INSERT INTO events VALUES (5, now())"),
        WITH_INSERT("INSERT INTO events DEFAULT VALUES"),
        WITH_INSERT("INSERT INTO events () VALUES ()"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5)"),
        WITH_INSERT("INSERT INTO events (userid) VALUES (5, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (DEFAULT, DEFAULT)"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5, now()), (6, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5, now() x)"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5 AS y, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (x, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5::, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (- 'x', now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES ($1, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES ((SELECT 5), now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5, now()) LIMIT 1"),
        WITH_INSERT("INSERT INTO events (userid, ts[1]) VALUES (5, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts, userhash) VALUES (5, now(), 7)"),
        WITH_INSERT("INSERT INTO events (userid, ts) OVERRIDING USER VALUE VALUES (5, now())"),
        WITH_INSERT("INSERT INTO events (userid, ts) SELECT 5, now()"),
        WITH_INSERT("INSERT INTO events (userid, ts) VALUES (5, now("),
        WITH_INSERT("UPSERT INTO events (userid, ts) VALUES (5, now())"),
        "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_left(texts[i], NULL);
    rw_script script;
    assert_non_null(changed(WITH_INSERT(INSERT), NULL, &script).ptr);
    pgw_arena_free(&arena);
}

static void names_must_be_sure(void **state)
{
    (void)state;
    rw_script script;
    rw_meaning meanings[TEST_TABLE_COUNT] = {RW_MEANS_OTHERS};
    assert_left(WITH_INSERT(INSERT), meanings);
    assert_non_null(changed(WITH_INSERT("INSERT INTO public.events (userid, ts) VALUES (5, now())"),
                            meanings, &script)
                        .ptr);
    pgw_arena_free(&arena);
    meanings[0] = RW_MEANS_UNKNOWN;
    assert_left(WITH_INSERT(INSERT), meanings);
    meanings[0] = RW_MEANS_OURS;
    assert_non_null(changed(WITH_INSERT(INSERT), meanings, &script).ptr);
    pgw_arena_free(&arena);
}

/* What ends the body in the middle would be another function. */
static void the_quote_is_not_in_the_body(void **state)
{
    (void)state;
    static rw_column columns[4];
    memcpy(columns, test_event_columns, sizeof columns);
    columns[3].name = (char *)"$b$";
    rw_table table = test_tables[0];
    table.columns = columns;
    const rw_table *pointer = &table;
    rw_catalog catalog = {.tables = &pointer, .count = 1};
    for (size_t i = 0; i < 2; i++) {
        rw_script script;
        pgw_slice text = exact(i == 0 ? WITH_BODY("BEGIN " INSERT THEN " END")
                                      : CREATE "$c$ BEGIN " INSERT THEN " END $c$" END);
        rw_script_parse(text, &catalog, &test_env, NULL, &arena, &script);
        rw_function_once(text, &catalog, &test_env, &arena, &script);
        assert_int_equal(script.statements[0].star_count, i);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_computed_in_the_body),
        cmocka_unit_test(the_rest_of_the_body_may_differ),
        cmocka_unit_test(others_are_left),
        cmocka_unit_test(names_must_be_sure),
        cmocka_unit_test(the_quote_is_not_in_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
