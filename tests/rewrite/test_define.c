/* Tables that are made or altered: where a refusal points, and where a position leads back to. */
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

static pgw_arena arena;

static int teardown(void **state)
{
    (void)state;
    pgw_arena_free(&arena);
    return 0;
}

/* Ordinary tables; `there`: all that the configuration names. */
static const rw_statement *parse_where(const char *text, bool there)
{
    static rw_table made[TEST_TABLE_COUNT];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        made[i] = test_tables[i];
        made[i].partitions.kind = RW_PARTITION_BUCKETS;
        made[i].oid = there && strncmp(text, "CREATE", 6) == 0 ? 16384 : 0;
        pointers[i] = &made[i];
    }
    const rw_catalog planned = {.tables = pointers, .count = TEST_TABLE_COUNT};
    rw_catalog catalog = planned;
    rw_script script;
    if (!there)
        catalog.count = 0;
    catalog.planned = &planned;
    rw_script_parse(exact(text), &catalog, &test_env, NULL, &arena, &script);
    assert_int_equal(script.count, 1);
    return script.statements;
}

/* What is made is not there yet. */
static const rw_statement *parse(const char *text)
{
    return parse_where(text, strncmp(text, "CREATE TABLE", 12) != 0);
}

static void refusals_point_at_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sqlstate;
        size_t position;
    } cases[] = {
        {"CREATE TABLE events (userid int)", "42P16", 14},
        {"CREATE TABLE /* \xc3\xa4 */ events (userid int)", "42P16", 22},
        {"CREATE TABLE events (userid int PRIMARY KEY, ts int)", "42P16", 33},
        {"CREATE TABLE events (userid int, ts int, PRIMARY KEY (userid))", "42P16", 42},
        {"CREATE TABLE events (LIKE other INCLUDING INDEXES)", "0A000", 27},
        {"CREATE TABLE events AS SELECT 1", "0A000", 14},
        {"SELECT 1 AS userid INTO events", "0A000", 25},
        {"(WITH x AS (SELECT 1) SELECT 1 INTO events FROM x) UNION SELECT 2", "0A000", 37},
        {"CREATE TABLE events OF a_type", "0A000", 14},
        {"ALTER TABLE events DROP userhash", "0A000", 13},
        {"ALTER TABLE events DROP userid", "0A000", 13},
        {"ALTER TABLE ONLY events DROP COLUMN IF EXISTS userid CASCADE", "0A000", 18},
        {"ALTER TABLE events ADD PRIMARY KEY (userid)", "42P16", 24},
        {"ALTER TABLE events ADD PRIMARY KEY USING INDEX i", "0A000", 13},
        {"ALTER TABLE events RENAME userhash TO h", "0A000", 13},
        {"ALTER TABLE other INHERIT events", "0A000", 13},
        {"ALTER TABLE other ATTACH PARTITION events FOR VALUES IN (1)", "0A000", 36},
        {"ALTER TABLE other ADD FOREIGN KEY (a, b) REFERENCES serials", "0A000", 53},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rw_statement *statement = parse(cases[i].text);
        if (statement->error == NULL)
            fail_msg("%s", cases[i].text);
        assert_string_equal(statement->error->sqlstate, cases[i].sqlstate);
        if (statement->error->position != cases[i].position)
            fail_msg("%s: %zu", cases[i].text, statement->error->position);
        assert_true(statement->error->hint[0] != '\0');
    }
}

/* PostgreSQL refuses a table that is there; should it have gone by then, it must not be made. */
static void what_is_there_is_not_made(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sent;
        size_t position;
    } cases[] = {
        {"CREATE TABLE events ()", "CREATE TABLE events (CHECK ('" RW_REFUSAL "'))", 14},
        {"CREATE TABLE IF NOT EXISTS public.events (userid int PRIMARY KEY, ts int /* last */)",
         "CREATE TABLE IF NOT EXISTS public.events (userid int PRIMARY KEY, ts int, "
         "CHECK ('" RW_REFUSAL "') /* last */)",
         54},
        {"CREATE TABLE events (ts int, userid int, PRIMARY KEY (ts)) TABLESPACE x",
         "CREATE TABLE events (ts int, userid int, PRIMARY KEY (ts), CHECK ('" RW_REFUSAL
         "')) TABLESPACE x",
         42},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const pgw_reading reading = {&test_env, &arena, NULL};
        pgw_buf out = {0};
        rw_conditions conditions;
        const rw_statement *statement = parse_where(cases[i].text, true);
        assert_int_equal(statement->kind, RW_STATEMENT_FORWARD);
        assert_true(statement->defines);
        assert_string_equal(statement->error->sqlstate, "42P16");
        assert_int_equal(statement->error->position, cases[i].position);
        rw_conditions_of(statement, NULL, &reading, &conditions);
        rw_conditions_render(&conditions, exact(cases[i].text), &out);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, cases[i].sent);
        pgw_buf_free(&out);
    }
    assert_int_equal(parse_where("CREATE TABLE events AS SELECT 1", true)->kind,
                     RW_STATEMENT_REFUSED);
    assert_null(parse_where("CREATE TABLE events (userid int, ts int)", true)->error);
}

/* What is the client's is told where it wrote it. */
static void positions_lead_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "CREATE TABLE events (userid int, ts nosuch, PRIMARY KEY (userid, ts)) TABLESPACE x",
        "CREATE TABLE loose (userid int, ts int CHECK (ts > 0), PRIMARY KEY (ts, userid), x int)",
        "ALTER TABLE events ADD PRIMARY KEY (userid, ts), ADD x int"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        static const pgw_reading reading = {&test_env, &arena, NULL};
        pgw_slice text = exact(texts[i]);
        const rw_statement *statement = parse(texts[i]);
        rw_conditions conditions;
        pgw_buf out = {0};
        size_t told = 0;
        rw_conditions_of(statement, NULL, &reading, &conditions);
        rw_conditions_render(&conditions, text, &out);
        assert_true(out.len > text.len);
        for (size_t at = 0; at < out.len; at++) {
            size_t back = rw_conditions_position(&conditions, text, at + 1, false);
            if (rw_conditions_put_in(&conditions, text, at + 1, false))
                continue;
            assert_in_range(back, 1, text.len);
            assert_int_equal(out.ptr[at], text.ptr[back - 1]);
            told++;
        }
        assert_int_equal(told, text.len);
        pgw_buf_free(&out);
    }
}

/* What rw_defines_alone() says of them: nothing of it depends on the tables that there are. */
static void what_is_alone_is_sent_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_ALONE_COUNT; i++) {
        static const pgw_reading reading = {&test_env, &arena, NULL};
        pgw_buf sent[2] = {{0}, {0}};
        for (int there = 0; there < 2; there++) {
            const rw_statement *statement = parse_where(test_alone[i], there);
            assert_int_equal(statement->kind, RW_STATEMENT_FORWARD);
            rw_conditions conditions;
            rw_conditions_of(statement, NULL, &reading, &conditions);
            rw_conditions_render(&conditions, exact(test_alone[i]), &sent[there]);
            pgw_buf_addf(&sent[there], " | %.*s | %u %d %d", (int)statement->behind.len,
                         statement->behind.ptr, statement->effects, statement->before.len > 0,
                         statement->warning);
            pgw_buf_add_byte(&sent[there], '\0');
        }
        assert_string_equal(sent[0].ptr, sent[1].ptr);
        pgw_buf_free(&sent[0]);
        pgw_buf_free(&sent[1]);
    }
}

/* --- tables with a key of their own, under a pattern, and what inherits from them --- */

/* `own` is known by its own key (ts, userid), hashed by ts; `parts` is partitioned; `alike` and
 * `pg` are hashed by userid, as events is, `pg` by another function. Returns the text's first
 * statement. */
static const rw_statement *parse_own(const char *text)
{
    static size_t key[] = {1, 0}, first[] = {1};
    static rw_table made[5];
    static const rw_table *pointers[5];
    static rw_catalog planned;
    static const char *const names[] = {"events", "own", "parts", "alike", "pg"};
    for (size_t i = 0; i < 5; i++) {
        made[i] = test_tables[0];
        made[i].name = (char *)names[i];
        made[i].partitions.kind = RW_PARTITION_BUCKETS;
        pointers[i] = &made[i];
    }
    made[1].own_key = true;
    made[1].key_name = (char *)"own_pkey";
    made[1].primary_key = key;
    made[1].hash_key = first;
    made[2].in_parts = true;
    made[4].hash_function = RW_PG_HASH;
    planned = (rw_catalog){.tables = pointers, .count = 5};
    rw_catalog catalog = planned;
    rw_script script;
    catalog.planned = &planned;
    rw_script_parse(exact(text), &catalog, &test_env, NULL, &arena, &script);
    assert_true(script.count > 0);
    return script.statements;
}

static void expect_all(const char *const *texts, size_t count, const char *message)
{
    for (size_t i = 0; i < count; i++) {
        const rw_statement *statement = parse_own(texts[i]);
        bool refused = statement->error != NULL;
        if (message == NULL ? refused
                            : !refused || strstr(statement->error->message, message) == NULL)
            fail_msg("%s: %s", texts[i], refused ? statement->error->message : "passed");
    }
}

#define EXPECT_ALL(texts, message) expect_all(texts, sizeof(texts) / sizeof *(texts), message)

/* Nothing but the key of such a table says what its hashes are made of. */
static void an_own_key_is_kept(void **state)
{
    (void)state;
    static const char *const taken[] = {
        "ALTER TABLE own DROP COLUMN userid",
        "ALTER TABLE own ADD x int, DROP ts",
        "ALTER TABLE own DROP CONSTRAINT own_pkey",
        "ALTER TABLE own DROP CONSTRAINT own_pkey, ADD CONSTRAINT c UNIQUE (ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey, ADD PRIMARY KEY (userid, ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey CASCADE, ADD PRIMARY KEY USING INDEX i",
        "ALTER TABLE own DROP CONSTRAINT own_pkey; ALTER TABLE own ADD PRIMARY KEY (userid, ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey; ALTER TABLE s.own ADD PRIMARY KEY (ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey; COMMIT; ALTER TABLE own ADD PRIMARY KEY (ts)",
        "ALTER TABLE own DROP ts; ALTER TABLE own ADD PRIMARY KEY (ts)"};
    static const char *const passed[] = {
        "ALTER TABLE own DROP COLUMN event",
        "ALTER TABLE own DROP CONSTRAINT other",
        "ALTER TABLE own ADD x int",
        "ALTER TABLE own ALTER userid SET DEFAULT 1",
        "ALTER TABLE own DROP CONSTRAINT own_pkey, ADD PRIMARY KEY (ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey, ADD PRIMARY KEY (ts, event)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey, DROP event, ADD CONSTRAINT c PRIMARY KEY (ts)",
        "ALTER TABLE own DROP CONSTRAINT own_pkey; ALTER TABLE ONLY own ADD PRIMARY KEY (ts)",
        "ALTER TABLE events DROP COLUMN ts",
        "ALTER TABLE events RENAME userid TO other",
        "ALTER TABLE events DROP CONSTRAINT own_pkey"};
    EXPECT_ALL(taken, "cannot take the primary key of table \"own\" away");
    EXPECT_ALL(passed, NULL);
}

/* Any key is right that begins as the table's own. */
static void an_own_key_may_grow(void **state)
{
    (void)state;
    static const char *const right[] = {"ALTER TABLE own ADD PRIMARY KEY (ts)",
                                        "ALTER TABLE own ADD PRIMARY KEY (ts, event, userid)"};
    static const char *const wrong[] = {"ALTER TABLE own ADD PRIMARY KEY (userid)",
                                        "ALTER TABLE own ADD PRIMARY KEY (userid, ts)",
                                        "ALTER TABLE events ADD PRIMARY KEY (ts)",
                                        "ALTER TABLE events ADD PRIMARY KEY (userid, ts, event)"};
    EXPECT_ALL(right, NULL);
    EXPECT_ALL(wrong, "the primary key of table");
}

static void heirs_are_hashed_alike(void **state)
{
    (void)state;
    static const char *const refused[] = {"ALTER TABLE other INHERIT events",
                                          "ALTER TABLE own INHERIT events",
                                          "ALTER TABLE pg INHERIT events",
                                          "ALTER TABLE parts ATTACH PARTITION own DEFAULT",
                                          "ALTER TABLE parts ATTACH PARTITION pg DEFAULT",
                                          "ALTER TABLE nothing ATTACH PARTITION events DEFAULT"};
    static const char *const passed[] = {"ALTER TABLE alike INHERIT events",
                                         "ALTER TABLE events INHERIT alike",
                                         "ALTER TABLE events INHERIT other",
                                         "ALTER TABLE events NO INHERIT other",
                                         "ALTER TABLE parts ATTACH PARTITION alike DEFAULT",
                                         "ALTER TABLE parts ATTACH PARTITION nothing DEFAULT",
                                         "ALTER TABLE parts DETACH PARTITION own"};
    EXPECT_ALL(refused, "one that inherits from");
    EXPECT_ALL(passed, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refusals_point_at_what_is_wrong, teardown),
        cmocka_unit_test_teardown(what_is_there_is_not_made, teardown),
        cmocka_unit_test_teardown(positions_lead_back, teardown),
        cmocka_unit_test_teardown(what_is_alone_is_sent_alike, teardown),
        cmocka_unit_test_teardown(an_own_key_is_kept, teardown),
        cmocka_unit_test_teardown(an_own_key_may_grow, teardown),
        cmocka_unit_test_teardown(heirs_are_hashed_alike, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
