/* Which changes of a hash rule need the backend's leave; and what a connection string says. */
#include "proxy/backend/schema/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/backend/base/dsn.h"
#include "tests/proxy/fake_postgres.h"

static char *key[] = {(char *)"a", (char *)"b"}, *other_key[] = {(char *)"a", (char *)"c"};

static const cfg_table events = {.name = (char *)"events",
                                 .hash_column = (char *)"h",
                                 .hash_key = key,
                                 .hash_key_count = 2,
                                 .hash_function = CFG_XXH3,
                                 .hash_type = CFG_HASH_INT8};

typedef struct verdict {
    unsigned count;
    const cfg_table *refused;
    const char *reason;
} verdict;

static void note(void *owner, const cfg_table *refused, const char *reason)
{
    verdict *out = owner;
    out->count++;
    out->refused = refused;
    out->reason = reason;
}

/* `before` and `now` are tables beside one that stays as it is. The backend cannot be asked. */
static void judge(const cfg_table *before, const cfg_table *now, bool refused)
{
    static cfg_table stays = {.name = (char *)"stays", .hash_column = (char *)"h"};
    cfg_table old_tables[] = {stays, *before}, new_tables[] = {stays, *now};
    cfg_config old = {.tables = old_tables, .table_count = 2},
               fresh = {.tables = new_tables, .table_count = 2, .backend.dsn = (char *)"user=x"};
    verdict found = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    px_rule_judge(&loop, &old, &fresh, note, &found);
    assert_int_equal(found.count, !refused); /* at once if nothing is to be asked */
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(found.count, 1);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_ptr_equal(found.refused, refused ? &new_tables[1] : NULL);
    if (refused)
        assert_string_equal(found.reason, "backend.dsn names no database to look for rows in");
    else
        assert_null(found.reason);
}

static void what_is_another_rule(void **state)
{
    (void)state;
    cfg_table now = events;
    judge(&events, &now, false);
    now.batch.rows = 7;
    now.primary_key = other_key;
    judge(&events, &now, false);
    now = events;
    now.hash_function = CFG_CITYHASH64;
    judge(&events, &now, true);
    now = events;
    now.hash_type = CFG_HASH_UINT64;
    judge(&events, &now, true);
    now = events;
    now.hash_buckets = 16;
    judge(&events, &now, true);
    now = events;
    now.hash_column = (char *)"g";
    judge(&events, &now, true);
    now = events;
    now.hash_key_count = 1;
    judge(&events, &now, true);
    now = events;
    now.hash_key = other_key;
    judge(&events, &now, true);
    now = events;
    now.name = (char *)"others"; /* a new table has no rule yet */
    now.hash_type = CFG_HASH_UINT64;
    judge(&events, &now, false);
}

/* The tables of each are all that there are: patterns behind the others, as in a file. */
static void judge_entry(const cfg_table *before, const cfg_table *now, bool refused)
{
    cfg_table was = *before, is = *now;
    cfg_config old = {.tables = &was,
                      .table_count = !was.pattern,
                      .pattern_count = was.pattern,
                      .backend.dsn = (char *)"user=x"},
               fresh = {.tables = &is,
                        .table_count = !is.pattern,
                        .pattern_count = is.pattern,
                        .backend.dsn = (char *)"user=x"};
    verdict found = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    px_rule_judge(&loop, &old, &fresh, note, &found);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_ptr_equal(found.refused, refused ? &is : NULL);
}

static void a_pattern_has_a_rule_for_all_of_its_tables(void **state)
{
    (void)state;
    cfg_table pattern = events, other = events, table = events;
    pattern.pattern = other.pattern = true;
    pattern.name = (char *)"ev";
    other.name = (char *)"even";
    judge_entry(&pattern, &pattern, false);
    judge_entry(&pattern, &table, false);
    judge_entry(&table, &pattern, false);
    judge_entry(&pattern, &other, false);
    judge_entry(&other, &pattern, false);
    pattern.hash_function = CFG_CITYHASH64;
    judge_entry(&pattern, &table, true);
    judge_entry(&table, &pattern, true);
    judge_entry(&pattern, &other, true);
    judge_entry(&other, &pattern, true);
    pattern.name = (char *)"events_";
    judge_entry(&table, &pattern, false);
    other = pattern;
    other.hash_column = (char *)"g";
    judge_entry(&pattern, &other, true);
}

/* With another hash function than before, asked by that user. */
static void ask(const char *table, const char *user, const char *reason)
{
    char dsn[128];
    cfg_table before = events, now;
    before.name = (char *)table;
    now = before;
    now.hash_function = CFG_CITYHASH64;
    snprintf(dsn, sizeof dsn, "host=%s port=5432 dbname=d user=%s sslmode=disable", postgres.folder,
             user);
    cfg_config old = {.tables = &before, .table_count = 1},
               fresh = {.tables = &now, .table_count = 1, .backend.dsn = dsn};
    fresh.backend.connect_ms = 10000;
    verdict found = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    px_rule_judge(&loop, &old, &fresh, note, &found);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(found.count, 1);
    assert_ptr_equal(found.refused, reason != NULL ? &now : NULL);
    if (reason != NULL)
        assert_string_equal(found.reason, reason);
}

static void rows_keep_a_rule(void **state)
{
    (void)state;
    static const char unsaid[] = "the backend does not say whether the table has rows";
    postgres_start();
    ask("full", "app", "the table has rows");
    ask("empty", "app", NULL);
    ask("missing", "app", NULL);
    ask("secret", "app", unsaid);
    ask("empty", "unknown", unsaid); /* who is not let in */
    postgres_stop();
}

static void what_a_connection_string_names(void **state)
{
    (void)state;
    static const struct {
        const char *dsn, *keyword, *value;
    } cases[] = {{"host=h user=u", "user", "u"},
                 {"host=h user=u", "host", "h"},
                 {"host=h user=u", "dbname", NULL},
                 {"user='' host=h", "user", NULL},
                 {"postgresql://u@h/d?sslmode=require", "dbname", "d"},
                 {"postgresql://h", "dbname", NULL},
                 {"user=u", "users", NULL},
                 {"=", "user", NULL},
                 {"", "user", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *value = px_dsn_value(cases[i].dsn, cases[i].keyword);
        assert_int_equal(value != NULL, cases[i].value != NULL);
        assert_int_equal(px_dsn_names(cases[i].dsn, cases[i].keyword), value != NULL);
        if (value != NULL)
            assert_string_equal(value, cases[i].value);
        free(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_another_rule),
        cmocka_unit_test(a_pattern_has_a_rule_for_all_of_its_tables),
        cmocka_unit_test(rows_keep_a_rule),
        cmocka_unit_test(what_a_connection_string_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
