/* Units that execute several statements, and whose rows go into several tables. */
#include "batches.h"

#include "proxy/batch/pool.h"

/* One execution each of so many statements. */
static px_write_group *group_write_group(told *t, uint64_t key, size_t statements)
{
    px_write_group *write_group = params_write_group(t, 0, key, statements);
    for (size_t i = 1; i < statements; i++)
        fake_prepared(write_group,
                      pgw_slice_str(pgw_arena_printf(&write_group->arena, "ks_%zu", i + 1)));
    for (size_t i = 0; i < statements; i++)
        write_group->statements[i].prepared = i;
    write_group->merge_hash += statements;
    return write_group;
}

/* … whose rows go into a table each. */
static px_write_group *tables_write_group(told *t, uint64_t key, size_t tables)
{
    px_write_group *write_group = group_write_group(t, key, tables);
    for (size_t i = 1; i < tables; i++) {
        fake_table(write_group, pgw_arena_printf(&write_group->arena, "t%zu", i + 1));
        write_group->keys[i].hash = write_group->keys[i].fingerprint = key;
        write_group->keys[i].table = (uint16_t)i;
    }
    write_group->several_partitions = true;
    return write_group;
}

static fake_link *link_with_statements(size_t statements)
{
    fake_link *link = warm_link();
    told first;
    submit(group_write_group(&first, 1000001, statements));
    fake_read(link, NULL);
    for (size_t i = 0; i < statements; i++)
        fake_say(link, "3 1");
    if (statements > 1)
        fake_say(link, "Z");
    for (size_t i = 0; i < statements; i++)
        fake_say(link, "2 C1");
    fake_answer(link, "Z");
    expect_committed(&first, 1);
    return link;
}

/* Under a Sync of their own, for an error in one comes behind what was executed before. */
static void all_statements_are_prepared_first(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(group_write_group(&t[0], 1, 3));
    assert_string_equal(fake_read(link, NULL), "CCCPPPSBEBEBES");
    fake_answer(link, "3 3 3 1 1 1 Z 2 C1 2 C5 2 C9 Z");
    expect_committed(&t[0], 1);
    assert_int_equal(t[0].tags[1], 5);
    assert_int_equal(t[0].tags[2], 9);
    submit(group_write_group(&t[0], 1, 3));
    submit(group_write_group(&t[1], 10, 3));
    submit(group_write_group(&t[2], 20, 3));
    assert_string_equal(fake_read(link, NULL), "BEBEBES");
    fake_answer(link, "2 C1 2 C1 2 C1 Z");
    assert_string_equal(fake_read(link, NULL), "BEBEBEBEBEBES");
    fake_answer(link, "2 C1 2 C1 2 C1 2 C2 2 C1 2 C1 Z");
    expect_committed(&t[1], 1);
    expect_committed(&t[2], 2);
}

/* Only those that it lacks. */
static void statements_that_the_link_has_are_not_prepared(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(1);
    told t;
    submit(group_write_group(&t, 1, 3));
    assert_string_equal(fake_read(link, NULL), "CCPPSBEBEBES");
    fake_answer(link, "3 3 1 1 Z 2 C1 2 C1 2 C1 Z");
    expect_committed(&t, 1);
}

static void others_go_by_a_queue_of_their_own(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(3);
    told t[3];
    submit(group_write_group(&t[0], 1, 3));
    submit(group_write_group(&t[1], 10, 2)); /* the link is busy */
    submit(group_write_group(&t[2], 20, 3));
    assert_string_equal(fake_read(link, NULL), "BEBEBES");
    assert_int_equal(fake.link_count, 2);
    assert_string_equal(fake_read(fake_open(1), NULL), "CCPPSBEBES");
    fake_answer(fake.links[1], "3 3 1 1 Z 2 C1 2 C1 Z");
    expect_committed(&t[1], 1);
    fake_answer(link, "2 C1 2 C1 2 C1 Z 2 C1 2 C1 2 C1 Z");
    expect_committed(&t[0], 1);
    expect_committed(&t[2], 1);
}

static void the_guilty_statement_has_the_error(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(3);
    told t[3];
    submit(group_write_group(&t[0], 1, 3));
    submit(group_write_group(&t[1], 10, 3));
    submit(group_write_group(&t[2], 20, 3));
    fake_answer(link, "2 C1 2 E23505 Z");
    expect_failed(&t[0], "23505");
    assert_int_equal(t[0].completed, 1);
    fake_read(link, NULL);
    fake_answer(link, "2 C1 2 C1 2 C1 2 C1 2 C1 E23514 Z");
    assert_string_equal(fake_read(link, NULL), "BEBEBESBEBEBES");
    fake_answer(link, "2 C1 2 C1 2 C1 Z 2 C1 2 C1 E23514 Z");
    expect_committed(&t[1], 1);
    expect_failed(&t[2], "23514");
    assert_int_equal(t[2].completed, 2);
}

/* What comes before it is executed, and what comes behind is not there. */
static void a_statement_that_cannot_be_prepared(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(group_write_group(&t, 1, 3));
    assert_string_equal(fake_read(link, NULL), "CCCPPPSBEBEBES");
    fake_answer(link, "3 3 3 1 E42804 Z 2 C1 E26000 Z");
    expect_failed(&t, "42804");
    assert_int_equal(t.completed, 1);
    submit(group_write_group(&t, 1, 3));
    assert_string_equal(fake_read(link, NULL), "CCPPSBEBEBES");
    fake_answer(link, "3 3 1 1 Z 2 C1 2 C1 2 C1 Z");
    expect_committed(&t, 1);
}

/* All are prepared again where one is stale, once. */
static void stale_statements_are_prepared_again(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(2);
    static const char *const stale[] = {"E26000 Z", "2 C1 E26000 Z", "2 C1 2 E42P01 Z"};
    for (size_t i = 0; i < 3; i++) {
        told t;
        submit(group_write_group(&t, 1, 2));
        assert_string_equal(fake_read(link, NULL), "BEBES");
        fake_answer(link, stale[i]);
        assert_string_equal(fake_read(link, NULL), "CCPPSBEBES");
        fake_answer(link, "3 3 1 1 Z 2 C1 2 C1 Z");
        expect_committed(&t, 1);
    }
}

/* What a write group needs does not give way to what else it needs. */
static void a_full_link_keeps_what_is_needed(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(1);
    told t;
    for (int i = 0; i < 499; i++) {
        px_write_group *write_group = params_write_group(&t, 0, 1, 1);
        write_group->prepared->name =
            pgw_slice_str(pgw_arena_printf(&write_group->arena, "n%d", i));
        submit(write_group);
        assert_string_equal(fake_read(link, NULL), "CPBES");
        fake_answer(link, "3 1 2 C1 Z");
    }
    submit(group_write_group(&t, 1, 2)); /* the first of them is the oldest of all */
    assert_string_equal(fake_read(link, NULL), "CCPSBEBES");
    fake_answer(link, "3 3 1 Z 2 C1 2 C1 Z");
    expect_committed(&t, 1);
    submit(group_write_group(&t, 1, 2));
    assert_string_equal(fake_read(link, NULL), "BEBES");
    fake_answer(link, "2 C1 2 C1 Z");
}

static void the_link_is_lost(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(2);
    told t;
    submit(group_write_group(&t, 1, 2));
    fake_answer(link, "2 C1 2 C1");
    fake_lose(link);
    expect_failed(&t, "08007");
    assert_int_equal(t.completed, 0);
}

/* Rows of the same key of any table of a write group wait for it, and write groups for each other
 * in one order.
 */
static void keys_of_several_tables(void **state)
{
    (void)state;
    fake_link *link = link_with_statements(2);
    told t[4];
    submit(tables_write_group(&t[0], 1, 2));
    assert_string_equal(fake_read(link, NULL), "BEBES");
    px_write_group *second = rows_write_group(&t[1], 0, 1), *third = rows_write_group(&t[2], 0, 1),
                   *other = rows_write_group(&t[3], 0, 1);
    second->tables->name = pgw_arena_printf(&second->arena, "t2");
    other->tables->name = pgw_arena_printf(&other->arena, "other");
    submit(second);
    submit(third);
    assert_int_equal(fake.link_count, 1); /* both wait for keys */
    submit(other);
    assert_int_equal(fake.link_count, 2);
    fake_answer(fake_open(1), "C1 Z");
    expect_committed(&t[3], 1);
    assert_false(t[1].back || t[2].back);
    fake_answer(link, "2 C1 2 C1 Z");
    expect_committed(&t[0], 1);
    fake_answer(link, "C1 Z");
    fake_answer(fake.links[1], "C1 Z");
    expect_committed(&t[1], 1);
    expect_committed(&t[2], 1);
}

/* Rows are counted with the table that they go into. */
static void partitions_of_several_tables(void **state)
{
    (void)state;
    told t;
    px_write_group *write_group = tables_write_group(&t, 1, 2);
    for (size_t i = 0; i < 2; i++) {
        write_group->tables[i].partitions = 4;
        write_group->keys[i].partition = (uint32_t)(3 - i);
    }
    submit(write_group);
    fake_answer(fake_open(0), "3 3 1 1 Z 2 C1 2 C1 Z");
    expect_committed(&t, 1);
    px_metrics *sum = px_metrics_new(fake.server.metrics);
    px_metrics_add(sum, fake.workers[0].metrics);
    size_t tables = 0;
    for (const px_table_metrics *table = sum->tables; table != NULL; table = table->next, tables++)
        for (size_t p = 0; p < 4; p++)
            assert_int_equal(table->rows[p], p == (strcmp(table->name, "t") == 0 ? 3 : 2));
    assert_int_equal(tables, 2);
    px_metrics_free(sum);
}

/* Clients may make as many queues as there are orders of statements. */
static void queues_of_long_texts_do_not_idle(void **state)
{
    (void)state;
    enum { MANY = 20, LONG = 1 << 20 };
    char *text = pgw_calloc(1, LONG);
    for (unsigned i = 0; i < MANY; i++) {
        told t;
        px_write_group *write_group = group_write_group(&t, 1, 2);
        write_group->prepared[1].text = (pgw_slice){text, LONG - i};
        submit(write_group);
        if (i == 0)
            fake_open(0);
        fake_read(fake.links[0], NULL);
        fake_answer(fake.links[0], i == 0 ? "3 3 1 1 Z 2 C1 2 C1 Z" : "3 3 1 Z 2 C1 2 C1 Z");
        expect_committed(&t, 1);
        fake.now += 100;
        px_batcher_tick(fake.workers[0].batcher);
        assert_true(fake.workers[0].pools->first->references <= 16);
    }
    assert_int_equal(fake.workers[0].pools->first->references, MANY - 16);
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_statements_are_prepared_first),
        TEST(statements_that_the_link_has_are_not_prepared),
        TEST(others_go_by_a_queue_of_their_own),
        TEST(the_guilty_statement_has_the_error),
        TEST(a_statement_that_cannot_be_prepared),
        TEST(stale_statements_are_prepared_again),
        TEST(a_full_link_keeps_what_is_needed),
        TEST(the_link_is_lost),
        TEST(keys_of_several_tables),
        TEST(partitions_of_several_tables),
        TEST(queues_of_long_texts_do_not_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
