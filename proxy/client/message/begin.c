#include "proxy/client/message/begin.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/ended.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/client_message.h"
#include "proxy/client/core/session.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "rewrite/statement/words/reach.h"
#include "rewrite/statement/words/transaction.h"

#include <string.h>

enum {
    ALONE_MS = 50,     /* milliseconds that a BEGIN waits for company */
    MESSAGE_MOST = 400 /* most bytes of a message, or group, that is read for a BEGIN */
};

/* Messages of the extended protocol that run one statement without parameters. */
typedef struct begin_group {
    px_client_message parse, bind, execute;
    pgw_slice text;
    bool parsed;    /* A Parse is among them; else the statement was prepared before. */
    bool described; /* The portal is described as well. */
    bool cut;       /* The messages are such so far, and more must come before that is known. */
    bool synced;    /* A Sync ends the messages; else more of their group stands behind. */
    size_t size;    /* bytes of all the messages */
} begin_group;

/* The name, on the link, of a BEGIN that its client has prepared by a name of its own. */
#define BEGIN_NAME PGW_LITERAL("keyspread begin")

/* ---- what came ---- */

static rw_transaction read_text(const px_session *session, pgw_slice text)
{
    return rw_transaction_of(text, session->who.identity->env.conforming);
}

static bool is_unnamed(pgw_slice name)
{
    return name.len == 0;
}

/* Takes the next message of the group, if it is of this type and whole. */
static bool take(pgw_slice *rest, char type, px_client_message *decoded)
{
    pgw_frame frame;
    if (rest->len == 0 || rest->ptr[0] != type || pgw_frame_next(*rest, &frame) != PGW_FRAME_OK ||
        frame.size > rest->len)
        return false;
    *decoded = px_client_message_of(type, (pgw_slice){rest->ptr, frame.size});
    *rest = (pgw_slice){rest->ptr + frame.size, rest->len - frame.size};
    return decoded->whole || type == 'S';
}

/* Whether the next message, which is to be of one of these types, has not come whole. */
static bool is_cut(pgw_slice rest, const char *types)
{
    pgw_frame frame;
    if (rest.len == 0)
        return true;
    pgw_frame_result result = pgw_frame_next(rest, &frame);
    return strchr(types, rest.ptr[0]) != NULL &&
           (result == PGW_FRAME_MORE || (result == PGW_FRAME_OK && frame.size > rest.len));
}

/* The text of a statement without parameters, prepared before, that begins or ends transactions. */
static pgw_slice text_of(const px_session *session, pgw_slice name)
{
    const px_statement *known = px_statements_find(&session->names.statements, name);
    bool is_text = known != NULL && known->plan == NULL && known->parse.len > 0 &&
                   known->passthrough.effects == RW_EFFECT_TRANSACTION;
    return is_text ? px_statements_kept_text(&known->parse) : (pgw_slice){NULL, 0};
}

/* Reads a Parse, and a Bind to it, without parameters; or, `named`, a Bind alone. */
static bool read_bound(const px_session *session, bool named, pgw_slice *rest, begin_group *group)
{
    const pgw_parse *parse = &group->parse.as.parse;
    const pgw_bind *bind = &group->bind.as.bind;
    group->parsed = take(rest, 'P', &group->parse);
    group->text = group->parsed ? parse->query : group->text;
    group->cut = group->parsed && is_cut(*rest, "B");
    if ((!group->parsed && !named) || !take(rest, 'B', &group->bind))
        return false;
    pgw_slice name = bind->statement;
    if (!is_unnamed(bind->portal) || bind->format_count > 0 || bind->value_count > 0 ||
        (!is_unnamed(name) && !named) ||
        (group->parsed && (parse->type_count > 0 || !pgw_slice_eq(parse->name, name))))
        return false;
    group->text = group->parsed ? parse->query : text_of(session, name);
    return group->text.ptr != NULL;
}

/* Reads a group that is all that its client has sent; or, `named`, its statement may have a name,
 * and more of it may stand behind. */
static bool read_group(const px_session *session, pgw_slice message, bool named, begin_group *group)
{
    pgw_slice rest = message;
    px_client_message describe, sync;
    *group = (begin_group){0};
    if (!read_bound(session, named, &rest, group))
        return false;
    group->described = rest.len > 0 && rest.ptr[0] == 'D';
    group->cut = is_cut(rest, "DE");
    if (group->described && (!take(&rest, 'D', &describe) || describe.as.target.kind != 'P' ||
                             !is_unnamed(describe.as.target.name)))
        return false;
    group->cut = group->cut || is_cut(rest, "E");
    if (!take(&rest, 'E', &group->execute) || !is_unnamed(group->execute.as.execute.portal))
        return false;
    group->cut = is_cut(rest, "S");
    group->synced = take(&rest, 'S', &sync) && sync.message.len == PGW_HEADER;
    group->size = message.len - rest.len;
    bool goes_on = named && rest.len > 0 && (group->synced || strchr("PB", rest.ptr[0]) != NULL);
    return goes_on || (group->synced && rest.len == 0);
}

/* Whether the group's statement may have its name: if that is given now, it is free, and there is
 * room to keep it. */
static bool may_name(const px_session *session, const begin_group *group)
{
    const px_statements *statements = &session->names.statements;
    const pgw_parse *parse = &group->parse.as.parse;
    return !group->parsed || is_unnamed(parse->name) ||
           (px_statements_find(statements, parse->name) == NULL &&
            px_statements_have_room(statements, group->parse.message.len));
}

/* The Parse that gives the statement a name; nothing: it has none, or had it before. */
static pgw_slice naming(const begin_group *group)
{
    bool names = group->parsed && !is_unnamed(group->parse.as.parse.name);
    return names ? group->parse.message : (pgw_slice){NULL, 0};
}

static void name_statement(px_session *session, const begin_group *group)
{
    if (naming(group).len > 0)
        px_names_end(session, naming(group));
}

/* ---- BEGIN ---- */

/* Whether a BEGIN may ride: nothing is owed to the client or under way to its own link, which is
 * there. A backend that cannot be asked is told at once of each BEGIN that is not kept. */
static bool may_ride(const px_session *session, rw_transaction decoded, bool lazy)
{
    const px_own *own = &session->own;
    if (!own->ready || own->begun != NULL || !px_session_idle(session) ||
        session->group.count > 0 || session->hand.parts != NULL || own->copy_in ||
        session->who.identity->replication != NULL ||
        (session->worker->server->backend->by_file && !lazy) || px_link_cancelling(own->link) ||
        px_link_is_borrowed(own->link))
        return false;
    return !decoded.primary || px_link_is_primary(own->link);
}

static void put_end(px_session *session, rw_transaction_word word, bool ready, pgw_buf *out)
{
    pgw_write_tag(rw_transaction_tag(word), out);
    if (ready)
        pgw_write_ready(session->own.status, out);
    px_session_put(session, out);
    pgw_buf_free(out);
}

static void put_bound(const begin_group *group, pgw_buf *out)
{
    if (group->parsed)
        pgw_write_parse_complete(out);
    pgw_write_bind_complete(out);
    if (group->described)
        pgw_write_no_data(out);
}

/* Writes a BEGIN for the link, which is to keep neither a statement nor a portal of it. */
static pgw_buf messages_of(pgw_slice text, pgw_slice name)
{
    pgw_buf messages = {0};
    const pgw_bind bind = {0};
    pgw_certainly(pgw_write_parse(name, text, NULL, 0, &messages));
    pgw_certainly(pgw_write_bind(&bind, PGW_LITERAL(""), name, NULL, 0, &messages));
    pgw_write_execute(PGW_LITERAL(""), 0, &messages);
    pgw_write_close('P', PGW_LITERAL(""), &messages);
    pgw_write_close('S', name, &messages);
    return messages;
}

static void begin_by_query(px_session *session, pgw_slice text, rw_transaction_word word)
{
    pgw_buf out = {0};
    px_names_forget_unnamed(session);
    px_ended_note(session);
    px_riding_begin(session, messages_of(text, PGW_LITERAL("")), true);
    put_end(session, word, true, &out);
}

static void begin_by_group(px_session *session, const begin_group *group, rw_transaction_word word)
{
    pgw_buf messages = {0}, out = {0};
    bool named = !group->parsed || !is_unnamed(group->bind.as.bind.statement);
    px_statements_remove(&session->names.portals, PGW_LITERAL(""));
    if (named) {
        messages = messages_of(group->text, BEGIN_NAME);
        name_statement(session, group);
    } else {
        pgw_buf_add_slice(&messages, group->parse.message);
        pgw_buf_add_slice(&messages, group->bind.message);
        pgw_buf_add_slice(&messages, group->execute.message);
        px_statements_remove(&session->names.statements, PGW_LITERAL(""));
        px_state_parse(session, RW_EFFECT_TRANSACTION);
        bool on_link = session->names.unnamed_on_link;
        px_names_passthrough(session, NULL, PGW_LITERAL(""), group->parse.message);
        px_prepared_names_set_unnamed(&session->names, on_link); /* the link has nothing new yet */
    }
    px_state_note_bound(session, RW_EFFECT_TRANSACTION, PGW_LITERAL(""));
    px_state_note_execute(session);
    /* A BEGIN changes no TimeZone, though the end of a transaction may. */
    px_pending_know_zone(&session->pending);
    px_ended_note(session);
    px_riding_begin(session, messages, named);
    put_bound(group, &out);
    put_end(session, word, group->synced, &out);
}

/* Reads what the message at hand, alone or with its group, begins. Where more stands behind it,
 * whose answer its client does not await, it goes at once, unless its transaction may be kept. */
static rw_transaction read_begin(px_session *session, pgw_frame frame, pgw_slice message,
                                 begin_group *group, bool *lazy)
{
    const rw_transaction none = {.word = RW_TRANSACTION_NONE};
    bool query = frame.type == 'Q', wanted = px_lazy_is_wanted(session);
    *group = (begin_group){.size = frame.size, .synced = true};
    if (frame.size > message.len || frame.size > MESSAGE_MOST)
        return none;
    if (query && !pgw_query_decode(pgw_frame_body(message, frame), &group->text))
        return none;
    bool whole = query || ((wanted || message.len <= MESSAGE_MOST) &&
                           read_group(session, message, wanted, group));
    group->cut = group->cut && wanted && !whole;
    if (!query && (!(whole || group->cut) || group->text.ptr == NULL || !may_name(session, group)))
        return none;
    rw_transaction decoded = read_text(session, group->text);
    bool begins = decoded.word == RW_TRANSACTION_BEGIN || decoded.word == RW_TRANSACTION_START;
    if (group->cut)
        return begins ? decoded : none;
    bool alone = group->size == message.len && group->synced &&
                 (query || (group->parsed && is_unnamed(group->bind.as.bind.statement)));
    *lazy = begins && px_lazy_begins(session, decoded.ordinary);
    return begins && (alone || *lazy) ? decoded : none;
}

/* Waits for the end of the group, before which no answer is owed. */
static px_step await_rest(px_session *session, pgw_slice message)
{
    px_stream_expect(session->peer.stream, message.len + 1);
    return PX_STEP_MORE;
}

px_step px_begin_begins(px_session *session, pgw_frame frame, pgw_slice message)
{
    begin_group group;
    bool lazy = false;
    const px_replies *owed = &session->pending.replies;
    if (session->own.status != 'I' || !session->own.ready)
        return PX_STEP_PASS;
    rw_transaction decoded = read_begin(session, frame, message, &group, &lazy);
    if (decoded.word == RW_TRANSACTION_NONE)
        return PX_STEP_PASS;
    if (group.cut)
        return await_rest(session, message);
    if (owed->count > 0 && px_replies_are_silent(owed) && !session->own.unsynced)
        return PX_WAIT_IDLE; /* keyspread's questions are soon answered */
    if (!may_ride(session, decoded, lazy))
        return PX_STEP_PASS;
    if (frame.type == 'Q')
        begin_by_query(session, group.text, decoded.word);
    else
        begin_by_group(session, &group, decoded.word);
    session->own.begun->lazy = lazy;
    px_relay_drop(session, frame);
    px_stream_consume(session->peer.stream, group.size - frame.size);
    return PX_STEP_DONE;
}

/* ---- COMMIT and ROLLBACK of what no server knows of ---- */

/* Reads what the message at hand, alone or with its group, ends; or the savepoint that it is about,
 * of which no statement keeps the name. */
static rw_transaction read_end(px_session *session, pgw_frame frame, pgw_slice message,
                               begin_group *group)
{
    const rw_transaction none = {.word = RW_TRANSACTION_NONE};
    bool query = frame.type == 'Q', wanted = px_lazy_is_wanted(session);
    *group = (begin_group){.size = frame.size};
    if (frame.size > message.len || frame.size > MESSAGE_MOST)
        return none;
    if (query && !pgw_query_decode(pgw_frame_body(message, frame), &group->text))
        return none;
    bool whole = query || (strchr("PB", frame.type) != NULL &&
                           read_group(session, message, wanted, group) && group->synced);
    group->cut = group->cut && wanted && !whole;
    if (!query && (!(whole || group->cut) || group->text.ptr == NULL || !may_name(session, group)))
        return none;
    rw_transaction decoded = read_text(session, group->text);
    bool ends = decoded.word == RW_TRANSACTION_COMMIT || decoded.word == RW_TRANSACTION_ROLLBACK;
    bool unnamed = query || (group->parsed && is_unnamed(group->parse.as.parse.name));
    return ends || (decoded.savepoint[0] != '\0' && unnamed) ? decoded : none;
}

static void answer(px_session *session, rw_transaction_word word, bool query,
                   const begin_group *group)
{
    pgw_buf out = {0};
    if (!query) {
        name_statement(session, group);
        put_bound(group, &out);
    }
    put_end(session, word, true, &out);
    if (!query && (!group->parsed || !is_unnamed(group->bind.as.bind.statement)))
        return;
    if (session->own.begun == NULL)
        px_names_drop_unnamed(session);
    else
        px_names_forget_unnamed(session); /* the link is told nothing yet */
}

/* Whether nothing that the client sent in the transaction has got to the server. */
static bool may_end(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    return px_begun_is_here(begun) || (begun->state == PX_BEGUN_THERE && px_begun_keeps(begun) &&
                                       session->pending.replies.count == 0);
}

static void note_commit(px_begun *begun, const begin_group *group, bool query, size_t first)
{
    px_commit *commit = &begun->commit;
    pgw_buf_clear(&commit->parse);
    pgw_buf_add_slice(&commit->parse, naming(group));
    commit->grouped = !query;
    commit->parsed = group->parsed;
    commit->described = group->described;
    commit->behind = group->size - first;
}

px_step px_begin_ends(px_session *session, pgw_frame frame, pgw_slice message)
{
    begin_group group;
    const px_begun *begun = session->own.begun;
    bool query = frame.type == 'Q';
    if (begun == NULL || !may_end(session) || session->group.count > 0 ||
        (!query && !px_begun_keeps(begun) && !begun->lazy))
        return PX_STEP_PASS;
    rw_transaction decoded = read_end(session, frame, message, &group);
    bool ends = decoded.savepoint[0] == '\0';
    if (decoded.word == RW_TRANSACTION_NONE || (ends && !query && !px_begun_keeps(begun)))
        return PX_STEP_PASS;
    if (group.cut)
        return await_rest(session, message);
    if (!ends && !px_lazy_keeps_savepoint(session, &decoded, group.text))
        return PX_STEP_PASS;
    if (decoded.word == RW_TRANSACTION_COMMIT && px_kept_count(begun->kept) > 0) {
        note_commit(session->own.begun, &group, query, frame.size);
        if (px_lazy_commits(session))
            return PX_WAIT_WRITE_GROUP; /* the COMMIT is consumed when it is answered */
        px_step step = px_session_need_link(session);
        return step == PX_STEP_DONE ? PX_STEP_PASS : step;
    }
    if (ends && px_kept_count(begun->kept) == 0)
        px_count(session->worker->metrics, PX_TRANSACTIONS_EMPTY, 1);
    if (ends)
        px_ended(session);
    answer(session, decoded.word, query, &group);
    px_relay_drop(session, frame);
    px_stream_consume(session->peer.stream, group.size - frame.size);
    return PX_STEP_DONE;
}

/* ---- what follows ---- */

/* Whether a Bind is of a statement that executes others. */
static bool executes(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (message.len < frame.size)
        return true; /* the Bind may be of any statement while it is not whole */
    message.len = frame.size;
    const px_client_message decoded = px_client_message_of('B', message);
    const pgw_slice name = decoded.as.bind.statement;
    const px_passthrough *passthrough = NULL;
    if (decoded.whole)
        passthrough = px_state_passthrough(
            session, px_statements_find(&session->names.statements, name), name);
    return passthrough != NULL && passthrough->executes;
}

/* Whether the link may have to be told first, in a group of its own, of what SQL executes, prepares
 * or drops. */
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

/* Whether the link owes answers to keyspread's own questions alone: its client has sent nothing
 * there. */
static bool is_being_asked(const px_session *session)
{
    return session->own.begun->lazy && session->own.begun->state == PX_BEGUN_THERE &&
           session->pending.replies.count > 0 && !session->own.unsynced;
}

px_step px_begin_meet(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (strchr("Xdcf", frame.type) != NULL)
        return PX_STEP_DONE;
    bool here = px_begun_is_here(session->own.begun);
    if (here && needs_more_than_a_group(session, frame, message))
        px_riding_go_alone(session);
    return px_riding_holds_back(session) || is_being_asked(session) ? PX_WAIT_IDLE : PX_STEP_DONE;
}

/* Whether INSERTs may be kept, and nothing of the client is at hand, not even the rest of a message
 * that goes past; and no cancel is under way, which would hit what is sent now. */
static bool is_between(const px_session *session)
{
    return px_lazy_may(session) && px_session_is_read(session) && session->hand.streaming == 0 &&
           session->group.count == 0;
}

void px_begin_tick(px_session *session, uint64_t now, size_t *room)
{
    px_begun *begun = session->own.begun;
    if (begun == NULL || begun->commits || now - begun->since < ALONE_MS)
        return;
    if (px_kept_count(begun->kept) > 0 && *room > 0 && is_between(session) &&
        !px_register_may_keep(session->worker)) {
        size_t bytes = px_kept_bytes(begun->kept);
        *room -= bytes < *room ? bytes : *room;
        begun->reason = PX_ORDINARY_SIZE;
        px_session_send_kept(session);
    } else if (px_begun_is_here(begun)) {
        px_riding_go_alone(session);
    }
}
