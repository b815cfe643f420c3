/* What is logged of all batches at the end. */
#define _GNU_SOURCE
#include "proxy/batch/register.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "proxy/base/shared.h"
#include "tests/proxy/logged.h"

/* Each figure has a number of its own, half of it counted by another thread. */
static void all_threads_are_added_up(void **state)
{
    (void)state;
    static const struct {
        px_counter counter;
        unsigned count;
    } counts[] = {{PX_WRITE_GROUPS_COMMITTED, 2},  {PX_WRITE_GROUPS_REROUTED, 4},
                  {PX_WRITE_GROUPS_FAILED, 8},     {PX_WRITE_GROUPS_UNKNOWN, 16},
                  {PX_WRITE_GROUPS_EXPIRED, 32},   {PX_WRITE_GROUPS_WITHDRAWN, 64},
                  {PX_WRITE_GROUPS_REPEATED, 128}, {PX_NOTICES_DROPPED, 256}};
    px_server server = {.metrics = px_metrics_new(NULL), .worker_count = 2};
    px_worker workers[2] = {{.metrics = px_metrics_new(server.metrics)},
                            {.metrics = px_metrics_new(server.metrics)}};
    server.workers = workers;
    px_register_log_totals(&server);
    assert_string_equal(logged_line(),
                        "level=info event=batches batches=0 rows=0 units=0 rows_per_batch=0.0 "
                        "committed=0 failed=0 unknown=0 repeated=0 rerouted=0 expired=0 "
                        "withdrawn=0 notices=0\n");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t w = 0; w < 2; w++)
            px_count(workers[w].metrics, counts[i].counter, counts[i].count / 2);
    px_observe(workers[0].metrics, PX_BATCH_ROWS, 5);
    px_observe(workers[1].metrics, PX_BATCH_ROWS, 1000000);
    px_observe(workers[1].metrics, PX_BATCH_ROWS, 2);
    px_register_log_totals(&server);
    assert_string_equal(logged_line(),
                        "level=info event=batches batches=3 rows=1000007 units=126 "
                        "rows_per_batch=333335.7 committed=2 failed=120 unknown=16 repeated=128 "
                        "rerouted=4 expired=32 withdrawn=64 notices=256\n");
    for (size_t w = 0; w < 2; w++)
        px_metrics_free(workers[w].metrics);
    px_metrics_free(server.metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_threads_are_added_up, redirect_log, restore_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
