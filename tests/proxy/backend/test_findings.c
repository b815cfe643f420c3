/* What is told of a table once, and when a sample of its rows is read. */
#define _GNU_SOURCE
#include "proxy/backend/schema/findings.h"

#include "proxy/base/metrics_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/proxy/logged.h"

enum { OID = 16384, OLD = 10000 /* ms after which a bad sample is read again */ };

static struct {
    px_findings findings;
    px_metrics *metrics;
    rw_column columns[3];
    size_t hash_key[2];
    rw_table table;
} t;

static int setup(void **state)
{
    static const rw_column columns[] = {{.name = (char *)"k", .type = PGW_INT8, .typmod = -1},
                                        {.name = (char *)"l", .type = PGW_VARCHAR, .typmod = 7},
                                        {.name = (char *)"h", .type = PGW_INT8, .typmod = -1}};
    memset(&t, 0, sizeof t);
    memcpy(t.columns, columns, sizeof columns);
    t.hash_key[1] = 1;
    t.table = (rw_table){.oid = OID,
                         .columns = t.columns,
                         .column_count = 3,
                         .hash_key = t.hash_key,
                         .hash_key_count = 1,
                         .hash_column = 2};
    t.metrics = px_metrics_new(NULL);
    return redirect_log(state);
}

static int teardown(void **state)
{
    free(t.table.unusable);
    px_findings_free(&t.findings);
    px_metrics_free(t.metrics);
    return restore_log(state);
}

/* A new picture of the table, which may be unusable of itself. */
static bool meet(const char *unusable, uint64_t now)
{
    free(t.table.unusable);
    t.table.unusable = unusable != NULL ? strdup(unusable) : NULL;
    return px_findings_meet(&t.findings, "public.t", &t.table, now);
}

static void judge(unsigned rows, unsigned wrong)
{
    px_findings_judge(&t.findings, "public.t", &t.table, rows, wrong, t.metrics);
}

static void a_sample_is_read_once(void **state)
{
    (void)state;
    assert_true(meet(NULL, 1000));
    judge(20, 0);
    assert_null(t.table.unusable);
    assert_false(meet(NULL, 2000));
    assert_false(meet(NULL, 1000 + 10 * OLD));
    assert_false(px_findings_old(&t.findings, 1000 + 10 * OLD));
    assert_string_equal(logged(), "");
}

static bool meet_another(const char *label)
{
    return px_findings_meet(&t.findings, label, &t.table, 0);
}

/* Tables come and go, any number of them. */
static void what_is_gone_is_forgotten(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "b", "c"};
    for (unsigned look = 0; look < 3; look++) {
        for (unsigned i = 0; i < 3; i++) {
            if (look == 1 && i == 1)
                continue; /* b is not there */
            bool anew = look == 0 || (look == 2 && i == 1);
            assert_int_equal(meet_another(labels[i]), anew);
            if (anew)
                px_findings_judge(&t.findings, labels[i], &t.table, 20, 0, t.metrics);
        }
        px_findings_looked(&t.findings, 0);
    }
    px_findings_looked(&t.findings, 0);
    assert_null(t.findings.first);
}

/* Somebody holds the table, or another role looks. */
static void what_cannot_be_read_stays_as_it_was(void **state)
{
    (void)state;
    static const unsigned wrong[] = {20, 1};
    for (unsigned i = 0; i < 2; i++) {
        t.table.oid++;
        assert_true(meet(NULL, 1000));
        judge(20, wrong[i]);
        for (unsigned settled = 0; settled < 2; settled++) {
            bool anew = wrong[i] == 20;
            t.table.looked_up = true;
            assert_int_equal(meet(NULL, 1000 + (1 + settled) * OLD), anew);
            if (anew)
                px_findings_keep(&t.findings, "public.t", &t.table, settled != 0);
            assert_int_equal(t.table.unusable != NULL, anew);
            assert_false(t.table.looked_up);
        }
    }
    t.table.oid++; /* another table: nothing is known of it */
    assert_true(meet(NULL, 1000));
    px_findings_keep(&t.findings, "public.t", &t.table, true);
    assert_null(t.table.unusable);
    assert_false(meet(NULL, 1000 + OLD));
    logged();
}

static void another_rule_asks_for_a_sample(void **state)
{
    (void)state;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.table.hash_function = RW_CITYHASH64;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.table.hash_type = RW_HASH_UINT64;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.columns[2].name = (char *)"g";
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.table.hash_key_count = 2;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.columns[1].typmod = 8;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.columns[1].type = PGW_TEXT;
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.columns[0].name = (char *)"m";
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.table.oid++; /* made anew */
    assert_true(meet(NULL, 0));
    judge(1, 0);
    t.table.epoch++; /* no part of it */
    assert_false(meet(NULL, 0));
}

static void what_is_wrong_as_a_whole(void **state)
{
    (void)state;
    static const struct {
        unsigned rows, wrong;
        const char *unusable, *line;
    } cases[] = {
        {0, 0, NULL, ""},
        {1, 1, NULL, "level=warn event=wrong_hashes table=public.t rows=1 wrong=1\n"},
        {2, 2, NULL, "level=warn event=wrong_hashes table=public.t rows=2 wrong=2\n"},
        {3, 2, NULL, "level=warn event=wrong_hashes table=public.t rows=3 wrong=2\n"},
        {3, 3, "it has rows whose hash is wrong: 3 of the first 3", NULL},
        {19, 18, NULL, "level=warn event=wrong_hashes table=public.t rows=19 wrong=18\n"},
        {20, 10, NULL, "level=warn event=wrong_hashes table=public.t rows=20 wrong=10\n"},
        {20, 11, "it has rows whose hash is wrong: 11 of the first 20", NULL},
        {20, 0, NULL, "level=info event=table_usable table=public.t\n"},
    };
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.table.oid++;
        assert_true(meet(NULL, 0));
        logged();
        judge(cases[i].rows, cases[i].wrong);
        wrong += cases[i].wrong;
        if (cases[i].unusable == NULL) {
            assert_null(t.table.unusable);
            assert_non_null(strstr(logged(), cases[i].line));
            continue;
        }
        assert_string_equal(t.table.unusable, cases[i].unusable);
        char line[256];
        snprintf(line, sizeof line,
                 "level=error event=table_unusable table=public.t reason=\"%s\"\n",
                 cases[i].unusable);
        assert_string_equal(logged_line(), line);
    }
    pgw_buf text = {0};
    px_metrics_write(t.metrics, (double[PX_GAUGES]){0}, "1", &text);
    pgw_buf_add_byte(&text, '\0');
    char line[64];
    snprintf(line, sizeof line, "\nkeyspread_wrong_hashes_total %u\n", wrong);
    assert_non_null(strstr(text.ptr, line));
    pgw_buf_free(&text);
}

static void a_bad_sample_is_read_again(void **state)
{
    (void)state;
    assert_true(meet(NULL, 1000));
    judge(3, 3);
    logged();
    assert_false(meet(NULL, 1000 + OLD - 1));
    assert_string_equal(t.table.unusable, "it has rows whose hash is wrong: 3 of the first 3");
    assert_false(px_findings_old(&t.findings, 1000 + OLD - 1));
    assert_true(px_findings_old(&t.findings, 1000 + OLD));
    assert_true(meet(NULL, 1000 + OLD));
    assert_false(px_findings_old(&t.findings, 1000 + 2 * OLD - 1)); /* it is being read */
    judge(3, 3);
    assert_string_equal(logged(), ""); /* it was told */
    assert_true(meet(NULL, 1000 + 2 * OLD));
    judge(3, 0);
    assert_null(t.table.unusable);
    assert_string_equal(logged_line(), "level=info event=table_usable table=public.t\n");
    assert_false(px_findings_old(&t.findings, 1000 + 9 * OLD));
}

/* One that was asked for and never came; and a table that is gone asks for none. */
static void a_sample_that_does_not_come_is_asked_for_again(void **state)
{
    (void)state;
    assert_true(meet(NULL, 1000));
    assert_false(px_findings_old(&t.findings, 1000 + OLD - 1));
    assert_true(px_findings_old(&t.findings, 1000 + OLD));
    px_findings_looked(&t.findings, 1000 + OLD);
    assert_false(px_findings_old(&t.findings, 1000 + OLD));
    assert_true(px_findings_old(&t.findings, 1000 + 2 * OLD));
    assert_false(meet("it cannot be worked with", 1000 + 2 * OLD - 1));
    px_findings_looked(&t.findings, 1000 + 2 * OLD - 1); /* nothing is old then */
    assert_true(px_findings_old(&t.findings, 1000 + 2 * OLD));
}

static void what_it_is_is_told_once(void **state)
{
    (void)state;
    assert_false(meet("why", 0));
    assert_string_equal(logged_line(),
                        "level=error event=table_unusable table=public.t reason=why\n");
    assert_false(meet("why", 0));
    assert_string_equal(logged(), "");
    assert_false(meet("else", 0));
    assert_string_equal(logged_line(),
                        "level=error event=table_unusable table=public.t reason=else\n");
    assert_true(meet(NULL, 0));
    assert_string_equal(logged(), ""); /* not before its sample is known */
    judge(1, 0);
    assert_string_equal(logged_line(), "level=info event=table_usable table=public.t\n");
    assert_false(meet(NULL, 0));
    assert_string_equal(logged(), "");
    assert_false(px_findings_old(&t.findings, 99 * OLD));
}

static void a_hash_that_is_not_last_is_warned_of(void **state)
{
    (void)state;
    t.table.hash_column = 1;
    assert_true(meet(NULL, 0));
    assert_string_equal(logged_line(),
                        "level=warn event=hash_column_not_last table=public.t column=l\n");
    judge(1, 0);
    assert_false(meet(NULL, 0));
    assert_string_equal(logged(), "");
}

static void tables_are_told_apart(void **state)
{
    (void)state;
    assert_true(meet(NULL, 0));
    judge(3, 3);
    free(t.table.unusable);
    t.table.unusable = NULL;
    assert_true(px_findings_meet(&t.findings, "public.u", &t.table, 0));
    px_findings_judge(&t.findings, "public.u", &t.table, 3, 0, t.metrics);
    assert_null(t.table.unusable);
    assert_false(meet(NULL, 0));
    assert_non_null(t.table.unusable);
}

/* It is told again where it was another one meanwhile: spread, or gone. */
static void what_is_not_spread_is_told_once(void **state)
{
    (void)state;
    static const bool again[] = {true, false, true, false, true};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        px_findings_unspread(&t.findings, "public.t");
        assert_int_equal(strstr(logged(), "event=table_not_spread table=public.t ") != NULL,
                         again[i]);
        if (i == 1)
            meet(NULL, 1000);
        if (i == 3)
            px_findings_looked(&t.findings, 1000); /* and nobody met it before the next one */
        px_findings_looked(&t.findings, 1000);
    }
}

/* By another rule as many rows have the right bucket by chance as there are buckets to choose from:
 * of two it is half of them. */
static void right_buckets_by_chance_are_no_proof(void **state)
{
    (void)state;
    t.table.buckets = 2;
    assert_true(meet(NULL, 1000));
    judge(100, 25);
    assert_null(t.table.unusable);
    t.table.oid++;
    assert_true(meet(NULL, 2000));
    judge(100, 26);
    assert_non_null(t.table.unusable);
}

/* A sample is read again when the number of buckets is another one. */
static void buckets_are_of_the_rule(void **state)
{
    (void)state;
    t.table.buckets = 16;
    assert_true(meet(NULL, 1000));
    judge(20, 0);
    assert_false(meet(NULL, 2000));
    t.table.buckets = 32;
    assert_true(meet(NULL, 3000));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_sample_is_read_once),
        TEST(what_is_gone_is_forgotten),
        TEST(what_cannot_be_read_stays_as_it_was),
        TEST(another_rule_asks_for_a_sample),
        TEST(what_is_wrong_as_a_whole),
        TEST(a_bad_sample_is_read_again),
        TEST(a_sample_that_does_not_come_is_asked_for_again),
        TEST(what_it_is_is_told_once),
        TEST(a_hash_that_is_not_last_is_warned_of),
        TEST(tables_are_told_apart),
        TEST(what_is_not_spread_is_told_once),
        TEST(right_buckets_by_chance_are_no_proof),
        TEST(buckets_are_of_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
