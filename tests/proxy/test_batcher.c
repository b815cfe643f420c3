/* Batches against a backend made of buffers: who travels with whom, and what each is told. */
#include "batches.h"

#include "proxy/batch/pool.h"

/* Rows in one statement, which fails unless all of them are stored. */
#define MERGED(rows, count)                                                                        \
    "with keyspread_rows as (insert into t values " rows "\nreturning 1) select 1 "                \
    "operator(pg_catalog./) case when (select pg_catalog.count(*) from keyspread_rows) "           \
    "operator(pg_catalog.=) " count " then 1 else 0 end"

static void test_write_groups_of_one_turn_leave_together(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    px_batcher_submit(rows_write_group(&t[0], 0, 1));
    px_batcher_submit(rows_write_group(&t[1], 0, 2));
    fake_turn();
    expect_text(link, "Q", MERGED("(1),\n(2)", "2"));
    fake_answer(link, "C2 Z");
    expect_committed(&t[0], 1);
    expect_committed(&t[1], 1);
}

static void test_lone_write_group_leaves_at_once(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    expect_text(link, "Q", "INSERT INTO t VALUES (1)"); /* within the turn, and as it was sent */
    assert_false(t.back);
    fake_answer(link, "N C1 Z");
    expect_committed(&t, 1);
    assert_int_equal(t.notices, 17);
    assert_int_equal(t.completed, 1);
}

static void test_link_options(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    assert_string_equal(link->options, "-c lock_timeout=200 -c statement_timeout=0 -c "
                                       "standard_conforming_strings=on -c client_encoding=UTF8");
}

/* What comes while a batch is in flight makes up the next one, in the order of keys. */
static void test_group_commit(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[5];
    submit(rows_write_group(&t[0], 0, 50));
    fake_read(link, NULL);
    submit(rows_write_group(&t[1], 0, 9));
    submit(rows_write_group(&t[2], 0, 3));
    px_write_group *two = rows_write_group(&t[3], 0, 7);
    two->statements[0].rows = 2;
    submit(two);
    assert_string_equal(fake_read(link, NULL), "");
    fake_answer(link, "C1 Z");
    expect_text(link, "Q", MERGED("(3),\n(7),\n(9)", "4"));
    submit(rows_write_group(&t[4], 0, 4));
    fake_answer(link, "C4 N");
    assert_false(t[1].back); /* CommandComplete is no commit */
    fake_answer(link, "Z");
    expect_committed(&t[1], 1);
    expect_committed(&t[2], 1);
    expect_committed(&t[3], 2);
    assert_int_equal(t[3].notices, 0);
    assert_false(t[4].back);
    fake_answer(link, "C1 Z");
    expect_committed(&t[4], 1);
}

/* There may be no more than the one that is there: else one a worker. */
static void only_link(void)
{
    fake.config.backend.batch_links = 1;
    fake.server.worker_count = 1;
}

static void test_merge_keys_are_apart(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    fake.config.backend.batch_links = 2;
    submit(rows_write_group(&t[0], 0, 1));
    fake_read(link, NULL);
    submit(rows_write_group(&t[1], 0, 2));
    px_write_group *other = rows_write_group(&t[2], 0, 3);
    other->head = PGW_LITERAL("insert into t (a) values "); /* with the same merge_hash */
    submit(other);
    px_write_group *epoch = rows_write_group(&t[3], 0, 4);
    epoch->epoch = 2;
    submit(epoch);
    fake_answer(link, "C1 Z");
    /* Both other queues asked for a second link when they came, and wait for it. */
    assert_int_equal(fake.link_count, 2);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(fake_read(link, NULL), "Q");
        fake_answer(link, "C1 Z");
    }
    for (int i = 0; i < 4; i++)
        expect_committed(&t[i], 1);
}

static void test_guilty_and_innocent(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit_rows(t, 3);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    assert_string_equal(fake_read(link, NULL), "Q");
    fake_answer(link, "N E23505 Z");
    expect_text(link, "QQQ",
                "INSERT INTO t VALUES (1)INSERT INTO t VALUES (2)INSERT INTO t VALUES (3)");
    fake_answer(link, "C1 Z");
    expect_committed(&t[1], 1);
    assert_false(t[2].back);
    fake_answer(link, "N E23505 Z C1 Z");
    expect_failed(&t[2], "23505");
    assert_int_equal(t[2].notices, 17);
    expect_committed(&t[3], 1);
    assert_int_equal(t[3].notices, 0);
}

/* For a few the checks of a merged statement do not pay. */
static void test_few_keep_their_statements(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    static told t[16];
    for (size_t count = 2; count <= 16; count += 14) {
        for (size_t i = 0; i < count; i++) {
            px_write_group *write_group = rows_write_group(&t[i], 0, 10 + i);
            write_group->guarded = false;
            px_batcher_submit(write_group);
        }
        fake_turn();
        if (count == 2)
            expect_text(link, "Q", "INSERT INTO t VALUES (10)\n;\ninsert into t values (11)");
        fake_answer(link, count == 2 ? "C0 C1 Z" : "C1 Z");
        for (size_t i = 0; i < count; i++)
            expect_committed(&t[i], count == 2 ? i : 1);
    }
}

/* Few rows that were lifted out of their texts are executions of one statement. */
static void test_lifted_rows(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    static told t[16];
    submit(lifted_write_group(&t[0], 0, 1));
    assert_string_equal(fake_read(link, NULL), "CPBES");
    fake_answer(link, "3 1 2 C1 Z");
    expect_committed(&t[0], 1);
    static const struct {
        size_t count;
        const char *sent, *replies;
    } cases[] = {{1, "BES", "2 C1 Z"}, {3, "BEBEBES", "2 C1 2 C1 2 C1 Z"}, {16, "Q", "C1 Z"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < cases[c].count; i++)
            px_batcher_submit(lifted_write_group(&t[i], 0, 10 + i));
        fake_turn();
        assert_string_equal(fake_read(link, NULL), cases[c].sent);
        fake_answer(link, cases[c].replies);
        for (size_t i = 0; i < cases[c].count; i++)
            expect_committed(&t[i], 1);
    }
}

static void test_rows_lifted_into_different_statements(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    for (size_t i = 0; i < 4; i++) {
        px_write_group *write_group =
            i % 2 == 0 ? lifted_write_group(&t[i], 0, 10 + i) : rows_write_group(&t[i], 0, 10 + i);
        if (i == 3) {
            px_write_group_free(write_group);
            write_group = lifted_write_group(&t[i], 0, 10 + i);
            write_group->prepared->name = PGW_LITERAL("ks_2");
        }
        px_batcher_submit(write_group);
        if (i % 2 == 0)
            continue;
        fake_turn();
        assert_string_equal(fake_read(link, NULL), "Q");
        fake_answer(link, "C1 Z");
        expect_committed(&t[i - 1], 1);
        expect_committed(&t[i], 1);
    }
}

/* Their errors are those of the texts. */
static void test_lifted_rows_that_fail(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(lifted_write_group(&t[0], 0, 1));
    assert_string_equal(fake_read(link, NULL), "CPBES");
    fake_answer(link, "3 1 N E22P02 Z");
    expect_text(link, "Q", "INSERT INTO t VALUES (1)");
    fake_answer(link, "E22003 Z");
    expect_failed(&t[0], "22003");
    assert_int_equal(t[0].notices, 0);
    px_batcher_submit(lifted_write_group(&t[0], 0, 1));
    px_batcher_submit(lifted_write_group(&t[1], 0, 2));
    fake_turn();
    assert_string_equal(fake_read(link, NULL), "BEBES");
    fake_answer(link, "2 C1 E22P02 Z");
    expect_text(link, "QQ", "INSERT INTO t VALUES (1)INSERT INTO t VALUES (2)");
    fake_answer(link, "E23505 Z C1 Z");
    expect_failed(&t[0], "23505");
    expect_committed(&t[1], 1);
}

/* A lock, or a transaction that went before, is no reason to leave the statement. */
static void test_lifted_rows_that_wait(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(lifted_write_group(&t, 0, 1));
    fake_read(link, NULL);
    fake_answer(link, "3 1 2 E40001 Z");
    assert_string_equal(fake_read(link, NULL), "BES");
    fake_answer(link, "2 E55P03 Z");
    expect_rerouted(&t);
}

/* Nor is a statement kept that the schema has left behind. */
static void test_lifted_rows_of_another_schema(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(lifted_write_group(&t[0], 0, 1));
    fake_read(link, NULL);
    fake_answer(link, "3 1 2 C1 Z");
    for (size_t count = 1; count <= 2; count++) {
        for (size_t i = 0; i < count; i++)
            px_batcher_submit(lifted_write_group(&t[i], 0, 2 + i));
        fake_turn();
        assert_string_equal(fake_read(link, NULL), count == 1 ? "BES" : "BEBES");
        fake_answer(link, "E42703 Z");
        assert_string_equal(fake_read(link, NULL), count == 1 ? "Q" : "QQ");
        fake_answer(link, count == 1 ? "C1 Z" : "C1 Z C1 Z");
        expect_committed(&t[count - 1], 1);
        submit(lifted_write_group(&t[2], 0, 1));
        assert_string_equal(fake_read(link, NULL), "CPBES");
        fake_answer(link, "3 1 2 C1 Z");
    }
    px_batcher_submit(lifted_write_group(&t[0], 0, 1));
    px_batcher_submit(lifted_write_group(&t[1], 0, 2));
    fake_turn();
    fake_read(link, NULL);
    fake_answer(link, "E0A000 Z");
    assert_string_equal(fake_read(link, NULL), "QQ");
    fake_answer(link, "C1 Z C1 Z");
    submit(lifted_write_group(&t[2], 0, 1));
    assert_string_equal(fake_read(link, NULL), "BES");
    fake_answer(link, "2 C1 Z");
}

/* One that looks at more than the statement before it does looks for itself. */
static void test_first_statement_looks_for_others(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    for (size_t i = 0; i < 3; i++) {
        px_write_group *write_group = rows_write_group(&t[i], 0, 10 + i);
        write_group->guarded = i == 1;
        px_batcher_submit(write_group);
    }
    fake_turn();
    expect_text(link, "Q",
                "INSERT INTO t VALUES (10)\n;\nINSERT INTO t VALUES (11)\n;\n"
                "insert into t values (12)");
    fake_answer(link, "C1 C1 C1 Z");
    for (size_t i = 0; i < 3; i++)
        expect_committed(&t[i], 1);
}

/* Rows that fail together and come through alone are not merged again: each has its own tag. */
static void test_a_count_that_differs(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[5];
    submit_rows(t, 2);
    fake_answer(link, "C1 Z");
    fake_read(link, NULL);
    fake_answer(link, "E22012 Z");
    expect_text(link, "QQ", "INSERT INTO t VALUES (1)INSERT INTO t VALUES (2)");
    assert_int_equal(fake.stale, 0);
    fake_say(link, "C0 Z C1 Z");
    px_batcher_submit(rows_write_group(&t[3], 0, 3));
    px_batcher_submit(rows_write_group(&t[4], 0, 4));
    fake_hear(link);
    expect_committed(&t[1], 0);
    expect_committed(&t[2], 1);
    assert_int_equal(fake.stale, 1);
    expect_text(link, "Q", "INSERT INTO t VALUES (3)\n;\nINSERT INTO t VALUES (4)");
    fake_answer(link, "C0 C1 Z");
    expect_committed(&t[3], 0);
    expect_committed(&t[4], 1);
}

/* A row's own error says nothing of the form. */
static void test_an_error_is_no_count(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    static const char *const answers[][2] = {
        {"E22012 Z", "C1 Z E22012 Z"}, {"E40P01 Z", "C1 Z C1 Z"}, {"E57014 Z", "C1 Z C1 Z"}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        told t[3];
        submit_rows(t, 2);
        fake_answer(link, "C1 Z");
        expect_text(link, "QQ", "INSERT INTO t VALUES (100)" MERGED("(1),\n(2)", "2"));
        fake_answer(link, answers[i][0]);
        fake_answer(link, answers[i][1]);
        fake_read(link, NULL);
        assert_true(t[1].back && t[2].back);
    }
    assert_int_equal(fake.stale, 0);
}

/* A deferred constraint: the error comes behind the tag. */
static void test_error_at_commit(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake_read(link, NULL);
    fake_answer(link, "C1 E23503 Z");
    expect_failed(&t, "23503");
    assert_int_equal(t.completed, 1);
}

/* Whatever an ERROR is called, a row may have raised it: each write group is sent again, alone. */
static void test_an_error_is_nobody_elses(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    static const char *const codes[] = {"53100", "53300", "57P03", "57P01", "08006", "28000"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        told t[3];
        char replies[48];
        submit_rows(t, 2);
        fake_answer(link, "C1 Z");
        fake_read(link, NULL);
        snprintf(replies, sizeof replies, "E%s Z", codes[i]);
        fake_answer(link, replies);
        assert_false(t[1].back || t[2].back);
        expect_text(link, "QQ", "INSERT INTO t VALUES (1)INSERT INTO t VALUES (2)");
        snprintf(replies, sizeof replies, "C1 Z E%s Z", codes[i]);
        fake_answer(link, replies);
        expect_committed(&t[1], 1);
        expect_failed(&t[2], codes[i]);
        assert_int_equal(t[2].completed, 0);
    }
}

/* FATAL is everybody's: the link goes, and nothing that was sent counts as told. */
static void test_fatal_is_everybodys(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(params_write_group(&t[0], 0, 100, 1));
    fake_read(link, NULL);
    submit(params_write_group(&t[1], 0, 1, 1));
    submit(params_write_group(&t[2], 0, 2, 1));
    fake_answer(link, "3 1 2 C1 Z");
    fake_answer(link, "2 C1 2 F53100 Z"); /* nothing comes behind FATAL, not even what looks so */
    for (int i = 1; i < 3; i++) {
        expect_failed(&t[i], "08007");
        assert_int_equal(t[i].completed, 0);
    }
    assert_true(link->closed);
}

static void test_lock_reroutes(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit_rows(t, 2);
    fake_read(link, NULL);
    fake_answer(link, "N E55P03 Z");
    expect_rerouted(&t[0]);
    assert_int_equal(t[0].notices, 0);
    assert_string_equal(fake_read(link, NULL), "Q");
    fake_answer(link, "E55P03 Z");
    assert_string_equal(fake_read(link, NULL), "QQ");
    fake_answer(link, "E55P03 Z C1 Z");
    expect_rerouted(&t[1]);
    expect_committed(&t[2], 1);
}

static void test_serialization_repeats(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    for (int i = 0; i < 3; i++) {
        assert_string_equal(fake_read(link, NULL), "Q");
        fake_answer(link, i % 2 ? "E40001 Z" : "E40P01 Z");
        assert_false(t[0].back);
    }
    fake_answer(link, "E40001 Z");
    expect_failed(&t[0], "40001");
    submit(rows_write_group(&t[1], 0, 1));
    fake_answer(link, "E40001 Z");
    fake_answer(link, "C1 Z");
    expect_committed(&t[1], 1);
}

static void test_shared_timeout_repeats_singly(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit_rows(t, 2);
    fake_answer(link, "C1 Z E57014 Z");
    fake_answer(link, "C1 Z E57014 Z");
    expect_committed(&t[1], 1);
    expect_failed(&t[2], "57014");
}

static void test_lost_in_flight(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit_rows(t, 2);
    fake_answer(link, "C1 Z");
    submit(rows_write_group(&t[3], 0, 3));
    fake_say(link, "C2 F57P01"); /* came, but no ReadyForQuery */
    fake_lose(link);
    expect_failed(&t[1], "08007");
    expect_failed(&t[2], "08007");
    assert_false(t[3].back);
    link = fake_open(1);
    assert_string_equal(fake_read(link, NULL), "Q");
    fake_answer(link, "C1 Z");
    expect_committed(&t[3], 1);
}

/* The outcome that came before the end is the outcome. */
static void test_lost_behind_outcome(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit_rows(t, 3);
    fake_answer(link, "C1 Z E23505 Z");
    fake_say(link, "C1 Z E40001 Z");
    fake_lose(link);
    expect_committed(&t[1], 1);
    expect_failed(&t[3], "08007");
    assert_false(t[2].back); /* wrote nothing for sure: goes on with another link */
    link = fake_open(1);
    expect_text(link, "Q", "INSERT INTO t VALUES (2)");
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
}

static void test_nonsense_is_a_lost_link(void **state)
{
    (void)state;
    static const char *const replies[] = {"C1 ZT", "C1 C1 Z", "2 2 Z", "Z"};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        told t;
        submit(rows_write_group(&t, 0, 1));
        fake_link *link = fake_open(i);
        fake_answer(link, replies[i]);
        expect_failed(&t, "08007");
        assert_true(link->closed);
    }
}

static void test_idle_link_lost(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    fake_say(link, "F57P01");
    fake_hear(link);
    fake_lose(link);
    assert_true(link->closed);
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake_answer(fake_open(1), "C1 Z");
    expect_committed(&t, 1);
}

static void fail_opening(size_t i, const char *sqlstate)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "no");
    fake_link *link = fake.links[i];
    px_link_fail(link->link, &error);
    fake_turn();
}

static void test_unreachable(void **state)
{
    (void)state;
    told t[3];
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 2, 2));
    assert_int_equal(fake.link_count, 2);
    fail_opening(0, "08006");
    assert_false(t[0].back); /* the other link may yet come */
    fail_opening(1, "57P03");
    expect_failed(&t[0], "57P03");
    expect_failed(&t[1], "57P03");
    submit(rows_write_group(&t[2], 0, 1));
    assert_int_equal(fake.link_count, 3); /* and the next one tries again */
    fake_answer(fake_open(2), "C1 Z");
    expect_committed(&t[2], 1);
}

static void test_deadline(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit(rows_write_group(&t[0], 0, 1));
    px_write_group *late = rows_write_group(&t[1], 0, 2), *in_time = rows_write_group(&t[2], 0, 3);
    px_write_group *blocked = rows_write_group(&t[3], 0, 1); /* the key of the one in flight */
    late->deadline = blocked->deadline = fake.now + 100;
    in_time->deadline = fake.now + 200;
    submit(late);
    submit(in_time);
    submit(blocked);
    fake.now += 99;
    px_batcher_tick(fake.workers[0].batcher);
    assert_false(t[1].back);
    fake.now += 1;
    px_batcher_tick(fake.workers[0].batcher);
    expect_failed(&t[1], "57014");
    expect_failed(&t[3], "57014");
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    expect_text(link, "Q", "INSERT INTO t VALUES (3)");
    fake.now += 1000;
    px_batcher_tick(fake.workers[0].batcher);
    assert_false(t[2].back); /* in flight: its true outcome */
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
}

static void test_deadline_between_attempts(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(rows_write_group(&t[0], 0, 100));
    px_write_group *late = rows_write_group(&t[1], 0, 1);
    late->deadline = fake.now + 100;
    submit(late);
    submit(rows_write_group(&t[2], 0, 2));
    fake_answer(link, "C1 Z");
    fake_read(link, NULL);
    fake.now += 100;
    fake_answer(link, "E40001 Z");
    expect_failed(&t[1], "57014");
    expect_text(link, "Q", "INSERT INTO t VALUES (2)");
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
}

static void test_withdraw(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 0, 2));
    submit(rows_write_group(&t[2], 0, 1));
    submit(rows_write_group(&t[3], 0, 1)); /* It follows the earlier one. */
    withdraw(&t[0]);
    withdraw(&t[1]);
    withdraw(&t[2]);
    assert_false(t[0].back);
    expect_failed(&t[1], "57014");
    expect_failed(&t[2], "57014");
    assert_false(t[3].back);
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    fake_answer(link, "C1 Z");
    expect_committed(&t[3], 1);
}

/* A withdrawal that crosses the outcome does no harm, nor one for a write group that is long gone.
 */
static void test_late_withdraw(void **state)
{
    (void)state;
    told t;
    px_write_group *write_group = rows_write_group(&t, 1, 1); /* the second worker's */
    uint64_t ticket = write_group->ticket;
    submit(write_group);
    fake_link *link = fake_open(0);
    fake_say(link, "C1 Z");
    link->link->ops->on_message(link->link); /* the outcome is on its way home */
    assert_false(t.back);
    px_batcher_withdraw(&fake.workers[0], write_group, ticket);
    fake_turn();
    expect_committed(&t, 1);
    px_batcher_withdraw(&fake.workers[0], write_group, ticket);
    fake_turn();
}

/* Keys order write groups over queues, shapes and workers. */
static void test_keys_over_workers(void **state)
{
    (void)state;
    told t[3];
    submit(rows_write_group(&t[0], 0, 1));
    px_write_group *other =
        rows_write_group(&t[1], 1, 1); /* Another map of partitions would do this. */
    submit(other);
    px_write_group *lane = rows_write_group(&t[2], 0, 1);
    lane->several_partitions = true;
    submit(lane);
    fake_link *link = fake_open(0);
    assert_int_equal(fake.link_count, 1);
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    assert_int_equal(fake.link_count, 2);
    assert_string_equal(fake_read(link, NULL), "Q");
    fake_answer(fake_open(1), "C1 Z");
    expect_committed(&t[1], 1);
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
}

static void test_statements_travel_joined(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(text_write_group(&t[0], 0, 10, 1));
    fake_read(link, NULL);
    submit(text_write_group(&t[1], 0, 2, 2));
    submit(text_write_group(&t[2], 0, 5, 1));
    fake_answer(link, "C1 Z");
    expect_text(link, "Q", "i2; i3\n;\ni5");
    fake_answer(link, "C7 C0 C9 Z");
    expect_committed(&t[1], 7);
    assert_int_equal(t[1].tags[1], 0);
    expect_committed(&t[2], 9);
}

static void test_statement_of_a_write_group_fails(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit(text_write_group(&t[0], 0, 10, 1));
    submit(text_write_group(&t[1], 0, 2, 3));
    submit(text_write_group(&t[2], 0, 7, 1));
    fake_answer(link, "C1 Z C1 E23505 Z");
    fake_read(link, NULL);
    fake_answer(link, "C1 C1 E23505 Z C1 Z");
    expect_failed(&t[1], "23505");
    assert_int_equal(t[1].completed, 2);
    expect_committed(&t[2], 1);
}

static void test_parameters(void **state)
{
    (void)state;
    told t[4];
    submit(params_write_group(&t[0], 0, 1, 2));
    fake_link *link = fake_open(0);
    assert_string_equal(fake_read(link, NULL), "CPBEBES");
    submit(params_write_group(&t[1], 0, 5, 1));
    submit(params_write_group(&t[2], 0, 4, 2)); /* behind: 5 is taken */
    submit(params_write_group(&t[3], 0, 9, 1));
    fake_answer(link, "3 1 2 C1 2 C1 Z");
    expect_committed(&t[0], 1);
    assert_string_equal(fake_read(link, NULL), "BEBES");
    fake_answer(link, "2 C0 2 C1 Z");
    expect_committed(&t[1], 0);
    expect_committed(&t[3], 1);
    assert_string_equal(fake_read(link, NULL), "BEBES");
    fake_answer(link, "2 C1 2 E23505 Z");
    expect_failed(&t[2], "23505");
    assert_int_equal(t[2].completed, 1);
}

static void test_parameters_guilty(void **state)
{
    (void)state;
    told t[3];
    submit(params_write_group(&t[0], 0, 100, 1));
    fake_link *link = fake_open(0);
    submit(params_write_group(&t[1], 0, 1, 1));
    submit(params_write_group(&t[2], 0, 2, 1));
    fake_answer(link, "3 1 2 C1 Z");
    fake_read(link, NULL);
    fake_answer(link, "2 C1 2 E23505 Z");
    assert_string_equal(fake_read(link, NULL), "BESBES");
    fake_answer(link, "2 C1 Z 2 E23505 Z");
    expect_committed(&t[1], 1);
    expect_failed(&t[2], "23505");
}

/* A statement the link has lost is prepared again, under a Sync of its own. */
static void test_prepared_again(void **state)
{
    (void)state;
    static const char *const codes[] = {"E26000 Z", "E42703 Z", "E42P01 Z"};
    told t[3];
    submit(params_write_group(&t[0], 0, 100, 1));
    fake_link *link = fake_open(0);
    fake_answer(link, "3 1 2 C1 Z");
    for (size_t i = 0; i < 3; i++) {
        submit(params_write_group(&t[0], 0, 100, 1));
        submit(params_write_group(&t[1], 0, 1, 1));
        submit(params_write_group(&t[2], 0, 2, 1));
        fake_answer(link, "2 C1 Z");
        fake_read(link, NULL);
        fake_answer(link, codes[i]);
        assert_string_equal(fake_read(link, NULL), "CPSBESBES");
        fake_answer(link, "3 1 Z 2 C1 Z 2 C1 Z");
        expect_committed(&t[1], 1);
        expect_committed(&t[2], 1);
        submit(params_write_group(&t[0], 0, 7, 1));
        fake_read(link, NULL);
        fake_answer(link, codes[i]);
        assert_string_equal(fake_read(link, NULL), "CPBES");
        fake_answer(link, codes[i]);
        assert_true(t[0].back); /* once */
        assert_int_equal(t[0].outcome, PX_WRITE_GROUP_FAILED);
        submit(params_write_group(&t[0], 0, 7, 1));
        assert_string_equal(fake_read(link, NULL), "CPBES");
        fake_answer(link, "3 1 2 C1 Z");
    }
}

/* Nobody is told 26000 because the Parse failed. */
static void test_parse_fails(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    only_link();
    submit(rows_write_group(&t[0], 0, 100));
    px_write_group *write_groups[2] = {params_write_group(&t[1], 0, 1, 1),
                                       params_write_group(&t[2], 0, 2, 1)};
    submit(write_groups[0]);
    submit(write_groups[1]);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    assert_string_equal(fake_read(link, NULL), "CPBEBES");
    fake_answer(link, "3 E42804 Z");
    assert_string_equal(fake_read(link, NULL), "CPSBESBES");
    fake_answer(link, "3 E42804 Z E26000 Z E26000 Z");
    expect_failed(&t[1], "42804");
    expect_failed(&t[2], "42804");
}

/* The link keeps 500 names: the oldest one is closed for one more. */
static void test_oldest_name_is_closed(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    for (int i = 0; i <= 500; i++) {
        told t;
        px_write_group *write_group = params_write_group(&t, 0, 1, 1);
        write_group->prepared->name =
            pgw_slice_str(pgw_arena_printf(&write_group->arena, "n%d", i));
        submit(write_group);
        assert_string_equal(fake_read(link, NULL), i < 500 ? "CPBES" : "CCPBES");
        fake_answer(link, "3 1 2 C1 Z");
        expect_committed(&t, 1);
    }
}

static void test_limits(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[6];
    fake.table.batch.rows = 100;
    submit(rows_write_group(&t[0], 0, 100));
    fake_read(link, NULL);
    for (int i = 1; i < 6; i++) {
        px_write_group *write_group = rows_write_group(&t[i], 0, (uint64_t)i);
        write_group->send_alone = i == 4;
        if (i == 2) { /* more than half a batch */
            write_group->row_count = 51;
            write_group->keys =
                pgw_arena_alloc(&write_group->arena, 51 * sizeof *write_group->keys);
            for (size_t k = 0; k < 51; k++)
                fake_key(write_group, k, 500 + k, 500 + k);
        }
        submit(write_group);
    }
    static const char *const expected[] = {"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)",
                                           "INSERT INTO t VALUES (3)", "INSERT INTO t VALUES (4)",
                                           "INSERT INTO t VALUES (5)"};
    for (int i = 0; i < 5; i++) {
        fake_answer(link, "C1 Z");
        expect_text(link, "Q", expected[i]);
    }
    fake_answer(link, "C1 Z");
    expect_committed(&t[5], 1);
}

/* The rows of the next attempt, which is answered with `answer`, or else committed. */
static size_t answer_next(fake_link *link, const char *answer)
{
    pgw_buf text = {0};
    char types[400];
    snprintf(types, sizeof types, "%s", fake_read(link, &text));
    size_t rows = strlen(types);
    for (size_t i = 0; i < text.len; i++)
        rows += text.ptr[i] == '\n' && text.ptr[i - 1] == ',';
    pgw_buf_free(&text);
    if (strlen(types) == 1 && answer == NULL) {
        char tag[32];
        snprintf(tag, sizeof tag, "C%zu Z", rows);
        fake_say(link, tag);
    } else if (answer != NULL) {
        fake_say(link, answer);
    } else {
        for (size_t i = 0; types[i] != '\0'; i++)
            fake_say(link, "C1 Z");
    }
    fake_hear(link);
    return rows;
}

/* Sends `count` rows and says how many of them the first batch behind the one in flight has. */
static size_t rows_of_next_batch(fake_link *link, size_t count, const char *answer, uint64_t ms)
{
    static told t[300];
    submit(rows_write_group(&t[0], 0, 1000));
    for (size_t i = 1; i <= count; i++)
        submit(rows_write_group(&t[i], 0, i));
    answer_next(link, NULL);
    fake.now += ms;
    size_t rows = answer_next(link, answer);
    while (link->out.len > 0)
        answer_next(link, NULL);
    return rows;
}

static void test_limit_in_force(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    assert_int_equal(rows_of_next_batch(link, 150, NULL, 50), 100);
    assert_int_equal(rows_of_next_batch(link, 150, "E54000 Z", 0), 100);
    size_t rows = rows_of_next_batch(link, 150, NULL, 51);
    assert_in_range(rows, 50, 80); /* halved, and grown by what came since */
    size_t fewer = rows_of_next_batch(link, 10, NULL, 0);
    assert_int_equal(fewer, 10);
    for (int i = 0; i < 10; i++)
        rows_of_next_batch(link, 1, NULL, 51);
    assert_in_range(rows_of_next_batch(link, 150, NULL, 0), 1, 20); /* but no batch of one */
    for (int i = 0; i < 30; i++)
        rows = rows_of_next_batch(link, 150, NULL, 0);
    assert_int_equal(rows, 100);
}

/* A row that raises 54000 alone, too, says nothing of sizes. */
static void test_a_raised_54000_is_no_limit(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit_rows(t, 2);
    fake_answer(link, "C1 Z E54000 Z");
    fake_answer(link, "C1 Z E54000 Z");
    expect_committed(&t[1], 1);
    expect_failed(&t[2], "54000");
    fake_read(link, NULL);
    assert_int_equal(rows_of_next_batch(link, 150, NULL, 0), 100);
}

/* ---- slow batches ---- */

static void tick(void)
{
    px_batcher_tick(fake.workers[0].batcher);
    fake_turn();
}

/* A batch that takes long holds up the rows of its keys, and no others. */
static void test_a_slow_batch_lets_another_pass(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[5];
    submit(rows_write_group(&t[0], 0, 1));
    fake_read(link, NULL);
    submit(rows_write_group(&t[1], 0, 2));
    submit(rows_write_group(&t[2], 0, 1)); /* This row has the key of the first. */
    fake.now += 50;
    tick();
    assert_int_equal(fake.link_count, 1);
    fake.now += 1;
    tick();
    fake_link *second = fake_open(1);
    expect_text(second, "Q", "INSERT INTO t VALUES (2)");
    submit(rows_write_group(&t[3], 0, 3));
    fake_answer(second, "C1 Z");
    expect_committed(&t[1], 1);
    expect_text(second, "Q", "INSERT INTO t VALUES (3)"); /* the first still takes long */
    submit(rows_write_group(&t[4], 0, 4));
    fake.now += 51;
    tick();
    assert_int_equal(fake.link_count, 2); /* two are the most */
    assert_false(t[0].back || t[2].back);
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    expect_text(link, "Q", "INSERT INTO t VALUES (4)");
    assert_string_equal(fake_read(second, NULL), "");
    fake_answer(link, "C1 Z");
    expect_committed(&t[4], 1);
    expect_text(link, "Q", "INSERT INTO t VALUES (1)"); /* behind the one with its key */
    fake_answer(link, "C1 Z");
    expect_committed(&t[2], 1);
    fake_answer(second, "C1 Z");
    expect_committed(&t[3], 1);
}

/* Both may be lost, and their write groups are told. */
static void test_two_flights_are_lost(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    fake_read(link, NULL);
    submit(rows_write_group(&t[1], 0, 2));
    fake.now += 51;
    tick();
    fake_link *second = fake_open(1);
    assert_string_equal(fake_read(second, NULL), "Q");
    fake_lose(link);
    fake_lose(second);
    expect_failed(&t[0], "08007");
    expect_failed(&t[1], "08007");
}

/* What takes long alone is slow, if others are quick; of company one is suspected. */
static void test_slow_write_groups_are_found(void **state)
{
    (void)state;
    fake_link *link = warm_link(); /* it took no time */
    told t[4];
    submit(rows_write_group(&t[0], 0, 1));
    fake.now += 50;
    fake_answer(link, "C1 Z");
    assert_false(t[0].slow);
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 0, 2));
    submit(rows_write_group(&t[2], 0, 3));
    fake.now += 51;
    fake_answer(link, "C1 Z");
    assert_true(t[0].slow);
    fake.now += 51;
    fake_answer(link, "C2 Z");
    assert_false(t[1].slow || t[2].slow);
    assert_true(t[1].suspected != t[2].suspected);
    fake.now += 20 * 1000; /* what was quick is forgotten */
    for (int i = 0; i < 2; i++) {
        submit(rows_write_group(&t[3], 0, 4));
        fake.now += 200;
        fake_answer(link, "C1 Z");
        assert_int_equal(t[3].slow, i == 0);
    }
}

/* A freed link takes the queue whose first write group waits longest. */
static void test_oldest_first(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    only_link();
    submit(rows_write_group(&t[0], 0, 1));
    static const uint32_t partitions[] = {6, 2, 4};
    for (int i = 0; i < 3; i++) {
        fake.now += 10;
        submit(rows_write_group(&t[i + 1], partitions[i], 10 + (uint64_t)i));
    }
    fake_read(link, NULL);
    static const char *const expected[] = {"INSERT INTO t VALUES (10)", "INSERT INTO t VALUES (11)",
                                           "INSERT INTO t VALUES (12)"};
    for (int i = 0; i < 3; i++) {
        fake_answer(link, "C1 Z");
        expect_text(link, "Q", expected[i]);
    }
    fake_answer(link, "C1 Z");
    assert_int_equal(fake.link_count, 1);
}

static void test_wait_ms(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    fake.table.batch.wait_ms = 1;
    fake.table.batch.rows = 100;
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    submit(rows_write_group(&t[1], 0, 2));
    assert_string_equal(fake_read(link, NULL), "");
    fake.now += 1;
    uv_run(&fake.workers[0].loop, UV_RUN_ONCE); /* until the timer */
    expect_text(link, "Q", MERGED("(1),\n(2)", "2"));
    fake_answer(link, "C2 Z");
    expect_committed(&t[1], 1);
}

/* Units for partitions, which are busy one link each. */
static void occupy(told *t, const uint32_t *partitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        submit(rows_write_group(&t[i], partitions[i], 1 + partitions[i]));
    for (size_t i = 0; i < fake.link_count; i++)
        if (!fake.links[i]->ready)
            fake_open(i);
}

static size_t open_links(unsigned worker)
{
    size_t count = 0;
    for (size_t i = 0; i < fake.link_count; i++)
        count += !fake.links[i]->closed && fake.links[i]->worker == &fake.workers[worker];
    return count;
}

static void answer_all(void)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < fake.link_count; i++) {
            fake_link *link = fake.links[i];
            if (link->closed || !link->ready || fake_read(link, NULL)[0] == '\0')
                continue;
            fake_answer(link, "C1 Z");
            any = true;
        }
    }
}

static void tick_all(void)
{
    for (unsigned i = 0; i < FAKE_WORKERS; i++)
        px_batcher_tick(fake.workers[i].batcher);
    fake_turn();
}

/* batch_links are the process's, for whoever needs them; but one for each comes first. */
static void test_a_worker_uses_links_that_others_do_not_need(void **state)
{
    (void)state;
    static const uint32_t even[] = {0, 2, 4, 6, 8}, odd[] = {1, 3, 5};
    told t[5], u[3];
    occupy(t, even, 5);
    assert_int_equal(open_links(0), 4);
    occupy(u, odd, 3);
    assert_int_equal(open_links(0), 4);
    assert_int_equal(open_links(1), 0);
    /* The second has none, and waits: the first gives one up when it is free. */
    fake_read(fake.links[0], NULL);
    fake_answer(fake.links[0], "C1 Z");
    assert_int_equal(open_links(0), 3);
    assert_int_equal(open_links(1), 1);
    /* It has less than its part still: the next that is free is given on the next tick. */
    fake_open(fake.link_count - 1);
    tick_all();
    fake_read(fake.links[1], NULL);
    fake_answer(fake.links[1], "C1 Z");
    tick_all();
    tick_all();
    assert_int_equal(open_links(0), 2);
    assert_int_equal(open_links(1), 2);
    fake_open(fake.link_count - 1);
    answer_all();
    for (int i = 0; i < 5; i++)
        expect_committed(&t[i], 1);
    for (int i = 0; i < 3; i++)
        expect_committed(&u[i], 1);
    tick_all();
    assert_int_equal(open_links(0) + open_links(1), 4);
    /* Nobody waits any more: the first may have them all again. */
    fake.now += 60000;
    tick_all();
    assert_int_equal(open_links(0) + open_links(1), 0);
    assert_int_equal(fake.server.quota.links, 0);
    occupy(t, even, 5);
    assert_int_equal(open_links(0), 4);
    answer_all();
}

/* At once, if a worker has none. */
static void test_an_idle_link_is_given_to_who_wants_it(void **state)
{
    (void)state;
    static const uint32_t even[] = {0, 2, 4, 6, 8}, odd[] = {1, 3, 5};
    told t[5], u[3];
    occupy(t, even, 5);
    answer_all();
    assert_int_equal(open_links(0), 4);
    occupy(u, odd, 3);
    assert_int_equal(open_links(0), 3);
    assert_int_equal(open_links(1), 1);
    fake.now += 100;
    tick_all();
    tick_all();
    tick_all();
    assert_int_equal(open_links(0), 2);
    assert_int_equal(open_links(1), 2);
    tick_all();
    assert_int_equal(open_links(0), 2);
    fake_open(fake.link_count - 1);
    answer_all();
}

/* ---- many identities ---- */

static px_identity *identity_of(char *key)
{
    px_identity *identity = pgw_calloc(1, sizeof *identity);
    identity->key = pgw_strndup(key, strlen(key));
    identity->database = pgw_strndup("d", 1);
    identity->references = 1;
    return identity;
}

static px_write_group *write_group_of(px_identity *identity, told *t, uint64_t key)
{
    px_write_group *write_group = rows_write_group(t, 0, key);
    px_identity_drop(write_group->identity);
    write_group->identity = px_identity_take(identity);
    write_group->merge_hash = key;
    return write_group;
}

/* The one that was idle for longest gives way to an identity that has none. */
static void test_identities_take_turns(void **state)
{
    (void)state;
    enum { IDENTITIES = 12 };
    told t[IDENTITIES];
    for (int i = 0; i < IDENTITIES; i++) {
        char key[16];
        snprintf(key, sizeof key, "u/%d", i);
        px_identity *identity = identity_of(key);
        submit(write_group_of(identity, &t[i], 1 + (uint64_t)i));
        px_identity_drop(identity);
        assert_int_equal(fake.link_count, i + 1);
        fake_open((size_t)i);
        fake_answer(fake.links[i], "C1 Z");
        expect_committed(&t[i], 1);
        assert_int_equal(open_links(0), i < 4 ? i + 1 : 4);
        fake.now += 1;
    }
    assert_false(fake.links[IDENTITIES - 4]->closed);
    assert_true(fake.links[IDENTITIES - 5]->closed);
}

/* All links are busy for others: who has a link of his own goes on there, who has not waits. */
static void test_who_starves_is_rerouted(void **state)
{
    (void)state;
    static const uint32_t even[] = {0, 2, 4, 6};
    told t[4], u[2];
    occupy(t, even, 4);
    px_identity *other = identity_of("other");
    px_write_group *write_groups[2] = {write_group_of(other, &u[0], 100),
                                       write_group_of(other, &u[1], 101)};
    write_groups[0]->own_link = true;
    submit(write_groups[0]);
    submit(write_groups[1]);
    tick_all();
    assert_false(u[0].back);
    fake.now += 100;
    tick_all();
    expect_rerouted(&u[0]);
    assert_false(u[1].back);
    fake_read(fake.links[0], NULL);
    fake_answer(fake.links[0], "C1 Z");
    assert_true(fake.links[0]->closed); /* in its favour */
    assert_int_equal(open_links(0), 4);
    fake_open(4);
    answer_all();
    expect_committed(&u[1], 1);
    px_identity_drop(other);
}

/* A link that has inherited other settings than the sessions of its pool carries none of their
 * rows. */
static void test_other_settings_are_refused(void **state)
{
    (void)state;
    told t[2];
    px_identity *identity = identity_of("one");
    identity->settings = 7;
    submit(write_group_of(identity, &t[0], 1));
    fake.links[0]->settings = 8;
    fake_open(0);
    assert_true(fake.links[0]->closed);
    expect_rerouted(&t[0]);
    submit(write_group_of(identity, &t[1], 2)); /* No other one is tried at once. */
    expect_rerouted(&t[1]);
    assert_int_equal(fake.link_count, 1);
    px_identity_drop(identity);
}

/* Nor does one that reads dates otherwise than they were told; these have batches of their own. */
static void test_other_dates_are_refused(void **state)
{
    (void)state;
    told t[2];
    px_identity *identity = identity_of("one"), *other = identity_of("one");
    identity->dates = pgw_strndup("ISO, MDY", 8);
    other->dates = pgw_strndup("ISO, DMY", 8);
    submit(write_group_of(identity, &t[0], 1));
    submit(write_group_of(other, &t[1], 2));
    assert_int_equal(fake.link_count, 2);
    fake.links[0]->dates = fake.links[1]->dates = "ISO, DMY";
    fake_open(0);
    assert_true(fake.links[0]->closed);
    expect_rerouted(&t[0]);
    fake_open(1);
    answer_all();
    expect_committed(&t[1], 1);
    px_identity_drop(identity);
    px_identity_drop(other);
}

/* What an older link reported is not so any more: it is closed, when it is free. */
static void test_a_newer_link_reports_otherwise(void **state)
{
    (void)state;
    static const uint32_t even[] = {0, 2};
    told t[3];
    fake_link *link = warm_link();
    submit(rows_write_group(&t[0], even[0], 1));
    submit(rows_write_group(&t[1], even[1], 2));
    assert_int_equal(fake.link_count, 2);
    fake.links[1]->unlike = true;
    fake_open(1);
    assert_false(link->closed);
    answer_all();
    assert_true(link->closed);
    assert_false(fake.links[1]->closed);
    expect_committed(&t[0], 1);
    expect_committed(&t[1], 1);
}

static void test_links_grow_old(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    fake.now += 599999;
    submit(rows_write_group(&t, 0, 1));
    fake.now += 1;
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    expect_committed(&t, 1);
    assert_true(link->closed);
}

/* What comes while a database is left is written, by a link that leaves behind it. */
static void test_links_leave_a_database(void **state)
{
    (void)state;
    fake_link *link = warm_link(), *next;
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    px_pool_leave(fake.workers[0].pools->first);
    assert_false(link->closed);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    expect_committed(&t[0], 1);
    assert_true(link->closed);
    submit(rows_write_group(&t[1], 0, 2));
    next = fake_open(1);
    assert_false(next->closed);
    fake_read(next, NULL);
    fake_answer(next, "C1 Z");
    expect_committed(&t[1], 1);
    assert_true(next->closed);
    assert_int_equal(fake.link_count, 2);
}

/* A role that may have no other connection: its session has the one. */
static void test_refused_for_the_role_s_limit(void **state)
{
    (void)state;
    told t;
    submit(rows_write_group(&t, 0, 1));
    pgw_error error;
    pgw_fail(&error, "53300", "too many connections for role");
    px_link_fail(fake.links[0]->link, &error);
    fake_turn();
    expect_rerouted(&t);
}

/* A lone client's first row need not wait until a link is open. */
static void test_the_first_link_opens_before_it_is_needed(void **state)
{
    (void)state;
    fake.config.backend.max_links = 24;
    fake.config.tables = &fake.table;
    fake.config.table_count = 1;
    px_batcher_expect(&fake.workers[0], &fake.identity);
    assert_int_equal(fake.link_count, 0); /* its texts cannot be read */
    fake.identity.env = (pgw_env){.utf8 = true, .conforming = true};
    px_batcher_expect(&fake.workers[0], &fake.identity);
    assert_int_equal(fake.link_count, 0); /* nothing was written to its database yet */
    px_databases_write(fake.server.databases, "d");
    fake.server.seats.links = 6;
    px_batcher_expect(&fake.workers[0], &fake.identity);
    assert_int_equal(fake.link_count, 0); /* others may need the rest */
    fake.server.seats.links = 5;
    px_batcher_expect(&fake.workers[0], &fake.identity);
    px_batcher_expect(&fake.workers[0], &fake.identity);
    assert_int_equal(fake.link_count, 1);
    fake_link *link = fake_open(0);
    told t;
    submit(rows_write_group(&t, 0, 1));
    expect_text(link, "Q", "INSERT INTO t VALUES (1)");
    fake_answer(link, "C1 Z");
    fake.now += 60000;
    tick_all();
    assert_true(link->closed);
}

static void test_links_close_when_idle(void **state)
{
    (void)state;
    px_databases_enter(fake.server.databases, "d");
    fake_link *link = warm_link();
    fake.now += 59999;
    px_batcher_tick(fake.workers[0].batcher);
    assert_false(link->closed);
    fake.now += 1;
    px_batcher_tick(fake.workers[0].batcher);
    assert_true(link->closed);
    fake.now += 60000;
    px_batcher_tick(fake.workers[0].batcher); /* the queue and the pool go too */
    assert_null(fake.workers[0].pools->first);
}

/* Nobody is there any more: neither are we. */
static void test_links_close_behind_the_last_session(void **state)
{
    (void)state;
    px_databases_enter(fake.server.databases, "d");
    fake_link *link = warm_link();
    fake.now += 10000;
    tick_all();
    assert_false(link->closed);
    px_databases_leave(fake.server.databases, "d");
    tick_all();
    assert_true(link->closed);
}

/* Tables wait for locks differently long: a link is opened anew if there may not be another. */
static void test_lock_wait_is_the_links(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    only_link();
    cfg_table other = fake.table;
    other.batch.lock_wait_ms = 7;
    told t;
    px_write_group *write_group = rows_write_group(&t, 2, 1);
    write_group->tables->config = &other;
    submit(write_group);
    assert_true(link->closed);
    link = fake_open(1);
    assert_memory_equal(link->options, "-c lock_timeout=7 ", 18);
    fake_answer(link, "C1 Z");
    expect_committed(&t, 1);
}

/* … but not while what it said is still being read. */
static void test_link_makes_room_behind_its_outcome(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    only_link();
    cfg_table other = fake.table;
    other.batch.lock_wait_ms = 7;
    told t[2];
    submit(rows_write_group(&t[0], 0, 1));
    px_write_group *write_group = rows_write_group(&t[1], 2, 2);
    write_group->tables->config = &other;
    submit(write_group);
    fake_answer(link, "C1 Z N");
    expect_committed(&t[0], 1);
    assert_true(link->closed);
    fake_answer(fake_open(1), "C1 Z");
    expect_committed(&t[1], 1);
}

static void test_room(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t;
    px_write_group *write_group = rows_write_group(&t, 0, 1);
    write_group->bytes = 1024 * 1024;
    assert_true(px_register_has_room(&fake.workers[1]));
    submit(write_group);
    assert_false(px_register_has_room(&fake.workers[1]));
    fake_answer(link, "C1 Z");
    assert_true(px_register_has_room(&fake.workers[1]));
}

/* Replies may come cut at any byte. */
static void test_cut_replies(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[3];
    submit_rows(t, 2);
    fake_say(link, "C1 Z E23505 Z C1 Z N E23505 Z");
    pgw_buf all = link->in;
    size_t start = link->in_start;
    link->in = (pgw_buf){0};
    link->in_start = 0;
    for (size_t i = start; i < all.len; i++) {
        pgw_buf_add(&link->in, all.ptr + i, 1);
        fake_hear(link);
    }
    pgw_buf_free(&all);
    expect_committed(&t[1], 1);
    expect_failed(&t[2], "23505");
}

/* ---- what is counted ---- */

static px_metrics *all_counted(void)
{
    px_metrics *sum = px_metrics_new(fake.server.metrics);
    for (size_t i = 0; i < FAKE_WORKERS; i++)
        px_metrics_add(sum, fake.workers[i].metrics);
    return sum;
}

static uint64_t counted(px_counter counter)
{
    px_metrics *sum = all_counted();
    uint64_t value = sum->counters[counter];
    px_metrics_free(sum);
    return value;
}

/* How often, and the sum. */
static uint64_t observed(px_histogram histogram, uint64_t *total)
{
    px_metrics *sum = all_counted();
    uint64_t count = 0;
    *total = sum->sums[histogram];
    for (size_t i = 0; i <= PX_BUCKETS; i++)
        count += sum->buckets[histogram][i];
    px_metrics_free(sum);
    return count;
}

static void test_outcomes_are_counted(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit_rows(t, 3);
    fake_answer(link, "C1 Z N E23505 Z E23505 Z N C1 Z E55P03 Z");
    assert_int_equal(counted(PX_WRITE_GROUPS_COMMITTED), 3);
    assert_int_equal(counted(PX_BATCHED_ROWS), 3);
    assert_int_equal(counted(PX_BATCHED_STATEMENTS), 3);
    assert_int_equal(counted(PX_WRITE_GROUPS_FAILED), 1);
    assert_int_equal(counted(PX_WRITE_GROUPS_REROUTED), 1);
    assert_int_equal(counted(PX_WRITE_GROUPS_REPEATED), 3);
    assert_int_equal(counted(PX_BATCHES_FAILED), 1);
    assert_int_equal(counted(PX_BATCH_RETRIES), 1);
    assert_int_equal(counted(PX_NOTICES_DROPPED), 1); /* the other one was told */
    uint64_t rows;
    assert_int_equal(observed(PX_BATCH_ROWS, &rows), 3);
    assert_int_equal(rows, 5);
}

static void test_write_groups_that_are_given_up_are_counted(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    told t[4];
    submit(rows_write_group(&t[0], 0, 1));
    px_write_group *late = rows_write_group(&t[1], 0, 2);
    late->deadline = fake.now + 100;
    submit(late);
    submit(rows_write_group(&t[2], 0, 3));
    withdraw(&t[2]);
    fake.now += 100;
    px_batcher_tick(fake.workers[0].batcher);
    fake_lose(link);
    assert_int_equal(counted(PX_WRITE_GROUPS_EXPIRED), 1);
    assert_int_equal(counted(PX_WRITE_GROUPS_WITHDRAWN), 1);
    assert_int_equal(counted(PX_WRITE_GROUPS_UNKNOWN), 1);
    assert_int_equal(counted(PX_WRITE_GROUPS_FAILED), 0);
    assert_int_equal(counted(PX_BATCHES_FAILED), 1);
}

static void test_times_are_counted(void **state)
{
    (void)state;
    told t[3];
    uint64_t waited, lived;
    submit(rows_write_group(&t[0], 0, 1)); /* opens a link */
    fake.now += 7;
    fake_link *link = fake_open(0);
    assert_int_equal(observed(PX_LINK_WAIT_BATCH, &waited), 1);
    assert_int_equal(waited, 7000000);
    submit(rows_write_group(&t[1], 0, 2)); /* waits for its turn, which is no waiting for a link */
    fake.now += 20;
    fake_answer(link, "C1 Z");
    assert_int_equal(observed(PX_LINK_WAIT_BATCH, &waited), 2);
    assert_int_equal(waited, 7000000);
    fake.now += 3;
    fake_answer(link, "C1 Z");
    assert_int_equal(observed(PX_WRITE_GROUP_DURATION, &lived), 2);
    assert_int_equal(lived, 27000000 + 23000000);
}

static void test_partitions_are_counted(void **state)
{
    (void)state;
    told t[2];
    px_write_group *wide = text_write_group(&t[0], 0, 10, 3);
    wide->several_partitions = true;
    wide->tables->partitions = 4;
    for (uint32_t i = 0; i < 3; i++)
        wide->keys[i].partition = i == 2 ? 3 : 1;
    submit(wide);
    fake_link *link = fake_open(0);
    px_write_group *narrow = rows_write_group(&t[1], 2, 20);
    narrow->tables->partitions = 4;
    submit(narrow);
    fake_answer(link, "C1 C1 C1 Z");
    uint64_t touched;
    assert_int_equal(observed(PX_REQUEST_PARTITIONS, &touched), 2);
    assert_int_equal(touched, 3);
    px_metrics *sum = all_counted();
    const px_table_metrics *table = sum->tables;
    const uint64_t rows[] = {0, 2, 1, 1}, requests[] = {0, 1, 1, 1};
    assert_string_equal(table->name, "t");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(table->rows[i], rows[i]);
        assert_int_equal(table->requests[i], requests[i]);
    }
    px_metrics_free(sum);
    fake_answer(link, "C1 Z");
    expect_committed(&t[1], 1);
}

static void test_limit_in_force_is_told(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    px_batcher_tick(fake.workers[0].batcher);
    assert_int_equal(fake.workers[0].metrics->tables->limit_rows, 100);
    told t;
    submit(rows_write_group(&t, 0, 1));
    fake.now += 51;
    fake_answer(link, "C1 Z");
    px_batcher_tick(fake.workers[0].batcher);
    assert_int_equal(fake.workers[0].metrics->tables->limit_rows, 100); /* not every tick */
    fake.now += 1000;
    px_batcher_tick(fake.workers[0].batcher);
    assert_int_equal(fake.workers[0].metrics->tables->limit_rows, 50);
    assert_int_equal(fake.workers[0].metrics->tables->limit_bytes, 512 * 1024);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_write_groups_of_one_turn_leave_together),
        TEST(test_lone_write_group_leaves_at_once),
        TEST(test_link_options),
        TEST(test_group_commit),
        TEST(test_merge_keys_are_apart),
        TEST(test_guilty_and_innocent),
        TEST(test_few_keep_their_statements),
        TEST(test_first_statement_looks_for_others),
        TEST(test_a_count_that_differs),
        TEST(test_an_error_is_no_count),
        TEST(test_error_at_commit),
        TEST(test_an_error_is_nobody_elses),
        TEST(test_fatal_is_everybodys),
        TEST(test_lock_reroutes),
        TEST(test_serialization_repeats),
        TEST(test_shared_timeout_repeats_singly),
        TEST(test_lost_in_flight),
        TEST(test_lost_behind_outcome),
        TEST(test_nonsense_is_a_lost_link),
        TEST(test_idle_link_lost),
        TEST(test_unreachable),
        TEST(test_deadline),
        TEST(test_deadline_between_attempts),
        TEST(test_withdraw),
        TEST(test_late_withdraw),
        TEST(test_keys_over_workers),
        TEST(test_statements_travel_joined),
        TEST(test_statement_of_a_write_group_fails),
        TEST(test_lifted_rows),
        TEST(test_rows_lifted_into_different_statements),
        TEST(test_lifted_rows_that_fail),
        TEST(test_lifted_rows_that_wait),
        TEST(test_lifted_rows_of_another_schema),
        TEST(test_parameters),
        TEST(test_parameters_guilty),
        TEST(test_prepared_again),
        TEST(test_parse_fails),
        TEST(test_oldest_name_is_closed),
        TEST(test_limits),
        TEST(test_limit_in_force),
        TEST(test_a_raised_54000_is_no_limit),
        TEST(test_a_slow_batch_lets_another_pass),
        TEST(test_two_flights_are_lost),
        TEST(test_slow_write_groups_are_found),
        TEST(test_oldest_first),
        TEST(test_wait_ms),
        TEST(test_a_worker_uses_links_that_others_do_not_need),
        TEST(test_an_idle_link_is_given_to_who_wants_it),
        TEST(test_identities_take_turns),
        TEST(test_who_starves_is_rerouted),
        TEST(test_links_leave_a_database),
        TEST(test_refused_for_the_role_s_limit),
        TEST(test_other_settings_are_refused),
        TEST(test_other_dates_are_refused),
        TEST(test_a_newer_link_reports_otherwise),
        TEST(test_links_grow_old),
        TEST(test_the_first_link_opens_before_it_is_needed),
        TEST(test_links_close_when_idle),
        TEST(test_links_close_behind_the_last_session),
        TEST(test_lock_wait_is_the_links),
        TEST(test_link_makes_room_behind_its_outcome),
        TEST(test_room),
        TEST(test_cut_replies),
        TEST(test_outcomes_are_counted),
        TEST(test_write_groups_that_are_given_up_are_counted),
        TEST(test_times_are_counted),
        TEST(test_partitions_are_counted),
        TEST(test_limit_in_force_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
