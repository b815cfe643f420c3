/* What is counted, added up, bounded and told. */
#include "proxy/base/metrics_text.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
    px_metrics *main, *worker;
    pgw_buf text;
} t;

static int setup(void **state)
{
    (void)state;
    t.main = px_metrics_new(NULL);
    t.worker = px_metrics_new(t.main);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_metrics_free(t.worker);
    px_metrics_free(t.main);
    pgw_buf_free(&t.text);
    return 0;
}

/* A scrape of both. */
static const char *scrape(void)
{
    double gauges[PX_GAUGES] = {[PX_BACKEND_UP] = 1, [PX_QUEUE_LIMIT] = 268435456};
    px_metrics *sum = px_metrics_new(t.main);
    px_metrics_expect(sum, "public.events", 2, 500, 1048576);
    px_metrics_add(sum, t.main);
    px_metrics_add(sum, t.worker);
    pgw_buf_clear(&t.text);
    px_metrics_write(sum, gauges, "1.2.3", &t.text);
    pgw_buf_add_byte(&t.text, '\0');
    px_metrics_free(sum);
    return t.text.ptr;
}

/* The scrape has the line, whole. */
static void expect(const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(scrape(), whole) == NULL)
        fail_msg("no line \"%s\" in\n%s", line, t.text.ptr);
}

static void expect_absent(const char *text)
{
    if (strstr(scrape(), text) != NULL)
        fail_msg("\"%s\" is in\n%s", text, t.text.ptr);
}

static void test_threads_are_added_up(void **state)
{
    (void)state;
    px_count(t.main, PX_ACCEPT_STOPS, 1);
    px_count(t.worker, PX_ACCEPT_STOPS, 2);
    px_count(t.worker, PX_WRITE_GROUPS_UNKNOWN, 1);
    px_count(t.worker, PX_SENT_BACKEND, UINT64_C(5000000000000000000));
    expect("keyspread_accept_stops_total 3");
    expect("keyspread_units_total{outcome=\"unknown\"} 1");
    expect("keyspread_units_total{outcome=\"committed\"} 0");
    expect("keyspread_sent_bytes_total{peer=\"backend\"} 5000000000000000000");
    expect("keyspread_backend_up 1");
    expect("keyspread_queue_limit_bytes 268435456");
    expect("keyspread_build_info{version=\"1.2.3\"} 0");
    t.main->catalog_loaded = 7;
    t.worker->catalog_loaded = 9;
    px_metrics *sum = px_metrics_new(t.main);
    px_metrics_add(sum, t.worker);
    px_metrics_add(sum, t.main);
    assert_int_equal(sum->catalog_loaded, 9); /* the latest, no sum */
    px_metrics_free(sum);
}

/* Every family has its HELP and TYPE once, before its samples, which stand together. */
static void test_families_stand_together(void **state)
{
    (void)state;
    char now[128] = "", name[128], seen[64][128];
    size_t count = 0;
    const char *line = scrape();
    for (; *line != '\0'; line = strchr(line, '\n') + 1) {
        int len = 0;
        if (sscanf(line, "# HELP %127s %n", name, &len) == 1) {
            assert_true(len > 0 && line[len] != '\0' && line[len] != '\n');
            for (size_t i = 0; i < count; i++)
                assert_string_not_equal(seen[i], name);
            assert_true(count < 64);
            strcpy(seen[count++], name);
            strcpy(now, name);
        } else if (sscanf(line, "# TYPE %127s", name) == 1) {
            assert_string_equal(name, now);
        } else {
            assert_int_equal(sscanf(line, "%127[a-z_]", name), 1);
            assert_memory_equal(name, now, strlen(now));
        }
    }
    assert_true(count > 30);
}

static void test_histograms(void **state)
{
    (void)state;
    const uint64_t *bounds = px_histogram_bounds(PX_WRITE_GROUP_DURATION);
    for (size_t i = 0; bounds[i] > 0; i++)
        assert_true(i < PX_BUCKETS && (i == 0 || bounds[i] > bounds[i - 1]));
    px_observe(t.main, PX_BATCH_ROWS, 1);
    px_observe(t.worker, PX_BATCH_ROWS, 2);
    px_observe(t.worker, PX_BATCH_ROWS, 3);
    px_observe(t.worker, PX_BATCH_ROWS, 1000000);
    expect("keyspread_batch_rows_bucket{le=\"1\"} 1");
    expect("keyspread_batch_rows_bucket{le=\"2\"} 2");
    expect("keyspread_batch_rows_bucket{le=\"4\"} 3");
    expect("keyspread_batch_rows_bucket{le=\"16384\"} 3");
    expect("keyspread_batch_rows_bucket{le=\"+Inf\"} 4");
    expect("keyspread_batch_rows_sum 1000006");
    expect("keyspread_batch_rows_count 4");
    px_observe(t.worker, PX_LINK_WAIT_BATCH, 500000); /* exactly at a bound */
    px_observe(t.worker, PX_LINK_WAIT_BATCH, 500001);
    expect("keyspread_link_wait_seconds_bucket{kind=\"batch\",le=\"0.0005\"} 1");
    expect("keyspread_link_wait_seconds_bucket{kind=\"batch\",le=\"0.001\"} 2");
    expect("keyspread_link_wait_seconds_sum{kind=\"batch\"} 0.001000001");
    expect("keyspread_link_wait_seconds_count{kind=\"session\"} 0");
}

static void test_errors_by_sqlstate(void **state)
{
    (void)state;
    px_count_error(t.main, pgw_slice_str("23505"));
    px_count_error(t.worker, pgw_slice_str("23505"));
    px_count_error(t.worker, pgw_slice_str("00000"));
    px_count_error(t.worker, pgw_slice_str("ZZZZZ"));
    px_count_error(t.worker, pgw_slice_str("57P01"));
    expect("keyspread_client_errors_total{code=\"23505\"} 2");
    expect("keyspread_client_errors_total{code=\"00000\"} 1");
    expect("keyspread_client_errors_total{code=\"ZZZZZ\"} 1");
    expect("keyspread_client_errors_total{code=\"57P01\"} 1");
    expect("keyspread_client_errors_total{code=\"other\"} 0");
}

/* What is no SQLSTATE never becomes a label. */
static void test_errors_that_are_none(void **state)
{
    (void)state;
    px_count_error(t.worker, pgw_slice_str("a\"b}1"));
    px_count_error(t.worker, pgw_slice_str("235"));
    px_count_error(t.worker, (pgw_slice){NULL, 0});
    px_count_error(t.worker, pgw_slice_str("235050"));
    expect("keyspread_client_errors_total{code=\"other\"} 4");
}

static size_t count_lines(const char *beginning)
{
    size_t count = 0;
    for (const char *line = scrape(); *line != '\0'; line = strchr(line, '\n') + 1)
        count += strncmp(line, beginning, strlen(beginning)) == 0;
    return count;
}

static void test_sqlstates_are_bounded(void **state)
{
    (void)state;
    char code[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(code, sizeof code, "X%04d", i);
        px_count_error(i % 2 ? t.main : t.worker, pgw_slice_str(code));
    }
    px_count_error(t.worker, pgw_slice_str("X0001"));
    assert_int_equal(count_lines("keyspread_client_errors_total{"), PX_CODES + 1);
    expect("keyspread_client_errors_total{code=\"X0001\"} 2");
    expect("keyspread_client_errors_total{code=\"X0127\"} 1");
    expect("keyspread_client_errors_total{code=\"other\"} 872");
}

static void test_logins(void **state)
{
    (void)state;
    const char *results[] = {NULL, "28P01", "28000", "53300", "08006", "3D000"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        px_count_login(t.worker, results[i]);
    expect("keyspread_logins_total{result=\"ok\"} 1");
    expect("keyspread_logins_total{result=\"authentication\"} 2");
    expect("keyspread_logins_total{result=\"limit\"} 1");
    expect("keyspread_logins_total{result=\"connection\"} 1");
    expect("keyspread_logins_total{result=\"other\"} 1");
}

static void test_requests_by_partition(void **state)
{
    (void)state;
    expect("keyspread_rows_total{table=\"public.events\",partition=\"1\"} 0"); /* from the start */
    const uint32_t numbers[] = {3, 0, 3, 3, 1, 0};
    px_count_request(t.worker, "public.events", 4, numbers, 6);
    px_count_request_to(t.main, "public.events", 4, 3, 10);
    expect("keyspread_rows_total{table=\"public.events\",partition=\"0\"} 2");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"1\"} 1");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"2\"} 0");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"3\"} 13");
    expect("keyspread_requests_total{table=\"public.events\",partition=\"0\"} 1");
    expect("keyspread_requests_total{table=\"public.events\",partition=\"3\"} 2");
    expect("keyspread_request_partitions_bucket{le=\"1\"} 1");
    expect("keyspread_request_partitions_bucket{le=\"2\"} 1");
    expect("keyspread_request_partitions_bucket{le=\"4\"} 2");
    expect("keyspread_request_partitions_sum 4");
    expect_absent("partition=\"4\"");
    expect_absent("partition=\"all\"");
}

static void test_many_partitions_are_one(void **state)
{
    (void)state;
    const uint32_t numbers[] = {0, 999, 5};
    px_count_request(t.worker, "public.big", 1000, numbers, 3);
    px_count_request_to(t.worker, "public.big", 1000, 7, 2);
    px_count_request_to(t.worker, "public.fits", 256, 255, 1);
    expect("keyspread_rows_total{table=\"public.big\",partition=\"all\"} 5");
    expect("keyspread_requests_total{table=\"public.big\",partition=\"all\"} 2");
    expect("keyspread_request_partitions_sum 5");
    assert_int_equal(count_lines("keyspread_rows_total{table=\"public.big\""), 1);
    assert_int_equal(count_lines("keyspread_rows_total{table=\"public.fits\""), 256);
    expect("keyspread_rows_total{table=\"public.fits\",partition=\"255\"} 1");
}

/* As after a reload: what was counted stays, wherever it stands now. */
static void test_a_table_cut_anew(void **state)
{
    (void)state;
    px_count_request_to(t.worker, "public.events", 4, 3, 1);
    px_count_request_to(t.worker, "public.events", 8, 7, 1);
    px_count_request_to(t.worker, "public.events", 1000, 999, 1);
    px_count_request_to(t.worker, "public.events", 2, 1, 1);
    expect("keyspread_rows_total{table=\"public.events\",partition=\"3\"} 1");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"7\"} 1");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"1\"} 1");
    expect("keyspread_rows_total{table=\"public.events\",partition=\"all\"} 1");
}

static void test_labels_are_escaped(void **state)
{
    (void)state;
    px_count_request_to(t.worker, "public.a\"b\\c\nd", 1, 0, 5);
    expect("keyspread_rows_total{table=\"public.a\\\"b\\\\c\\nd\",partition=\"0\"} 5");
}

static void note_limits(px_metrics *metrics, const uint64_t *rows, size_t count)
{
    px_limits_begin(metrics);
    for (size_t i = 0; i < count; i++)
        px_limits_note(metrics, "public.events", rows[i], rows[i] * 1000);
    px_limits_end(metrics);
}

static void test_limits_are_the_least(void **state)
{
    (void)state;
    expect("keyspread_batch_limit_rows{table=\"public.events\"} 500"); /* configured */
    note_limits(t.worker, (uint64_t[]){500, 125, 250}, 3);
    note_limits(t.main, (uint64_t[]){400}, 1);
    expect("keyspread_batch_limit_rows{table=\"public.events\"} 125");
    expect("keyspread_batch_limit_bytes{table=\"public.events\"} 125000");
    note_limits(t.worker, (uint64_t[]){500, 450}, 2);
    expect("keyspread_batch_limit_rows{table=\"public.events\"} 400");
    note_limits(t.worker, NULL, 0);
    note_limits(t.main, NULL, 0);
    expect("keyspread_batch_limit_rows{table=\"public.events\"} 500");
    px_limits_begin(t.worker);
    px_limits_note(t.worker, "public.gone", 3, 3);
    px_limits_end(t.worker);
    px_limits_begin(t.worker);
    px_limits_end(t.worker);
    expect_absent("limit_rows{table=\"public.gone\""); /* not configured, and without a queue */
}

/* Scrapes while another thread counts: nothing is lost, and nothing goes back. */
static void *count_all(void *unused)
{
    (void)unused;
    char table[32];
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(table, sizeof table, "public.t%u", i % 50);
        px_count(t.worker, PX_BATCHED_ROWS, 1);
        px_count_request_to(t.worker, table, 4, i % 4, 1);
    }
    return NULL;
}

static void test_scrapes_while_it_counts(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t before = 0, now;
    assert_int_equal(pthread_create(&thread, NULL, count_all, NULL), 0);
    do {
        const char *line = strstr(scrape(), "\nkeyspread_batched_rows_total ");
        now = strtoull(strchr(line, ' '), NULL, 10);
        assert_true(now >= before);
        before = now;
    } while (now < 20000);
    pthread_join(thread, NULL);
    expect("keyspread_batch_rows_count 0");
    expect("keyspread_request_partitions_count 20000");
    expect("keyspread_rows_total{table=\"public.t1\",partition=\"1\"} 200");
    expect("keyspread_rows_total{table=\"public.t1\",partition=\"3\"} 200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads_are_added_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_families_stand_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_histograms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors_by_sqlstate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors_that_are_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sqlstates_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_logins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_by_partition, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_partitions_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_table_cut_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels_are_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits_are_the_least, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scrapes_while_it_counts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
