/* What PostgreSQL's grammar says of a statement, and that the lexer alone never says less. */
#include "protocol/utf8.h"
#include "rewrite/statement/script/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "rewrite/statement/words/write_scan.h"
#include "tables.h"
#include "vectors.h"

static rw_piece first_piece(pgw_slice text)
{
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    assert_true(rw_split_next(&lexer, &piece));
    return piece;
}

static rw_catalog catalog_of_tests(void)
{
    static const rw_table *pointers[TEST_TABLE_COUNT];
    return test_catalog(pointers);
}

static rw_tree_answer check(const char *text, rw_tree_found *found, pgw_error *error)
{
    rw_catalog catalog = catalog_of_tests();
    pgw_arena arena = {0};
    *error = PGW_ERROR_NONE;
    rw_tree_answer answer = rw_tree_check(exact(text), &catalog, &test_env, &arena, found, error);
    pgw_arena_free(&arena);
    return answer;
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        rw_tree_answer answer;
        bool inserts;
    } cases[] = {
        {"SELECT * FROM events", RW_TREE_HARMLESS, false},
        {"INSERT INTO events VALUES (1)", RW_TREE_HARMLESS, true},
        {"INSERT INTO events SELECT 1", RW_TREE_HARMLESS, true},
        {"UPSERT INTO events VALUES (1)", RW_TREE_HARMLESS, true},
        {"REPLACE INTO public.events VALUES (1)", RW_TREE_HARMLESS, true},
        {"INSERT INTO other SELECT * FROM events", RW_TREE_HARMLESS, false},
        {"WITH x AS (SELECT 1) REPLACE INTO events TABLE x", RW_TREE_HARMLESS, true},
        {"WITH x AS (INSERT INTO events VALUES (1)) INSERT INTO events TABLE x", RW_TREE_REFUSED,
         true},
        {"WITH x AS (UPSERT INTO events VALUES (1)) SELECT 1", RW_TREE_REFUSED, false},
        {"UPDATE events SET userid = 1", RW_TREE_HARMLESS, false},
        {"UPDATE events SET userhash = 1", RW_TREE_REFUSED, false},
        {"UPDATE triggered SET userid = 1", RW_TREE_REFUSED, false},
        {"UPDATE nowhere SET userid = 1", RW_TREE_HARMLESS, false},
        {"SELECT upsert, replace FROM events", RW_TREE_HARMLESS, false},
        {"SELECT 'upsert into' FROM events", RW_TREE_HARMLESS, false},
        {"CREATE RULE r AS ON UPDATE TO a DO INSERT INTO events VALUES (1)", RW_TREE_HARMLESS,
         false},
        {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC UPDATE events SET userid = 1; END",
         RW_TREE_HARMLESS, false},
        {"UPDATE events", RW_TREE_UNPARSED, false},
        {"SELECT 1; SELECT 2", RW_TREE_UNPARSED, false},
        {"", RW_TREE_UNPARSED, false},
        {"--", RW_TREE_UNPARSED, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error;
        rw_tree_found found;
        rw_tree_answer answer = check(cases[i].text, &found, &error);
        if (answer != cases[i].answer || found.inserts != cases[i].inserts)
            fail_msg("%d %d %s: %s", answer, found.inserts, error.message, cases[i].text);
        assert_true((answer == RW_TREE_HARMLESS) == (error.sqlstate[0] == '\0'));
    }
}

/* SET of a column of the key to what WHERE asks for. */
static void keys_that_stay(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool stays, by_value;
        rw_equal_parameters same;
    } cases[] = {
        {"UPDATE events SET userid = 1, event = 'x' WHERE userid = 1", true, true, {0}},
        {"UPDATE events SET userid = 1 WHERE event = 'x' AND (ts > 'now' AND 1 = userid)",
         true,
         true,
         {0}},
        {"UPDATE public.events e SET userid = 1 WHERE e.userid IN (1)", true, true, {0}},
        {"UPDATE events SET userid = 99999999999 WHERE events.userid = 99999999999",
         true,
         true,
         {0}},
        {"UPDATE events SET userid = '1' WHERE userid = '1'", true, true, {0}},
        {"UPDATE events SET (event, userid) = ('x', 1) WHERE userid = 1", true, true, {0}},
        {"UPDATE events SET userid = userid", true, false, {0}},
        {"UPDATE events e SET userid = e.userid FROM other", true, false, {0}},
        {"WITH u AS (UPDATE events SET userid = 1 WHERE userid = 1) SELECT 1", true, true, {0}},
        {"PREPARE p AS UPDATE events SET userid = 1 WHERE userid = 1", true, true, {0}},
        {"UPDATE events SET userid = $1, event = $2 WHERE userid = $3",
         true,
         true,
         {1, 3, PGW_INT8}},
        {"UPDATE events SET event = $1, userid = $2 WHERE userid = $2",
         true,
         true,
         {2, 2, PGW_INT8}},
        {"UPDATE events SET userid = $1 WHERE event = 'x' AND (ts = $3 AND userid = $2)",
         true,
         true,
         {1, 2, PGW_INT8}},
        {"EXPLAIN ANALYZE UPDATE events SET userid = $2 WHERE userid IN ($1)",
         true,
         true,
         {2, 1, PGW_INT8}},
        /* they are compared also where the key could not be given another hash */
        {"UPDATE triggered SET userid = $1, event = $2 WHERE userid = $3",
         true,
         true,
         {1, 3, PGW_INT8}},
        {"UPDATE events SET userid = 1 WHERE userid = 2", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid = '1'", false, true, {0}},
        {"UPDATE events SET userid = 1.0 WHERE userid = 1.00", false, true, {0}},
        {"UPDATE events SET userid = NULL WHERE userid = NULL", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid = 1 OR event = 'x'", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE NOT userid = 1", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE NOT (userid = 1 AND event = 'x')", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid <> 1", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid NOT IN (1)", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid IN (1, 2)", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid OPERATOR(own.=) 1", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid = ANY (1)", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userid IS NOT DISTINCT FROM 1", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE userhash = 1", false, true, {0}},
        {"UPDATE events SET userid = 1 FROM other WHERE other.userid = 1", false, true, {0}},
        {"UPDATE events e SET userid = 1 FROM events WHERE events.userid = 1", false, true, {0}},
        {"UPDATE events SET userid = other.userid FROM other", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE (SELECT userid = 1)", false, true, {0}},
        {"UPDATE events SET userid = 1 WHERE CURRENT OF c", false, true, {0}},
        {"UPDATE events SET userid[1] = userid", false, true, {0}},
        {"UPDATE events SET (event, userid) = (SELECT 'x', 1) WHERE userid = 1", false, true, {0}},
        {"UPDATE events SET userid = DEFAULT WHERE userid = 1", false, true, {0}},
        {"UPDATE events SET userhash = 1 WHERE userhash = 1", false, false, {0}},
        {"UPDATE events SET userid = $1 WHERE userid = 1", false, true, {0}},
        {"UPDATE events SET userid = $0 WHERE userid = $1", false, true, {0}},
        {"UPDATE events SET userid = $1 WHERE userid = $0", false, true, {0}},
        {"UPDATE events SET userid = $0 WHERE userid = $0", false, true, {0}},
        {"UPDATE events SET userid = $65536 WHERE userid = $1", false, true, {0}},
        {"UPDATE events SET userid = $1 WHERE userid = $65536", false, true, {0}},
        {"UPDATE events SET userid = $65535 WHERE userid = $65534",
         true,
         true,
         {65535, 65534, PGW_INT8}},
        {"UPDATE events SET userid = $1, event = $2 WHERE userid = $2", false, true, {0}},
        {"UPDATE events SET event = $1, userid = $1 WHERE userid = $2", false, true, {0}},
        {"UPDATE events SET event = $1, userid = $1 WHERE userid = $1", false, true, {0}},
        {"WITH u AS (UPDATE events SET userid = $1 WHERE userid = $2) INSERT INTO events VALUES "
         "(1)",
         false,
         true,
         {0}},
        {"PREPARE p AS UPDATE events SET userid = $1 WHERE userid = $1", false, true, {0}},
        {"MERGE INTO events USING other ON userid = 1 WHEN MATCHED THEN UPDATE SET userid = 1",
         false,
         false,
         {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error;
        rw_tree_found found;
        rw_tree_answer answer = check(cases[i].text, &found, &error);
        bool stays =
            answer == RW_TREE_HARMLESS && (found.change.table == NULL || found.change.otherwise);
        if (stays != cases[i].stays || found.by_value != cases[i].by_value)
            fail_msg("%d %d %s: %s", answer, found.by_value, error.message, cases[i].text);
        assert_int_equal(found.same_count, cases[i].same.set != 0);
        if (found.same_count > 0)
            assert_memory_equal(found.same, &cases[i].same, sizeof *found.same);
    }
}

static void what_libpg_query_can_be_given(void **state)
{
    (void)state;
    char text[RW_TREE_MAX_BYTES + 1];
    memset(text, ' ', sizeof text);
    memcpy(text, "SELECT", 6);
    rw_piece piece = {.tokens = RW_TREE_MAX_TOKENS};
    assert_true(rw_tree_can_read((pgw_slice){text, RW_TREE_MAX_BYTES}, &piece));
    assert_false(rw_tree_can_read((pgw_slice){text, sizeof text}, &piece));
    piece.tokens++;
    assert_false(rw_tree_can_read((pgw_slice){text, 6}, &piece));
}

/* A word, then blanks, then an open string of so many bytes, each of which counts as a token. */
static bool rejects_open(size_t blanks, size_t open)
{
    pgw_buf text = {0};
    pgw_buf_add_byte(&text, 'x');
    for (size_t i = 0; i < blanks; i++)
        pgw_buf_add_byte(&text, ' ');
    for (size_t i = 0; i < open; i++)
        pgw_buf_add_byte(&text, i == 0 ? '\'' : 'y');
    bool rejects = rw_tree_rejects(pgw_slice_buf(&text), &test_env);
    pgw_buf_free(&text);
    return rejects;
}

static void texts_that_are_too_long_are_not_rejected(void **state)
{
    (void)state;
    assert_true(rejects_open(3, RW_TREE_MAX_TOKENS - 1));
    assert_false(rejects_open(3, RW_TREE_MAX_TOKENS));
    assert_true(rejects_open(RW_TREE_MAX_BYTES - 1, 0));
    assert_false(rejects_open(RW_TREE_MAX_BYTES, 0));
    pgw_buf words = {0};
    for (size_t i = 0; i <= RW_TREE_MAX_TOKENS; i++)
        pgw_buf_add_str(&words, "x ");
    assert_true(rw_tree_rejects((pgw_slice){words.ptr, (size_t)2 * RW_TREE_MAX_TOKENS}, &test_env));
    assert_false(rw_tree_rejects(pgw_slice_buf(&words), &test_env));
    pgw_buf_free(&words);
}

/* A refusal by the tree that the words would let pass were a hole for long texts. */
static void whole_texts_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool rejected;
    } cases[] = {
        {"select 1; insert into events values (1)", false},
        {"insert into events select 1", false},
        {"", false},
        {"select 1; insert into events values (1", true},
        {"insert into events values ('open)", true},
        {"insert into events values ('a' 'b')", true},
        {"insert into events values (U&'\\zz')", true},
        {"insert into events values (E'\\x80')", true},
        {"insert into events values (9L)", true},
        {"upsert into events values (1", false}, /* no word of PostgreSQL's */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rw_tree_rejects(exact(cases[i].text), &test_env), cases[i].rejected);
    char *deep = malloc(60002); /* behind what is no token at all */
    memset(deep, '(', 60001);
    deep[0] = '\'';
    deep[60001] = '\0';
    assert_false(rw_tree_rejects(exact(deep), &test_env));
    free(deep);
}

static void words_never_miss(const char *file, int fields)
{
    vectors it = {.file = fopen(file, "r")};
    assert_non_null(it.file);
    rw_catalog catalog = catalog_of_tests();
    int refused = 0, harmless = 0, alarms = 0;
    while (vectors_next(&it, fields)) {
        pgw_slice all = exact(it.field[fields - 1]);
        rw_lexer lexer;
        rw_piece piece;
        rw_lexer_init(&lexer, all, true);
        while (rw_split_next(&lexer, &piece)) {
            pgw_arena arena = {0};
            pgw_slice text = {all.ptr + piece.start, piece.end - piece.start};
            pgw_error error;
            rw_tree_found found;
            rw_tree_answer answer =
                rw_tree_check(text, &catalog, &test_env, &arena, &found, &error);
            bool may = rw_scan_may_write(text, &piece, &catalog, &test_env, &arena);
            bool writes = found.inserts || found.change.table != NULL || found.copy != NULL;
            if ((answer == RW_TREE_REFUSED || writes) && !may)
                fail_msg("%s:%d: the words miss %.*s", file, it.line, (int)text.len, text.ptr);
            refused += answer == RW_TREE_REFUSED;
            harmless += answer == RW_TREE_HARMLESS && !writes;
            alarms += answer == RW_TREE_HARMLESS && !writes && may;
            pgw_arena_free(&arena);
        }
    }
    fclose(it.file);
    assert_true(refused > 0);
    assert_true(alarms * 5 <= harmless); /* and rarely cry wolf */
}

static void words_miss_nothing_that_the_tree_sees(void **state)
{
    (void)state;
    words_never_miss(VECTORS "/statements.txt", 3);
    words_never_miss(VECTORS "/refused.txt", 4);
}

static void words_tell_columns_and_places_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool may;
    } cases[] = {
        {"UPDATE events SET event = 'x' WHERE userid = 1", false},
        {"UPDATE events SET event = 'x' FROM a WHERE userid = 1", false},
        {"UPDATE events SET event = 'x' RETURNING userid", false},
        {"UPDATE events SET event = (SELECT 1 FROM a WHERE userid = 1)", true},
        {"UPDATE events SET event = (SELECT 1 FROM a), userid = 1", true},
        {"UPDATE ONLY (events) SET \"userid\" = 1", true},
        {"UPDATE ONLY (events) SET event = 1", false},
        {"UPDATE db.public.events SET USERHASH = 1", true},
        {"WITH x AS (UPDATE events SET event = 1) SELECT userid FROM x", false},
        {"WITH x AS (UPDATE events SET userid = 1) SELECT 1", true},
        {"SELECT 1 FROM events FOR UPDATE", false},
        {"SELECT 1 FROM events FOR UPDATE OF events", false},
        {"INSERT INTO other VALUES (1) ON CONFLICT DO UPDATE SET userid = 1", false},
        {"COPY events FROM STDIN", true},
        {"COPY events (a, b) TO STDOUT", false},
        {"COPY binary FROM STDIN", false},
        {"COPY BINARY events FROM STDIN", true},
        {"COPY BINARY \"events\" TO STDOUT", false},
        {"COPY (SELECT 1 FROM events) TO STDOUT", false},
        {"MERGE INTO events USING x", true},
        {"SELECT U&\"a\"", true},
    };
    rw_catalog catalog = catalog_of_tests();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_slice text = exact(cases[i].text);
        rw_piece piece = first_piece(text);
        if (rw_scan_may_write(text, &piece, &catalog, &test_env, &arena) != cases[i].may)
            fail_msg("%s", cases[i].text);
        pgw_arena_free(&arena);
    }
}

static void characters_are_counted_by_the_encoding(void **state)
{
    (void)state;
    pgw_env bytes = test_env;
    bytes.utf8 = false;
    pgw_slice text = PGW_LITERAL("a\xc3\xa4\xe2\x82\xac!");
    assert_int_equal(pgw_characters(text, 6, test_env.utf8), 3);
    assert_int_equal(pgw_characters(text, 6, bytes.utf8), 6);
    assert_int_equal(pgw_characters(text, 100, test_env.utf8), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(keys_that_stay),
        cmocka_unit_test(what_libpg_query_can_be_given),
        cmocka_unit_test(whole_texts_are_rejected),
        cmocka_unit_test(texts_that_are_too_long_are_not_rejected),
        cmocka_unit_test(words_miss_nothing_that_the_tree_sees),
        cmocka_unit_test(words_tell_columns_and_places_apart),
        cmocka_unit_test(characters_are_counted_by_the_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
