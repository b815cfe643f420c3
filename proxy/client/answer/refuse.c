#include "proxy/client/answer/refuse.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/standing/names.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/statement/script/tree.h"

#include <stdlib.h>

static void put_error(px_session *session, const pgw_error *error, bool ready)
{
    pgw_buf out = {0};
    pgw_error told = *error;
    if (told.position > 0)
        told.position += px_split_query_before(session);
    pgw_error_write(&told, "ERROR", &out);
    if (!px_split_query_fail(session) && ready)
        pgw_write_ready(session->own.status, &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_count_error(session->worker->metrics, pgw_slice_str(error->sqlstate));
}

/* A text that any server must refuse, whose error is replaced by keyspread's. In an aborted
 * transaction, where all that is well-formed has an error of the server's own, that one is told. */
#define FAILS "select \"refused by keyspread\""

/* A text that is refused in an aborted transaction as well, where parameters are counted all the
 * same. */
#define FAILS_EVEN_THERE "refused by keyspread"

void px_refuse(px_session *session, const pgw_error *error, bool extended)
{
    px_submitter_go_on(&session->write_groups);
    /* A question for keys has failed the session's transaction. */
    bool failed = px_keys_failure(session) != NULL && session->own.status == 'E' &&
                  session->pending.replies.count == 0;
    if (px_session_idle(session) || failed) {
        put_error(session, error, !extended);
        px_pending_skip(&session->pending, extended);
        if (!extended)
            px_names_drop_unnamed(session); /* any simple Query destroys the unnamed statement */
        return;
    }
    /* The transaction, or the Sync group, lives on at the backend: it must fail there as well, or
     * COMMIT would commit the rest of it. A name is given lest the unnamed statement be lost. */
    pgw_buf out = {0};
    pgw_slice text =
        pgw_error_is(error, "08P01") ? PGW_LITERAL(FAILS_EVEN_THERE) : PGW_LITERAL(FAILS);
    if (extended)
        pgw_certainly(pgw_write_parse(PGW_LITERAL("keyspread refusal"), text, NULL, 0, &out));
    else
        pgw_certainly(pgw_write_query(text, &out));
    px_reply *reply =
        px_replies_push(&session->pending.replies, extended ? PX_REPLY_PARSE : PX_REPLY_QUERY);
    reply->refusal = pgw_alloc(sizeof *reply->refusal);
    *reply->refusal = *error;
    if (extended)
        px_own_open_group(&session->own);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

static bool begins_with_ours(pgw_slice text, const pgw_env *env)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_token first = rw_lexer_next(&lexer);
    return rw_token_is(text, first, "upsert") || rw_token_is(text, first, "replace");
}

bool px_refuse_hears(const px_session *session, pgw_slice text, size_t statements)
{
    const pgw_env *env = &session->who.identity->env;
    if (px_session_aborted(session) && statements == 1)
        return !begins_with_ours(text, env);
    return rw_tree_rejects(text, env);
}

static void push_unseen(px_session *session, px_reply_kind kind)
{
    px_replies_push(&session->pending.replies, kind)->swallow = true;
}

static void show_text(px_session *session, pgw_slice text)
{
    pgw_buf out = {0};
    pgw_certainly(pgw_write_query(text, &out));
    px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Sends a text as a Parse. A Query's is that of the unnamed statement, which a Query destroys. */
static bool parse_text(px_session *session, pgw_slice text, bool extended)
{
    const pgw_slice name = extended ? PGW_LITERAL("keyspread text") : PGW_LITERAL("");
    pgw_buf out = {0};
    bool written = pgw_write_parse(name, text, NULL, 0, &out);
    if (written) {
        pgw_write_close('S', name, &out);
        push_unseen(session, PX_REPLY_PARSE);
        push_unseen(session, PX_REPLY_CLOSE);
        px_session_send(session, &out);
        px_own_open_group(&session->own);
    }
    pgw_buf_free(&out);
    return written;
}

void px_refuse_unread(px_session *session, pgw_slice text, const pgw_error *error, bool extended)
{
    if (!extended)
        px_prepared_names_set_unnamed(&session->names, false);
    if (!extended && !session->own.unsynced && px_session_aborted(session)) {
        show_text(session, text);
        return;
    }
    bool walsender = session->who.identity->replication != NULL; /* a walsender takes no Parse */
    bool shown = !walsender && parse_text(session, text, extended);
    px_refuse(session, error, shown || extended);
    if (!shown || extended)
        return;
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_replies_push(&session->pending.replies, PX_REPLY_SYNC);
    px_own_close_group(&session->own);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Drops what waits, for an error of its group came meanwhile: the server skips it, and what is sent
 * to refuse it. */
static void skip_waiting(px_session *session)
{
    bool sync = session->hand.frame.size > 0 && session->hand.frame.type == 'S';
    px_session_drop_group(session);
    px_session_wake(session, session->wait);
    if (!sync)
        px_relay_drop_message(session);
}

/* `failed`: what the statement waited for has failed its transaction. */
static void refuse_waiting(px_session *session, const pgw_error *error, bool failed)
{
    pgw_frame frame = session->hand.frame;
    bool simple = frame.size > 0 && (frame.type == 'Q' || frame.type == 'F');
    bool sync = frame.size > 0 && frame.type == 'S';
    pgw_error told = *error;
    if (session->pending.skipping) {
        skip_waiting(session);
        return;
    }
    if (px_outcome_has_rest(session))
        px_outcome_give_up(session, &told);
    px_session_drop_group(session);
    px_submitter_end_reroute(&session->write_groups);
    px_submitter_go_on(&session->write_groups);
    if (session->own.ready && !sync && !failed && !px_session_idle(session)) {
        px_refuse(session, &told,
                  !simple); /* the error comes behind what is owed, and fails the transaction */
    } else {
        put_error(session, &told, simple || sync);
        px_pending_skip(&session->pending, !simple && !sync);
    }
    px_session_wake(session, session->wait);
    if (!px_split_query_fail(session))
        px_relay_drop_message(session);
    else if (session->pending.replies.count > 0)
        (void)px_split_query_sent(session); /* the next look waits for the answer */
}

void px_refuse_waiting(px_session *session, const pgw_error *error)
{
    refuse_waiting(session, error, false);
}

void px_refuse_failed(px_session *session, const pgw_error *error)
{
    refuse_waiting(session, error, session->own.status == 'E');
}

void px_refuse_cancelled(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "57014", "canceling statement due to user request");
    px_catalog_forget(session->worker, session);
    px_refuse_waiting(session, &error);
}

void px_refuse_message(px_session *session, const pgw_error *error)
{
    pgw_frame frame = session->hand.frame;
    bool simple = frame.size > 0 && (frame.type == 'Q' || frame.type == 'F');
    px_session_drop_group(session);
    px_refuse(session, error, !simple);
    px_relay_drop_message(session);
}
