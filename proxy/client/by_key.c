#define _GNU_SOURCE
#include "proxy/client/by_key.h"

#include "proxy/client/doubt.h"
#include "proxy/client/forward.h"
#include "proxy/client/names.h"
#include "proxy/client/prepare.h"
#include "proxy/client/session.h"
#include "proxy/client/settings.h"
#include "proxy/client/settle.h"
#include "proxy/ingest/bind.h"

#include <string.h>

px_statement *px_by_key_find(const px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    return statement != NULL && statement->lookups != NULL ? statement : NULL;
}

/* Whether the own link is there, and takes messages. DONE: it is and does. */
static px_step use_link(px_session *session)
{
    if (px_prepare_link(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    return session->pending.skipping || session->own.copy_in ? PX_STEP_PASS : PX_STEP_DONE;
}

static px_reply *send_message(px_session *session, px_reply_kind kind, px_lookups *lookups,
                              pgw_buf *out)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->lookups = lookups;
    if (lookups != NULL)
        px_lookups_take(lookups);
    px_session_send(session, out);
    pgw_buf_free(out);
    session->own.unsynced = true;
    return reply;
}

px_step px_by_key_parse(px_session *session, const px_said *said)
{
    pgw_slice name = said->as.parse.name;
    px_lookups *lookups = session->names.lookups;
    px_step step = use_link(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0}, kept = {0};
    px_names_prepare(session, name);
    px_lookups_parse(lookups, name, false, &out);
    pgw_buf_add_slice(&kept, pgw_slice_buf(&out));
    px_reply *reply = send_message(session, PX_REPLY_PARSE, lookups, &out);
    px_names_by_key(session, reply, name, pgw_slice_buf(&kept));
    pgw_buf_free(&kept);
    session->known.by_key = true;
    return PX_STEP_DONE;
}

/* The statement that a Bind has for itself, as its client wrote it. */
#define ONCE PGW_LITERAL("keyspread plain")

static void bind_plain(px_session *session, const px_lookups *lookups, const pgw_bind *bind,
                       pgw_buf *out)
{
    pgw_buf parse = {0};
    px_names_close_unsynced(session, ONCE);
    px_lookups_parse(lookups, ONCE, true, &parse);
    send_message(session, PX_REPLY_PARSE, NULL, &parse)->swallow = true;
    pgw_certainly(pgw_write_bind(bind, bind->portal, ONCE, NULL, 0, out));
}

px_step px_by_key_bind(px_session *session, const px_said *said)
{
    pgw_error error;
    const pgw_bind *bind = &said->as.bind;
    const px_statement *statement = px_by_key_find(session, bind->statement);
    px_lookups *lookups = statement->lookups;
    if (!px_bind_count(bind, lookups->own, &error))
        return px_prepare_refuse(session, NULL, &error);
    if (!px_settle(session, px_catalog_none()))
        return PX_STEP_LATER;
    px_step step = use_link(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0};
    pgw_env env = px_settings_env(session);
    bool moved = statement->foreign.generation != session->known.generation;
    px_names_prepare(session, bind->statement);
    if (moved || !px_lookups_bind(lookups, bind, &env, &out))
        bind_plain(session, lookups, bind, &out);
    px_statements_remove(&session->names.portals, bind->portal);
    px_state_note_bind(session, said->message);
    send_message(session, PX_REPLY_BIND, NULL, &out);
    return PX_STEP_DONE;
}

px_step px_by_key_describe(px_session *session, const px_said *said)
{
    px_step step = use_link(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0};
    pgw_slice name = said->as.target.name;
    px_names_prepare(session, name);
    pgw_buf_add_slice(&out, said->message);
    send_message(session, PX_REPLY_DESCRIBE, px_by_key_find(session, name)->lookups, &out);
    return PX_STEP_DONE;
}

bool px_by_key_is_bound(const px_session *session, pgw_slice message)
{
    pgw_slice rest = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    size_t at = strnlen(rest.ptr, rest.len) + 1;
    if (!session->known.by_key || at > rest.len)
        return session->known.by_key;
    pgw_slice name = {rest.ptr + at, strnlen(rest.ptr + at, rest.len - at)};
    return px_by_key_find(session, name) != NULL;
}
