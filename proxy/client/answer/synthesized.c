#include "proxy/client/answer/synthesized.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/answer/errors.h"
#include "proxy/client/core/session.h"
#include "proxy/client/standing/names.h"

static void forget_statement(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement != NULL && px_statements_on_link(&session->names.statements, statement) &&
        session->own.ready)
        px_names_close(session, name);
    px_statements_remove(&session->names.statements, name);
}

/* Writes what Describe is answered. A portal returns what its statement does, in the formats that
 * it was bound with. */
static void describe(const px_group *group, const px_held *held, pgw_buf *out)
{
    const px_plan *plan = held->plan;
    pgw_slice results = {NULL, 0};
    if (plan != NULL) {
        pgw_certainly(
            pgw_write_parameter_description(plan->types, px_plan_client_parameters(plan), out));
    } else {
        const px_held *bind = &group->held[held->about];
        plan = bind->plan;
        results = bind->decoded->as.bind.results;
    }
    pgw_write_row_description(plan->columns, results, out);
}

static void add_tag(const px_session *session, const px_outcome *outcome, size_t i, pgw_buf *out)
{
    uint64_t rows = outcome->promised != NULL
                        ? outcome->promised[i].rows
                        : outcome->statements[i].tag +
                              px_outcome_plan(&session->write_groups, outcome, i)->left_out;
    pgw_write_insert_tag(rows, out);
}

void px_synthesized_notices(const px_session *session, const px_outcome *outcome, size_t i,
                            pgw_buf *out)
{
    const px_submitter *write_groups = &session->write_groups;
    pgw_slice rest = px_outcome_notices(outcome, i);
    pgw_frame frame;
    while (pgw_frame_next(rest, &frame) == PGW_FRAME_OK) {
        size_t begun = pgw_begin(out, 'N');
        if (write_groups->text != NULL)
            px_error_of_text(write_groups->text, i, pgw_frame_body(rest, frame), out);
        else
            px_error_of_portal(px_outcome_plan(write_groups, outcome, i), PGW_LITERAL(""),
                               pgw_frame_body(rest, frame), out);
        pgw_end_small(out, begun);
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
    }
}

void px_synthesized_rows(const px_session *session, const px_outcome *outcome, size_t i,
                         pgw_buf *out)
{
    pgw_slice rows = px_outcome_returned(outcome, i);
    if (rows.len < PX_STREAM_LOW) {
        pgw_buf_add_slice(out, rows);
        return;
    }
    px_stream_put_buf(session->peer.stream, out);
    pgw_buf_clear(out);
    px_stream_put(session->peer.stream, rows.ptr, rows.len);
}

/* Writes what number `i` of the Executes is answered. */
static void execute(const px_session *session, const px_outcome *outcome, size_t i, pgw_buf *out)
{
    if (outcome->promised == NULL) {
        px_synthesized_notices(session, outcome, i, out);
        px_synthesized_rows(session, outcome, i, out);
    } else {
        pgw_buf_add_slice(out, outcome->promised[i].shown);
    }
    if (outcome->promised == NULL && outcome->statements[i].suspended)
        pgw_write_portal_suspended(out);
    else
        add_tag(session, outcome, i, out);
}

/* Writes what the client is owed for held message `i` when that did what it should. */
static void answer(px_session *session, size_t i, pgw_buf *out)
{
    px_group *group = &session->group;
    px_held *held = &group->held[i];
    const px_client_message *decoded = held->decoded;
    switch (held->type) {
    case 'P':
        px_statements_put(&session->names.statements, decoded->as.parse.name, held->plan,
                          held->on_link)
            ->generation = session->known.generation;
        pgw_write_parse_complete(out);
        break;
    case 'B':
        pgw_write_bind_complete(out);
        break;
    case 'D':
        describe(group, held, out);
        break;
    case 'E':
        break;
    default:
        if (decoded->as.target.kind == 'S')
            forget_statement(session, decoded->as.target.name);
        pgw_write_close_complete(out);
    }
    held->answered = true;
}

void px_synthesized_write(px_session *session, size_t before, const px_outcome *outcome,
                          pgw_buf *out)
{
    size_t executed = 0;
    for (size_t i = 0; i < before; i++) {
        const px_held *held = &session->group.held[i];
        if (held->type == 'E')
            execute(session, outcome, executed++, out);
        if (!held->answered)
            answer(session, i, out);
    }
}

/* Closes what was described ahead, under a name that behind an error the client still has free. */
static void close_unanswered(px_session *session)
{
    for (size_t i = 0; i < session->group.count; i++) {
        const px_held *held = &session->group.held[i];
        if (held->type == 'P' && held->on_link && !held->answered &&
            held->decoded->as.parse.name.len > 0)
            px_names_close(session, held->decoded->as.parse.name);
    }
}

void px_synthesized_end(px_session *session, pgw_buf *out)
{
    pgw_write_ready(session->own.status, out);
    px_stream_put_buf(session->peer.stream, out);
    pgw_buf_free(out);
    close_unanswered(session);
    px_session_drop_group(session);
}
