/* Why an INSERT goes to its session's own link, by how the session stands; and the counting. */
#include "proxy/ingest/blockers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "proxy/base/metrics_text.h"
#include "proxy/ingest/plan_cache.h"
#include "tests/proxy/ingest/plans.h"

enum { NOW = 1000 };

static void what_keeps_an_insert_out_of_batches(void **state)
{
    (void)state;
    const pgw_env good = {.utf8 = true, .conforming = true};
    static const struct {
        px_standing standing;
        pgw_env env;
        bool shows, rerouted;
        uint64_t slow_until;
        px_counter reason;
    } cases[] = {
        {.env = {.utf8 = true, .conforming = true}, .reason = PX_NO_BLOCKER},
        {.env = {.utf8 = true, .conforming = true}, .shows = true, .reason = PX_NO_BLOCKER},
        {.standing = {.private_session = true},
         .env = {.utf8 = true, .conforming = true},
         .reason = PX_UNBATCHED_SETTINGS},
        {.standing = {.output_changed = true},
         .env = {.utf8 = true, .conforming = true},
         .reason = PX_NO_BLOCKER},
        {.standing = {.output_changed = true},
         .env = {.utf8 = true, .conforming = true},
         .shows = true,
         .reason = PX_UNBATCHED_SETTINGS},
        {.env = {.conforming = true}, .reason = PX_UNBATCHED_ENCODING},
        {.env = {.utf8 = true}, .reason = PX_UNBATCHED_ENCODING},
        {.env = {.utf8 = true, .conforming = true}, .slow_until = NOW, .reason = PX_NO_BLOCKER},
        {.env = {.utf8 = true, .conforming = true},
         .slow_until = NOW + 1,
         .reason = PX_UNBATCHED_SLOW},
        {.env = {.utf8 = true, .conforming = true}, .rerouted = true, .reason = PX_UNBATCHED_LOCK},
        {.standing = {.touched = ~0u},
         .env = {.utf8 = true, .conforming = true},
         .reason = PX_NO_BLOCKER},
    };
    px_worker worker = {0};
    worker.loop.time = NOW;
    rw_table table = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const px_submitter submitter = {
            .worker = &worker, .slow_until = cases[i].slow_until, .rerouted = cases[i].rerouted};
        const px_identity identity = {.env = cases[i].env};
        const rw_insert insert = {.table = &table, .shows = cases[i].shows};
        if (px_blocker(&submitter, &cases[i].standing, &identity, &insert) != cases[i].reason)
            fail_msg("case %zu", i);
    }
    /* In SQL_ASCII on both sides what is ASCII is read alike. */
    static const struct {
        const char *text;
        px_counter reason;
    } texts[] = {{"insert 'x'", PX_NO_BLOCKER}, {"insert '\xe9'", PX_UNBATCHED_ENCODING}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const px_submitter submitter = {.worker = &worker};
        const px_standing standing = {0};
        const px_identity identity = {.env = {.conforming = true}, .ascii = true};
        const rw_insert insert = {.table = &table, .text = pgw_slice_str(texts[i].text)};
        assert_int_equal(px_blocker(&submitter, &standing, &identity, &insert), texts[i].reason);
    }
    /* Of a table that may read a setting: what may have changed one unseen. */
    table.reads_settings = true;
    static const unsigned quiets[] = {0, RW_EFFECT_READS, RW_EFFECT_RUNS | RW_EFFECT_READS};
    for (unsigned effect = 1; effect <= RW_EFFECT_READS; effect <<= 1)
        for (size_t quiet = 0; quiet < 3; quiet++) {
            const px_submitter submitter = {.worker = &worker};
            const px_standing standing = {.touched = effect};
            const px_identity identity = {.env = good};
            const rw_insert insert = {.table = &table};
            bool hidden = (effect & (RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_OUTPUT |
                                     RW_EFFECT_STATE)) != 0 ||
                          (effect == RW_EFFECT_RUNS && quiet < 2) ||
                          (effect == RW_EFFECT_READS && quiet < 1);
            table.quiet = quiets[quiet];
            assert_int_equal(px_blocker(&submitter, &standing, &identity, &insert),
                             hidden ? PX_UNBATCHED_SETTINGS : PX_NO_BLOCKER);
        }
}

static px_metrics *metrics;

/* The scrape has these lines, parted by blanks. */
static void expect(const char *lines)
{
    pgw_buf text = {0};
    char copy[512], *rest = NULL;
    px_metrics *sum = px_metrics_new(NULL);
    px_metrics_add(sum, metrics);
    px_metrics_write(sum, (double[PX_GAUGES]){0}, "1", &text);
    pgw_buf_add_byte(&text, '\0');
    snprintf(copy, sizeof copy, "%s", lines);
    for (char *line = strtok_r(copy, ";", &rest); line != NULL; line = strtok_r(NULL, ";", &rest)) {
        char whole[128];
        snprintf(whole, sizeof whole, "\nkeyspread_%s\n", line);
        if (strstr(text.ptr, whole) == NULL)
            fail_msg("no %s in%s", line, text.ptr);
    }
    pgw_buf_free(&text);
    px_metrics_free(sum);
}

static void texts_are_counted_by_reason(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool in_transaction, private;
        const char *lines;
    } cases[] = {
        {"INSERT INTO events (userid) VALUES (5)", true, false,
         "inserts_not_batched_total{reason=\"transaction\"} 1;"
         "rows_total{table=\"public.events\",partition=\"0\"} 1"},
        {"SELECT 1; INSERT INTO events (userid) VALUES (5); INSERT INTO events (userid) VALUES (6)",
         false, false,
         "inserts_not_batched_total{reason=\"group\"} 2;"
         "rows_total{table=\"public.events\",partition=\"0\"} 1;"
         "rows_total{table=\"public.events\",partition=\"14\"} 1"},
        {"INSERT INTO events (userid) VALUES (5), (5)", true, true,
         "inserts_not_batched_total{reason=\"settings\"} 1;"
         "rows_total{table=\"public.events\",partition=\"0\"} 2;"
         "requests_total{table=\"public.events\",partition=\"0\"} 1"},
        {"INSERT INTO events (userid) VALUES (5) RETURNING f(ts)", true, true,
         "inserts_not_batched_total{reason=\"returning\"} 1"},
        {"INSERT INTO serials (userid) VALUES (5)", false, false,
         "inserts_not_batched_total{reason=\"sequence\"} 1"},
        {"INSERT INTO forwards (userid) VALUES (1 + 1)", false, false,
         "inserts_not_batched_total{reason=\"uncomputable\"} 1"},
        {"INSERT INTO triggered (userid) VALUES (5)", false, false,
         "inserts_not_batched_total{reason=\"trigger\"} 1"},
        {"INSERT INTO events (userid) VALUES ('x'); INSERT INTO events (userid) VALUES (5)", false,
         false, "inserts_not_batched_total{reason=\"group\"} 1"},
        {"UPSERT INTO events (userid, ts) VALUES (5, '2026-01-01 00:00:00+00'), (5, '2026-01-01 "
         "00:00:00+00')",
         true, false,
         "inserts_not_batched_total{reason=\"transaction\"} 1;"
         "rows_total{table=\"public.events\",partition=\"0\"} 1"},
    };
    static px_plan_cache cache;
    static const cfg_config config = {.limits = {.row_bytes = 1 << 20, .key_bytes = 1 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        metrics = px_metrics_new(NULL);
        px_worker worker = {.config = &config, .plans = &cache, .metrics = metrics};
        const px_submitter submitter = {.worker = &worker};
        const px_standing standing = {.identity = plans.identity,
                                      .in_transaction = cases[i].in_transaction,
                                      .private_session = cases[i].private};
        const rw_table *pointers[TEST_TABLE_COUNT];
        rw_catalog view = test_catalog(pointers);
        px_text *text =
            px_text_parse(&worker, pgw_slice_str(cases[i].sql), &plans.catalog, &view, &test_env);
        px_text_hash(&worker, text, test_env);
        px_blocker_count_text(&submitter, &standing, text);
        expect(cases[i].lines);
        px_text_drop(text);
        px_plan_cache_clear(&cache);
        px_metrics_free(metrics);
    }
}

static void binds_are_counted_by_reason(void **state)
{
    (void)state;
    static const char *const values[] = {"5", "5"};
    static const cfg_config config = {.limits = {.row_bytes = 1 << 20, .key_bytes = 1 << 20}};
    metrics = px_metrics_new(NULL);
    px_worker worker = {.config = &config, .metrics = metrics};
    const px_submitter submitter = {.worker = &worker};
    const px_standing standing = {.identity = plans.identity};
    pgw_error error = PGW_ERROR_NONE;
    pgw_buf buf = {0};
    pgw_arena arena = {0};
    px_bound bound;
    px_plan *plan = plan_of("INSERT INTO events (userid) VALUES ($1), ($2)", NULL, 0, &error);
    const pgw_bind bind = bind_of(values, 2, &buf);
    assert_true(bind_keys(&worker, plan, &bind, &test_env, &arena, &bound, &error));
    px_blocker_count_bind(&submitter, &standing, plan, &bound);
    expect("inserts_not_batched_total{reason=\"group\"} 1;"
           "rows_total{table=\"public.events\",partition=\"0\"} 2");
    plan->refusal = &error; /* it is to fail: not counted */
    px_blocker_count_bind(&submitter, &standing, plan, &bound);
    expect("inserts_not_batched_total{reason=\"group\"} 1");
    plan->refusal = NULL;
    px_blocker_count_bind(&submitter, &standing, plan, &(px_bound){0}); /* nothing is known of it */
    expect("inserts_not_batched_total{reason=\"group\"} 2;"
           "rows_total{table=\"public.events\",partition=\"0\"} 2");
    px_plan_drop(plan);
    pgw_buf_free(&buf);
    pgw_arena_free(&arena);
    px_metrics_free(metrics);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, plans_setup, plans_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_keeps_an_insert_out_of_batches),
        TEST(texts_are_counted_by_reason),
        TEST(binds_are_counted_by_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
