/* The batcher over a writer that only counts: any kind of backend may write attempts. */
#include "fake_backend.h"

typedef struct counter {
    px_writer base;
    px_link *link;
    px_attempt *attempt;
} counter;

static struct {
    size_t writers, attempts, write_groups, rows;
} counted;

static px_writer *counter_make(px_link *link);

static void counter_free(px_writer *base)
{
    counted.writers--;
    free(base);
}

/* One byte an attempt is all that the link gets. */
static void counter_begin(px_writer *base, px_attempt *attempt)
{
    counter *c = (counter *)base;
    c->attempt = attempt;
    counted.attempts++;
    counted.write_groups += attempt->count;
    for (size_t i = 0; i < attempt->count; i++)
        counted.rows += attempt->write_groups[i]->row_count;
    px_link_send(c->link, "!", 1);
}

/* 'Z' commits all, 'E' has a write group alone failed, or all write groups of several repeated. */
static px_progress counter_on_message(px_writer *base, char type, pgw_slice message)
{
    px_attempt *attempt = ((counter *)base)->attempt;
    (void)message;
    if (type != 'Z' && type != 'E')
        return PX_PROGRESS_BROKEN;
    px_verdict verdict = type == 'Z'       ? PX_VERDICT_COMMITTED
                         : attempt->shared ? PX_VERDICT_REPEAT
                                           : PX_VERDICT_FAILED;
    while (attempt->at < attempt->count) {
        px_write_group *write_group = attempt->write_groups[attempt->at++];
        attempt->answered(attempt, write_group, verdict);
        if (!attempt->shared)
            break;
    }
    return attempt->at == attempt->count ? PX_PROGRESS_DONE : PX_PROGRESS_MORE;
}

static const px_writer_kind counting = {.make = counter_make,
                                        .free = counter_free,
                                        .begin = counter_begin,
                                        .on_message = counter_on_message};

static px_writer *counter_make(px_link *link)
{
    counter *c = pgw_calloc(1, sizeof *c);
    c->base.kind = &counting;
    c->link = link;
    counted.writers++;
    return &c->base;
}

static const px_backend counting_backend = {
    .name = "counting", .link = &fake_link_kind, .writer = &counting};

static int setup(void **state)
{
    memset(&counted, 0, sizeof counted);
    int result = fake_setup(state);
    fake.server.backend = &counting_backend;
    return result;
}

static int teardown(void **state)
{
    int result = fake_teardown(state);
    return result == 0 && counted.writers == 0 ? 0 : -1;
}

static fake_link *first_attempt(told *t)
{
    px_batcher_submit(rows_write_group(t, 0, 100));
    fake_turn();
    return fake_open(0);
}

static void expect(size_t attempts, size_t write_groups, size_t rows)
{
    assert_int_equal(counted.attempts, attempts);
    assert_int_equal(counted.write_groups, write_groups);
    assert_int_equal(counted.rows, rows);
}

static void write_groups_that_wait_travel_together(void **state)
{
    (void)state;
    told t[4];
    fake_link *link = first_attempt(&t[0]);
    expect(1, 1, 1);
    for (size_t i = 1; i < 4; i++)
        px_batcher_submit(rows_write_group(&t[i], 0, i));
    fake_turn();
    expect(1, 1, 1);
    fake_answer(link, "Z");
    assert_true(t[0].back);
    expect(2, 4, 4);
    fake_answer(link, "Z");
    for (size_t i = 0; i < 4; i++)
        assert_true(t[i].back && t[i].outcome == PX_WRITE_GROUP_COMMITTED);
    assert_int_equal(counted.writers, 1);
}

static void what_failed_together_is_sent_again_alone(void **state)
{
    (void)state;
    told t[3];
    fake_link *link = first_attempt(&t[0]);
    for (size_t i = 1; i < 3; i++)
        px_batcher_submit(rows_write_group(&t[i], 0, i));
    fake_answer(link, "Z");
    fake_answer(link, "E23505");
    expect(3, 5, 5);
    assert_false(t[1].back || t[2].back);
    fake_answer(link, "E23505 Z");
    assert_int_equal(t[1].outcome, PX_WRITE_GROUP_FAILED);
    assert_int_equal(t[2].outcome, PX_WRITE_GROUP_COMMITTED);
}

static void without_the_link_the_outcome_is_unknown(void **state)
{
    (void)state;
    told t[2];
    fake_link *link = first_attempt(&t[0]);
    fake_answer(link, "Z");
    px_batcher_submit(rows_write_group(&t[1], 0, 1));
    fake_turn();
    fake_answer(link, "1"); /* no answer that it knows: the link is of no use */
    expect_failed(&t[1], "08007");
    assert_true(link->closed);
}

/* A client's transaction, as COMMIT submits it. */
static void submit_transaction(told *t, uint32_t partition, uint64_t key)
{
    px_write_group *write_group = rows_write_group(t, partition, key);
    write_group->told = true;
    px_batcher_submit(write_group);
}

static void transactions_share_batches_over_partitions(void **state)
{
    (void)state;
    told t[4];
    submit_transaction(&t[0], 0, 100);
    fake_turn();
    fake_link *link = fake_open(0);
    for (uint32_t i = 1; i < 4; i++)
        submit_transaction(&t[i], i, i);
    fake_turn();
    expect(1, 1, 1);
    fake_answer(link, "Z");
    expect(2, 4, 4);
    fake_answer(link, "Z");
    for (size_t i = 0; i < 4; i++)
        assert_true(t[i].back && t[i].outcome == PX_WRITE_GROUP_COMMITTED);
}

static void where_partitions_cost_they_do_not(void **state)
{
    (void)state;
    px_backend backend = counting_backend;
    backend.by_partition = true;
    fake.server.backend = &backend;
    told t[2];
    for (uint32_t i = 0; i < 2; i++)
        submit_transaction(&t[i], i, i);
    fake_turn();
    for (size_t i = 0; i < 2; i++)
        fake_answer(fake_open(i), "Z");
    expect(2, 2, 2);
    assert_true(t[0].back && t[1].back);
}

/* As many write groups wait as make another link worth while for a lane. */
static void many_do_not_wait_for_the_batch_before(void **state)
{
    (void)state;
    enum { WORTH = 16 };
    told t[1 + WORTH];
    submit_transaction(&t[0], 0, 100);
    fake_turn();
    fake_link *link = fake_open(0);
    for (uint32_t i = 1; i < WORTH; i++)
        submit_transaction(&t[i], i, i);
    fake_turn();
    assert_int_equal(fake.link_count, 1);
    submit_transaction(&t[WORTH], WORTH, WORTH);
    fake_turn();
    assert_int_equal(fake.link_count, 2);
    fake_link *other = fake_open(1);
    expect(2, 1 + WORTH, 1 + WORTH);
    fake_answer(other, "Z");
    assert_true(t[WORTH].back && !t[0].back);
    fake_answer(link, "Z");
    assert_true(t[0].back);
}

/* Three batches that take long do not hold up a fourth; a fifth waits for one of them. */
static void slow_ones_do_not_hold_up_the_lane(void **state)
{
    (void)state;
    enum { FLIGHTS = 4, LATE_MS = 60 };
    told t[FLIGHTS + 1];
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        submit_transaction(&t[i], i, i);
        fake_turn();
        assert_int_equal(fake.link_count, i + 1);
        fake_open(i);
        fake.now += LATE_MS;
    }
    submit_transaction(&t[FLIGHTS], FLIGHTS, FLIGHTS);
    fake_turn();
    assert_int_equal(fake.link_count, FLIGHTS);
    expect(FLIGHTS, FLIGHTS, FLIGHTS);
    for (size_t i = 0; i < FLIGHTS; i++)
        fake_answer(fake.links[i], "Z");
    fake_answer(fake.links[0], "Z"); /* the fifth has taken the first link that was free */
    assert_true(t[FLIGHTS].back);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(write_groups_that_wait_travel_together),
        TEST(what_failed_together_is_sent_again_alone),
        TEST(without_the_link_the_outcome_is_unknown),
        TEST(transactions_share_batches_over_partitions),
        TEST(where_partitions_cost_they_do_not),
        TEST(many_do_not_wait_for_the_batch_before),
        TEST(slow_ones_do_not_hold_up_the_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
