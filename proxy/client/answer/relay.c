#include "proxy/client/answer/relay.h"

#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/core/parsed.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/sequence_take.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/standing/changes.h"
#include "rewrite/statement/words/spelling.h"

#include <stdlib.h>

enum { LONGEST_NAME = 256 }; /* bytes: more than a name has, which may come in two parts */

void px_relay_fail_large(pgw_error *error)
{
    pgw_fail(error, "54000", "a statement for a configured table is larger than %d bytes",
             (int)PX_HOLD_BYTES);
    pgw_error_hint(error, "Send fewer rows a statement.");
}

bool px_relay_names_ours(const px_session *session, pgw_slice text)
{
    const rw_catalog *names = px_catalog_names(session->worker);
    return rw_catalog_mentioned(names, text) ||
           rw_part_may_spell_table(&session->who.written, text, names);
}

/* How much of the first `part` bytes may be passed on. */
static size_t harmless(px_session *session, size_t part)
{
    pgw_slice text = {px_stream_input(session->peer.stream).ptr, part};
    if (px_relay_names_ours(session, text)) { /* the server has a part of the text already */
        pgw_error error;
        px_relay_fail_large(&error);
        px_session_fatal(session, &error);
        return 0;
    }
    if (part == session->hand.streaming)
        return part;
    return part > LONGEST_NAME ? part - LONGEST_NAME : 0;
}

static void pass(px_session *session, size_t part)
{
    if (session->own.begun != NULL)
        px_session_send_begun(session);
    px_link_pass(session->own.link, session->peer.stream, part);
}

void px_relay_forget_rest(px_session *session)
{
    if (session->hand.rest != NULL)
        pgw_buf_free(&session->hand.rest->behind);
    free(session->hand.rest);
    session->hand.rest = NULL;
}

/* Passes on parameters, and behind the last one what the backend gets besides. Returns how many
 * bytes were passed. The backend refuses a Bind that ends before its parameters do. */
static size_t pass_parameters(px_session *session, size_t part)
{
    px_rest *rest = session->hand.rest;
    pgw_slice here = {px_stream_input(session->peer.stream).ptr, part};
    size_t taken = pgw_bind_walk_on(&rest->walk, here);
    if (taken > 0)
        pass(session, taken);
    if (rest->walk.left == 0 || taken == session->hand.streaming) {
        px_session_send(session, &rest->behind);
        px_relay_forget_rest(session);
    }
    return taken;
}

bool px_relay_on(px_session *session)
{
    size_t here = px_stream_input(session->peer.stream).len;
    size_t part = here < session->hand.streaming ? here : session->hand.streaming;
    if (part > 0 && session->hand.text)
        part = harmless(session, part);
    if (part == 0)
        return false;
    if (session->hand.copied && session->own.copy != NULL)
        px_copied_feed(session, (pgw_slice){px_stream_input(session->peer.stream).ptr, part});
    if (session->hand.copied || session->hand.dropped)
        px_stream_consume(session->peer.stream, part);
    else if (session->hand.rest != NULL)
        part = pass_parameters(session, part);
    else
        pass(session, part);
    session->hand.streaming -= part;
    return true;
}

static void begin(px_session *session, pgw_frame frame, bool dropped, bool text)
{
    session->hand.frame.size = 0;
    pgw_buf_free(&session->hand.rewritten);
    px_keys_forget(session);
    px_sequence_take_done(session, frame.type);
    px_parsed_forget(session);
    px_split_query_forget(session);
    px_changes_ask_anew(session);
    session->hand.streaming = frame.size;
    session->hand.dropped = dropped;
    session->hand.text = text;
    session->hand.copied = false;
}

void px_relay(px_session *session, pgw_frame frame)
{
    begin(session, frame, false, false);
    px_relay_on(session);
}

void px_relay_text(px_session *session, pgw_frame frame)
{
    begin(session, frame, false, true);
    px_relay_on(session);
}

void px_relay_copied(px_session *session, pgw_frame frame)
{
    begin(session, frame, false, false);
    px_stream_consume(session->peer.stream, PGW_HEADER);
    session->hand.streaming -= PGW_HEADER;
    session->hand.copied = true;
    if (session->hand.streaming > 0)
        px_relay_on(session);
}

void px_relay_rest(px_session *session, pgw_frame frame, size_t begun, px_rest *rest)
{
    begin(session, frame, false, false);
    px_stream_consume(session->peer.stream, begun);
    session->hand.streaming -= begun;
    rest->walk.left = rest->count - rest->given;
    session->hand.rest = pgw_alloc(sizeof *rest);
    *session->hand.rest = *rest;
    px_relay_on(session);
}

void px_relay_drop(px_session *session, pgw_frame frame)
{
    begin(session, frame, true, false);
    px_relay_on(session);
}

void px_relay_drop_before(px_session *session, size_t len, pgw_frame frame)
{
    px_relay_drop(session, (pgw_frame){.type = frame.type, .size = len});
    session->hand.frame = frame;
}

void px_relay_drop_message(px_session *session)
{
    if (session->hand.frame.size > 0)
        px_relay_drop(session, session->hand.frame);
}
