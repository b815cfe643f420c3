/* Plans of prepared INSERTs: what is made of a text, and of a Bind that needs another one. */
#include "proxy/ingest/plan_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/proxy/ingest/plans.h"
#include "tests/rewrite/vectors.h"

static void add_types(const char *name, const uint32_t *types, size_t count, pgw_buf *out)
{
    pgw_buf_addf(out, " %s=", name);
    for (size_t i = 0; i < count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? "," : "", types[i]);
}

static void describe(const px_plan *plan, pgw_buf *out)
{
    pgw_buf_add_str(out, plan->form == RW_HASH_PARAMETER ? "parameter"
                         : plan->hash_at_bind            ? "at bind"
                                                         : "constant");
    add_types("types", plan->types, plan->insert->param_count, out);
    pgw_buf_add_str(out, plan->types_known ? "" : "!");
    add_types("declared", plan->declared, plan->declared_count, out);
    pgw_buf_addf(out, "%s%s ", plan->insert->shows ? " shows" : "",
                 px_plan_needs_zone(plan) ? " zone" : "");
    pgw_buf_add_slice(out, plan->rewritten);
    if (plan->refusal != NULL)
        pgw_buf_addf(out, " refused %s %s", plan->refusal->sqlstate, plan->refusal->message);
}

static size_t read_types(const char *text, uint32_t *types)
{
    size_t count = 0;
    for (char *at = (char *)text; *at != '-' && *at != '\0'; at += *at == ',')
        types[count++] = (uint32_t)strtoul(at, &at, 10);
    return count;
}

static void texts_become_plans(void **state)
{
    (void)state;
    plans.configs[0].atomicity = CFG_ATOMICITY_PARTITION;
    vectors it = {.file = fopen(VECTORS "/plans.txt", "r")};
    assert_non_null(it.file);
    int wrong = 0, cases = 0;
    for (; vectors_next(&it, 3); cases++) {
        uint32_t declared[8];
        size_t count = read_types(it.field[0], declared);
        pgw_error error;
        pgw_buf got = {0};
        px_plan *plan = plan_of(it.field[1], declared, count, &error);
        if (plan != NULL)
            describe(plan, &got);
        else
            pgw_buf_addf(&got, "! %s %s", error.sqlstate, error.message);
        if (!pgw_slice_eq_str(pgw_slice_buf(&got), it.field[2])) {
            print_error("line %d: %.*s\n", it.line, (int)got.len, got.ptr);
            wrong++;
        }
        pgw_buf_free(&got);
        px_plan_drop(plan);
    }
    fclose(it.file);
    plans.configs[0].atomicity = 0;
    assert_int_equal(wrong, 0);
    assert_true(cases > 20);
}

/* A plan that must be, and the keys of a Bind of texts to it. */
typedef struct bound_plan {
    px_plan *plan;
    pgw_arena arena;
    px_bound bound;
} bound_plan;

static bound_plan bind_to(const char *text, const uint32_t *declared, size_t declared_count,
                          const char *const *values, size_t count)
{
    static const cfg_config config = {.limits = {.row_bytes = 1000, .key_bytes = 1000}};
    bound_plan it = {0};
    px_worker worker = {.config = &config};
    pgw_buf buf = {0};
    pgw_error error;
    it.plan = plan_of(text, declared, declared_count, &error);
    assert_non_null(it.plan);
    pgw_bind message = bind_of(values, count, &buf);
    bind_keys(&worker, it.plan, &message, &test_env, &it.arena, &it.bound, &error);
    pgw_buf_free(&buf);
    return it;
}

static void drop(bound_plan *it)
{
    px_plan_drop(it->plan);
    pgw_arena_free(&it->arena);
}

static void expect(const px_plan *plan, const char *expected)
{
    pgw_buf got = {0};
    describe(plan, &got);
    if (!pgw_slice_eq_str(pgw_slice_buf(&got), expected))
        fail_msg("%.*s\nnot %s", (int)got.len, got.ptr, expected);
    pgw_buf_free(&got);
}

static const uint32_t int8_and_time[] = {PGW_INT8, PGW_TIMESTAMPTZ, PGW_INT8, PGW_TIMESTAMPTZ};

static void an_upsert_drops_rows_that_are_replaced(void **state)
{
    (void)state;
    static const char *const twice[] = {"5", "2026-01-01 00:00:00+00", "5",
                                        "2026-01-01 00:00:00+00"};
    static const char *const once[] = {"5", "2026-01-01 00:00:00+00", "6",
                                       "2026-01-01 00:00:00+00"};
    const char *text = "UPSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)";
    bound_plan it = bind_to(text, int8_and_time, 4, once, 4);
    assert_null(px_plan_for_bind(it.plan, it.bound.keys));
    drop(&it);
    it = bind_to(text, int8_and_time, 4, twice, 4);
    px_plan *less = px_plan_for_bind(it.plan, it.bound.keys);
    assert_non_null(less);
    assert_int_equal(less->left_out, 1);
    assert_ptr_equal(less->whole, it.plan);
    assert_int_equal(it.plan->references, 2);
    assert_false(less->in_parts);
    assert_string_not_equal(less->name, it.plan->name);
    assert_true(less->merge_hash != it.plan->merge_hash);
    expect(less,
           "parameter types=20,1184,20,1184 declared=20,1184,20,1184,20,20 INSERT INTO events "
           "(userid, ts, \"userhash\") VALUES ($3, $4, $6) ON CONFLICT (\"userhash\", "
           "\"userid\", \"ts\") DO UPDATE SET \"userid\" = EXCLUDED.\"userid\"");
    expect(it.plan, "parameter types=20,1184,20,1184 declared=20,1184,20,1184,20,20 INSERT INTO "
                    "events (userid, ts, \"userhash\") VALUES ($1, $2, $5), ($3, $4, $6) ON "
                    "CONFLICT (\"userhash\", \"userid\", \"ts\") DO UPDATE SET \"userid\" = "
                    "EXCLUDED.\"userid\"");
    px_plan_drop(less);
    assert_int_equal(it.plan->references, 1);
    drop(&it);
    it = bind_to("INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)", int8_and_time, 4,
                 twice, 4);
    assert_null(px_plan_for_bind(it.plan, it.bound.keys)); /* the server says 23505 */
    drop(&it);
}

static void a_refusing_plan_has_hashes_up_to_its_row(void **state)
{
    (void)state;
    static const char *const values[] = {"5", "2026-01-01 00:00:00+00", "x",
                                         "2026-01-01 00:00:00+00"};
    bound_plan it = bind_to("INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)",
                            int8_and_time, 4, values, 4);
    assert_int_equal(it.bound.known, 1);
    pgw_error error;
    pgw_fail(&error, "22P02", "no number");
    px_plan *refusing = px_plan_refusing(it.plan, it.bound.keys, 1, &error);
    assert_string_equal(refusing->refusal->message, "no number");
    assert_int_equal(refusing->form, RW_HASH_CONSTANT);
    assert_false(refusing->insert->rows[0].unhashed);
    assert_true(refusing->insert->rows[1].unhashed);
    assert_false(it.plan->insert->rows[1].unhashed);
    assert_true(refusing->hashes[0] == it.bound.keys[0].hash);
    assert_int_equal(refusing->left_out, 0);
    assert_int_equal(refusing->declared_count, 4);
    assert_ptr_equal(refusing->whole, it.plan);
    px_plan_drop(refusing);
    drop(&it);
}

static void rows_that_are_committed_are_left_out(void **state)
{
    (void)state;
    static const bool rows[] = {true, false};
    static const char *const values[] = {"5", "2026-01-01 00:00:00+00", "6",
                                         "2026-01-01 00:00:00+00"};
    bound_plan it = bind_to("INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)",
                            int8_and_time, 4, values, 4);
    px_plan *less = px_plan_without(it.plan, rows);
    assert_true(less->in_parts);
    assert_int_equal(less->left_out, 1);
    expect(less,
           "parameter types=20,1184,20,1184 declared=20,1184,20,1184,20,20 INSERT INTO events "
           "(userid, ts, \"userhash\") VALUES ($3, $4, $6)");
    px_plan_drop(less);
    drop(&it);
}

static void rows_of_one_form_have_a_statement_of_one_row(void **state)
{
    (void)state;
    static const uint32_t differing[] = {PGW_INT8, PGW_TIMESTAMPTZ, PGW_INT8, PGW_TIMESTAMP};
    static const struct {
        const char *text;
        const uint32_t *types;
        const char *row; /* NULL: there is none */
    } cases[] = {
        {"INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)", int8_and_time,
         "parameter types=20,1184 declared=20,1184,20 INSERT INTO events (userid, ts, "
         "\"userhash\") VALUES ($1, $2, $3)"},
        {"INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)", differing, NULL},
        {"INSERT INTO events (userid, ts) VALUES ($1, $2), ($4, $3)", int8_and_time, NULL},
        {"INSERT INTO events (userid, ts) VALUES ($1, $2), ($3, now())", int8_and_time, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error;
        px_plan *plan = plan_of(cases[i].text, cases[i].types, 4, &error);
        px_plan *row = px_plan_of_row(plan);
        assert_ptr_equal(px_plan_of_row(plan), row); /* not made again */
        if (cases[i].row == NULL)
            assert_null(row);
        else
            expect(row, cases[i].row);
        px_plan_drop(plan);
    }
}

/* INSERT INTO events (userid, event) VALUES ($1, $2), ($3), ($4) …; to be freed. */
static char *many_rows(unsigned count, bool one_more)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "INSERT INTO events (userid, event) VALUES ($1, now())");
    if (one_more)
        pgw_buf_addf(&text, ", ($2, $%u)", count + 1);
    for (unsigned i = one_more ? 3 : 2; i <= count; i++)
        pgw_buf_addf(&text, ", ($%u, now())", i);
    pgw_buf_add_byte(&text, '\0');
    return text.ptr;
}

/* Where hashes and parameters do not fit into one Bind, each Bind has its statement. */
static void hashes_that_have_no_room_wait_for_the_bind(void **state)
{
    (void)state;
    enum { ROWS = 32768 };
    pgw_error error;
    char *fitting = many_rows(ROWS - 1, true), *large = many_rows(ROWS, false);
    px_plan *plan = plan_of(fitting, NULL, 0, &error);
    assert_int_equal(plan->insert->param_count, ROWS);
    assert_int_equal(plan->form, RW_HASH_PARAMETER);
    assert_int_equal(plan->declared_count, 65535);
    assert_false(plan->hash_at_bind);
    px_plan_drop(plan);
    plan = plan_of(large, NULL, 0, &error);
    assert_true(plan->hash_at_bind);
    assert_int_equal(plan->form, RW_HASH_CONSTANT);
    assert_null(plan->refusal);
    assert_true(plan->insert->rows[0].unhashed && plan->insert->rows[ROWS - 1].unhashed);
    rw_key *keys = calloc(ROWS, sizeof *keys);
    for (size_t i = 0; i < ROWS; i++)
        keys[i].hash = i + 7;
    px_plan *bound = px_plan_for_bind(plan, keys);
    assert_false(bound->hash_at_bind);
    assert_int_equal(bound->left_out, 0);
    assert_int_equal(bound->declared_count, ROWS);
    assert_int_equal(bound->declared[ROWS - 1], PGW_INT8);
    assert_true(bound->hashes[ROWS - 1] == ROWS + 6);
    assert_false(bound->insert->rows[0].unhashed || bound->insert->rows[ROWS - 1].unhashed);
    assert_true(plan->insert->rows[0].unhashed);
    px_plan_drop(bound);
    px_plan_drop(plan);
    free(keys);
    free(fitting);
    free(large);
}

static void what_the_server_describes_holds(void **state)
{
    (void)state;
    static const uint32_t types[] = {PGW_INT4, PGW_TIMESTAMP, PGW_INT8};
    pgw_error error;
    px_plan *plan = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    assert_false(plan->described);
    assert_true(px_plan_describe(plan, types, 3));
    assert_true(plan->described && plan->types_known);
    assert_int_equal(plan->types[0], PGW_INT4);
    assert_int_equal(plan->types[1], PGW_TIMESTAMP);
    assert_true(px_plan_describe(plan, types, 3) && !plan->outdated);
    assert_false(px_plan_describe(plan, types + 2, 1)); /* it stays with what it was, */
    assert_true(plan->outdated);                        /* and is not to be found again */
    assert_int_equal(plan->types[0], PGW_INT4);
    assert_int_equal(plan->types[1], PGW_TIMESTAMP);
    px_plan_drop(plan);
}

/* --- the cache --- */

static bool same_id(px_plan_id a, px_plan_id b)
{
    return a.low == b.low && a.high == b.high;
}

static void ids_tell_plans_apart(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25};
    pgw_slice text = PGW_LITERAL("INSERT");
    px_catalog later = plans.catalog;
    const px_identity from = {.user = (char *)"v", .database = (char *)"d", .options = (char *)""};
    px_identity *somebody = px_identity_of(&from);
    px_plan_id first = px_plan_id_of(text, types, 2, plans.identity, &plans.catalog);
    assert_true(same_id(
        first, px_plan_id_of(PGW_LITERAL("INSERT"), types, 2, plans.identity, &plans.catalog)));
    assert_false(same_id(
        first, px_plan_id_of(PGW_LITERAL("INSERt"), types, 2, plans.identity, &plans.catalog)));
    assert_false(same_id(first, px_plan_id_of(text, types, 1, plans.identity, &plans.catalog)));
    assert_false(same_id(first, px_plan_id_of(text, types, 2, somebody, &plans.catalog)));
    later.epoch++;
    assert_false(same_id(first, px_plan_id_of(text, types, 2, plans.identity, &later)));
    px_identity_drop(somebody);
}

static void a_cache_keeps_plans_and_starts_anew_when_full(void **state)
{
    (void)state;
    enum { PLANS = 4096, SLOTS = 8192 };
    pgw_error error;
    px_plan_cache cache = {0};
    px_plan *one = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    px_plan *two = plan_of("INSERT INTO events (userid) VALUES ($1)", NULL, 0, &error);
    assert_null(px_plan_find(&cache, (px_plan_id){1, 1}));
    px_plan_remember(&cache, (px_plan_id){SLOTS - 1, 1}, one);
    px_plan_remember(&cache, (px_plan_id){SLOTS - 1, 2}, two); /* the same slot: around the end */
    px_plan_remember(&cache, (px_plan_id){2 * SLOTS - 1, 1}, two);
    assert_int_equal(cache.count, 3);
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 1}), one);
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 2}), two);
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){2 * SLOTS - 1, 1}), two);
    assert_null(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 3}));
    px_plan_remember(&cache, (px_plan_id){SLOTS - 1, 1}, two); /* in place of one */
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 1}), two);
    assert_int_equal(cache.count, 3);
    assert_int_equal(one->references, 1);
    assert_int_equal(two->references, 4);
    for (uint64_t i = 3; i < PLANS; i++)
        px_plan_remember(&cache, (px_plan_id){i, 7}, one);
    assert_int_equal(cache.count, PLANS);
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 2}), two);
    px_plan_remember(&cache, (px_plan_id){5, 8}, one);
    assert_int_equal(cache.count, 1);
    assert_null(px_plan_find(&cache, (px_plan_id){SLOTS - 1, 2}));
    assert_ptr_equal(px_plan_find(&cache, (px_plan_id){5, 8}), one);
    px_plan_cache_clear(&cache);
    assert_int_equal(cache.count, 0);
    assert_null(px_plan_find(&cache, (px_plan_id){5, 8}));
    assert_int_equal(one->references, 1);
    px_plan_drop(one);
    px_plan_drop(two);
}

/* 64 MiB of them, and none of more than an eighth of that. */
static void a_cache_keeps_so_many_bytes(void **state)
{
    (void)state;
    enum { MIB = 1024 * 1024 };
    pgw_error error;
    px_plan_cache cache = {0};
    px_plan *one = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    px_plan *two = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    (void)pgw_arena_alloc(&one->arena, 8 * MIB);
    px_plan_remember(&cache, (px_plan_id){1, 1}, one);
    assert_int_equal(cache.count, 0);
    (void)pgw_arena_alloc(&two->arena, 7 * MIB);
    for (uint64_t i = 1; i <= 9; i++)
        px_plan_remember(&cache, (px_plan_id){i, 1}, two);
    assert_int_equal(cache.count, 9);
    px_plan_remember(&cache, (px_plan_id){10, 1}, two);
    assert_int_equal(cache.count, 1);
    px_plan_cache_clear(&cache);
    px_plan_drop(one);
    px_plan_drop(two);
}

static px_plan *plan_with(px_catalog *catalog)
{
    pgw_error error;
    px_plan *plan = plan_of("INSERT INTO events (userid, ts) VALUES ($1, $2)", NULL, 0, &error);
    px_catalog_drop(plan->catalog);
    plan->catalog = px_catalog_take(catalog);
    return plan;
}

/* What a plan keeps is not kept for ever, for a snapshot that has gone does not come again. */
static void a_cache_lets_plans_of_old_snapshots_go(void **state)
{
    (void)state;
    px_plan_cache cache = {0};
    px_catalog catalogs[] = {{.references = 1, .epoch = 2, .current = true},
                             {.references = 1, .epoch = 3},
                             {.references = 1, .epoch = 4},
                             {.references = 1, .epoch = 1}};
    enum { CATALOGS = sizeof catalogs / sizeof *catalogs };
    for (uint64_t i = 0; i < CATALOGS; i++) {
        px_plan *plan = plan_with(&catalogs[i]);
        px_plan_remember(&cache, (px_plan_id){i, 1}, plan);
        px_plan_drop(plan);
    }
    assert_int_equal(cache.count, 3); /* the second went when the third came */
    for (uint64_t i = 0; i < CATALOGS; i++) {
        assert_int_equal(px_plan_find(&cache, (px_plan_id){i, 1}) != NULL, i != 1);
        assert_int_equal(catalogs[i].references, i != 1 ? 2 : 1);
    }
    px_plan_cache_clear(&cache);
    for (size_t i = 0; i < CATALOGS; i++)
        assert_int_equal(catalogs[i].references, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, plans_setup, plans_teardown)
    const struct CMUnitTest tests[] = {
        TEST(texts_become_plans),
        TEST(an_upsert_drops_rows_that_are_replaced),
        TEST(a_refusing_plan_has_hashes_up_to_its_row),
        TEST(rows_that_are_committed_are_left_out),
        TEST(rows_of_one_form_have_a_statement_of_one_row),
        TEST(hashes_that_have_no_room_wait_for_the_bind),
        TEST(what_the_server_describes_holds),
        TEST(ids_tell_plans_apart),
        TEST(a_cache_keeps_plans_and_starts_anew_when_full),
        TEST(a_cache_keeps_so_many_bytes),
        TEST(a_cache_lets_plans_of_old_snapshots_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
