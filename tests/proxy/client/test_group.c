/* What a session holds up to its Sync: copies of messages, the plans that they are of, and what
 * their names mean by then. */
#include "proxy/client/core/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/frame.h"
#include "proxy/backend/base/write_group.h"

static px_group group;
static px_statements statements;
static px_plan plans[PX_WRITE_GROUP_MOST + 2];
static rw_insert inserts[PX_WRITE_GROUP_MOST + 2];

static int setup(void **state)
{
    (void)state;
    group = (px_group){0};
    statements = (px_statements){0};
    memset(plans, 0, sizeof plans);
    memset(inserts, 0, sizeof inserts);
    for (size_t i = 0; i < PX_WRITE_GROUP_MOST + 2; i++) {
        plans[i].references = 1;
        plans[i].insert = &inserts[i];
        snprintf(plans[i].name, sizeof plans[i].name, "ks_%zu", i);
    }
    return 0;
}

/* -1 if a plan is held still. */
static int teardown(void **state)
{
    (void)state;
    px_group_clear(&group);
    px_group_free(&group);
    px_statements_free(&statements);
    for (size_t i = 0; i < PX_WRITE_GROUP_MOST + 2; i++)
        if (plans[i].references != 1)
            return -1;
    return 0;
}

/* Holds a message of this body, which is overwritten behind that. */
static void hold(char type, const char *body, size_t len, px_plan *plan)
{
    pgw_buf message = {0};
    size_t begun = pgw_begin(&message, type);
    pgw_buf_add(&message, body, len);
    assert_true(pgw_end(&message, begun));
    const px_client_message decoded = px_client_message_of(type, pgw_slice_buf(&message));
    assert_true(decoded.whole);
    px_group_hold(&group, &decoded, plan);
    memset(message.ptr, '!', message.len);
    pgw_buf_free(&message);
}
#define HOLD(type, body, plan) hold(type, body, sizeof(body) - 1, plan)
#define PARSE(name, plan) HOLD('P', name "\0insert\0\0\0", plan)
#define BIND(portal, name, plan) HOLD('B', portal "\0" name "\0\0\0\0\0\0\0", plan)
#define EXECUTE(portal, plan) HOLD('E', portal "\0\0\0\0\0", plan)

static pgw_slice named(const char *name)
{
    return pgw_slice_str(name);
}

static void messages_are_copied(void **state)
{
    (void)state;
    PARSE("a", &plans[0]);
    BIND("p", "a", &plans[0]);
    HOLD('D', "Pp\0", NULL);
    EXECUTE("p", &plans[0]);
    assert_int_equal(group.count, 4);
    assert_int_equal(plans[0].references, 4);
    assert_true(pgw_slice_eq_str(group.held[0].decoded->as.parse.query, "insert"));
    assert_true(pgw_slice_eq_str(group.held[0].decoded->as.parse.name, "a"));
    assert_true(pgw_slice_eq_str(group.held[1].decoded->as.bind.statement, "a"));
    assert_true(pgw_slice_eq_str(group.held[1].decoded->as.bind.portal, "p"));
    assert_true(pgw_slice_eq_str(group.held[2].decoded->as.target.name, "p"));
    assert_true(pgw_slice_eq_str(group.held[3].decoded->as.execute.portal, "p"));
    size_t bytes = 0;
    for (size_t i = 0; i < 4; i++)
        bytes += group.held[i].decoded->message.len;
    assert_int_equal(group.bytes, bytes);
    px_group_clear(&group);
    assert_int_equal(group.count, 0);
    assert_int_equal(group.bytes, 0);
    assert_int_equal(plans[0].references, 1);
    assert_false(px_group_mentions(&group, named("a")));
    assert_false(px_group_has_portal(&group, named("p")));
    assert_false(px_group_has(&group, "PBDE"));
}

static void messages_are_about_what_came_before(void **state)
{
    (void)state;
    BIND("", "a", NULL);
    PARSE("a", &plans[0]);
    BIND("", "a", &plans[0]);
    BIND("p", "b", NULL);
    EXECUTE("", &plans[0]);
    EXECUTE("", &plans[0]);
    HOLD('D', "Sa\0", NULL);
    HOLD('C', "Pp\0", NULL);
    HOLD('C', "Sa\0", NULL);
    BIND("", "a", NULL);
    HOLD('D', "P\0", NULL);
    static const size_t about[] = {
        PX_GROUP_NONE, PX_GROUP_NONE, 1, PX_GROUP_NONE, 2, 4, 1, 3, 1, 8, 9};
    for (size_t i = 0; i < group.count; i++)
        if (group.held[i].about != about[i])
            fail_msg("message %zu is about %zu", i, group.held[i].about);
    assert_int_equal(px_group_executed(&group, 4), 2);
    assert_int_equal(px_group_executed(&group, 5), PX_GROUP_NONE); /* a second time */
}

static px_plan *plan_of(const char *name)
{
    return px_group_plan(&group, px_statements_find(&statements, named(name)), named(name));
}

static void statements_mean_what_was_said_last(void **state)
{
    (void)state;
    px_statements_put(&statements, named("a"), &plans[0], true);
    assert_ptr_equal(plan_of("a"), &plans[0]);
    assert_null(plan_of("b"));
    PARSE("b", &plans[1]);
    assert_true(px_group_mentions(&group, named("b")));
    assert_false(px_group_mentions(&group, named("a")));
    assert_ptr_equal(plan_of("b"), &plans[1]);
    HOLD('C', "Sa\0", NULL);
    HOLD('D', "Sb\0", NULL);
    assert_null(plan_of("a"));
    PARSE("a", &plans[2]);
    assert_ptr_equal(plan_of("a"), &plans[2]);
}

static void portals_are_there_until_they_are_run_or_closed(void **state)
{
    (void)state;
    assert_int_equal(px_group_portal(&group, named("")), PX_GROUP_NONE);
    assert_false(px_group_has_portal(&group, named("")));
    BIND("", "a", NULL);
    BIND("p", "a", NULL);
    assert_int_equal(px_group_portal(&group, named("")), 0);
    assert_int_equal(px_group_portal(&group, named("p")), 1);
    EXECUTE("", NULL);
    assert_int_equal(px_group_portal(&group, named("")), PX_GROUP_NONE);
    assert_true(px_group_has_portal(&group, named("")));
    HOLD('C', "Pp\0", NULL);
    assert_int_equal(px_group_portal(&group, named("p")), PX_GROUP_NONE);
    assert_false(px_group_has_portal(&group, named("p")));
    BIND("p", "a", NULL);
    assert_int_equal(px_group_portal(&group, named("p")), 4);
}

static void what_is_in_it(void **state)
{
    (void)state;
    assert_true(px_group_runs_all(&group));
    assert_false(px_group_is_answered(&group));
    PARSE("a", &plans[0]);
    BIND("", "a", &plans[0]);
    assert_true(px_group_has(&group, "P"));
    assert_true(px_group_has(&group, "EB"));
    assert_false(px_group_has(&group, "DEC"));
    assert_true(px_group_runs_all(&group)); /* none is */
    EXECUTE("", &plans[0]);
    assert_true(px_group_runs_all(&group));
    BIND("p", "a", &plans[0]);
    assert_false(px_group_runs_all(&group));
    group.held[1].answered = true;
    assert_true(px_group_is_answered(&group));
}

/* Different ones, and no more than a write group may have. */
static void statements_are_counted(void **state)
{
    (void)state;
    assert_int_equal(px_group_count_statements(&group), 0);
    PARSE("a", &plans[0]);
    assert_int_equal(px_group_count_statements(&group), 0);
    for (size_t i = 0; i < 3; i++) {
        EXECUTE("", &plans[0]);
        EXECUTE("", &plans[1]);
    }
    assert_int_equal(px_group_count_statements(&group), 2);
    for (size_t i = 2; i < PX_WRITE_GROUP_MOST; i++)
        EXECUTE("", &plans[i]);
    EXECUTE("", &plans[PX_WRITE_GROUP_MOST - 1]);
    assert_int_equal(px_group_count_statements(&group), PX_WRITE_GROUP_MOST);
    EXECUTE("", &plans[PX_WRITE_GROUP_MOST]);
    assert_int_equal(px_group_count_statements(&group), PX_WRITE_GROUP_MOST + 1);
    EXECUTE("", &plans[PX_WRITE_GROUP_MOST + 1]);
    assert_int_equal(px_group_count_statements(&group), PX_WRITE_GROUP_MOST + 1);
}

/* What it will be answered with: a type a parameter of the client's own, and the columns. */
static void descriptions_are_owed(void **state)
{
    (void)state;
    rw_insert asked = {.wanted_count = 2};
    inserts[0].param_count = 5;
    plans[0].columns = PGW_LITERAL("ten bytes!");
    HOLD('D', "Sa\0", NULL);
    EXECUTE("", &plans[0]);
    assert_int_equal(group.owed, 0);
    HOLD('D', "Sa\0", &plans[0]);
    assert_int_equal(group.owed, 5 * 4 + 10);
    plans[0].asked = &asked;
    HOLD('D', "Sa\0", &plans[0]);
    assert_int_equal(group.owed, 5 * 4 + 10 + 3 * 4 + 10);
    px_group_clear(&group);
    assert_int_equal(group.owed, 0);
}

static void it_is_full_at_a_limit(void **state)
{
    (void)state;
    assert_false(px_group_is_full(&group));
    for (size_t i = 0; i + 1 < PX_GROUP_MESSAGES; i++)
        EXECUTE("", NULL);
    assert_false(px_group_is_full(&group));
    EXECUTE("", NULL);
    assert_true(px_group_is_full(&group));
    px_group_clear(&group);
    assert_false(px_group_is_full(&group));
    assert_int_equal(group.cap, 0); /* so many places are not kept */
    group.bytes = PX_GROUP_BYTES;
    assert_true(px_group_is_full(&group));
    group.bytes = 0;
    group.owed = PX_GROUP_BYTES;
    assert_true(px_group_is_full(&group));
}

static void a_few_places_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_GROUP_KEPT; i++)
        EXECUTE("", NULL);
    group.describes = true;
    group.failure = malloc(sizeof *group.failure);
    px_group_clear(&group);
    assert_int_equal(group.cap, PX_GROUP_KEPT);
    assert_non_null(group.held);
    assert_false(group.describes);
    assert_null(group.failure);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(messages_are_copied),
        TEST(messages_are_about_what_came_before),
        TEST(statements_mean_what_was_said_last),
        TEST(portals_are_there_until_they_are_run_or_closed),
        TEST(what_is_in_it),
        TEST(statements_are_counted),
        TEST(descriptions_are_owed),
        TEST(it_is_full_at_a_limit),
        TEST(a_few_places_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
