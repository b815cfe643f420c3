#include "proxy/client/answer/split_query.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/utf8.h"
#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/parsed.h"
#include "proxy/client/core/reports.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/statement/script/tree.h"

#include <stdlib.h>
#include <string.h>

/* Limits of a Query that is cut, for each part is read anew with all that stands behind it: parts,
 * bytes. */
enum { MOST = 64, MOST_BYTES = 256 * 1024 };

struct px_split_query {
    pgw_buf text;     /* the client's Query, as it was when it was cut */
    size_t from, to;  /* bytes of the part at hand in `text`; `to` 0: to its end */
    size_t before;    /* characters in front of `from` */
    char *read_by[2]; /* what decides how a text is read, as it was when it came; owned */
    px_reports reports;
    size_t count;
    bool ours;   /* the transaction is keyspread's: the client knows nothing of it */
    bool sent;   /* the part at hand was sent, or answered here */
    bool failed; /* an error came: later parts are not run */
};

void px_split_query_forget(px_session *session)
{
    struct px_split_query *parts = session->hand.parts;
    if (parts == NULL)
        return;
    session->hand.parts = NULL;
    pgw_buf_free(&parts->text);
    free(parts->read_by[0]);
    free(parts->read_by[1]);
    px_reports_free(&parts->reports);
    free(parts);
}

size_t px_split_query_before(const px_session *session)
{
    return session->hand.parts != NULL ? session->hand.parts->before : 0;
}

bool px_split_query_fail(px_session *session)
{
    if (session->hand.parts == NULL)
        return false;
    session->hand.parts->failed = true;
    return true;
}

bool px_split_query_report(px_session *session, pgw_slice name, pgw_slice value)
{
    rw_tracked_setting setting = px_setting_of(name);
    if (session->hand.parts == NULL)
        return false;
    const char *before = setting < RW_TRACKED ? px_settings_now(session, setting) : NULL;
    px_reports_keep(&session->hand.parts->reports, name, before, value);
    return true;
}

/* ---- where ---- */

/* What a statement does to a transaction block. */
typedef enum to_block { KEEPS_IT, BEGINS_IT, ENDS_IT, IS_OF_IT } to_block;

static to_block of_rollback(pgw_slice statement)
{
    return rw_text_mentions(statement, "to") ? IS_OF_IT : ENDS_IT;
}

static to_block block_of(const px_text *text, size_t i)
{
    const rw_statement *statement = &text->script.statements[i];
    pgw_slice written = rw_statement_text(statement, text->text);
    rw_lexer lexer;
    if (!(statement->effects & RW_EFFECT_TRANSACTION))
        return KEEPS_IT;
    rw_lexer_init(&lexer, written, true);
    rw_token first = rw_lexer_next(&lexer), second = rw_lexer_next(&lexer);
    if (rw_token_is(written, first, "set") && !rw_token_is(written, second, "transaction"))
        return KEEPS_IT; /* SET LOCAL, SET CONSTRAINTS */
    if (rw_token_is(written, first, "set") || rw_token_is(written, first, "savepoint") ||
        rw_token_is(written, first, "release"))
        return IS_OF_IT;
    if (rw_token_is(written, first, "rollback"))
        return of_rollback(written);
    bool begins = rw_token_is(written, first, "begin") || rw_token_is(written, first, "start");
    return begins ? BEGINS_IT : ENDS_IT;
}

/* Whether a transaction block is open behind so many statements. */
static bool is_open(const px_session *session, const px_text *text, size_t count)
{
    bool open = session->own.status == 'T';
    for (size_t i = 0; i < count; i++) {
        to_block it = block_of(text, i);
        open = it == BEGINS_IT || (open && it != ENDS_IT);
    }
    return open;
}

/* Whether the text is one transaction only because it is one Query: a block of keyspread's can
 * stand for that. */
static bool is_plain(const px_session *session, const px_text *text)
{
    for (size_t i = 0; i < text->script.count; i++)
        if (block_of(text, i) != KEEPS_IT)
            return false;
    return session->own.status == 'I';
}

/* Whether the text holds a COPY whose data stands behind the message at hand. */
static bool takes_data(const px_text *text)
{
    return text->script.effects & RW_EFFECT_COPY && rw_text_mentions(text->text, "stdin");
}

static bool is_beyond_ascii(pgw_slice text)
{
    return !pgw_is_ascii(text);
}

/* Whether the text surely is valid in the encodings of the client and of the server. */
static bool is_text(const px_session *session, pgw_slice text)
{
    const char *encoding = px_settings_now(session, RW_CLIENT_ENCODING);
    /* In LATIN1 any byte is a character. */
    bool latin = encoding != NULL && strcmp(encoding, "LATIN1") == 0;
    return !is_beyond_ascii(text) || (latin && !session->who.written.folded) ||
           (session->who.identity->env.utf8 && pgw_utf8_valid(text));
}

static bool may_be_cut(const px_session *session, const px_text *text)
{
    const struct px_split_query *parts = session->hand.parts;
    return text->script.count > 1 && !session->worker->server->backend->by_file &&
           !session->own.unsynced && !px_session_aborted(session) && !takes_data(text) &&
           text->text.len <= MOST_BYTES && (parts == NULL || parts->count < MOST);
}

size_t px_split_query_cut(const px_session *session, const px_text *text)
{
    const pgw_env *env = &session->who.identity->env;
    size_t cut = may_be_cut(session, text) ? px_text_apart(text) : 0;
    bool may = cut > 0 && (is_open(session, text, cut) || block_of(text, cut - 1) == ENDS_IT ||
                           is_plain(session, text));
    return may && !rw_tree_rejects(text->text, env) ? cut : 0;
}

/* ---- as it was read ---- */

pgw_slice px_split_query_at_hand(const px_session *session)
{
    const struct px_split_query *parts = session->hand.parts;
    size_t to = parts->to > 0 ? parts->to : parts->text.len;
    return (pgw_slice){parts->text.ptr + parts->from, to - parts->from};
}

static bool has_backslash(pgw_slice text)
{
    return memchr(text.ptr, '\\', text.len) != NULL;
}

static const struct {
    rw_tracked_setting setting;
    const char *name;
    bool (*matters)(pgw_slice text); /* whether a text is read otherwise by another value */
} read_by[] = {{RW_CLIENT_ENCODING, "client_encoding", is_beyond_ascii},
               {RW_CONFORMING_STRINGS, "standard_conforming_strings", has_backslash}};

static void note_reading(const px_session *session, struct px_split_query *parts)
{
    for (size_t i = 0; i < 2; i++) {
        const char *now = px_settings_now(session, read_by[i].setting);
        parts->read_by[i] = now != NULL ? pgw_strndup(now, strlen(now)) : NULL;
    }
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool px_split_query_are_readable(const px_session *session, pgw_error *error)
{
    pgw_slice part = px_split_query_at_hand(session);
    for (size_t i = 0; i < 2; i++) {
        const char *now = px_settings_now(session, read_by[i].setting);
        if (is_same(session->hand.parts->read_by[i], now) || !read_by[i].matters(part))
            continue;
        pgw_fail(error, "0A000", "%s was changed earlier in the same Query", read_by[i].name);
        pgw_error_hint(error, "Send the statement as a text of its own.");
        return false;
    }
    return true;
}

/* ---- a part after the other ---- */

static void run_unseen(px_session *session, pgw_slice sql)
{
    pgw_buf out = {0};
    px_ask(session, sql, PX_ASKS_NOTHING, &out);
    px_ask_send(session, PX_ASKS_NOTHING, &out);
    px_state_note(session, RW_EFFECT_TRANSACTION);
    px_changes_note(session, RW_EFFECT_TRANSACTION);
}

/* Shows the server the whole text, for PostgreSQL looks at the encoding of a text before it runs
 * any of it. The text is in a comment (the bytes that could end that are no part of other
 * characters) on what does nothing and takes no snapshot. */
static void show_unseen(px_session *session, pgw_slice text)
{
    pgw_buf sql = {0};
    pgw_buf_add_str(&sql, "/*");
    for (size_t i = 0; i < text.len; i++)
        pgw_buf_add_byte(&sql, text.ptr[i] == '*' || text.ptr[i] == '/' ? ' ' : text.ptr[i]);
    pgw_buf_add_str(&sql, "*/ unlisten \"keyspread text\"");
    run_unseen(session, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

static void keep(px_session *session, pgw_slice text)
{
    struct px_split_query *parts = session->hand.parts = pgw_calloc(1, sizeof *parts);
    pgw_buf_add_slice(&parts->text, text);
    note_reading(session, parts);
}

px_step px_split_query_begin(px_session *session, const px_text *text, size_t cut)
{
    px_step step = px_session_need_link(session);
    if (step == PX_STEP_DONE && session->pending.replies.count > 0)
        step = PX_WAIT_IDLE;
    if (step != PX_STEP_DONE)
        return step;
    if (session->hand.parts == NULL) {
        keep(session, text->text);
        if (!is_text(session, text->text)) {
            show_unseen(session, text->text);
            return PX_WAIT_IDLE;
        }
    }
    struct px_split_query *parts = session->hand.parts;
    parts->to = parts->from + text->script.statements[cut].start;
    if (!is_plain(session, text))
        return PX_STEP_DONE;
    parts->ours = true;
    run_unseen(session, PGW_LITERAL("begin"));
    return PX_WAIT_IDLE;
}

px_step px_split_query_sent(px_session *session)
{
    px_replies *replies = &session->pending.replies;
    session->hand.parts->sent = true;
    if (replies->count == 0)
        return PX_STEP_DONE;
    px_replies_at(replies, replies->count - 1)->part = true;
    return px_ask_for_answers(session); /* the part may be a Close that no Sync follows */
}

/* Goes on to the next part: nothing that was found for the last one holds for it. */
static void step_on(px_session *session)
{
    struct px_split_query *parts = session->hand.parts;
    pgw_slice part = px_split_query_at_hand(session);
    parts->before += pgw_characters(part, part.len, session->who.identity->env.utf8);
    parts->from += part.len;
    parts->to = 0;
    parts->count++;
    parts->sent = false;
    px_keys_forget(session);
    px_parsed_forget(session);
    px_changes_ask_anew(session);
    px_session_set_rechecked(session, false);
}

bool px_split_query_are_over(px_session *session)
{
    struct px_split_query *parts = session->hand.parts;
    if (!parts->failed && parts->sent)
        step_on(session);
    return parts->failed || parts->from == parts->text.len;
}

/* Ends the transaction that keyspread has begun: rolls it back if it has failed, else commits it.
 */
static void end_ours(px_session *session, bool failed)
{
    pgw_buf out = {0};
    px_replies *replies = &session->pending.replies;
    if (session->who.identity->replication == NULL) {
        pgw_write_close('P', PX_ASK_NAME, &out); /* a question that failed has left its portal */
        px_replies_push(replies, PX_REPLY_CLOSE)->swallow = true;
    }
    px_ask(session, failed ? PGW_LITERAL("rollback") : PGW_LITERAL("commit"), PX_ASKS_NOTHING,
           &out);
    if (session->who.identity->replication == NULL) {
        pgw_write_sync(&out);
        px_replies_push(replies, PX_REPLY_SYNC);
    }
    px_replies_at(replies, replies->count - 1)->part = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
    px_state_note(session, RW_EFFECT_TRANSACTION);
    px_changes_note(session, RW_EFFECT_TRANSACTION);
    px_pending_note_commit(&session->pending, !failed);
}

px_step px_split_query_end(px_session *session)
{
    struct px_split_query *parts = session->hand.parts;
    pgw_buf out = {0};
    if (parts->ours) {
        parts->ours = false;
        end_ours(session, parts->failed);
        return PX_WAIT_IDLE;
    }
    px_reports_write(&parts->reports, &out);
    pgw_write_ready(session->own.status, &out);
    px_session_put(session, &out);
    pgw_buf_free(&out);
    return PX_STEP_DONE;
}
