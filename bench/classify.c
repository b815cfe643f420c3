/* How long it takes to tell what a statement may do: nanoseconds, the best of several rounds: to
 * see whether it may be about a table at all; with nothing remembered; and when another statement
 * of the same shape came before. The last statement is about none, and is only seen. */
#include "rewrite/read/prefilter.h"
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
    "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, i.indkey "
    "FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_index i ON i.indrelid = a.attrelid "
    "AND i.indisprimary AND a.attnum = ANY (i.indkey) "
    "WHERE a.attrelid = '16386' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
    "SELECT i.id, i.order_number, i.price, i.pieces, o.customer_id, o.created_at, p.page_number, "
    "p.page_title "
    "FROM order_items i JOIN orders o ON o.id = i.order_id JOIN pages p ON p.id = i.page_id "
    "WHERE o.customer_id = 1234567 AND i.price > 10 AND p.page_title LIKE 'x%' ORDER BY i.id LIMIT "
    "10",
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

static double best_glance(pgw_slice text, const rw_catalog *catalog)
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        unsigned effects, passed = 0;
        for (int i = 0; i < STATEMENTS; i++)
            passed += rw_prefilter_passes(text, catalog, &effects);
        double each = (now_ns() - start) / STATEMENTS;
        best = each < best && passed <= STATEMENTS ? each : best;
    }
    return best;
}

int main(void)
{
    const rw_table *pointers[] = {&test_tables[0]};
    rw_catalog catalog = {.tables = pointers, .count = 1};
    printf("%8s %8s %8s  statement\n", "seen", "new", "known");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rw_shape_cache shapes = {0};
        pgw_slice text = pgw_slice_str(texts[i]);
        printf("%8.0f %8.0f %8.0f  %s\n", best_glance(text, &catalog),
               best_of(text, &catalog, NULL), best_of(text, &catalog, &shapes), texts[i]);
        rw_shape_cache_clear(&shapes);
    }
    return 0;
}
