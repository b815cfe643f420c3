/* A look at the configured tables: replies of the backend in, questions and verdicts out. */
#define _GNU_SOURCE
#include "proxy/backend/schema/look.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "proxy/base/metrics_text.h"
#include "rewrite/hash/hash.h"
#include "tests/proxy/logged.h"

enum { OLD = 10000 /* ms after which a bad sample is read again */ };

static char *key[] = {(char *)"k"};
static cfg_table tables[] = {{.name = (char *)"t",
                              .label = (char *)"public.t",
                              .primary_key = key,
                              .primary_key_count = 1,
                              .hash_key = key,
                              .hash_key_count = 1,
                              .hash_column = (char *)"h",
                              .partitions = {.uniform = 1}}};
static const cfg_config config = {.tables = tables, .table_count = 1};

static struct {
    px_look look;
    px_look_plans plans;
    px_sight last;
    px_findings findings;
    px_metrics *metrics;
    pgw_buf out;
} t;

static int setup(void **state)
{
    memset(&t, 0, sizeof t);
    t.metrics = px_metrics_new(NULL);
    return redirect_log(state);
}

static int teardown(void **state)
{
    px_look_end(&t.look);
    px_sight_clear(&t.last);
    px_findings_free(&t.findings);
    px_metrics_free(t.metrics);
    pgw_buf_free(&t.out);
    return restore_log(state);
}

/* What is asked now begins so: a Query, or on a link that is not ours a Parse behind a Close. */
static void expect_question(const char *beginning)
{
    bool ours = t.look.plans != NULL;
    size_t closed = ours ? 0 : strlen("C....Skeyspread look") + 1;
    size_t at = closed + strlen("P....") + (ours ? 0 : strlen("keyspread look") + 1);
    assert_true(t.out.len > at && t.out.ptr[closed] == (ours ? 'Q' : 'P'));
    assert_true(ours || t.out.ptr[t.out.len - strlen("S....")] == 'S');
    if (strncmp(t.out.ptr + at, beginning, strlen(beginning)) != 0)
        fail_msg("asked: %.80s", t.out.ptr + at);
    pgw_buf_clear(&t.out);
}

static void begin(uint64_t now, bool samples, bool prepares)
{
    px_look_end(&t.look);
    t.look = (px_look){.config = &config,
                       .last = &t.last,
                       .metrics = t.metrics,
                       .findings = samples ? &t.findings : NULL,
                       .plans = prepares ? &t.plans : NULL,
                       .now = now};
    px_look_begin(&t.look, &t.out);
}

/* A DataRow; cells are parted by '|', and ~ is NULL. */
static void row(const char *cells)
{
    pgw_buf body = {0};
    size_t count = 1;
    for (const char *c = cells; *c != '\0'; c++)
        count += *c == '|';
    pgw_buf_add_i16(&body, (int16_t)count);
    for (const char *at = cells; count > 0; count--) {
        size_t len = strcspn(at, "|");
        bool null = len == 1 && *at == '~';
        pgw_buf_add_i32(&body, null ? -1 : (int32_t)len);
        if (!null)
            pgw_buf_add(&body, at, len);
        at += len + (at[len] == '|');
    }
    assert_int_equal(px_look_take(&t.look, 'D', pgw_slice_buf(&body), &t.out), PX_LOOK_MORE);
    pgw_buf_free(&body);
}

static void error(const char *sqlstate)
{
    pgw_buf body = {0};
    pgw_buf_addf(&body, "SERROR%cVERROR%cC%s%cMoh%c%c", 0, 0, sqlstate, 0, 0, 0);
    assert_int_equal(px_look_take(&t.look, 'E', pgw_slice_buf(&body), &t.out), PX_LOOK_MORE);
    pgw_buf_free(&body);
}

static px_look_step ready(void)
{
    return px_look_take(&t.look, 'Z', PGW_LITERAL("I"), &t.out);
}

#define HEAD "public|t|16384|r|0|f|f|f|f|f|"
#define TAIL "|f|t|f|f|f|t|f|"

/* The table as the backend tells of it, with this type of its key. */
static void tell_tables(const char *type)
{
    char text[256];
    snprintf(text, sizeof text, HEAD "k|1|%s|-1|it" TAIL "2|f||0|t|f|~|~", type);
    row(text);
    row(HEAD "h|2|20|-1|bigint" TAIL "1|f||0|t|f|p0\1p0_pkey\1t_pkey|~");
}

/* Takes what it saw, as its owner would. */
static void keep(void)
{
    px_sight_clear(&t.last);
    t.last = t.look.sight;
    t.look.sight = (px_sight){0};
}

/* A first look that finds the table, without samples. */
static void look_first(void)
{
    begin(1000, false, false);
    expect_question("with recursive w(");
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    expect_question("with recursive wanted");
    tell_tables("20");
    assert_int_equal(ready(), PX_LOOK_OTHER);
    assert_int_equal(t.out.len, 0);
    keep();
}

static void nothing_has_changed(void **state)
{
    (void)state;
    look_first();
    assert_int_equal(t.last.catalog->count, 1);
    assert_null(t.last.catalog->tables[0]->unusable);
    assert_string_equal(t.last.fingerprint.text, "f1");
    assert_string_equal(t.last.places.text, "p1");
    assert_true(t.last.unlimited);
    px_catalog *before = t.last.catalog;
    begin(2000, false, false);
    pgw_buf_clear(&t.out);
    row("f1|f|p1");
    assert_int_equal(ready(), PX_LOOK_SAME);
    assert_ptr_equal(t.look.sight.catalog, before);
    assert_false(t.look.sight.unlimited);
}

static void what_is_read_anew_may_be_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *check, *type;
        px_look_step step;
    } cases[] = {{"f2|t|p1", "20", PX_LOOK_SAME}, /* another table's affair */
                 {"f3|t|p2", "20", PX_LOOK_OTHER},
                 {"f4|t|p2", "23", PX_LOOK_OTHER},
                 {"f5|t|p2", "23", PX_LOOK_SAME}};
    look_first();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_catalog *before = t.last.catalog;
        begin(2000, false, false);
        pgw_buf_clear(&t.out);
        row(cases[i].check);
        assert_int_equal(ready(), PX_LOOK_MORE);
        expect_question("with recursive wanted");
        tell_tables(cases[i].type);
        assert_int_equal(ready(), cases[i].step);
        assert_int_equal(t.look.sight.catalog == before, cases[i].step == PX_LOOK_SAME);
        keep();
    }
}

/* A transaction that has changed tables reads them at once, and takes them for others. */
static void changed_tables_are_read_without_asking(void **state)
{
    (void)state;
    look_first();
    px_look_end(&t.look);
    t.look = (px_look){
        .config = &config, .last = &t.last, .metrics = t.metrics, .changed = true, .now = 1};
    px_look_begin(&t.look, &t.out);
    expect_question("with recursive wanted(");
    tell_tables("20");
    assert_int_equal(px_look_take(&t.look, 'Z', PGW_LITERAL("T"), &t.out), PX_LOOK_OTHER);
    assert_string_equal(t.look.sight.fingerprint.text, "");
}

static void another_configuration_is_read_anew(void **state)
{
    (void)state;
    const cfg_config other = config;
    look_first();
    begin(2000, false, false);
    t.look.config = &other;
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    tell_tables("20");
    assert_int_equal(ready(), PX_LOOK_OTHER);
}

static void what_ends_a_look(void **state)
{
    (void)state;
    begin(1000, false, false);
    assert_int_equal(ready(), PX_LOOK_FAILED); /* no row */
    assert_string_equal(t.look.error.sqlstate, "08P01");
    begin(1000, false, false);
    row("f1|t"); /* not the row that was asked for */
    assert_int_equal(ready(), PX_LOOK_FAILED);
    begin(1000, false, false);
    error("57014");
    assert_int_equal(ready(), PX_LOOK_FAILED);
    assert_string_equal(t.look.error.sqlstate, "57014");
    begin(1000, false, false);
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    error("42501");
    assert_int_equal(ready(), PX_LOOK_FAILED);
    assert_string_equal(t.look.error.sqlstate, "42501");
    begin(1000, false, false); /* what it had is freed */
    row("~|~|~");
    assert_int_equal(ready(), PX_LOOK_FAILED);
}

static void questions_are_prepared_where_the_link_is_kept(void **state)
{
    (void)state;
    begin(1000, false, true);
    expect_question("prepare keyspread_check as with recursive w(");
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    expect_question("prepare keyspread_load as with recursive wanted");
    tell_tables("20");
    assert_int_equal(ready(), PX_LOOK_OTHER);
    keep();
    begin(1000, false, true);
    expect_question("execute keyspread_check");
    row("f2|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    expect_question("execute keyspread_load");
    const cfg_config other = config;
    t.plans.check = t.plans.load = &other; /* names of another configuration */
    begin(1000, false, true);
    expect_question("deallocate keyspread_check; prepare keyspread_check as with recursive w(");
    assert_ptr_equal(t.plans.check, &config);
}

/* A row of a table's sample: the right hash of the key, or another. */
static void sample_of(size_t at, int64_t k, bool right)
{
    char text[64];
    pgw_value value = {.type = PGW_INT8, .as.integer = k};
    pgw_buf hash = {0};
    const rw_table *table = t.look.sight.catalog->tables[at];
    rw_hash_print(table, rw_hash_key(table, &value) + !right, &hash);
    snprintf(text, sizeof text, "%.*s|%lld", (int)hash.len, hash.ptr, (long long)k);
    row(text);
    pgw_buf_free(&hash);
}

static void sample(int64_t k, bool right)
{
    sample_of(0, k, right);
}

/* As far as the sample. */
static void look_for_samples(uint64_t now)
{
    begin(now, true, false);
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    tell_tables("20");
    pgw_buf_clear(&t.out);
    assert_int_equal(ready(), PX_LOOK_MORE);
    expect_question("set local statement_timeout = 5000; set local lock_timeout = 200; select "
                    "\"h\", \"k\" from \"public\".\"t\" limit 100");
}

static void a_sample_is_read_once(void **state)
{
    (void)state;
    look_for_samples(1000);
    for (int64_t k = 0; k < 5; k++)
        sample(k, true);
    assert_int_equal(ready(), PX_LOOK_OTHER);
    assert_null(t.look.sight.catalog->tables[0]->unusable);
    keep();
    begin(1000 + 2 * OLD, true, false);
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_SAME);
    begin(1000 + 2 * OLD, true, false);
    row("f2|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    tell_tables("20");
    assert_int_equal(ready(), PX_LOOK_SAME);
}

enum { MANY = PX_LOOK_SAMPLES + 8 };

/* How many messages are to be sent. */
static size_t take_questions(void)
{
    size_t count = 0;
    uint32_t len;
    for (size_t at = 0; at < t.out.len; count++, at += 1 + ntohl(len))
        memcpy(&len, t.out.ptr + at + 1, sizeof len);
    pgw_buf_clear(&t.out);
    return count;
}

static void samples_of_many_tables_are_asked_for_at_once(void **state)
{
    (void)state;
    static char names[MANY][8];
    char text[256];
    static cfg_table all[MANY];
    static const cfg_config many = {.tables = all, .table_count = MANY};
    for (int i = 0; i < MANY; i++) {
        all[i] = tables[0];
        snprintf(names[i], sizeof names[i], "t%d", i);
        all[i].name = all[i].label = names[i];
    }
    begin(1000, true, true);
    t.look.config = &many;
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text,
                 "public|t%d|%d|r|0|f|f|f|f|f|k|1|20|-1|it" TAIL "2|f||0|t|f|~|~", i, 20000 + i);
        row(text);
        snprintf(text, sizeof text,
                 "public|t%d|%d|r|0|f|f|f|f|f|h|2|20|-1|bigint" TAIL "1|f||0|t|f|~|~", i,
                 20000 + i);
        row(text);
    }
    pgw_buf_clear(&t.out);
    assert_int_equal(ready(), PX_LOOK_MORE);
    assert_int_equal(take_questions(), PX_LOOK_SAMPLES);
    for (int i = 0; i < MANY; i++) {
        for (int64_t k = 0; k < 4; k++)
            sample_of((size_t)i, k, i % 10 != 7);
        assert_int_equal(ready(), i < MANY - 1 ? PX_LOOK_MORE : PX_LOOK_OTHER);
        assert_int_equal(take_questions(), i < MANY - PX_LOOK_SAMPLES ? 1 : 0);
    }
    for (int i = 0; i < MANY; i++)
        assert_true((t.look.sight.catalog->tables[i]->unusable != NULL) == (i % 10 == 7));
}

static void wrong_hashes_stop_writes_until_they_are_gone(void **state)
{
    (void)state;
    look_for_samples(1000);
    for (int64_t k = 0; k < 4; k++)
        sample(k, false);
    assert_int_equal(ready(), PX_LOOK_OTHER);
    assert_string_equal(t.look.sight.catalog->tables[0]->unusable,
                        "it has rows whose hash is wrong: 4 of the first 4");
    keep();
    begin(1000 + OLD - 1, true, false);
    row("f1|t|p1");
    assert_int_equal(ready(), PX_LOOK_SAME);
    look_for_samples(1000 + OLD);
    sample(1, true);
    assert_int_equal(ready(), PX_LOOK_OTHER);
    assert_null(t.look.sight.catalog->tables[0]->unusable);
}

/* Nobody has looked at the rows of the table that is there now: as it was at the last look, or of
 * another oid, type or place of its key. */
static void look_without_samples(const char *oid, const char *type, const char *number)
{
    char text[256];
    begin(2000, false, false);
    row("f2|t|p1");
    assert_int_equal(ready(), PX_LOOK_MORE);
    snprintf(text, sizeof text, "public|t|%s|r|0|f|f|f|f|f|k|%s|%s|-1|it" TAIL "2|f||0|t|f|~|~",
             oid, number, type);
    row(text);
    snprintf(text, sizeof text, "public|t|%s|r|0|f|f|f|f|f|h|2|20|-1|bigint" TAIL "1|f||0|t|f|~|~",
             oid);
    row(text);
    px_look_step step = ready();
    assert_true(step == PX_LOOK_OTHER || step == PX_LOOK_SAME);
}

static void what_was_found_of_rows_holds_where_none_are_read(void **state)
{
    (void)state;
    tables[0].lookups = true;
    static const struct {
        int right, wrong;
        const char *oid, *type, *number;
        bool looked_up, stopped;
    } cases[] = {{4, 0, "16384", "20", "1", true, false},  {3, 1, "16384", "20", "1", false, false},
                 {0, 4, "16384", "20", "1", false, true},  {4, 0, "16385", "20", "1", false, false},
                 {4, 0, "16384", "23", "1", false, false}, {4, 0, "16384", "20", "3", false, false},
                 {0, 4, "16385", "20", "1", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_sight_clear(&t.last);
        px_findings_free(&t.findings);
        look_for_samples(1000);
        for (int k = 0; k < cases[i].right + cases[i].wrong; k++)
            sample(k, k < cases[i].right);
        assert_int_equal(ready(), PX_LOOK_OTHER);
        keep();
        look_without_samples(cases[i].oid, cases[i].type, cases[i].number);
        const rw_table *table = t.look.sight.catalog->tables[0];
        assert_int_equal(table->looked_up, cases[i].looked_up);
        assert_int_equal(table->unusable != NULL, cases[i].stopped);
    }
    tables[0].lookups = false;
}

/* Each sample counts its own rows. */
static void few_wrong_hashes_do_not(void **state)
{
    (void)state;
    look_for_samples(1000);
    sample(1, false);
    sample(2, true);
    sample(3, true);
    row("1|2|3"); /* no such row was asked for */
    assert_int_equal(ready(), PX_LOOK_OTHER);
    assert_null(t.look.sight.catalog->tables[0]->unusable);
}

/* Locked, or too slow: it is not judged, and asked for again; what may not be read is right. */
static void what_cannot_be_read_is_not_judged(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate;
        bool again;
    } cases[] = {{"55P03", true}, {"57014", true}, {"42501", false}};
    tables[0].lookups = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_sight_clear(&t.last);
        px_findings_free(&t.findings);
        look_for_samples(1000);
        error(cases[i].sqlstate);
        assert_int_equal(ready(), PX_LOOK_OTHER);
        assert_null(t.look.sight.catalog->tables[0]->unusable);
        assert_int_equal(t.look.sight.catalog->tables[0]->looked_up, !cases[i].again);
        assert_int_equal(px_findings_old(&t.findings, 1000 + OLD), cases[i].again);
        keep();
    }
    tables[0].lookups = false;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_has_changed),
        TEST(what_is_read_anew_may_be_the_same),
        TEST(changed_tables_are_read_without_asking),
        TEST(another_configuration_is_read_anew),
        TEST(what_ends_a_look),
        TEST(questions_are_prepared_where_the_link_is_kept),
        TEST(a_sample_is_read_once),
        TEST(samples_of_many_tables_are_asked_for_at_once),
        TEST(wrong_hashes_stop_writes_until_they_are_gone),
        TEST(what_was_found_of_rows_holds_where_none_are_read),
        TEST(few_wrong_hashes_do_not),
        TEST(what_cannot_be_read_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
