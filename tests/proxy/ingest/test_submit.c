/* Rows on their way into write groups and back, with a batcher that only takes what it is given. */
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/submit.h"
#include "proxy/ingest/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "protocol/frame.h"
#include "proxy/ingest/split.h"
#include "tests/proxy/ingest/plans.h"
#include "tests/rewrite/vectors.h"

enum { NOW = 1000, WAIT_MS = 300, ALONE_MS = 10000 };

static struct {
    px_write_group *write_groups[512];
    size_t count;
    uint64_t withdrawn[512]; /* tickets */
    size_t withdrawn_count;
    px_outcome told; /* its error and notices are gone by the time it is looked at */
    uint64_t tag;
    bool bound, answers;
    unsigned answered, rerouted;
    px_plan_cache cache;
    cfg_config config;
    px_worker worker;
    px_submitter submitter;
    px_standing standing;
} t;

void px_batcher_submit(px_write_group *write_group)
{
    t.write_groups[t.count++] = write_group;
}

void px_batcher_withdraw(px_worker *home, px_write_group *write_group, uint64_t ticket)
{
    assert_ptr_equal(home, &t.worker);
    assert_int_equal(write_group->ticket, ticket);
    t.withdrawn[t.withdrawn_count++] = ticket;
}

static bool on_answered(px_submitter *submitter, const px_outcome *outcome)
{
    assert_ptr_equal(submitter, &t.submitter);
    t.answered++;
    t.told = *outcome;
    t.tag = outcome->statements[0].tag;
    t.bound = outcome->statements[0].bound;
    return t.answers;
}

static void on_rerouted(px_submitter *submitter)
{
    assert_ptr_equal(submitter, &t.submitter);
    t.rerouted++;
}

static int setup(void **state)
{
    static const px_submitter_ops ops = {on_answered, on_rerouted};
    plans_setup(state);
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++)
        plans.configs[i].batch.max_wait_ms = WAIT_MS;
    t.config.limits.row_bytes = t.config.limits.key_bytes = 1 << 20;
    t.worker = (px_worker){.config = &t.config, .plans = &t.cache};
    t.worker.loop.time = NOW;
    t.submitter = (px_submitter){.ops = &ops, .worker = &t.worker};
    t.standing = (px_standing){.identity = plans.identity};
    t.answers = true;
    return 0;
}

static int teardown(void **state)
{
    px_templates_free(&t.worker);
    px_plan_cache_clear(&t.cache);
    memset(plans.configs, 0, sizeof plans.configs);
    return plans_teardown(state);
}

static void submit_text(const char *sql)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog view = test_catalog(pointers);
    pointers[0] = plans.pointers[0];
    px_text *text = px_text_parse(&t.worker, pgw_slice_str(sql), &plans.catalog, &view, &test_env);
    px_text_hash(&t.worker, text, test_env);
    px_submit_script(&t.submitter, &t.standing, text);
    px_text_drop(text);
}

static px_submission submit_bound(const char *sql, const char *const *values, size_t count,
                                  size_t executions, px_unfit *unfit)
{
    pgw_error error;
    pgw_buf buf = {0};
    px_plan *plan = plan_of(sql, NULL, 0, &error);
    const pgw_bind bind = bind_of(values, count, &buf);
    const px_execution all[] = {{plan, &bind, 0}, {plan, &bind, 0}};
    px_submission what =
        px_submit_bound(&t.submitter, &t.standing, &(px_executions){all, executions}, unfit);
    px_plan_drop(plan);
    pgw_buf_free(&buf);
    return what;
}

/* The write group is back. */
static void come_back(size_t i, px_write_group_outcome outcome, px_write_group_failure failure)
{
    px_write_group *write_group = t.write_groups[i];
    write_group->outcome = outcome;
    write_group->failure = failure;
    for (size_t s = 0; s < write_group->statement_count; s++) {
        write_group->statements[s].tag = write_group->statements[s].rows;
        write_group->statements[s].bound = true;
    }
    if (outcome == PX_WRITE_GROUP_FAILED) {
        pgw_error error;
        pgw_fail(&error, failure == PX_FAILED_UNKNOWN ? "08007" : "23505", "unit %zu", i);
        px_write_group_fail(write_group, &error);
    }
    write_group->done(write_group);
}

/* --- out --- */

static void describe(const px_write_group *write_group, pgw_buf *out)
{
    static const char *const kinds[] = {"rows", "text", "params"};
    pgw_buf_addf(out, "%s%s", out->len > 0 ? " // " : "", kinds[write_group->kind]);
    if (write_group->several_partitions)
        pgw_buf_add_str(out, " in several");
    else
        pgw_buf_addf(out, " in %u", write_group->partition);
    pgw_buf_addf(out, " keys %zu%s: <", write_group->row_count,
                 write_group->guarded ? " guarded" : "");
    pgw_buf_add_slice(out, write_group->head);
    pgw_buf_add_str(out, "> <");
    for (size_t i = 0;
         i < write_group->statement_count && write_group->kind != PX_WRITE_GROUP_PARAMS; i++) {
        pgw_buf_addf(out, "%s%u ", i > 0 ? " + " : "", write_group->statements[i].rows);
        if (write_group->kind == PX_WRITE_GROUP_ROWS)
            px_write_group_write_statement(write_group, i, out);
    }
    pgw_buf_add_str(out, "> <");
    pgw_buf_add_slice(out, write_group->tail);
    pgw_buf_add_str(out, "> <");
    pgw_buf_add_slice(out, write_group->conditions);
    pgw_buf_add_str(out, "> <");
    px_write_group_write_alone(write_group, out);
    pgw_buf_add_str(out, ">");
    for (size_t i = 0; i < out->len; i++)
        if (out->ptr[i] == '\n')
            out->ptr[i] = ' ';
}

static void texts_become_write_groups(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/units.txt", "r")};
    assert_non_null(it.file);
    int wrong = 0, cases = 0;
    for (; vectors_next(&it, 3); cases++) {
        pgw_buf got = {0};
        for (size_t i = 0; i < TEST_TABLE_COUNT; i++)
            plans.configs[i].atomicity =
                strcmp(it.field[0], "partition") == 0 ? CFG_ATOMICITY_PARTITION : 0;
        t.count = 0;
        submit_text(it.field[1]);
        assert_true(px_submitted(&t.submitter));
        for (size_t i = 0; i < t.count; i++)
            describe(t.write_groups[i], &got);
        if (!pgw_slice_eq_str(pgw_slice_buf(&got), it.field[2])) {
            print_error("line %d: %.*s\n", it.line, (int)got.len, got.ptr);
            wrong++;
        }
        for (size_t i = 0; i < t.count; i++)
            come_back(i, PX_WRITE_GROUP_COMMITTED, 0);
        assert_false(px_submitted(&t.submitter));
        pgw_buf_free(&got);
    }
    fclose(it.file);
    assert_int_equal(wrong, 0);
    assert_true(cases > 10);
}

static const char one[] = "INSERT INTO events (userid, ts) VALUES (5, now())";

static void what_a_write_group_knows(void **state)
{
    (void)state;
    t.standing.own_link = true;
    t.submitter.repeated = true;
    submit_text(one);
    px_write_group *write_group = t.write_groups[0];
    assert_string_equal(write_group->tables[0].name, "public.events");
    assert_ptr_equal(write_group->tables[0].config, &plans.configs[0]);
    assert_int_equal(write_group->tables[0].partitions, 16);
    assert_int_equal(write_group->epoch, 1);
    assert_ptr_equal(write_group->identity, plans.identity);
    assert_ptr_equal(write_group->home, &t.worker);
    assert_int_equal(write_group->ticket, 1);
    assert_true(write_group->own_link && write_group->repeated);
    assert_false(write_group->send_alone);
    assert_int_equal(write_group->deadline, NOW + WAIT_MS);
    assert_true(write_group->bytes >=
                strlen(one) + write_group->head.len + write_group->statements[0].bytes);
    uint64_t merge_hash = write_group->merge_hash;
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    submit_text("INSERT INTO events (userid, ts) VALUES (6, now())");
    assert_true(t.write_groups[1]->merge_hash == merge_hash);
    assert_int_equal(t.write_groups[1]->ticket, 2);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
    submit_text("INSERT INTO events (userid) VALUES (6)");
    assert_true(t.write_groups[2]->merge_hash != merge_hash);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
}

static bool next_is_lifted(const char *sql)
{
    submit_text(sql);
    const px_write_group *write_group = t.write_groups[t.count - 1];
    bool lifted = write_group->lifted.values != NULL;
    assert_int_equal(lifted, write_group->prepared_count);
    come_back(t.count - 1, PX_WRITE_GROUP_COMMITTED, 0);
    return lifted;
}

/* A text that comes like one before is an execution, too. */
static void lone_rows_are_lifted(void **state)
{
    (void)state;
    rw_table asked = test_tables[0];
    static const char at[] = "INSERT INTO events (userid, ts) VALUES (5, '2026-01-01 00:00:00+00')";
    assert_false(next_is_lifted(at) || next_is_lifted(at)); /* there is nothing to guard it by */
    asked.oid = 7;
    plans.pointers[0] = &asked;
    assert_false(next_is_lifted(at));
    submit_text("INSERT INTO events (userid, ts) VALUES (6, NULL)");
    const px_write_group *write_group = t.write_groups[t.count - 1];
    assert_true(pgw_slice_eq_str(
        write_group->prepared[0].text,
        "INSERT INTO events (userid, ts, \"userhash\") VALUES ($1, $2, case when pg_catalog."
        "pg_typeof((null::\"public\".\"events\").\"userid\") operator(pg_catalog.=) "
        "20::pg_catalog.oid and pg_catalog.pg_typeof((null::\"public\".\"events\").\"ts\") "
        "operator(pg_catalog.=) 1184::pg_catalog.oid then $3 else pg_catalog.concat('keyspread met "
        "other columns')::bigint end)"));
    assert_int_equal(write_group->prepared[0].type_count, 3);
    assert_int_equal(write_group->prepared[0].types[1], PGW_TIMESTAMPTZ);
    assert_int_equal(write_group->lifted.count, 3);
    assert_true(pgw_slice_eq_str(write_group->lifted.values[0], "6"));
    assert_null(write_group->lifted.values[1].ptr);
    assert_true(strtoll(write_group->lifted.values[2].ptr, NULL, 10) ==
                (int64_t)write_group->keys[0].hash);
    assert_false(write_group->lifted.returns);
    come_back(t.count - 1, PX_WRITE_GROUP_COMMITTED, 0);
    assert_false(next_is_lifted("INSERT INTO events (userid, ts) VALUES (5, now())"));
    assert_false(next_is_lifted("INSERT INTO events (userid) VALUES (5), (6)"));
    assert_false(next_is_lifted("INSERT INTO events (userid) VALUES (5);"
                                "INSERT INTO events (userid) VALUES (6)"));
    for (int other = 0; other < 3; other++) { /* whatever is never seen again is not prepared */
        char text[100];
        snprintf(text, sizeof text, "INSERT /* %d */ INTO events (userid) VALUES (5)", other);
        assert_false(next_is_lifted(text));
    }
    assert_true(next_is_lifted(at));
    assert_true(
        next_is_lifted("/* another */ INSERT INTO events (userid, ts) VALUES ('6', 'now')"));
    plans.pointers[0] = &test_tables[0];
    px_plan_cache_clear(&t.cache);
}

static void deadlines_are_the_nearer_ones(void **state)
{
    (void)state;
    static const struct {
        uint64_t timeout, wait;
    } cases[] = {{0, WAIT_MS}, {WAIT_MS - 1, WAIT_MS - 1}, {WAIT_MS, WAIT_MS}, {9999, WAIT_MS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plans.identity->statement_timeout = cases[i].timeout;
        submit_text(one);
        assert_int_equal(t.write_groups[i]->deadline, NOW + cases[i].wait);
        come_back(i, PX_WRITE_GROUP_COMMITTED, 0);
    }
    plans.identity->statement_timeout = 0;
}

/* --- back --- */

static void owners_are_told(void **state)
{
    (void)state;
    submit_text("INSERT INTO events (userid) VALUES (5); INSERT INTO events (userid) VALUES (6)");
    assert_non_null(t.submitter.text);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.answered, 1);
    assert_int_equal(t.told.statement_count, 2);
    assert_int_equal(t.told.completed, 2);
    assert_int_equal(t.told.error.len, 0);
    assert_int_equal(t.told.rows, 0);
    assert_null(t.submitter.text);
    assert_false(px_submitted(&t.submitter));
    assert_int_equal(t.submitter.failed_until, 0);
    submit_text(one);
    t.write_groups[1]->completed = 0;
    come_back(1, PX_WRITE_GROUP_FAILED, PX_FAILED_BY_ERROR);
    assert_int_equal(t.answered, 2);
    assert_int_equal(t.told.completed, 0);
    assert_true(t.told.error.len > 0);
    assert_int_equal(t.told.kind, PX_ERROR_OWN);
    assert_int_equal(t.submitter.failed_until, NOW + ALONE_MS);
    submit_text(one);
    assert_true(t.write_groups[2]->send_alone);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    t.worker.loop.time = NOW + ALONE_MS;
    submit_text(one);
    assert_false(t.write_groups[3]->send_alone);
    come_back(3, PX_WRITE_GROUP_FAILED,
              PX_FAILED_UNSENT); /* It has failed by no fault of its own. */
    assert_int_equal(t.submitter.failed_until, NOW + ALONE_MS);
    t.answers = false; /* it is tried once more */
    submit_text(one);
    come_back(4, PX_WRITE_GROUP_FAILED, PX_FAILED_BY_ERROR);
    assert_int_equal(t.submitter.failed_until, NOW + ALONE_MS);
}

static void what_waits_for_a_lock_is_for_the_own_link(void **state)
{
    (void)state;
    submit_text(one);
    come_back(0, PX_WRITE_GROUP_REROUTED, 0);
    assert_int_equal(t.rerouted, 1);
    assert_int_equal(t.answered, 0);
    assert_true(t.submitter.rerouted);
    assert_false(px_submitted(&t.submitter));
    assert_null(t.submitter.text);
}

static void who_leaves_is_told_nothing(void **state)
{
    (void)state;
    submit_text(one);
    px_submit_withdraw(&t.submitter);
    assert_int_equal(t.withdrawn_count, 1);
    assert_true(px_submitted(&t.submitter));
    px_submit_leave(&t.submitter);
    assert_int_equal(t.withdrawn_count, 2);
    assert_false(px_submitted(&t.submitter));
    assert_null(t.submitter.text);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.answered + t.rerouted, 0);
}

/* --- in parts --- */

/* They go to three partitions: two rows to the first. */
static const char four[] = "INSERT INTO events (userid, ts) VALUES (5, now()), (6, now()), "
                           "(1, now()), (5, now())";

static void split_text(void)
{
    plans.configs[0].atomicity = CFG_ATOMICITY_PARTITION;
    submit_text(four);
    assert_int_equal(t.count, 3);
    assert_non_null(t.submitter.split);
}

static void parts_commit_each_for_itself(void **state)
{
    (void)state;
    split_text();
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.answered, 0);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.answered, 1);
    assert_int_equal(t.told.statement_count, 1);
    assert_int_equal(t.told.completed, 1);
    assert_int_equal(t.tag, 4);
    assert_true(t.bound && t.told.stored);
    assert_int_equal(t.told.rows, 4);
    assert_int_equal(t.told.committed, 4);
    assert_int_equal(t.told.unknown, 0);
    assert_int_equal(t.told.error.len, 0);
    assert_null(t.submitter.split);
    assert_null(t.submitter.text);
}

static void parts_that_fail(void **state)
{
    (void)state;
    static const struct {
        px_write_group_outcome outcomes[3];
        px_write_group_failure failures[3];
        size_t unknown_least; /* rows; the parts differ in size */
        bool stored;
        px_error_kind kind;
    } cases[] = {
        {{PX_WRITE_GROUP_COMMITTED, PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_COMMITTED},
         {0},
         0,
         true,
         PX_ERROR_OWN},
        {{PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_FAILED},
         {0},
         0,
         false,
         PX_ERROR_OWN},
        {{PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_FAILED},
         {0, PX_FAILED_UNKNOWN, PX_FAILED_UNKNOWN},
         2,
         true,
         PX_ERROR_OWN},
        {{PX_WRITE_GROUP_REROUTED, PX_WRITE_GROUP_FAILED, PX_WRITE_GROUP_REROUTED},
         {0},
         0,
         false,
         PX_ERROR_OWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.count = t.answered = 0;
        split_text();
        size_t unknown = 0, committed = 0;
        for (size_t k = 0; k < 3; k++) {
            unknown += cases[i].failures[k] == PX_FAILED_UNKNOWN ? t.write_groups[k]->row_count : 0;
            committed +=
                cases[i].outcomes[k] == PX_WRITE_GROUP_COMMITTED ? t.write_groups[k]->row_count : 0;
            t.write_groups[k]->completed = 0;
            come_back(k, cases[i].outcomes[k], cases[i].failures[k]);
        }
        assert_int_equal(t.answered, 1);
        assert_int_equal(t.rerouted, 0);
        assert_int_equal(t.told.completed, 0);
        assert_true(t.told.error.len > 0);
        assert_int_equal(t.told.unknown, unknown);
        assert_true(unknown >= cases[i].unknown_least);
        assert_int_equal(t.told.committed, committed);
        assert_int_equal(t.told.stored, cases[i].stored);
        assert_true(t.bound);
        assert_false(px_submitted(&t.submitter));
    }
}

/* The first error is told, but that an outcome is unknown weighs more. */
static pgw_buf told_error;

static bool keep_error(px_submitter *submitter, const px_outcome *outcome)
{
    (void)submitter;
    pgw_buf_clear(&told_error);
    pgw_buf_add_slice(&told_error, pgw_error_field(outcome->error, 'M'));
    return true;
}

static void the_weightiest_error_is_told(void **state)
{
    (void)state;
    static const px_submitter_ops ops = {keep_error, on_rerouted};
    static const struct {
        px_write_group_failure failures[3];
        const char *message;
    } cases[] = {{{PX_FAILED_BY_ERROR, PX_FAILED_BY_ERROR, PX_FAILED_BY_ERROR}, "unit 0"},
                 {{PX_FAILED_BY_ERROR, PX_FAILED_UNKNOWN, PX_FAILED_UNKNOWN}, "unit 1"},
                 {{PX_FAILED_UNKNOWN, PX_FAILED_BY_ERROR, PX_FAILED_UNKNOWN}, "unit 0"}};
    t.submitter.ops = &ops;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.count = 0;
        split_text();
        for (size_t k = 0; k < 3; k++)
            come_back(k, PX_WRITE_GROUP_FAILED, cases[i].failures[k]);
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&told_error), cases[i].message));
    }
    pgw_buf_free(&told_error);
}

static void parts_that_wait_go_on_without_the_others(void **state)
{
    (void)state;
    split_text();
    px_text *text = t.submitter.text;
    px_text_take(text);
    size_t waiting = t.write_groups[1]->row_count;
    come_back(1, PX_WRITE_GROUP_REROUTED, 0);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.rerouted, 1);
    assert_int_equal(t.answered, 0);
    assert_true(t.submitter.rerouted);
    assert_true(text->in_parts);
    assert_int_equal(text->superseded[0], 4 - waiting);
    assert_null(t.submitter.split);
    px_submitter_drop_statement(&t.submitter);
    px_text_drop(text);
    t.count = 0; /* if all wait, nothing was tried */
    split_text();
    for (size_t k = 0; k < 3; k++)
        come_back(k, PX_WRITE_GROUP_REROUTED, 0);
    assert_int_equal(t.rerouted, 2);
    assert_null(t.submitter.text);
}

static void parts_are_withdrawn_and_left(void **state)
{
    (void)state;
    split_text();
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
    px_submit_withdraw(&t.submitter);
    assert_int_equal(t.withdrawn_count, 2);
    assert_int_equal(t.withdrawn[0], t.write_groups[0]->ticket);
    assert_int_equal(t.withdrawn[1], t.write_groups[2]->ticket);
    px_submit_leave(&t.submitter);
    assert_false(px_submitted(&t.submitter));
    assert_null(t.submitter.text);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.answered, 0);
}

/* --- prepared --- */

static const char bound_one[] = "INSERT INTO events (userid, ts) VALUES ($1, $2)";
static const char *const good[] = {"5", "2026-01-01 00:00:00+00", "6", "2026-01-01 00:00:00+00"};

static void executions_become_a_write_group(void **state)
{
    (void)state;
    px_unfit unfit;
    assert_int_equal(submit_bound(bound_one, good, 2, 2, &unfit), PX_SUBMITTED);
    px_write_group *write_group = t.write_groups[0];
    assert_int_equal(write_group->kind, PX_WRITE_GROUP_PARAMS);
    assert_int_equal(write_group->statement_count, 2);
    assert_int_equal(write_group->row_count, 2);
    assert_true(write_group->keys[0].hash == write_group->keys[1].hash &&
                write_group->keys[0].constant);
    assert_int_equal(write_group->statements[1].rows, 1);
    assert_true(pgw_slice_eq_str(write_group->prepared[0].text,
                                 "INSERT INTO events (userid, ts, "
                                 "\"userhash\") VALUES ($1, $2, $3)"));
    assert_int_equal(write_group->prepared[0].type_count, 3);
    assert_int_equal(write_group->prepared[0].types[2], PGW_INT8);
    assert_true(write_group->merge_hash == t.submitter.plans[0]->merge_hash);
    assert_true(pgw_slice_eq_str(write_group->prepared[0].name, t.submitter.plans[0]->name));
    pgw_slice batch = write_group->statements[0].messages;
    pgw_frame frame = {0};
    assert_int_equal(pgw_frame_next(batch, &frame), PGW_FRAME_OK);
    assert_int_equal(frame.type, 'B');
    assert_int_equal(batch.ptr[frame.size], 'E');
    assert_int_equal(write_group->bytes,
                     write_group->statements[0].bytes + write_group->statements[1].bytes);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.told.statement_count, 2);
    assert_null(t.submitter.plans);
}

/* Executions of the statements in turns. */
static px_submission submit_several(const char *const *texts, size_t count, size_t executions)
{
    pgw_error error;
    pgw_buf buf = {0};
    px_plan *all[80];
    px_execution list[80];
    px_unfit unfit;
    const pgw_bind bind = bind_of(good, 2, &buf);
    for (size_t i = 0; i < count; i++)
        all[i] = plan_of(texts[i], NULL, 0, &error);
    for (size_t i = 0; i < executions; i++)
        list[i] = (px_execution){all[i % count], &bind, 0};
    px_submission what =
        px_submit_bound(&t.submitter, &t.standing, &(px_executions){list, executions}, &unfit);
    for (size_t i = 0; i < count; i++)
        px_plan_drop(all[i]);
    pgw_buf_free(&buf);
    return what;
}

static void executions_of_several_statements_become_a_write_group(void **state)
{
    (void)state;
    static const char *const texts[] = {
        bound_one, "INSERT INTO events (userid, ts) VALUES ($1, $2) ON CONFLICT DO NOTHING"};
    assert_int_equal(submit_several(texts, 2, 5), PX_SUBMITTED);
    const px_write_group *write_group = t.write_groups[0];
    assert_int_equal(write_group->statement_count, 5);
    assert_int_equal(write_group->prepared_count, 2);
    assert_int_equal(write_group->table_count, 1);
    assert_int_equal(t.submitter.plan_count, 2);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(write_group->statements[i].prepared, i % 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(pgw_slice_eq_str(write_group->prepared[i].name, t.submitter.plans[i]->name));
    uint64_t merge_hash = write_group->merge_hash;
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_null(t.submitter.plans);
    const char *const turned[] = {texts[1], texts[0]};
    assert_int_equal(submit_several(turned, 2, 2), PX_SUBMITTED);
    assert_true(t.write_groups[1]->merge_hash != merge_hash);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
}

static void rows_of_several_tables_become_a_write_group(void **state)
{
    (void)state;
    static const char *const texts[] = {
        bound_one, "INSERT INTO nullable (userid, ts) VALUES ($1, $2)", bound_one};
    assert_int_equal(submit_several(texts, 3, 3), PX_SUBMITTED);
    const px_write_group *write_group = t.write_groups[0];
    assert_int_equal(write_group->table_count, 2);
    assert_string_equal(write_group->tables[0].name, "public.events");
    assert_string_equal(write_group->tables[1].name, "public.nullable");
    assert_int_equal(write_group->keys[0].table, 0);
    assert_int_equal(write_group->keys[1].table, 1);
    assert_int_equal(write_group->keys[2].table, 0);
    assert_true(write_group->several_partitions);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    submit_text("INSERT INTO events (userid) VALUES (5); INSERT INTO nullable (userid, ts) VALUES "
                "(5, now())");
    assert_int_equal(t.write_groups[1]->kind, PX_WRITE_GROUP_TEXT);
    assert_int_equal(t.write_groups[1]->table_count, 2);
    assert_int_equal(t.write_groups[1]->keys[1].table, 1);
    assert_true(t.write_groups[1]->several_partitions);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
}

static void executions_that_are_no_write_group(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "2026-01-01 00:00:00+00"};
    px_unfit unfit;
    assert_int_equal(submit_bound(bound_one, bad, 2, 2, &unfit), PX_SUBMIT_ON_LINK);
    assert_false(px_submitted(&t.submitter));
    assert_null(t.submitter.plans);
    px_submission alone = submit_bound(bound_one, bad, 2, 1, &unfit);
    assert_int_equal(t.count, 0);
    assert_null(t.submitter.plans);
    if (alone == PX_SUBMIT_REFUSED) {
        assert_true(unfit.at_bind);
        assert_int_equal(unfit.execution, 0);
        assert_string_equal(unfit.error.sqlstate, "22P02");
    } else {
        assert_int_equal(alone, PX_SUBMIT_ON_LINK);
    }
}

static void keys_that_come_twice_are_executed_once(void **state)
{
    (void)state;
    static const char *const twice[] = {"5", "2026-01-01 00:00:00+00", "5",
                                        "2026-01-01 00:00:00+00"};
    const char *upsert = "UPSERT INTO events (userid, ts) VALUES ($1, $2), ($3, $4)";
    px_unfit unfit;
    assert_int_equal(submit_bound(upsert, twice, 4, 1, &unfit), PX_SUBMITTED);
    assert_int_equal(t.submitter.plans[0]->left_out, 1);
    assert_int_equal(t.write_groups[0]->row_count, 1);
    assert_int_equal(t.write_groups[0]->statements[0].rows, 1);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(submit_bound(upsert, twice, 4, 2, &unfit), PX_SUBMIT_ON_LINK);
    assert_int_equal(t.count, 1);
    assert_null(t.submitter.plans);
}

static const char bound_four[] = "INSERT INTO events (userid, ts) VALUES ($1, now()), ($2, now()), "
                                 "($3, now()), ($4, now())";

static void a_bind_in_parts(void **state)
{
    (void)state;
    static const char *const values[] = {"5", "6", "1", "5"};
    px_unfit unfit;
    plans.configs[0].atomicity = CFG_ATOMICITY_PARTITION;
    assert_int_equal(submit_bound(bound_four, values, 4, 1, &unfit), PX_SUBMITTED);
    assert_int_equal(t.count, 3);
    size_t rows = 0, statements = 0;
    for (size_t i = 0; i < t.count; i++) {
        rows += t.write_groups[i]->row_count;
        statements += t.write_groups[i]->statement_count;
        assert_false(t.write_groups[i]->several_partitions);
        assert_int_equal(t.write_groups[i]->prepared[0].type_count, 2);
        for (size_t k = 0; k < t.write_groups[i]->row_count; k++)
            assert_int_equal(t.write_groups[i]->keys[k].partition, t.write_groups[i]->partition);
    }
    assert_int_equal(rows, 4);
    assert_int_equal(statements, 4);
    size_t waiting = t.write_groups[0]->row_count;
    come_back(0, PX_WRITE_GROUP_REROUTED, 0);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(t.rerouted, 1);
    assert_true(t.submitter.plans[0]->in_parts);
    assert_int_equal(t.submitter.plans[0]->left_out, 4 - waiting);
    px_submitter_drop_statement(&t.submitter);
}

static void binds_that_stay_whole(void **state)
{
    (void)state;
    static const char *const same[] = {"1", "1", "1", "1"}, *const values[] = {"5", "6", "1", "4"};
    px_unfit unfit;
    plans.configs[0].atomicity = CFG_ATOMICITY_PARTITION;
    assert_int_equal(submit_bound(bound_four, same, 4, 1, &unfit), PX_SUBMITTED);
    assert_int_equal(t.count, 1);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(submit_bound(bound_four, values, 4, 2, &unfit), PX_SUBMITTED);
    assert_int_equal(t.count, 2);
    come_back(1, PX_WRITE_GROUP_COMMITTED, 0);
    assert_int_equal(submit_bound("INSERT INTO events (userid) VALUES ($1), ($2) ON CONFLICT DO "
                                  "NOTHING",
                                  values, 2, 1, &unfit),
                     PX_SUBMITTED);
    assert_int_equal(t.count, 3);
    come_back(2, PX_WRITE_GROUP_COMMITTED, 0);
    plans.configs[0].atomicity = 0;
    assert_int_equal(submit_bound(bound_four, values, 4, 1, &unfit), PX_SUBMITTED);
    assert_int_equal(t.count, 4);
    come_back(3, PX_WRITE_GROUP_COMMITTED, 0);
}

/* --- time --- */

static void who_is_slow_travels_alone_and_then_not_at_all(void **state)
{
    (void)state;
    px_write_group write_group = {.slow = true};
    px_submitter *submitter = &t.submitter;
    px_submitter_note_time(submitter, &write_group);
    assert_true(submitter->slow_before);
    assert_int_equal(submitter->failed_until, NOW + ALONE_MS);
    assert_int_equal(submitter->slow_until, 0);
    write_group.slow = false; /* quick, but in company: that says nothing */
    px_submitter_note_time(submitter, &write_group);
    assert_true(submitter->slow_before);
    write_group.slow = write_group.send_alone = true;
    px_submitter_note_time(submitter, &write_group);
    assert_int_equal(submitter->slow_until, NOW + ALONE_MS);
    assert_int_equal(submitter->failed_until, NOW + 2 * ALONE_MS);
    write_group.slow = false;
    px_submitter_note_time(submitter, &write_group);
    assert_false(submitter->slow_before);
    write_group.suspected = true;
    px_submitter_note_time(submitter, &write_group);
    assert_true(submitter->suspected);
    submitter->failed_until = 0;
    submit_text(one);
    assert_true(t.write_groups[0]->send_alone);
    assert_false(submitter->suspected);
    come_back(0, PX_WRITE_GROUP_COMMITTED, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(texts_become_write_groups),
        TEST(what_a_write_group_knows),
        TEST(lone_rows_are_lifted),
        TEST(deadlines_are_the_nearer_ones),
        TEST(owners_are_told),
        TEST(what_waits_for_a_lock_is_for_the_own_link),
        TEST(who_leaves_is_told_nothing),
        TEST(parts_commit_each_for_itself),
        TEST(parts_that_fail),
        TEST(the_weightiest_error_is_told),
        TEST(parts_that_wait_go_on_without_the_others),
        TEST(parts_are_withdrawn_and_left),
        TEST(executions_become_a_write_group),
        TEST(executions_of_several_statements_become_a_write_group),
        TEST(rows_of_several_tables_become_a_write_group),
        TEST(executions_that_are_no_write_group),
        TEST(keys_that_come_twice_are_executed_once),
        TEST(a_bind_in_parts),
        TEST(binds_that_stay_whole),
        TEST(who_is_slow_travels_alone_and_then_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
