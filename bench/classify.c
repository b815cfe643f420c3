/* How long it takes to tell what a statement may do: nanoseconds, medians of rounds: to see whether
 * it may be about a table at all, with one table, with a thousand and with a pattern; with nothing
 * remembered; and when another statement of the same shape came before. From the fifth statement on
 * they are about no table, and are only seen. */
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/words/statement.h"
#include "tests/rewrite/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15 };

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
    "SELECT i.id, i.order_number, i.price, i.pieces, o.customer_id, o.created_at, p.page_number, "
    "p.page_title, c.full_name, c.email_address, c.telephone_number, a.street, a.house_number, "
    "a.postal_code, a.city, a.country, s.status_name, s.changed_at, w.warehouse_name, w.shelf, "
    "coalesce(d.amount, 0) AS discount, count(r.id) AS returned FROM order_items i JOIN orders o "
    "ON o.id = i.order_id JOIN pages p ON p.id = i.page_id JOIN customers c ON c.id = "
    "o.customer_id JOIN addresses a ON a.customer_id = c.id AND a.kind = 'delivery' LEFT JOIN "
    "states s ON s.order_id = o.id LEFT JOIN warehouses w ON w.id = i.warehouse_id LEFT JOIN "
    "discounts d ON d.order_id = o.id AND d.valid_until >= '2026-01-01 00:00:00+00' LEFT JOIN "
    "returns r ON r.item_id = i.id WHERE o.customer_id = $1 AND i.price > $2 AND p.page_title "
    "LIKE 'x%' AND (o.created_at BETWEEN $3 AND $4 OR s.status_name IN ('open', 'paid', 'sent')) "
    "AND NOT c.is_deleted GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 ORDER BY "
    "o.created_at DESC, i.id ASC LIMIT 50 OFFSET $5",
};

/* Others of 1,000 bytes, the second part of which is repeated: of strings, of short words, and with
 * letters beyond ASCII. */
static const char *const made[][2] = {
    {"SELECT a.id, a.title FROM articles a WHERE a.kind > 1",
     " AND a.body <> 'On 2026-01-01 it was said: 0190a5b8-7c3e-7d5a-9f10-2b6d4c8e1a37 \"x/y\"'"},
    {"SELECT a FROM b WHERE a = 1", " AND b = c OR d > e AND NOT f AND g IS h"},
    {"SELECT stra\u00dfe FROM \u00fcbersicht WHERE gr\u00f6\u00dfe > 1",
     " AND stra\u00dfe = 'Gro\u00dfe Allee' OR \u0438\u043c\u044f = '\u041f\u0451\u0442\u0440'"},
};

enum { TEXTS = sizeof texts / sizeof *texts, MADE = sizeof made / sizeof *made };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* What is measured, and with what. */
typedef struct subject {
    pgw_slice text;
    const rw_catalog *catalog;
    const rw_prefilter *filter;
    rw_shape_cache *shapes;
    unsigned passed; /* nothing may be left out as if nobody asked */
} subject;

static void look(subject *it)
{
    unsigned effects;
    it->passed += rw_prefilter_passes(it->text, it->filter, &effects);
}

static void parse(subject *it)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(it->text, it->catalog, &test_env, it->shapes, &arena, &script);
    pgw_arena_free(&arena);
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(void (*measured)(subject *), subject it, int times)
{
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < times; i++)
            measured(&it);
        rounds[round] = (now_ns() - start) / times;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    return rounds[ROUNDS / 2];
}

/* Tables of other names than any in the texts. */
static rw_catalog make_tables(size_t count)
{
    rw_table *tables = pgw_calloc(count, sizeof *tables);
    const rw_table **pointers = pgw_calloc(count, sizeof *pointers);
    for (size_t i = 0; i < count; i++) {
        pgw_buf name = {0};
        pgw_buf_addf(&name, "%c%ctable%zu%c", (char)('a' + i % 26), (char)('a' + i / 26 % 26), i,
                     0);
        tables[i] = test_tables[0];
        tables[i].name = i == 0 ? tables[i].name : name.ptr;
        pointers[i] = &tables[i];
    }
    return (rw_catalog){.tables = pointers, .count = count};
}

static pgw_slice text_of(size_t i)
{
    if (i < TEXTS)
        return pgw_slice_str(texts[i]);
    pgw_buf text = {0};
    pgw_buf_add_str(&text, made[i - TEXTS][0]);
    while (text.len < 1000)
        pgw_buf_add_str(&text, made[i - TEXTS][1]);
    return (pgw_slice){text.ptr, text.len};
}

int main(void)
{
    rw_catalog one = make_tables(1), many = make_tables(1000);
    rw_prefilter for_one, for_many, for_pattern;
    rw_prefilter_init(&for_one, &one);
    rw_prefilter_init(&for_many, &many);
    one.words = &for_one.words;
    many.words = &for_many.words;
    rw_table pattern = test_tables[0];
    pattern.pattern = true;
    rw_prefilter_init(&for_pattern,
                      &(rw_catalog){.tables = (const rw_table *[]){&pattern}, .count = 1});
    printf("%6s %6s %6s %8s %8s %8s %8s  statement\n", "bytes", "seen", "seen*", "pattern", "new",
           "known", "known*");
    for (size_t i = 0; i < TEXTS + MADE; i++) {
        rw_shape_cache shapes = {0}, shapes_of_many = {0};
        subject with_one = {.text = text_of(i), .catalog = &one, .filter = &for_one};
        subject with_many = with_one, known = with_one;
        subject with_pattern = with_one;
        with_pattern.filter = &for_pattern;
        with_many.catalog = &many;
        with_many.filter = &for_many;
        known.shapes = &shapes;
        subject known_of_many = with_many;
        known_of_many.shapes = &shapes_of_many;
        printf("%6zu %6.0f %6.0f %8.0f", with_one.text.len, median(look, with_one, 2000),
               median(look, with_many, 2000), median(look, with_pattern, 2000));
        printf(" %8.0f %8.0f %8.0f  %.60s\n", median(parse, with_one, 100),
               median(parse, known, 2000), median(parse, known_of_many, 2000), with_one.text.ptr);
        rw_shape_cache_clear(&shapes);
        rw_shape_cache_clear(&shapes_of_many);
    }
    puts("* with a thousand tables");
    return 0;
}
