#include "proxy/client/link/own_link.h"

#include "proxy/base/log.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/core/terminate.h"
#include "proxy/client/core/session.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/ingest/submit.h"

/* Nothing that was prepared is there any more. */
static void forget_link(px_session *session)
{
    px_copied_over(session);
    px_link_close(session->own.link);
    px_own_drop_link(&session->own);
    px_sequence_refill_end(session, false);
    px_sequence_session_lose_link(session);
    px_schema_probe_free(session);
    px_prepared_names_set_unnamed(&session->names, false);
    px_statements_lose_link(&session->names.statements);
    px_group_lose_link(&session->group);
}

/* Whether the link has nothing but what its statements have left. */
static bool is_anybodys(const px_session *session)
{
    return !session->peer.pid_reported && !session->own.has_state && !session->who.is_private &&
           session->names.statements.unkept == 0; /* what is prepared there can be prepared again */
}

/* Whether the link has nothing but what runs just now. */
static bool has_no_state(const px_session *session)
{
    return is_anybodys(session) && px_state_is_replaceable(session);
}

bool px_own_link_is_replaceable(const px_session *session)
{
    return has_no_state(session) && px_session_is_quiet(session) &&
           !px_session_relays_part(session);
}

static void leave(px_session *session)
{
    forget_link(session);
    px_replies_clear(&session->pending.replies);
    if (session->peer.leaving) /* the goodbye waits for the link's end, which nothing tells now */
        px_stream_finish(session->peer.stream);
    px_session_wake(session, PX_WAIT_IDLE);
}

void px_own_link_leave(px_session *session)
{
    if (session->own.ready && px_own_link_is_replaceable(session))
        leave(session);
}

void px_own_link_forgo(px_session *session)
{
    if (session->wait != PX_WAIT_LINK || px_link_is_opening(session->own.link))
        return;
    px_session_end_wait(session, PX_WAIT_LINK);
    forget_link(session);
}

px_yield px_own_link_yield(px_session *session)
{
    if (!has_no_state(session) || (!session->own.ready && !px_link_is_opening(session->own.link)))
        return PX_YIELD_NEVER;
    bool awaits_look = session->wait == PX_WAIT_CATALOG && session->ddl.probe == NULL;
    if (!session->own.ready || (session->wait != PX_WAIT_NOTHING && !awaits_look) ||
        px_submitted(&session->write_groups) || !px_own_link_is_replaceable(session))
        return awaits_look ? PX_YIELD_NEVER : PX_YIELD_LATER; /* a look may be what pleads */
    px_own_link_leave(session);
    return PX_YIELD_NOW;
}

bool px_own_link_learn(px_session *session)
{
    bool looks = session->ddl.probe != NULL;
    return looks || (is_anybodys(session) && px_state_is_unproven(session) &&
                     !px_session_relays_part(session) && px_schema_probe_unasked(session));
}

void px_own_link_lose(px_session *session, const char *reason)
{
    px_log(CFG_LOG_WARN, "link_lost", "worker=%u slot=%zu reason=%s", session->worker->index,
           session->slot, reason);
    if (px_terminate_is_said(session)) {
        forget_link(session);
        return;
    }
    if (session->own.fatal) {
        px_session_close(session, reason);
        return;
    }
    if (px_own_link_is_replaceable(session)) {
        leave(session);
        return;
    }
    pgw_error error;
    if (session->pending.undecided)
        px_unknown_outcome(&error);
    else if (!px_replies_are_silent(&session->pending.replies))
        pgw_fail(&error, "08006",
                 "the connection to the backend was lost while a statement was running");
    else
        pgw_fail(&error, "57P01", "the connection to the backend was lost");
    pgw_error_detail(&error, "%s", reason);
    px_session_fatal(session, &error);
}
