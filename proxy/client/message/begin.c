#include "proxy/client/message/begin.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/said.h"
#include "proxy/client/core/session.h"
#include "proxy/client/standing/changes.h"
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

static void note(px_session *session)
{
    px_state_note(session, RW_EFFECT_TRANSACTION);
    px_changes_note(session, RW_EFFECT_TRANSACTION);
    px_owner_go_on(&session->units);
}

/* A Query destroys the unnamed statement: also on the link, when it gets there. */
static void forget_unnamed(px_session *session)
{
    px_statements *statements = &session->names.statements;
    const px_statement *ours = px_statements_find(statements, PGW_LITERAL(""));
    session->names.unnamed_on_link =
        session->names.unnamed_on_link || (ours != NULL && px_statements_on_link(statements, ours));
    px_statements_remove(statements, PGW_LITERAL(""));
}

static void begin_by_query(px_session *session, pgw_slice text, rw_transaction_word word)
{
    pgw_buf messages = {0}, out = {0};
    const pgw_bind bind = {0};
    pgw_certainly(pgw_write_parse(PGW_LITERAL(""), text, NULL, 0, &messages));
    pgw_certainly(pgw_write_bind(&bind, PGW_LITERAL(""), PGW_LITERAL(""), NULL, 0, &messages));
    pgw_write_execute(PGW_LITERAL(""), 0, &messages);
    forget_unnamed(session);
    note(session);
    px_riding_begin(session, messages, true);
    put_end(session, word, &out);
}

static void begin_by_group(px_session *session, const begin_group *group, rw_transaction_word word)
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
    note(session);
    px_riding_begin(session, messages, false);
    pgw_write_parse_complete(&out);
    pgw_write_bind_complete(&out);
    if (group->described)
        pgw_write_no_data(&out);
    put_end(session, word, &out);
}

bool px_begin_begins(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice text = {NULL, 0};
    begin_group group = {0};
    bool query = frame.type == 'Q';
    if (message.len > MESSAGE_MOST || session->own.status != 'I')
        return false;
    if (query &&
        (frame.size != message.len || !pgw_query_decode(pgw_frame_body(message, frame), &text)))
        return false;
    if (!query && !read_group(message, &group))
        return false;
    if (!query)
        text = group.parse.as.parse.query;
    rw_transaction said = read_text(session, text);
    if ((said.word != RW_TRANSACTION_BEGIN && said.word != RW_TRANSACTION_START) ||
        !may_ride(session, said))
        return false;
    if (query)
        begin_by_query(session, text, said.word);
    else
        begin_by_group(session, &group, said.word);
    px_relay_drop(session, frame);
    px_stream_consume(session->peer.stream, message.len - frame.size);
    return true;
}

/* ---- COMMIT and ROLLBACK behind nothing ---- */

bool px_begin_ends(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice text;
    pgw_buf out = {0};
    if (!px_begun_is_here(session->own.begun) || frame.type != 'Q' || frame.size > message.len ||
        frame.size > MESSAGE_MOST || !pgw_query_decode(pgw_frame_body(message, frame), &text))
        return false;
    rw_transaction said = read_text(session, text);
    if (said.word != RW_TRANSACTION_COMMIT && said.word != RW_TRANSACTION_ROLLBACK)
        return false;
    px_riding_end(session);
    session->own.status = 'I';
    note(session);
    px_state_ended(session);
    px_changes_end(session);
    put_end(session, said.word, &out);
    px_names_drop_unnamed(session);
    px_count(session->worker->metrics, PX_TRANSACTIONS_EMPTY, 1);
    px_relay_drop(session, frame);
    return true;
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
    if (px_begun_is_here(session->own.begun) && now - session->own.begun->since >= ALONE_MS)
        px_riding_go_alone(session);
}
