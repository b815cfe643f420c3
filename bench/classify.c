/* How long it takes to tell what a statement may do: nanoseconds, the best of several rounds, with
 * nothing remembered, and when another statement of the same shape came before. */
#include "rewrite/read/script.h"
#include "rewrite/read/statement.h"
#include "tests/rewrite/tables.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 15, STATEMENTS = 2000 };

static const char *const texts[] = {
    "SELECT userid, ts, event FROM events WHERE userid = 1234567 AND ts >= '2026-01-01 "
    "00:00:00+00' "
    "ORDER BY ts DESC LIMIT 10",
    "UPDATE events SET event = 'something that is new' WHERE userid = 1234567 "
    "AND ts = '2026-01-01 00:00:00+00' AND event <> ''",
    "WITH e AS (SELECT * FROM events WHERE userid = 1234567 FOR UPDATE) "
    "UPDATE events x SET event = e.event FROM e WHERE x.ts = e.ts",
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double best_of(pgw_slice text, const rw_catalog *catalog, rw_shape_cache *shapes)
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < STATEMENTS; i++) {
            pgw_arena arena = {0};
            rw_script script;
            rw_script_parse(text, catalog, &test_env, shapes, &arena, &script);
            pgw_arena_free(&arena);
        }
        double each = (now_ns() - start) / STATEMENTS;
        best = each < best ? each : best;
    }
    return best;
}

int main(void)
{
    const rw_table *pointers[] = {&test_tables[0]};
    rw_catalog catalog = {pointers, 1, NULL, false};
    printf("%8s %8s  statement\n", "new", "known");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rw_shape_cache shapes = {0};
        pgw_slice text = pgw_slice_str(texts[i]);
        printf("%8.0f %8.0f  %s\n", best_of(text, &catalog, NULL), best_of(text, &catalog, &shapes),
               texts[i]);
        rw_shape_cache_clear(&shapes);
    }
    return 0;
}
