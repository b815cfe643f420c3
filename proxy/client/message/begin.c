#include "proxy/client/message/begin.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/ended.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/said.h"
#include "proxy/client/core/session.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/standing/doubt.h"
#include "proxy/client/standing/names.h"
#include "rewrite/statement/words/reach.h"
#include "rewrite/statement/words/transaction.h"

#include <string.h>

enum {
    ALONE_MS = 50,     /* after which it does not wait for company any more */
    MESSAGE_MOST = 400 /* bytes of a group that is read for it */
};

/* One group of the extended protocol that runs one statement without parameters, and is all that
 * its client has sent. */
typedef struct begin_group {
    px_said parse, bind, execute;
    bool described; /* Its portal is described as well. */
} begin_group;

/* ---- what came ---- */

static rw_transaction read_text(const px_session *session, pgw_slice text)
{
    return rw_transaction_of(text, session->who.identity->env.conforming);
}

static bool is_unnamed(pgw_slice name)
{
    return name.len == 0;
}

/* The next message of the group, if it is of this type and whole. */
static bool take(pgw_slice *rest, char type, px_said *said)
{
    pgw_frame frame;
    if (rest->len == 0 || rest->ptr[0] != type || pgw_frame_next(*rest, &frame) != PGW_FRAME_OK ||
        frame.size > rest->len)
        return false;
    *said = px_said_of(type, (pgw_slice){rest->ptr, frame.size});
    *rest = (pgw_slice){rest->ptr + frame.size, rest->len - frame.size};
    return said->whole || type == 'S';
}

static bool read_group(pgw_slice message, begin_group *group)
{
    pgw_slice rest = message;
    px_said describe, sync;
    *group = (begin_group){0};
    if (!take(&rest, 'P', &group->parse) || !take(&rest, 'B', &group->bind))
        return false;
    const pgw_parse *parse = &group->parse.as.parse;
    const pgw_bind *bind = &group->bind.as.bind;
    if (!is_unnamed(parse->name) || parse->type_count > 0 || !is_unnamed(bind->statement) ||
        !is_unnamed(bind->portal) || bind->format_count > 0 || bind->value_count > 0)
        return false;
    group->described = rest.len > 0 && rest.ptr[0] == 'D';
    if (group->described && (!take(&rest, 'D', &describe) || describe.as.target.kind != 'P' ||
                             !is_unnamed(describe.as.target.name)))
        return false;
    if (!take(&rest, 'E', &group->execute) || !is_unnamed(group->execute.as.execute.portal))
        return false;
    return take(&rest, 'S', &sync) && sync.message.len == PGW_HEADER && rest.len == 0;
}

/* ---- BEGIN ---- */

/* Nothing is owed to the client, and nothing is under way to its link: which is there, and is its
 * own. */
static bool may_ride(const px_session *session, rw_transaction said)
{
    const px_own *own = &session->own;
    if (!own->ready || own->begun != NULL || !px_session_idle(session) ||
        session->group.count > 0 || session->hand.parts != NULL || own->copy_in ||
        session->who.identity->replication != NULL || session->worker->server->backend->by_file ||
        px_link_cancelling(own->link) || px_link_is_borrowed(own->link))
        return false;
    const char *standby = px_link_parameter(own->link, "in_hot_standby");
    return !said.primary || (standby != NULL && strcmp(standby, "off") == 0);
}

static void put_end(px_session *session, rw_transaction_word word, pgw_buf *out)
{
    pgw_write_tag(rw_transaction_tag(word), out);
    pgw_write_ready(session->own.status, out);
    px_session_put(session, out);
    pgw_buf_free(out);
}

static void begin_by_query(px_session *session, pgw_slice text, rw_transaction_word word, bool lazy)
{
    pgw_buf messages = {0}, out = {0};
    const pgw_bind bind = {0};
    pgw_certainly(pgw_write_parse(PGW_LITERAL(""), text, NULL, 0, &messages));
    pgw_certainly(pgw_write_bind(&bind, PGW_LITERAL(""), PGW_LITERAL(""), NULL, 0, &messages));
    pgw_write_execute(PGW_LITERAL(""), 0, &messages);
    px_names_forget_unnamed(session);
    px_ended_note(session);
    px_riding_begin(session, messages, true);
    session->own.begun->lazy = lazy;
    put_end(session, word, &out);
}

static void begin_by_group(px_session *session, const begin_group *group, rw_transaction_word word,
                           bool lazy)
{
    pgw_buf messages = {0}, out = {0};
    pgw_buf_add_slice(&messages, group->parse.message);
    pgw_buf_add_slice(&messages, group->bind.message);
    pgw_buf_add_slice(&messages, group->execute.message);
    px_statements_remove(&session->names.statements, PGW_LITERAL(""));
    px_statements_remove(&session->names.portals, PGW_LITERAL(""));
    session->known.parsed =
        (px_foreign){.effects = RW_EFFECT_TRANSACTION, .generation = session->known.generation};
    px_names_foreign(session, NULL, PGW_LITERAL(""), group->parse.message);
    px_state_note_bound(session, RW_EFFECT_TRANSACTION, PGW_LITERAL(""));
    px_state_note_execute(session);
    session->pending.zone_moving =
        false; /* a BEGIN moves none, though the end of a transaction may */
    px_ended_note(session);
    px_riding_begin(session, messages, false);
    session->own.begun->lazy = lazy;
    pgw_write_parse_complete(&out);
    pgw_write_bind_complete(&out);
    if (group->described)
        pgw_write_no_data(&out);
    put_end(session, word, &out);
}

/* What the message at hand, alone or with its group, begins. Where more stands behind it, whose
 * answer its client does not await, it goes at once, unless its transaction may be kept. */
static rw_transaction read_begin(px_session *session, pgw_frame frame, pgw_slice message,
                                 begin_group *group, pgw_slice *text, bool *lazy)
{
    const rw_transaction none = {.word = RW_TRANSACTION_NONE};
    bool query = frame.type == 'Q';
    if (frame.size > message.len || frame.size > MESSAGE_MOST)
        return none;
    if (query && !pgw_query_decode(pgw_frame_body(message, frame), text))
        return none;
    if (!query && (message.len > MESSAGE_MOST || !read_group(message, group)))
        return none;
    if (!query)
        *text = group->parse.as.parse.query;
    rw_transaction said = read_text(session, *text);
    bool begins = said.word == RW_TRANSACTION_BEGIN || said.word == RW_TRANSACTION_START;
    *lazy = begins && px_lazy_begins(session, said.ordinary);
    return begins && (frame.size == message.len || !query || *lazy) ? said : none;
}

px_step px_begin_begins(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice text = {NULL, 0};
    begin_group group = {0};
    bool lazy, query = frame.type == 'Q';
    const px_replies *owed = &session->pending.replies;
    if (session->own.status != 'I' || !session->own.ready)
        return PX_STEP_PASS;
    rw_transaction said = read_begin(session, frame, message, &group, &text, &lazy);
    if (said.word == RW_TRANSACTION_NONE)
        return PX_STEP_PASS;
    if (owed->count > 0 && px_replies_are_silent(owed) && !session->own.unsynced) {
        px_session_set_wait(session, PX_WAIT_IDLE); /* what is ours alone is soon answered */
        return PX_STEP_LATER;
    }
    if (!may_ride(session, said))
        return PX_STEP_PASS;
    if (query)
        begin_by_query(session, text, said.word, lazy);
    else
        begin_by_group(session, &group, said.word, lazy);
    px_relay_drop(session, frame);
    if (!query)
        px_stream_consume(session->peer.stream, message.len - frame.size);
    return PX_STEP_DONE;
}

/* ---- COMMIT and ROLLBACK of what no server knows of ---- */

/* What the message at hand, alone or with its group, ends. */
static rw_transaction_word read_end(px_session *session, pgw_frame frame, pgw_slice message,
                                    begin_group *group)
{
    pgw_slice text = {NULL, 0};
    bool query = frame.type == 'Q';
    if (frame.size > message.len || frame.size > MESSAGE_MOST)
        return RW_TRANSACTION_NONE;
    if (query && !pgw_query_decode(pgw_frame_body(message, frame), &text))
        return RW_TRANSACTION_NONE;
    if (!query && (frame.type != 'P' || message.len > MESSAGE_MOST || !read_group(message, group)))
        return RW_TRANSACTION_NONE;
    rw_transaction_word word = read_text(session, query ? text : group->parse.as.parse.query).word;
    bool ends = word == RW_TRANSACTION_COMMIT || word == RW_TRANSACTION_ROLLBACK;
    return ends ? word : RW_TRANSACTION_NONE;
}

static void answer_end(px_session *session, rw_transaction_word word, const begin_group *group)
{
    pgw_buf out = {0};
    px_ended(session);
    if (group != NULL) {
        px_statements_remove(&session->names.statements, PGW_LITERAL(""));
        pgw_write_parse_complete(&out);
        pgw_write_bind_complete(&out);
    }
    if (group != NULL && group->described)
        pgw_write_no_data(&out);
    put_end(session, word, &out);
    px_names_drop_unnamed(session);
}

/* Nothing that its client sent in it has got to the server. */
static bool may_end(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    return px_begun_is_here(begun) || (begun->state == PX_BEGUN_THERE && px_begun_keeps(begun) &&
                                       session->pending.replies.count == 0);
}

px_step px_begin_ends(px_session *session, pgw_frame frame, pgw_slice message)
{
    begin_group group = {0};
    const px_begun *begun = session->own.begun;
    bool query = frame.type == 'Q';
    if (begun == NULL || !may_end(session) || session->group.count > 0 ||
        (!query && !px_begun_keeps(begun)))
        return PX_STEP_PASS;
    rw_transaction_word word = read_end(session, frame, message, &group);
    if (word == RW_TRANSACTION_NONE)
        return PX_STEP_PASS;
    if (word == RW_TRANSACTION_COMMIT && px_begun_keeps(begun)) {
        session->own.begun->described = group.described;
        session->own.begun->behind = query ? 0 : message.len - frame.size;
        if (px_lazy_commits(session))
            return PX_STEP_LATER; /* it is consumed when it is answered */
        return px_session_need_link(session) ? PX_STEP_PASS : PX_STEP_LATER;
    }
    if (!px_begun_keeps(begun))
        px_count(session->worker->metrics, PX_TRANSACTIONS_EMPTY, 1);
    answer_end(session, word, query ? NULL : &group);
    px_relay_drop(session, frame);
    if (!query)
        px_stream_consume(session->peer.stream, message.len - frame.size);
    return PX_STEP_DONE;
}

/* ---- what follows ---- */

/* Whether a Bind is of a statement that executes others. */
static bool executes(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (message.len < frame.size)
        return true; /* who knows */
    message.len = frame.size;
    const px_said said = px_said_of('B', message);
    const pgw_slice name = said.as.bind.statement;
    const px_foreign *foreign = NULL;
    if (said.whole)
        foreign =
            px_state_foreign(session, px_statements_find(&session->names.statements, name), name);
    return foreign != NULL && foreign->executes;
}

/* What SQL executes, prepares or drops may have to be told to the link first, in a group of its
 * own. */
static bool needs_more_than_a_group(px_session *session, pgw_frame frame, pgw_slice message)
{
    static const char *const words[] = {"execute", "prepare", "deallocate", "discard"};
    bool text = frame.type == 'Q' || frame.type == 'P';
    if (frame.type == 'B')
        return executes(session, frame, message);
    if (!text || session->names.statements.names.count == 0)
        return false;
    message.len = frame.size < message.len ? frame.size : message.len;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_text_mentions(message, words[i]))
            return true;
    return false;
}

bool px_begin_is_met(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (strchr("Xdcf", frame.type) != NULL)
        return true;
    bool here = px_begun_is_here(session->own.begun);
    if (here && needs_more_than_a_group(session, frame, message))
        px_riding_go_alone(session);
    if (!px_riding_holds_back(session))
        return true;
    px_session_set_wait(session, PX_WAIT_IDLE);
    return false;
}

void px_begin_tick(px_session *session, uint64_t now)
{
    if (px_begun_is_here(session->own.begun) && !session->own.begun->commits &&
        now - session->own.begun->since >= ALONE_MS)
        px_riding_go_alone(session);
}
