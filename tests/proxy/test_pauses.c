/* Rows that YDB has not done and may do another time: they wait for that without a link, and with
 * their keys. */
#include "batches.h"

#include "ydb/endpoint/writer.h"

static const px_backend ydb_backend = {
    .name = "fake", .link = &fake_link_kind, .writer = &px_ydb_writer};

px_catalog *px_catalog_last(px_worker *worker, const px_identity *identity)
{
    (void)worker;
    (void)identity;
    return NULL;
}

/* One link, for all. */
static int setup(void **state)
{
    fake_setup(state);
    fake.server.backend = &ydb_backend;
    fake.server.worker_count = 1;
    fake.config.backend.batch_links = 1;
    fake.config.backend.retry_ms = 30000;
    fake.config.backend.capabilities.max_message = 100000;
    return 0;
}

/* All pauses are over. */
static void pass_pauses(fake_link *link)
{
    fake.now += 6000;
    while (link->out.len == 0)
        uv_run(&fake.workers[0].loop, UV_RUN_ONCE);
}

#define ALONE(n) "INSERT INTO t VALUES (" #n ")"

static void the_link_serves_others(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(rows_write_group(&t[0], 0, 1));
    expect_text(link, "Q", ALONE(1));
    submit(rows_write_group(&t[1], 2, 2));
    submit(rows_write_group(&t[2], 0, 3)); /* This one waits in the queue of the first. */
    fake_answer(link, "E40001 Z");
    assert_false(t[0].back);
    expect_text(link, "Q", ALONE(2));
    fake_answer(link, "C1 Z");
    expect_committed(&t[1], 1);
    expect_text(link, "Q", ALONE(3));
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
    expect_text(link, "", "");
    pass_pauses(link);
    expect_text(link, "Q", ALONE(1));
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    assert_int_equal(fake.link_count, 1);
}

static void keys_stay_locked(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 0, 1));
    fake_read(link, NULL);
    for (int i = 0; i < 3; i++) {
        fake_answer(link, i == 0 ? "E53000 Z" : i == 1 ? "E57P03 Z" : "E08006 Z");
        expect_text(link, "", "");
        pass_pauses(link);
        expect_text(link, "Q", ALONE(1));
    }
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    assert_false(t[1].back);
    expect_text(link, "Q", ALONE(1));
    fake_answer(link, "C1 Z");
    expect_committed(&t[1], 1);
}

/* Those that were sent together keep their order, in front of what came behind them. */
static void what_was_aborted_twice_is_halved(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[6];
    submit(rows_write_group(&t[5], 0, 100));
    for (int i = 0; i < 4; i++)
        submit(rows_write_group(&t[i], 0, (uint64_t)i + 1));
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    for (int i = 0; i < 2; i++) {
        expect_text(link, "Q", "insert into t values (1),\n(2),\n(3),\n(4)");
        fake_answer(link, "E40001 Z");
        expect_text(link, "", "");
        pass_pauses(link);
    }
    expect_text(link, "Q", "insert into t values (1),\n(2)");
    submit(rows_write_group(&t[4], 0, 5));
    fake_answer(link, "C2 Z");
    expect_committed(&t[1], 1);
    expect_text(link, "Q", "insert into t values (3),\n(4)");
    fake_answer(link, "C2 Z");
    expect_text(link, "Q", ALONE(5));
    fake_answer(link, "C1 Z");
    expect_committed(&t[3], 1);
    expect_committed(&t[4], 1);
}

/* What is OVERLOADED is not the size's fault. */
static void nothing_else_is(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit_rows(t, 2);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    for (int i = 0; i < 4; i++) {
        expect_text(link, "Q", "insert into t values (1),\n(2)");
        fake_answer(link, "E53000 Z");
        pass_pauses(link);
    }
    fake_answer(link, "C2 Z");
    expect_committed(&t[1], 1);
}

static void its_deadline_holds(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    px_write_group *write_group = rows_write_group(&t, 0, 1);
    submit(write_group);
    write_group->deadline = fake.now + 5000;
    fake_answer(link, "E40001 Z");
    fake.now += 4999;
    px_batcher_tick(fake.workers[0].batcher);
    assert_false(t.back);
    fake.now += 1;
    px_batcher_tick(fake.workers[0].batcher);
    expect_failed(&t, "57014");
}

/* Nobody has looked at the clock while it waited. */
static void it_is_not_sent_too_late(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    px_write_group *write_group = rows_write_group(&t, 0, 1);
    submit(write_group);
    fake_read(link, NULL);
    write_group->deadline = fake.now + 5000;
    fake_answer(link, "E40001 Z");
    fake.now += 6000;
    while (!t.back)
        uv_run(&fake.workers[0].loop, UV_RUN_ONCE);
    expect_failed(&t, "57014");
    expect_text(link, "", "");
}

static void it_can_be_withdrawn(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    fake_answer(link, "E40001 Z");
    withdraw(&t[0]);
    expect_failed(&t[0], "57014");
    submit(rows_write_group(&t[1], 0, 1)); /* No other row holds this key now. */
    fake_read(link, NULL);
    withdraw(&t[1]); /* while it is sent */
    fake_answer(link, "E40001 Z");
    expect_failed(&t[1], "57014");
}

static void not_for_ever(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    while (!t.back) {
        fake_read(link, NULL);
        fake_answer(link, "E53000 Z");
        if (!t.back)
            pass_pauses(link);
    }
    expect_failed(&t, "53000");
}

/* From when it is first sent: what waits for another row of its key has not been tried yet. */
static void waiting_for_keys_is_no_try(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 0, 1));
    fake_read(link, NULL);
    fake.now += 40000;
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    for (int i = 0; i < 2; i++) {
        expect_text(link, "Q", ALONE(1));
        fake_answer(link, "E40001 Z");
        assert_false(t[1].back);
        pass_pauses(link);
    }
    expect_text(link, "Q", ALONE(1));
    fake.now += 30000;
    fake_answer(link, "E40001 Z");
    expect_failed(&t[1], "40001");
}

/* … and then the one is told, whose fault it is. */
static void one_does_not_fail_the_others(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    fake.config.backend.retry_ms = 1;
    submit_rows(t, 2);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    expect_text(link, "Q", "insert into t values (1),\n(2)");
    fake_answer(link, "E57P03 Z");
    expect_text(link, "Q", ALONE(1));
    fake_answer(link, "E57P03 Z");
    expect_failed(&t[1], "57P03");
    expect_text(link, "Q", ALONE(2));
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
}

/* What YDB stumbles over may be the row's own fault. */
static void stumbles_are_counted(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake.config.backend.retry_ms = 3600000;
    for (int i = 0; i < 6; i++) {
        fake_read(link, NULL);
        fake_answer(link, i % 2 == 0 ? "EXX000 Z" : "E40001 Z");
        assert_false(t.back);
        pass_pauses(link);
    }
    fake_answer(link, "EXX000 Z");
    expect_failed(&t, "XX000");
}

static void the_unknown_is_not_repeated(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake_read(link, NULL);
    fake_answer(link, "E08007 Z");
    expect_failed(&t, "08007");
}

/* The queue may be gone when the pause is over. */
static void queues_may_be_swept(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake.config.backend.retry_ms = 3600000;
    fake_read(link, NULL);
    fake_answer(link, "E40001 Z");
    fake.now += 100000;
    fake.config.backend.link_age_s = 1000;
    px_batcher_tick(fake.workers[0].batcher); /* sweeps; its link, too, was idle for too long */
    assert_true(fake.links[0]->closed);
    while (fake.link_count < 2)
        uv_run(&fake.workers[0].loop, UV_RUN_ONCE);
    link = fake_open(1);
    expect_text(link, "Q", ALONE(1));
    fake_answer(link, "C1 Z");
    expect_committed(&t, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_link_serves_others),
        TEST(keys_stay_locked),
        TEST(what_was_aborted_twice_is_halved),
        TEST(nothing_else_is),
        TEST(its_deadline_holds),
        TEST(it_is_not_sent_too_late),
        TEST(it_can_be_withdrawn),
        TEST(not_for_ever),
        TEST(waiting_for_keys_is_no_try),
        TEST(one_does_not_fail_the_others),
        TEST(stumbles_are_counted),
        TEST(the_unknown_is_not_repeated),
        TEST(queues_may_be_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
