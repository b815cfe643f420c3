#include "proxy/client/answer/lone.h"

#include "protocol/backend.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/answer/synthesized.h"
#include "proxy/client/core/coming.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/ingest/submit.h"

/* Whether the Bind at hand may be submitted before its Sync is looked at: nothing is held before
 * it, and what is said of its row if that is refused is said once. */
static bool may_go(const px_session *session, const px_client_message *decoded, const px_plan *plan)
{
    const pgw_bind *bind = &decoded->as.bind;
    bool knows_rows = plan->described || plan->insert->returning == 0;
    return session->group.count == 0 && session->own.begun == NULL && session->own.status == 'I' &&
           !session->write_groups.repeated && !session->names.looked && decoded->given == NULL &&
           decoded->whole && bind->portal.len == 0 && plan->insert->row_count == 1 && knows_rows &&
           px_bind_is_small(session->worker, plan->insert->table, bind->values.len) &&
           px_register_has_room(session->worker);
}

bool px_lone_submit(px_session *session, const px_client_message *decoded, px_plan *plan)
{
    if (!may_go(session, decoded, plan))
        return false;
    px_run run = px_coming_run(px_stream_input(session->peer.stream), decoded->message.len);
    if (run.size == 0)
        return false;
    const px_execution row = {plan, &decoded->as.bind,
                              plan->insert->returning > 0 ? run.max_rows : 0};
    px_standing standing = px_session_standing(session);
    px_unfit unfit; /* It has no initializer, for the error takes a kilobyte. */
    if (px_submit_bound(&session->write_groups, &standing, &(px_executions){&row, 1}, &unfit) !=
        PX_SUBMITTED)
        return false;
    px_sequence_refill_ask(session);
    return true;
}

/* Whether the write group of such a group is under way, or has its outcome and is not dropped yet.
 */
static bool is_under_way(const px_session *session)
{
    return session->hand.frame.size > 0 && session->hand.frame.type == 'B' &&
           session->group.count == 0 && session->own.begun == NULL &&
           session->write_groups.plan_count == 1;
}

void px_lone_hold(px_session *session)
{
    if (!is_under_way(session))
        return;
    pgw_slice rest = px_stream_input(session->peer.stream);
    pgw_frame frame = session->hand.frame;
    size_t size = 0;
    while (frame.type != 'S') {
        px_client_message decoded =
            px_client_message_of(frame.type, (pgw_slice){rest.ptr, frame.size});
        px_group_hold(&session->group, &decoded,
                      frame.type == 'D' ? NULL : session->write_groups.plans[0]);
        size += frame.size;
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
        pgw_certainly(pgw_frame_next(rest, &frame) == PGW_FRAME_OK);
    }
    px_relay_drop_before(session, size, frame);
}

/* Writes what the rows of the Bind at hand look like. */
static void describe(const px_session *session, pgw_slice columns, pgw_buf *out)
{
    pgw_slice input = px_stream_input(session->peer.stream);
    px_client_message bind =
        px_client_message_of('B', (pgw_slice){input.ptr, session->hand.frame.size});
    pgw_write_row_description(columns, bind.as.bind.results, out);
}

static void put_answer(px_session *session, const px_outcome *outcome, bool described)
{
    const px_plan *plan = session->write_groups.plans[0];
    pgw_buf out = {0};
    pgw_write_bind_complete(&out);
    if (described && plan->columns.len > 0)
        describe(session, plan->columns, &out);
    else if (described)
        pgw_write_no_data(&out);
    px_synthesized_rows(session, outcome, 0, &out);
    pgw_write_insert_tag(outcome->statements->tag, &out);
    pgw_write_ready(session->own.status, &out);
    px_session_put(session, &out);
    pgw_buf_free(&out);
}

#define BOUND "2\0\0\0\4"
#define NO_COLUMNS "n\0\0\0\4"
#define STORED "C\0\0\0\x0fINSERT 0 1\0Z\0\0\0\5I"

/* Puts the answer that most rows have: one row was stored, and nothing is returned. */
static void put_usual_answer(px_session *session, bool described)
{
    static const char bound[] = BOUND STORED, with_describe[] = BOUND NO_COLUMNS STORED;
    if (described)
        px_stream_put(session->peer.stream, with_describe, sizeof with_describe - 1);
    else
        px_stream_put(session->peer.stream, bound, sizeof bound - 1);
}

bool px_lone_answer(px_session *session, const px_outcome *outcome)
{
    if (!is_under_way(session))
        return false;
    if (outcome->error.len > 0 || outcome->notices.len > 0 || outcome->statements->suspended) {
        px_lone_hold(session);
        return false;
    }
    px_run run = px_coming_run(px_stream_input(session->peer.stream), session->hand.frame.size);
    bool returns = session->write_groups.plans[0]->insert->returning != 0;
    if (returns || outcome->statements->tag != 1)
        put_answer(session, outcome, run.described);
    else
        put_usual_answer(session, run.described);
    px_relay_drop(session, (pgw_frame){.type = 'S', .size = run.size});
    px_submitter_go_on(&session->write_groups);
    return true;
}
