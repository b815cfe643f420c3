#include "proxy/client/prepared/raw_parse.h"

#include "proxy/client/core/session.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/standing/names.h"

#include <string.h>

/* The message behind the one that `frame` is of, which begins `*input`; false: it is not there. */
static bool take_next(pgw_slice *input, pgw_frame *frame)
{
    if (frame->size >= input->len)
        return false;
    *input = (pgw_slice){input->ptr + frame->size, input->len - frame->size};
    return pgw_frame_next(*input, frame) == PGW_FRAME_OK;
}

static bool names_it(pgw_slice input, pgw_frame frame, pgw_slice name)
{
    if (frame.size > input.len)
        return false;
    px_client_message decoded =
        px_client_message_of(frame.type, (pgw_slice){input.ptr, frame.size});
    pgw_slice statement = px_client_message_statement(&decoded);
    return statement.ptr != NULL && pgw_slice_eq(statement, name);
}

bool px_raw_parse_is_described(const px_session *session, pgw_slice name)
{
    pgw_slice input = px_stream_input(session->peer.stream);
    pgw_frame frame = session->hand.frame;
    return take_next(&input, &frame) && frame.type == 'D' && names_it(input, frame, name);
}

/* The client has sent Sync next, behind a Describe at most, and no Bind behind that. */
static bool is_only_prepared(const px_session *session, pgw_slice name)
{
    pgw_slice input = px_stream_input(session->peer.stream);
    pgw_frame frame = session->hand.frame;
    bool more = take_next(&input, &frame);
    if (more && frame.type == 'D' && names_it(input, frame, name))
        more = take_next(&input, &frame);
    return more && frame.type == 'S' &&
           !(take_next(&input, &frame) && frame.type == 'B' && names_it(input, frame, name));
}

/* Whether the text's bytes mean the same in every encoding and with every rule for strings. */
static bool is_plain(pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80 || text.ptr[i] == '\\' || text.ptr[i] == '&')
            return false;
    return true;
}

/* Whether the client's text stores nothing should it be run without keyspread's knowledge. */
static bool is_harmless(const rw_table *table)
{
    return table->columns[table->hash_column].not_null &&
           rw_table_defaults_to_null(table, table->hash_column);
}

/* Whether the hash is all that keyspread puts into the INSERT, which will be read as it is now,
 * whatever is set until it is bound. */
static bool is_simple(const rw_insert *insert)
{
    return insert->verb == RW_VERB_INSERT && insert->blocker == RW_BATCHABLE &&
           insert->row_count > 0 && insert->list_end > 0 && !insert->hash_listed &&
           insert->appended_count == 0 && insert->tail == insert->end && !insert->heeds_settings &&
           is_plain(insert->text);
}

bool px_raw_parse_fits(const px_session *session, const px_client_message *decoded,
                       const px_plan *plan)
{
    return decoded->as.parse.name.len > 0 && session->hand.rewritten.len == 0 &&
           plan->asked == NULL && plan->refusal == NULL && !plan->hash_at_bind &&
           is_simple(plan->insert) && is_harmless(plan->insert->table) &&
           is_only_prepared(session, decoded->as.parse.name);
}

void px_raw_parse_parse(px_session *session, const px_client_message *decoded, px_plan *plan)
{
    px_statements *statements = &session->names.statements;
    pgw_slice name = decoded->as.parse.name;
    px_reply *reply = px_forward_raw(session, PX_REPLY_PARSE, NULL, false, decoded->message);
    px_reply_renames(&session->pending.replies, reply, statements, name);
    px_statement *statement = px_statements_put(statements, name, plan, true);
    statement->generation = session->known.generation;
    statement->unsure = plan->infers;
    px_statements_raw_parse(statements, statement);
}

bool px_raw_parse_waits(const px_session *session, const px_client_message *decoded)
{
    return decoded->type == 'B' && session->pending.replies.count > 0 &&
           px_names_is_raw_parse(session, decoded->as.bind.statement);
}

bool px_raw_parse_is_refused(const px_session *session, pgw_slice name)
{
    return px_session_aborted(session) && px_names_is_raw_parse(session, name);
}
