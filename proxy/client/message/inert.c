#include "proxy/client/message/inert.h"

#include "protocol/frontend.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/coming.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/passthrough_writes.h"

#include <string.h>
#include <strings.h>

bool px_inert_may_be(pgw_slice text)
{
    static const char *const words[] = {"select", "insert", "update", "delete", "with", "values"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (text.len > len && strncasecmp(text.ptr, words[i], len) == 0 &&
            (text.ptr[len] == ' ' || text.ptr[len] == '\n'))
            return true;
    }
    return false;
}

static bool is_between_groups(const px_replies *replies)
{
    return replies->count == 0 || px_replies_at(replies, replies->count - 1)->group;
}

/* Whether the group has begun with the Parse of an unnamed statement that is inert, and no more. */
static bool is_parsed(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    const px_reply *last = px_replies_at(replies, replies->count - 1);
    bool first = replies->count == 1 || px_replies_at(replies, replies->count - 2)->group;
    return first && last->kind == PX_REPLY_PARSE && session->own.unsynced && !last->swallow &&
           last->asks == PX_ASKS_NOTHING && last->plan == NULL && last->text == NULL &&
           last->lookups == NULL && session->known.unnamed.inert && replies->moving.count == 0;
}

/* Whether nothing of the client's is held, or under way but for such messages, by which these would
 * be looked at. */
static bool is_undisturbed(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    const px_hand *hand = &session->hand;
    return (is_between_groups(replies) ? !session->own.unsynced : is_parsed(session)) &&
           replies->begins == 0 && session->own.ready && session->own.begun == NULL &&
           !session->own.copy_in && !session->pending.skipping && !session->pending.commits &&
           session->group.count == 0 && hand->frame.size == 0 && hand->streaming == 0 &&
           hand->rewritten.len == 0;
}

/* Whether no statement or portal of the session concerns configured tables, or may come to. */
static bool has_nothing_of_ours(const px_session *session)
{
    const px_prepared_names *names = &session->names;
    const px_state *known = &session->known;
    return names->statements.ours == 0 && names->portals.names.count == 0 &&
           names->prepares == NULL && names->deallocates == NULL && names->describing == NULL &&
           !known->moving && !known->keyed && !known->lookup_bind &&
           !px_passthrough_writes_may(session) && px_statements_away(&names->statements) == NULL;
}

/* The statement of the Bind message that the input begins with, to the unnamed portal; its frame.
 * NULL: another message, or a statement that is not inert. */
static const px_passthrough *bound(px_session *session, pgw_slice input, pgw_frame *frame)
{
    enum { NAME = PGW_HEADER + 1 }; /* the statement's name, behind the portal's empty one */
    if (pgw_frame_next(input, frame) != PGW_FRAME_OK || frame->size > input.len ||
        frame->size <= NAME || frame->size - PGW_HEADER > pgw_frame_limit('B') ||
        input.ptr[PGW_HEADER] != '\0')
        return NULL;
    pgw_slice name = {input.ptr + NAME, strnlen(input.ptr + NAME, frame->size - NAME)};
    if (name.len == frame->size - NAME)
        return NULL;
    name = pgw_name_significant(name);
    px_statement *statement = px_statements_find(&session->names.statements, name);
    const px_passthrough *passthrough = px_state_passthrough(session, statement, name);
    bool inert = passthrough != NULL && passthrough->inert &&
                 (statement == NULL || statement->lookups == NULL) &&
                 px_names_reads(session, statement, name) == NULL;
    return inert ? passthrough : NULL;
}

bool px_inert_relay(px_session *session)
{
    pgw_frame bind;
    pgw_slice input = px_stream_input(session->peer.stream);
    if (input.len == 0 || *input.ptr != 'B' || !has_nothing_of_ours(session) ||
        !is_undisturbed(session))
        return false;
    const px_passthrough *passthrough = bound(session, input, &bind);
    size_t len = passthrough != NULL ? px_coming_run(input, bind.size).size : 0;
    if (len == 0)
        return false;
    px_state_note_bound(session, passthrough->effects, PGW_LITERAL(""));
    px_state_note_execute(session);
    px_replies_push(&session->pending.replies, PX_REPLY_QUERY)->group = true;
    px_own_close_group(&session->own);
    px_changes_synced(session);
    px_relay(session, (pgw_frame){.type = 'S', .size = len});
    return true;
}
