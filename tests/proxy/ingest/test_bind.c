/* Binds to INSERTs: what is wrong with them, the keys they make, and what is sent. */
#include "proxy/ingest/bind.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "proxy/base/metrics_text.h"
#include "rewrite/hash/hash.h"
#include "tests/proxy/ingest/plans.h"
#include "tests/proxy/logged.h"

static int setup(void **state)
{
    return plans_setup(state) + redirect_log(state);
}

static int teardown(void **state)
{
    return plans_teardown(state) + restore_log(state);
}

static void what_is_wrong_with_a_bind(void **state)
{
    (void)state;
    static const struct {
        size_t formats, values;
        bool whole;
        const char *message; /* NULL: nothing */
    } cases[] = {
        {0, 2, true, NULL},
        {1, 2, true, NULL},
        {2, 2, true, NULL},
        {3, 2, true, "bind message has 3 parameter formats but 2 parameters"},
        {2, 3, true, "bind message has 2 parameter formats but 3 parameters"},
        {0, 1, true, "bind message supplies 1 parameters, but prepared statement \"s\" requires 2"},
        {1, 3, true, "bind message supplies 3 parameters, but prepared statement \"s\" requires 2"},
        {2, 2, false, "insufficient data left in message"},
        {3, 2, false, "bind message has 3 parameter formats but 2 parameters"},
    };
    pgw_error error;
    px_plan *plan = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pgw_bind bind = {.statement = PGW_LITERAL("s"),
                               .format_count = cases[i].formats,
                               .value_count = cases[i].values};
        error = PGW_ERROR_NONE;
        assert_int_equal(px_bind_check(plan, &bind, cases[i].whole, &error),
                         cases[i].message == NULL);
        if (cases[i].message == NULL)
            continue;
        assert_string_equal(error.sqlstate, "08P01");
        assert_string_equal(error.message, cases[i].message);
    }
    px_plan_drop(plan);
}

static uint64_t hash_of(int64_t userid)
{
    pgw_value value = {.type = PGW_INT8, .as.integer = userid};
    return rw_hash_key(&test_tables[0], &value);
}

static const cfg_config roomy = {.limits = {.row_bytes = 1000, .key_bytes = 1000}};

static void keys_up_to_the_first_that_cannot_be_told(void **state)
{
    (void)state;
    static const struct {
        const char *values[4];
        size_t known;
        const char *sqlstate;
    } cases[] = {
        {{"5", "2026-01-01 00:00:00+00", "6", NULL}, 2, ""},
        {{"5", NULL, "x", NULL}, 1, "22P02"},
        {{"x", NULL, "6", NULL}, 0, "22P02"},
        {{"5", "nonsense", "6", NULL}, 2, ""}, /* the server will say so */
    };
    px_worker worker = {.config = &roomy};
    pgw_error error;
    px_plan *plan =
        plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)", NULL, 0, &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf values = {0};
        px_bound bound;
        error = PGW_ERROR_NONE;
        const pgw_bind bind = bind_of(cases[i].values, 4, &values);
        bool good = bind_keys(&worker, plan, &bind, &test_env, &arena, &bound, &error);
        assert_int_equal(good, cases[i].sqlstate[0] == '\0');
        assert_string_equal(error.sqlstate, cases[i].sqlstate);
        assert_int_equal(bound.known, cases[i].known);
        for (size_t r = 0; r < bound.known; r++) {
            assert_true((uint64_t)bound.hashes[r] == hash_of(5 + (int64_t)r));
            assert_true(bound.keys[r].hash == hash_of(5 + (int64_t)r));
        }
        pgw_buf_free(&values);
        pgw_arena_free(&arena);
    }
    px_plan_drop(plan);
}

static void binary_values_are_read_as_such(void **state)
{
    (void)state;
    px_worker worker = {.config = &roomy};
    pgw_error error;
    pgw_arena arena = {0};
    px_bound bound;
    px_plan *plan = plan_of("INSERT INTO events (userid, ts) VALUES ($1, now())", NULL, 0, &error);
    const pgw_bind bind = {.formats = {"\0\1", 2},
                           .format_count = 1,
                           .values = {"\0\0\0\x8\0\0\0\0\0\0\0\x5", 12},
                           .value_count = 1};
    assert_true(bind_keys(&worker, plan, &bind, &test_env, &arena, &bound, &error));
    assert_true((uint64_t)bound.hashes[0] == hash_of(5));
    pgw_arena_free(&arena);
    px_plan_drop(plan);
}

static void what_cannot_be_computed_has_no_keys(void **state)
{
    (void)state;
    px_worker worker = {.config = &roomy};
    pgw_error error;
    px_bound bound = {.known = 9};
    px_plan *plan =
        plan_of("INSERT INTO forwards (userid, ts) VALUES (nextval('s'), $1)", NULL, 0, &error);
    const pgw_bind bind = {.value_count = 1};
    assert_true(bind_keys(&worker, plan, &bind, &test_env, &plan->arena, &bound, &error));
    assert_int_equal(bound.known, 0);
    assert_null(bound.keys);
    px_plan_drop(plan);
}

/* The Bind has our hashes behind its own values; where they are constants it stays as it is. */
static void hashes_stand_behind_the_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t values, sent;
    } cases[] = {{"INSERT INTO events (userid, ts) VALUES ($1, $2)", 2, 3},
                 {"INSERT INTO events (userid, ts) VALUES ($1, now()), ($2, now())", 2, 4},
                 {"INSERT INTO events (userid, ts, event) VALUES (5, $1, $2)", 2, 2}};
    static const char *const all[] = {"5", "6", "77", "-1"};
    static int64_t hashes[] = {77, -1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error;
        pgw_buf values = {0}, out = {0};
        const px_bound bound = {.hashes = hashes};
        px_plan *plan = plan_of(cases[i].text, NULL, 0, &error);
        const pgw_bind bind = bind_of(all, cases[i].values, &values);
        assert_true(px_bind_write(plan, &bind, (px_bind_names){PGW_LITERAL("p"), PGW_LITERAL("t")},
                                  &bound, &out, &error));
        pgw_bind sent;
        assert_true(pgw_bind_decode((pgw_slice){out.ptr + 5, out.len - 5}, &sent));
        assert_int_equal(out.ptr[0], 'B');
        assert_true(pgw_slice_eq_str(sent.portal, "p"));
        assert_true(pgw_slice_eq_str(sent.statement, "t"));
        assert_int_equal(sent.value_count, cases[i].sent);
        pgw_reader reader = pgw_reader_of(sent.values);
        for (size_t v = 0; v < sent.value_count; v++) {
            pgw_bind_value value = pgw_bind_next(&reader);
            assert_true(pgw_slice_eq_str(value.bytes, all[v]));
        }
        pgw_buf_free(&values);
        pgw_buf_free(&out);
        px_plan_drop(plan);
    }
}

/* A limit of rows and one of keys, told and counted; and refused where it is said so. */
static void large_rows_and_keys(void **state)
{
    (void)state;
    static rw_column columns[] = {COLUMN("k", PGW_TEXT, -1, .not_null = true),
                                  COLUMN("n", PGW_INT8, -1, .not_null = true),
                                  COLUMN("v", PGW_VARCHAR, -1, .not_null = true),
                                  COLUMN("c", PGW_BPCHAR, -1, .not_null = true),
                                  COLUMN("b", PGW_BYTEA, -1, .not_null = true),
                                  COLUMN("d", PGW_NUMERIC, -1, .not_null = true)};
    static size_t all[] = {0, 1, 2, 3, 4, 5};
    const rw_table table = {.name = (char *)"t",
                            .columns = columns,
                            .column_count = 6,
                            .primary_key = all,
                            .primary_key_count = 6};
    pgw_value values[6] = {{.type = PGW_TEXT}, {.type = PGW_INT8}};
    bool known[6] = {true, true, true, true, true, true};
    for (size_t i = 0; i < 6; i++)
        if (i != 1)
            values[i].as.bytes = (pgw_slice){"", 10};
    const rw_key key = {.values = values, .known = known}; /* 58 bytes */
    px_metrics *metrics = px_metrics_new(NULL);
    cfg_config config = {0};
    px_worker worker = {.config = &config, .metrics = metrics};
    static const struct {
        size_t row_limit, key_limit, row;
        const char *line, *message, *hint;
    } cases[] = {
        {100, 58, 100, NULL, NULL, NULL},
        {100, 58, 101, "level=warn event=large_row table=t bytes=101\n",
         "a row for table \"t\" has 101 bytes",
         "limits.row_bytes is 100, and limits.enforce is on."},
        {100, 57, 100, "level=warn event=large_key table=t bytes=58\n",
         "a key for table \"t\" has 58 bytes", "limits.key_bytes is 57, and limits.enforce is on."},
        {100, 57, 101, "level=warn event=large_row table=t bytes=101\n",
         "a row for table \"t\" has 101 bytes",
         "limits.row_bytes is 100, and limits.enforce is on."},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        pgw_error error = PGW_ERROR_NONE;
        config.limits.row_bytes = cases[i / 2].row_limit;
        config.limits.key_bytes = cases[i / 2].key_limit;
        config.limits.enforce = i % 2;
        bool good = px_bind_limit(&worker, &table, cases[i / 2].row, &key, &error);
        bool refused = cases[i / 2].line != NULL && config.limits.enforce;
        assert_int_equal(good, !refused);
        assert_string_equal(logged_line(), cases[i / 2].line != NULL ? cases[i / 2].line : "");
        assert_string_equal(error.sqlstate, refused ? "54000" : "");
        assert_string_equal(error.message, refused ? cases[i / 2].message : "");
        assert_string_equal(error.hint, refused ? cases[i / 2].hint : "");
    }
    values[0].null = true;
    known[2] = false;
    config.limits.key_bytes = 38;
    assert_true(px_bind_limit(&worker, &table, 1, &key, &(pgw_error){0}));
    config.limits.key_bytes = 37;
    assert_false(px_bind_limit(&worker, &table, 1, &key, &(pgw_error){0}));
    pgw_buf text = {0};
    px_metrics_write(metrics, (double[PX_GAUGES]){0}, "1", &text);
    pgw_buf_add_byte(&text, '\0');
    assert_non_null(strstr(text.ptr, "keyspread_oversized_rows_total{limit=\"row_bytes\"} 4\n"));
    assert_non_null(strstr(text.ptr, "keyspread_oversized_rows_total{limit=\"key_bytes\"} 3\n"));
    pgw_buf_free(&text);
    px_metrics_free(metrics);
}

/* A number may have more bytes than it is bound with. */
static void numbers_may_be_large_keys(void **state)
{
    (void)state;
    const px_worker worker = {.config = &roomy};
    rw_table table = {.name = (char *)"t", .primary_key_count = 1};
    assert_true(px_bind_is_small(&worker, &table, 6));
    table.key_unfolds = true;
    assert_false(px_bind_is_small(&worker, &table, 6));
}

/* Its share of the statement's values is what counts as the size of a row. */
static void a_row_has_its_share_of_the_bind(void **state)
{
    (void)state;
    static const char *const texts[] = {"5", "6"}; /* with their lengths 10 bytes */
    pgw_error error;
    px_plan *plan =
        plan_of("INSERT INTO events (userid, ts) VALUES ($1, now()), ($2, now())", NULL, 0, &error);
    for (size_t limit = 4; limit <= 5; limit++) {
        const cfg_config config = {
            .limits = {.row_bytes = limit, .key_bytes = 1000, .enforce = true}};
        px_metrics *metrics = px_metrics_new(NULL);
        px_worker worker = {.config = &config, .metrics = metrics};
        pgw_arena arena = {0};
        pgw_buf values = {0};
        px_bound bound;
        const pgw_bind bind = bind_of(texts, 2, &values);
        assert_int_equal(bind_keys(&worker, plan, &bind, &test_env, &arena, &bound, &error),
                         limit == 5);
        pgw_buf_free(&values);
        pgw_arena_free(&arena);
        px_metrics_free(metrics);
    }
    px_plan_drop(plan);
}

static px_write_group_key write_group_key(const char *a, const char *b)
{
    static rw_column columns[] = {COLUMN("a", PGW_TEXT, -1, .not_null = true),
                                  COLUMN("b", PGW_TEXT, -1, .not_null = true)};
    const rw_table table = {
        .columns = columns, .primary_key = test_first_two, .primary_key_count = 2};
    pgw_value values[2] = {
        {.type = PGW_TEXT, .null = a == NULL, .as.bytes = pgw_slice_str(a ? a : "")},
        {.type = PGW_TEXT, .null = b == NULL, .as.bytes = pgw_slice_str(b ? b : "")}};
    const rw_key key = {.values = values, .whole = 7, .partition = 3, .all_known = true};
    return px_write_group_key_of(&table, &key);
}

static void fingerprints_tell_keys_apart(void **state)
{
    (void)state;
    static const char *const keys[][2] = {{"ab", "c"},   {"a", "bc"},   {"", "abc"},  {"abc", ""},
                                          {NULL, "abc"}, {"abc", NULL}, {NULL, NULL}, {"", ""}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        px_write_group_key one = write_group_key(keys[i][0], keys[i][1]);
        assert_true(one.constant);
        assert_int_equal(one.hash, 7);
        assert_int_equal(one.partition, 3);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_int_equal(one.fingerprint == write_group_key(keys[k][0], keys[k][1]).fingerprint,
                             i == k);
    }
    const rw_key unknown = {.whole = 7, .partition = 3};
    px_write_group_key key = px_write_group_key_of(&test_tables[0], &unknown);
    assert_false(key.constant);
    assert_int_equal(key.fingerprint, 0);
    assert_int_equal(key.partition, 3);
}

/* Numbers that are exchanged, or moved from one to the other, are another key. Where the hash is of
 * the whole key it is the fingerprint. */
static void fingerprints_tell_numbers_apart(void **state)
{
    (void)state;
    static rw_column columns[] = {COLUMN("a", PGW_INT8, -1, .not_null = true),
                                  COLUMN("b", PGW_TIMESTAMPTZ, -1, .not_null = true)};
    rw_table table = {.columns = columns, .primary_key = test_first_two, .primary_key_count = 2};
    enum { MOST = 40 };
    uint64_t seen[MOST * MOST];
    size_t count = 0;
    for (int64_t a = 0; a < MOST; a++)
        for (int64_t b = 0; b < MOST; b++) {
            pgw_value values[2] = {{.type = PGW_INT8, .as.integer = a},
                                   {.type = PGW_TIMESTAMPTZ, .as.integer = b}};
            const rw_key key = {.values = values, .whole = 7, .all_known = true};
            uint64_t fingerprint = px_write_group_key_of(&table, &key).fingerprint;
            assert_true(fingerprint == px_write_group_key_of(&table, &key).fingerprint);
            for (size_t i = 0; i < count; i++)
                assert_true(seen[i] != fingerprint);
            seen[count++] = fingerprint;
            table.hash_key_count = 2;
            assert_int_equal(px_write_group_key_of(&table, &key).fingerprint, 7);
            table.hash_key_count = 1;
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_wrong_with_a_bind),          TEST(keys_up_to_the_first_that_cannot_be_told),
        TEST(binary_values_are_read_as_such),     TEST(what_cannot_be_computed_has_no_keys),
        TEST(hashes_stand_behind_the_parameters), TEST(large_rows_and_keys),
        TEST(numbers_may_be_large_keys),          TEST(a_row_has_its_share_of_the_bind),
        TEST(fingerprints_tell_keys_apart),       TEST(fingerprints_tell_numbers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
