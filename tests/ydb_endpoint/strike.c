#include "tests/ydb_endpoint/strike.h"

#include "tests/ydb_endpoint/faults.h"

#include <limits.h>
#include <time.h>

static void sleep_us(long us)
{
    struct timespec rest = {us / 1000000, us % 1000000 * 1000};
    while (us > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) != 0)
        ;
}

static bool act(ye_session *session, const ye_deed *deed, ye_failure *failure)
{
    ye_counters *counters = &session->endpoint->counters;
    bool done = deed->act(session, deed->context, failure);
    atomic_fetch_add(&counters->commits, done && deed->commits);
    return done;
}

/* What was done is not taken back, though the client is told that it failed. */
static bool answer_done(ye_session *session, const ye_deed *deed, ye_status status,
                        ye_failure *failure)
{
    const size_t mark = session->out.len;
    const char before = session->status;
    if (!act(session, deed, failure))
        return false;
    if (session->out.len > mark)
        session->out.len = mark;
    session->status = before;
    ye_failure_ordered(status, failure);
    return false;
}

static bool stall(ye_session *session, const ye_deed *deed, long ms, ye_failure *failure)
{
    if (ye_session_wait(session, ms > 0 ? ms : LONG_MAX)) {
        session->begun = ye_now();
        return act(session, deed, failure);
    }
    if (!atomic_load(&session->cancelled))
        ye_session_sever(session);
    ye_failure_ordered(YE_CANCELLED, failure);
    return false;
}

static void sever(ye_session *session)
{
    atomic_fetch_add(&session->endpoint->counters.severed, 1);
    ye_session_sever(session);
}

/* The client is gone; then, later, what it wanted is committed after all. */
static bool commit_late(ye_session *session, const ye_deed *deed, long ms, ye_failure *failure)
{
    pgw_error error;
    const bool alone = session->status == 'I';
    if (alone && !ye_store_do(&session->store, "BEGIN", &error))
        return false;
    if (alone && !act(session, deed, failure)) { /* that is told, and nothing is left behind */
        if (!ye_store_do(&session->store, "ROLLBACK", &error))
            sever(session);
        return false;
    }
    sever(session);
    sleep_us(ms * 1000);
    session->begun = ye_now();
    bool done =
        alone ? ye_store_do(&session->store, "COMMIT", &error) : act(session, deed, failure);
    pgw_buf_clear(&session->out);
    return done;
}

static bool suffer(ye_session *session, const ye_deed *deed, const ye_fault *fault,
                   ye_failure *failure)
{
    switch (fault->kind) {
    case YE_FAULT_ANSWER:
        ye_failure_ordered(fault->status, failure);
        return false;
    case YE_FAULT_ANSWER_DONE:
        return answer_done(session, deed, fault->status, failure);
    case YE_FAULT_STALL:
        return stall(session, deed, fault->ms, failure);
    case YE_FAULT_DROP_AFTER:
        if (!act(session, deed, failure))
            return false;
        sever(session);
        return true;
    case YE_FAULT_COMMIT_LATE:
        return commit_late(session, deed, fault->ms, failure);
    default:
        sever(session);
        return true;
    }
}

bool ye_strike(ye_session *session, const ye_deed *deed, ye_failure *failure)
{
    ye_endpoint *endpoint = session->endpoint;
    ye_fault fault;
    const long us = atomic_load(&endpoint->latency_us);
    sleep_us(us);
    session->begun += us * 1000;
    atomic_fetch_add(&endpoint->counters.statements, 1);
    if (ye_faults_next(&endpoint->faults, deed->text, deed->commits, &fault))
        return suffer(session, deed, &fault, failure);
    return act(session, deed, failure);
}
