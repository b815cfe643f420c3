/* Partitions are looked for again and again: who is asked when, and what comes of the answers. Its
 * thread is a real one; its clock stands still until the test says otherwise. */
#include "ydb/places/discovery.h"

#include "proxy/backend/places/maps.h"
#include "tests/ydb/places/monitoring.h"
#include "tests/proxy/logged.h"

enum { EVERY_S = 30, DOUBT_MS = 1000, START_MS = 100000, BUCKETS = 16 };

/* ---- the clock ---- */

static _Atomic uint64_t clock_ms;

uint64_t uv_hrtime(void)
{
    return atomic_load(&clock_ms) * 1000000;
}

/* ---- who is there ---- */

static const px_tenant *const nobody[] = {NULL};
static px_server server;
static px_worker worker;
static struct px_discovery *discovery;
static cfg_table tables[3];
static cfg_config config;

static cfg_table cfg_of(const char *schema, const char *name)
{
    return (cfg_table){.schema = (char *)schema,
                       .name = (char *)name,
                       .label = (char *)name,
                       .hash_column = (char *)"h",
                       .partitions = {.buckets = BUCKETS, .discover = true}};
}

static int setup(void **state)
{
    redirect_log(state);
    monitoring_start();
    clock_ms = START_MS;
    tables[0] = cfg_of(NULL, "t");
    tables[1] = cfg_of(NULL, "v");
    tables[1].partitions.discover = false;
    tables[2] = cfg_of("app", "u");
    config = (cfg_config){.tables = tables, .table_count = 3};
    config.backend.dsn = (char *)"host=x dbname=db";
    config.backend.monitoring = monitoring.url;
    config.backend.monitoring_s = EVERY_S;
    server = (px_server){.workers = &worker, .worker_count = 1, .config = &config};
    px_worker_init(&worker, &server, 0, nobody);
    return 0;
}

static void stop(void)
{
    px_ydb_discovery.refuse(discovery);
    px_ydb_discovery.stop(discovery);
    discovery = NULL;
}

static int teardown(void **state)
{
    if (discovery != NULL)
        stop();
    uv_run(&worker.loop, UV_RUN_NOWAIT); /* maps that came last */
    px_worker_drain(&worker);
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    px_maps_free(&worker);
    px_worker_free(&worker);
    px_metrics_free(worker.metrics);
    monitoring_stop();
    restore_log(state);
    return 0;
}

#define JSON(tuples) "{\"Table\":{\"SplitBoundary\":[" tuples "]}}"
#define CUT(at) "{\"KeyPrefix\":{\"Tuple\":[\"" #at "\"]}}"

static void answer_with(size_t i, const char *of, const char *body)
{
    set_answer(i, (answer){of, 200, body, NULL});
}

static uint32_t count_of(const char *schema, const char *name)
{
    const rw_table table = {.schema = (char *)schema,
                            .name = (char *)name,
                            .partitions = {.count = BUCKETS, .discovered = true}};
    return px_map_count(&worker, &table);
}

static void wait_for_count(const char *schema, const char *name, uint32_t count)
{
    while (count_of(schema, name) != count)
        uv_run(&worker.loop, UV_RUN_ONCE);
}

static void expect_asked(size_t n, const char *path)
{
    char beginning[64];
    snprintf(beginning, sizeof beginning, "GET /viewer/json/describe?path=%%2Fdb%%2F%s&", path);
    if (!begins(request(n), beginning))
        fail_msg("asked: %.60s", request(n));
}

static void set_clock(uint64_t ms)
{
    atomic_store(&clock_ms, START_MS + ms);
}

/* The clock goes on, and somebody doubts, so that it is asked at once: the `n`-th request in all.
 * When it comes, the answer to the one before has been dealt with. */
static void ask_again(size_t n)
{
    set_clock(EVERY_S * 1000 * n);
    px_discovery_doubt(discovery, "public.t");
    expect_asked(n, "t");
}

/* ---- */

static void tables_are_asked_for_in_turn(void **state)
{
    (void)state;
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    answer_with(1, "%2Fu&", JSON(CUT(5) "," CUT(6)));
    discovery = px_ydb_discovery.start(&server);
    expect_asked(1, "t");
    expect_asked(2, "u");
    wait_for_count("public", "t", 2);
    wait_for_count("app", "u", 3);
    assert_int_equal(count_of("public", "v"), BUCKETS);
    px_discovery_doubt(discovery, "nothing"); /* it is idle now */
    const char *text = logged();
    assert_non_null(strstr(text, "level=info event=partitions_discovered table=t partitions=2\n"));
    assert_non_null(strstr(text, "level=info event=partitions_discovered table=u partitions=3\n"));
    assert_int_equal(requests(), 2);
}

/* Who doubts is heard: after a second, or at once if the last answer is older. */
static void doubts_are_heeded(void **state)
{
    (void)state;
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    answer_with(1, "%2Fu&", JSON(CUT(5)));
    discovery = px_ydb_discovery.start(&server);
    wait_for_count("app", "u", 2);
    set_clock(EVERY_S * 1000 - 1);
    answer_with(1, "%2Fu&", JSON(CUT(5) "," CUT(6)));
    px_discovery_doubt(discovery, "public.u");
    px_discovery_doubt(discovery, "app.t");
    px_discovery_doubt(discovery, "app.");
    px_discovery_doubt(discovery, "app");
    px_discovery_doubt(discovery, "ap.u");
    px_discovery_doubt(discovery, "app.u2");
    px_discovery_doubt(discovery, "app.u");
    expect_asked(3, "u");
    wait_for_count("app", "u", 3);
    px_discovery_doubt(discovery, "public.t");
    expect_asked(4, "t");
    answer_with(0, "%2Ft&", JSON(CUT(5) "," CUT(6) "," CUT(7)));
    px_discovery_doubt(discovery, "public.t"); /* that answer is young */
    set_clock(EVERY_S * 1000 - 1 + DOUBT_MS);
    expect_asked(5, "t");
    wait_for_count("public", "t", 4);
    assert_int_equal(requests(), 5);
}

/* How often the log has it. */
static size_t told(const char *text, const char *line)
{
    size_t count = 0;
    for (; (text = strstr(text, line)) != NULL; text++)
        count++;
    return count;
}

static void what_is_the_same_is_not_sent_again(void **state)
{
    (void)state;
    const rw_table t = {
        .schema = (char *)"public", .name = (char *)"t", .partitions.discovered = true};
    config.table_count = 1;
    answer_with(0, "%2Ft&", JSON(CUT(5) "," CUT(6)));
    discovery = px_ydb_discovery.start(&server);
    wait_for_count("public", "t", 3);
    ask_again(2);
    ask_again(3);
    assert_int_equal(told(logged(), "partitions=3\n"), 1);
    assert_int_equal(px_map_partition(&worker, &t, 6), 2);
    answer_with(0, "%2Ft&", JSON(CUT(5) "," CUT(7)));
    ask_again(4);
    ask_again(5);
    assert_int_equal(told(logged(), "partitions=3\n"), 1);
    uv_run(&worker.loop, UV_RUN_NOWAIT);
    assert_int_equal(px_map_partition(&worker, &t, 6), 1);
}

static void one_partition_is_a_map_too(void **state)
{
    (void)state;
    config.table_count = 1;
    answer_with(0, "%2Ft&", "{\"TablePartitions\":[{}]}");
    discovery = px_ydb_discovery.start(&server);
    wait_for_count("public", "t", 1);
    ask_again(2);
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    ask_again(3);
    wait_for_count("public", "t", 2);
    assert_int_equal(told(logged(), "partitions=1\n"), 1);
}

/* What it says and is not understood ends the map. Told once. */
static void what_is_not_understood(void **state)
{
    (void)state;
    static const char line[] =
        "level=warn event=partitions_unknown table=t reason=\"it is no JSON\"\n";
    config.table_count = 1;
    answer_with(0, "%2Ft&", "<html>");
    discovery = px_ydb_discovery.start(&server);
    expect_asked(1, "t");
    ask_again(2);
    ask_again(3);
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    ask_again(4);
    wait_for_count("public", "t", 2);
    assert_int_equal(told(logged(), line), 1);
    answer_with(0, "%2Ft&", "<html>");
    ask_again(5);
    wait_for_count("public", "t", BUCKETS);
    ask_again(6);
    assert_int_equal(told(logged(), line), 1); /* it had been understood between */
}

static void where_nobody_answers_the_map_stays(void **state)
{
    (void)state;
    cfg_config elsewhere = config;
    elsewhere.table_count = config.table_count = 1;
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    discovery = px_ydb_discovery.start(&server);
    wait_for_count("public", "t", 2);
    set_answer(0, (answer){"%2Ft&", HANG_UP, NULL, NULL});
    ask_again(2);
    ask_again(3);
    uv_run(&worker.loop, UV_RUN_NOWAIT);
    assert_int_equal(count_of("public", "t"), 2);
    assert_int_equal(told(logged(), "event=partitions_unknown table=t"), 1);
    answer_with(0, "%2Ft&", JSON(CUT(5) "," CUT(6)));
    px_ydb_discovery.renew(discovery, &elsewhere); /* as `t` of this configuration: at once */
    wait_for_count("public", "t", 3);
}

/* Without monitoring nobody is asked, until a configuration has it. */
static void another_configuration(void **state)
{
    (void)state;
    const cfg_config with = config;
    config.backend.monitoring = NULL;
    answer_with(0, "%2Ft&", JSON(CUT(5)));
    discovery = px_ydb_discovery.start(&server);
    px_discovery_doubt(discovery, "public.t");
    px_ydb_discovery.renew(discovery, &with);
    wait_for_count("public", "t", 2);
    expect_asked(1, "t");
    expect_asked(2, "u");
    px_ydb_discovery.renew(discovery, &config);
    px_discovery_doubt(discovery, "public.t");
    cfg_config without_name = with;
    without_name.backend.dsn = (char *)"host=x";
    px_ydb_discovery.renew(discovery, &without_name);
    assert_true(begins(request(4), "GET /viewer/json/describe?path=%2F%2F"));
}

/* What is asked when all ends comes to nothing. */
static void the_end_is_not_waited_for(void **state)
{
    (void)state;
    set_answer(0, (answer){"%2Ft&", NEVER, NULL, NULL});
    discovery = px_ydb_discovery.start(&server);
    expect_asked(1, "t");
    stop();
    px_discovery_doubt(NULL, "public.t");
    uv_run(&worker.loop, UV_RUN_NOWAIT);
    assert_null(worker.maps);
    assert_string_equal(logged(), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tables_are_asked_for_in_turn),
        TEST(doubts_are_heeded),
        TEST(what_is_the_same_is_not_sent_again),
        TEST(one_partition_is_a_map_too),
        TEST(what_is_not_understood),
        TEST(where_nobody_answers_the_map_stays),
        TEST(another_configuration),
        TEST(the_end_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
