#include "proxy/client/answer/ended.h"

#include "protocol/backend.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"

/* Rolls back a transaction that holds nothing but what questions of keyspread's have looked at. */
static void roll_back(px_session *session)
{
    static const char *const rollback = "rollback";
    px_ask_silently(session, &rollback, 1);
}

void px_ended_note(px_session *session)
{
    px_state_note(session, RW_EFFECT_TRANSACTION);
    px_changes_note(session, RW_EFFECT_TRANSACTION);
    px_submitter_go_on(&session->write_groups);
}

void px_ended(px_session *session)
{
    bool there = session->own.begun->state == PX_BEGUN_THERE;
    session->own.begun->lazy = false;
    px_riding_tell(session);
    px_riding_end(session);
    px_own_set_status(&session->own, 'I');
    px_ended_note(session);
    px_state_ended(session);
    px_changes_end(session);
    if (there && session->own.ready)
        roll_back(session);
}

void px_ended_commit(px_session *session, const pgw_buf *answer)
{
    px_commit commit = session->own.begun->commit;
    session->own.begun->commit.parse = (pgw_buf){0};
    pgw_buf out = {0};
    if (commit.parsed)
        pgw_write_parse_complete(&out);
    if (commit.grouped)
        pgw_write_bind_complete(&out);
    if (commit.described)
        pgw_write_no_data(&out);
    pgw_buf_add_slice(&out, pgw_slice_buf(answer));
    px_ended(session);
    if (commit.parse.len > 0)
        px_names_end(session, pgw_slice_buf(&commit.parse));
    pgw_write_ready(session->own.status, &out);
    px_session_put(session, &out);
    if (!commit.grouped || (commit.parsed && commit.parse.len == 0))
        px_names_drop_unnamed(session);
    px_relay_drop_message(session);
    px_stream_consume(session->peer.stream, commit.behind);
    px_sequence_refill_ask(session);
    pgw_buf_free(&commit.parse);
    pgw_buf_free(&out);
}
