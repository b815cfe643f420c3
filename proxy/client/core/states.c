#include "proxy/client/core/states.h"

#include <stddef.h>

#define TO(state) (1u << (state))

bool px_state_may_follow(px_session_state from, px_session_state to)
{
    static const unsigned after[PX_STATES] = {
        [PX_STARTUP] = TO(PX_LOGIN) | TO(PX_WELCOME) | TO(PX_CLOSING),
        [PX_LOGIN] = TO(PX_WELCOME) | TO(PX_CLOSING),
        [PX_WELCOME] = TO(PX_READY) | TO(PX_CLOSING),
        [PX_READY] = TO(PX_CLOSING),
        [PX_CLOSING] = 0,
    };
    return (after[from] & TO(to)) != 0;
}

/* One thing after the other: what it waits for is over before it waits for something else. */
bool px_wait_may_follow(px_step from, px_step to)
{
    return from == PX_WAIT_NOTHING || to == PX_WAIT_NOTHING || from == to;
}

/* Facts that go with another one, and facts that do not. */
typedef struct rule {
    unsigned with, without;
} rule;

static bool keeps(rule r, unsigned facts)
{
    return (facts & r.with) == r.with && (facts & r.without) == 0;
}

bool px_wait_may_begin(px_step wait, unsigned facts)
{
    static const rule rules[PX_STEPS] = {
        [PX_WAIT_LINK] = {PX_FACT_LINK, PX_FACT_READY | PX_FACT_WRITE_GROUP},
        [PX_WAIT_CATALOG] = {0, PX_FACT_WRITE_GROUP},
        [PX_WAIT_STATE] = {PX_FACT_READY | PX_FACT_ASKED, PX_FACT_WRITE_GROUP},
        [PX_WAIT_DESCRIBE] = {PX_FACT_READY | PX_FACT_OWED, PX_FACT_WRITE_GROUP},
        [PX_WAIT_IDLE] = {PX_FACT_OWED, PX_FACT_WRITE_GROUP},
        [PX_WAIT_WRITE_GROUP] = {PX_FACT_WRITE_GROUP, PX_FACT_UNSYNCED},
        [PX_WAIT_ROOM] = {0, PX_FACT_WRITE_GROUP},
        [PX_WAIT_DATABASES] = {0, PX_FACT_WRITE_GROUP},
        [PX_WAIT_TURN] = {0, PX_FACT_WRITE_GROUP},
    };
    return keeps(rules[wait], facts);
}

bool px_facts_agree(unsigned facts)
{
    static const struct {
        px_fact fact;
        rule rule;
    } rules[] = {
        {PX_FACT_READY, {PX_FACT_LINK, 0}},
        {PX_FACT_COPY_IN, {PX_FACT_READY, PX_FACT_WRITE_GROUP}},
        {PX_FACT_WRITE_GROUP, {0, PX_FACT_UNSYNCED | PX_FACT_STREAMING}},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if ((facts & rules[i].fact) && !keeps(rules[i].rule, facts))
            return false;
    return true;
}
