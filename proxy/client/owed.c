#include "proxy/client/owed.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/names.h"
#include "proxy/client/session.h"

#include <inttypes.h>
#include <stdio.h>

static void forget_statement(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement != NULL && px_statements_on_link(&session->names.statements, statement) &&
        session->own.ready)
        px_names_close(session, name);
    px_statements_remove(&session->names.statements, name);
}

/* What the client is owed for held message `i`, as it stands when it did what it should. */
static void answer(px_session *session, size_t i, pgw_slice tag, pgw_buf *out)
{
    px_group *group = &session->group;
    px_held *held = &group->held[i];
    const px_said *said = held->said;
    switch (held->type) {
    case 'P':
        px_statements_put(&session->names.statements, said->as.parse.name, held->plan,
                          held->on_link)
            ->generation = session->known.generation;
        pgw_write_parse_complete(out);
        break;
    case 'B':
        pgw_write_bind_complete(out);
        break;
    case 'D':
        if (held->plan != NULL)
            pgw_certainly(pgw_write_parameter_description(
                held->plan->types, px_plan_client_parameters(held->plan), out));
        pgw_write_no_data(out);
        break;
    case 'E':
        pgw_write_tag(tag.ptr, out);
        break;
    default:
        if (said->as.target.kind == 'S')
            forget_statement(session, said->as.target.name);
        pgw_write_close_complete(out);
    }
    held->answered = true;
}

void px_owed_write(px_session *session, size_t before, const uint64_t *tags, pgw_buf *out)
{
    size_t executed = 0;
    for (size_t i = 0; i < before; i++) {
        const px_held *held = &session->group.held[i];
        char tag[40] = "";
        if (held->type == 'E') {
            uint64_t rows = tags != NULL ? tags[executed++] : held->plan->insert->row_count;
            snprintf(tag, sizeof tag, "INSERT 0 %" PRIu64, rows);
        }
        if (!session->group.held[i].answered)
            answer(session, i, pgw_slice_str(tag), out);
    }
}

void px_owed_end(px_session *session, pgw_buf *out)
{
    pgw_write_ready('I', out);
    px_stream_put_buf(session->peer.stream, out);
    pgw_buf_free(out);
    px_session_drop_group(session);
}
