/* How long a worker takes to find the plan of a prepared INSERT that it has: nanoseconds, medians
 * of rounds, by the length of the text. What a Parse costs that came before. */
#include "proxy/ingest/plan_cache.h"
#include "tests/proxy/ingest/plans.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 15, TIMES = 10000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median_of_finding(px_plan_cache *cache, pgw_slice text, const px_plan *plan)
{
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        size_t found = 0;
        for (int i = 0; i < TIMES; i++)
            found += px_plan_find(cache, px_plan_id_of(text, NULL, 0, plans.identity,
                                                       &plans.catalog)) == plan;
        rounds[round] = (now_ns() - start) / TIMES;
        if (found != TIMES)
            abort();
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    return rounds[ROUNDS / 2];
}

int main(void)
{
    static px_plan_cache cache;
    plans_setup(NULL);
    for (int rows = 1; rows <= 32; rows *= 4) {
        pgw_buf text = {0};
        pgw_error error;
        for (int i = 0; i < rows; i++)
            pgw_buf_addf(&text, "%s ($%d, $%d, 'something')",
                         i > 0 ? "," : "INSERT INTO events (userid, ts, event) VALUES", 2 * i + 1,
                         2 * i + 2);
        pgw_buf_add_byte(&text, '\0');
        px_plan *plan = plan_of(text.ptr, NULL, 0, &error);
        pgw_slice sql = pgw_slice_str(text.ptr);
        px_plan_remember(&cache, px_plan_id_of(sql, NULL, 0, plans.identity, &plans.catalog), plan);
        printf("%6zu bytes %6.0f ns\n", sql.len, median_of_finding(&cache, sql, plan));
        px_plan_drop(plan);
        pgw_buf_free(&text);
    }
    px_plan_cache_clear(&cache);
    return plans_teardown(NULL) == 0 ? 0 : 1;
}
