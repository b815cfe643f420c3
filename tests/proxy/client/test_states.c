/* The tables of a session's states: what may follow what, and what excludes what. */
#include "proxy/client/core/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A row for each state that is left, a letter for each that is entered: S L W R C. */
static void test_states(void **state)
{
    (void)state;
    static const char *const rows[PX_STATES] = {
        [PX_STARTUP] = ".LW.C", [PX_LOGIN] = "..W.C",   [PX_WELCOME] = "...RC",
        [PX_READY] = "....C",   [PX_CLOSING] = ".....",
    };
    for (int from = 0; from < PX_STATES; from++)
        for (int to = 0; to < PX_STATES; to++)
            assert_int_equal(px_state_may_follow((px_session_state)from, (px_session_state)to),
                             rows[from][to] != '.');
}

static void test_one_wait_after_the_other(void **state)
{
    (void)state;
    for (int from = 0; from < PX_STEPS; from++)
        for (int to = 0; to < PX_STEPS; to++)
            assert_int_equal(px_wait_may_follow((px_step)from, (px_step)to),
                             from == to || from == 0 || to == 0);
}

enum {
    LINK = PX_FACT_LINK,
    READY = PX_FACT_LINK | PX_FACT_READY,
    OWED = READY | PX_FACT_OWED,
    ASKED = OWED | PX_FACT_ASKED,
    WRITE_GROUP = PX_FACT_WRITE_GROUP,
    OPEN = READY | PX_FACT_IN_TRANSACTION,
    UNSYNCED = OWED | PX_FACT_UNSYNCED
};

static void test_waits_and_facts(void **state)
{
    (void)state;
    static const struct {
        px_step wait;
        unsigned facts;
        bool may;
    } cases[] = {
        {PX_WAIT_NOTHING, 0, true},
        {PX_WAIT_NOTHING, UNSYNCED | PX_FACT_STREAMING, true},
        {PX_WAIT_LINK, LINK, true},
        {PX_WAIT_LINK, 0, false},
        {PX_WAIT_LINK, READY, false},
        {PX_WAIT_LINK, LINK | WRITE_GROUP, false},
        {PX_WAIT_CATALOG, 0, true},
        {PX_WAIT_CATALOG, OPEN, true},
        {PX_WAIT_CATALOG, WRITE_GROUP, false},
        {PX_WAIT_STATE, ASKED, true},
        {PX_WAIT_STATE, READY | PX_FACT_ASKED, true},
        {PX_WAIT_STATE, OWED, false},
        {PX_WAIT_STATE, LINK | PX_FACT_ASKED, false},
        {PX_WAIT_STATE, ASKED | WRITE_GROUP, false},
        {PX_WAIT_DESCRIBE, OWED, true},
        {PX_WAIT_DESCRIBE, UNSYNCED, true},
        {PX_WAIT_DESCRIBE, READY, false},
        {PX_WAIT_DESCRIBE, PX_FACT_OWED, false},
        {PX_WAIT_DESCRIBE, OWED | WRITE_GROUP, false},
        {PX_WAIT_IDLE, OWED, true},
        {PX_WAIT_IDLE, READY, false},
        {PX_WAIT_IDLE, OWED | WRITE_GROUP, false},
        {PX_WAIT_WRITE_GROUP, WRITE_GROUP, true},
        {PX_WAIT_WRITE_GROUP, READY | WRITE_GROUP, true},
        {PX_WAIT_WRITE_GROUP, OWED | WRITE_GROUP, true}, /* a Sync of ours, perhaps */
        {PX_WAIT_WRITE_GROUP, READY, false},
        {PX_WAIT_WRITE_GROUP, OPEN | WRITE_GROUP, true}, /* a COMMIT of what was kept */
        {PX_WAIT_WRITE_GROUP, UNSYNCED | WRITE_GROUP, false},
        {PX_WAIT_ROOM, 0, true},
        {PX_WAIT_ROOM, WRITE_GROUP, false},
        {PX_WAIT_DATABASES, OPEN, true},
        {PX_WAIT_DATABASES, WRITE_GROUP, false},
        {PX_WAIT_TURN, 0, true},
        {PX_WAIT_TURN, WRITE_GROUP, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (px_wait_may_begin(cases[i].wait, cases[i].facts) != cases[i].may)
            fail_msg("case %zu", i);
}

static void test_facts_agree(void **state)
{
    (void)state;
    static const struct {
        unsigned facts;
        bool agree;
    } cases[] = {
        {0, true},
        {LINK, true},
        {READY, true},
        {PX_FACT_READY, false},
        {READY | PX_FACT_COPY_IN, true},
        {LINK | PX_FACT_COPY_IN, false},
        {READY | PX_FACT_COPY_IN | WRITE_GROUP, false},
        {WRITE_GROUP, true},
        {READY | WRITE_GROUP, true},
        {WRITE_GROUP | PX_FACT_UNSYNCED, false},
        {WRITE_GROUP | PX_FACT_STREAMING, false},
        {UNSYNCED | PX_FACT_STREAMING, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (px_facts_agree(cases[i].facts) != cases[i].agree)
            fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_one_wait_after_the_other),
        cmocka_unit_test(test_waits_and_facts),
        cmocka_unit_test(test_facts_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
