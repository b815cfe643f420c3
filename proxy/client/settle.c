#include "proxy/client/settle.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/kinds.h"
#include "proxy/client/session.h"
#include "rewrite/read/prefilter.h"
#include "rewrite/read/script.h"
#include "rewrite/read/tree.h"

#include <stdlib.h>
#include <string.h>

enum { BELIEVED_MS = 60000 }; /* an answer; others may have changed schemas and roles since */

/* Effects that leave a doubt; RUNS does where the database stores code that may leave one. */
static const unsigned doubtful =
    RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS | RW_EFFECT_RUNS | RW_EFFECT_DISCARD_ALL;
/* Any setting may be another, not only those that are followed. */
static const unsigned boundless = RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_RUNS;

static bool is_quiet(const px_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (!catalog->tables[i]->quiet)
            return false;
    return catalog->count > 0;
}

static unsigned reduced(unsigned effects, const px_catalog *catalog)
{
    return is_quiet(catalog) ? effects & ~(unsigned)RW_EFFECT_RUNS : effects;
}

/* Nothing was done that its start could not be seen through. */
static bool is_fresh(const px_state *state, bool quiet)
{
    const unsigned changes = doubtful | RW_EFFECT_TRACKED | RW_EFFECT_OUTPUT;
    unsigned touched = quiet ? state->touched & ~(unsigned)RW_EFFECT_RUNS : state->touched;
    return (touched & changes) == 0;
}

static bool sets_nothing(const px_session *session)
{
    for (size_t i = PX_REPORTED; i < PX_TRACKED; i++)
        if (session->settings[i] != NULL)
            return false;
    return true;
}

/* ---- what leaves doubt ---- */

void px_state_note(px_session *session, unsigned effects)
{
    px_state *state = &session->own;
    if (effects & RW_EFFECT_RESUMES)
        effects |= state->touched & doubtful;
    state->doubt |= effects & doubtful;
    state->here |= effects & doubtful;
    state->touched |= effects;
    if (effects & RW_EFFECT_TRANSACTION)
        state->doubt |= state->here;
    if (effects & (RW_EFFECT_STATE))
        session->link_state = true;
}

const px_foreign *px_state_foreign(px_session *session, pgw_slice name)
{
    const px_statement *statement = px_statements_find(&session->statements, name);
    if (statement != NULL)
        return statement->plan == NULL ? &statement->foreign : NULL;
    return name.len == 0 ? &session->own.unnamed : NULL;
}

void px_state_note_bind(px_session *session, pgw_slice message)
{
    pgw_slice rest = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    size_t portal = strnlen(rest.ptr, rest.len);
    size_t at = portal + (portal < rest.len);
    pgw_slice name = {rest.ptr + at, strnlen(rest.ptr + at, rest.len - at)};
    unsigned effects = PX_UNREAD;
    if (at + name.len < rest.len) {
        const px_foreign *foreign = px_state_foreign(session, name);
        effects = foreign != NULL ? foreign->effects : 0;
    }
    session->own.bound |= effects;
    px_state_note(session, effects);
}

void px_state_note_execute(px_session *session)
{
    px_state_note(session, session->own.bound);
    px_session_note_change(session, session->own.bound);
}

bool px_state_would_write(const px_session *session, pgw_slice text, const px_catalog *catalog)
{
    pgw_arena arena = {0};
    rw_script script = {0};
    rw_meaning *ours = pgw_arena_alloc(&arena, (catalog->count + 1) * sizeof *ours);
    for (size_t i = 0; i < catalog->count; i++)
        ours[i] = RW_MEANS_OURS;
    rw_catalog view = {.tables = (const rw_table *const *)catalog->tables,
                       .count = catalog->count,
                       .unqualified = ours};
    if (rw_prefilter_mentions(text, &view))
        rw_script_parse(text, &view, &session->identity->env, NULL, &arena, &script);
    pgw_arena_free(&arena);
    return script.refused || script.inserts > 0;
}

void px_state_note_prepare(px_session *session, pgw_slice text, const px_catalog *catalog)
{
    px_foreign *by_sql = &session->own.by_sql;
    if (by_sql->moving || !px_state_would_write(session, text, catalog))
        return;
    by_sql->moving = true;
    by_sql->generation = session->own.generation;
}

bool px_state_has_moved(const px_session *session, const px_foreign *foreign, pgw_error *error)
{
    if (!foreign->moving || foreign->generation == session->own.generation)
        return false;
    pgw_fail(error, "0A000", "a statement was prepared when its table's name meant another table");
    pgw_error_hint(error, "Prepare it again: search_path, or what is found by it, has changed.");
    return true;
}

void px_state_ended(px_session *session)
{
    px_state *state = &session->own;
    if (session->status != 'I' || session->unsynced || session->replies.count > 1)
        return;
    state->doubt |= state->here;
    state->here = state->bound = 0;
}

static void forget(px_state *state)
{
    state->doubt = state->here = state->touched = state->bound = 0;
    state->known = state->odd = false;
    state->by_sql = (px_foreign){0};
}

void px_state_forget(px_session *session)
{
    px_state *state = &session->own;
    forget(state);
    px_answer_free(&state->base);
    if (!sets_nothing(session))
        state->touched |= RW_EFFECT_TRACKED; /* its start is not that of its kind */
}

void px_state_discard(px_session *session)
{
    px_state *state = &session->own;
    bool alone = session->replies.count <= 1;
    unsigned later = alone ? 0 : state->doubt;
    forget(state);
    state->doubt = later;
}

void px_state_free(px_state *state)
{
    px_answer_free(&state->now);
    px_answer_free(&state->base);
    free(state->guess);
    pgw_buf_free(&state->failure);
}

bool px_state_is_replaceable(const px_session *session)
{
    const px_state *state = &session->own;
    const unsigned kept = RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_WRITES |
                          RW_EFFECT_RESUMES | RW_EFFECT_OUTPUT | RW_EFFECT_STATE;
    const px_catalog *catalog = px_catalog_now(session->worker, session->identity);
    unsigned runs = catalog != NULL && is_quiet(catalog) ? 0 : RW_EFFECT_RUNS;
    unsigned open = state->doubt & (doubtful & ~(unsigned)RW_EFFECT_RUNS);
    return (state->touched & (kept | runs)) == 0 && open == 0;
}

/* ---- whether there is doubt ---- */

/* What was asked before the catalog was read goes with any, and so does a catalog of no table. */
static bool is_of(uint64_t epoch, const px_catalog *catalog)
{
    return epoch == 0 || catalog->count == 0 || epoch == catalog->epoch;
}

static bool is_believed(const px_session *session, const px_catalog *catalog)
{
    const px_state *state = &session->own;
    return state->known && is_of(state->epoch, catalog) &&
           state->config == session->worker->config &&
           px_worker_now(session->worker) - state->at < BELIEVED_MS;
}

/* A session without a link has done nothing there: it is as its kind is at the start. */
static bool is_as_its_kind(px_session *session, const px_catalog *catalog)
{
    px_state *state = &session->own;
    const px_kind *kind = px_kind_find(session->worker, session->base);
    if (session->link_ready || kind == NULL || !is_of(kind->epoch, catalog) ||
        kind->config != session->worker->config || !sets_nothing(session))
        return false;
    if (state->known && state->at == kind->at)
        return true;
    px_answer_free(&state->now);
    px_answer_copy(&kind->answer, &state->now);
    state->known = true;
    state->epoch = kind->epoch;
    state->config = kind->config;
    state->at = kind->at;
    return true;
}

static bool is_settled(px_session *session, const px_catalog *catalog)
{
    if (reduced(session->own.doubt, catalog) != 0 || session->zone_moving)
        return false;
    return is_believed(session, catalog) || is_as_its_kind(session, catalog);
}

/* The server refuses everything, and answers no question. */
static bool is_aborted(const px_session *session)
{
    return session->status == 'E' && session->replies.count == 0 && !session->unsynced;
}

/* What the name of table `i` of the catalog means, by the answer, which is of the configuration's.
 */
static rw_meaning meaning_of(const px_state *state, const px_catalog *catalog, size_t i)
{
    const cfg_table *tables = state->config->tables;
    size_t count = state->config->table_count;
    const cfg_table *table = catalog->configs[i];
    if (table >= tables && table < tables + count)
        return state->now.names[table - tables];
    return RW_MEANS_UNKNOWN; /* of a configuration that is gone: it is read again soon */
}

static const rw_meaning *meanings(px_session *session, const px_catalog *catalog)
{
    px_state *state = &session->own;
    bool settled = is_settled(session, catalog);
    rw_meaning unsettled = is_aborted(session) ? RW_MEANS_UNKNOWN : RW_MEANS_OURS;
    if (state->guessed < catalog->count) {
        state->guess = pgw_realloc(state->guess, catalog->count * sizeof *state->guess);
        state->guessed = catalog->count;
    }
    for (size_t i = 0; i < catalog->count; i++)
        state->guess[i] = settled ? meaning_of(state, catalog, i) : unsettled;
    return state->guess;
}

static bool is_usual(const rw_catalog *view)
{
    for (size_t i = 0; i < view->count; i++)
        if ((view->unqualified[i] == RW_MEANS_OURS) == view->tables[i]->schema_written)
            return false;
    return true;
}

void px_state_view(px_session *session, const px_catalog *catalog, rw_catalog *view)
{
    px_state *state = &session->own;
    *view = (rw_catalog){.tables = (const rw_table *const *)catalog->tables,
                         .count = catalog->count,
                         .moved = reduced(state->here, catalog) != 0};
    if (catalog->count == 0)
        return;
    view->unqualified = meanings(session, catalog);
    if (is_usual(view))
        view->unqualified = NULL;
}

/* ---- asking ---- */

#define NAME PGW_LITERAL("keyspread state")

static void push(px_session *session, px_reply_kind kind)
{
    px_reply *reply = px_replies_push(&session->replies, kind);
    reply->swallow = reply->asks = true;
}

/* Prepared, run and closed, so that neither the client's unnamed statement nor its portal is
 * touched. What an error left behind is closed first. */
static void send_question(px_session *session, pgw_slice sql)
{
    static const px_reply_kind kinds[] = {PX_REPLY_CLOSE,   PX_REPLY_PARSE, PX_REPLY_BIND,
                                          PX_REPLY_EXECUTE, PX_REPLY_CLOSE, PX_REPLY_CLOSE};
    pgw_buf out = {0};
    pgw_bind bind = {0};
    pgw_write_close('S', NAME, &out);
    pgw_certainly(pgw_write_parse(NAME, sql, NULL, 0, &out));
    pgw_certainly(pgw_write_bind(&bind, NAME, NAME, NULL, 0, &out));
    pgw_write_execute(NAME, 0, &out);
    pgw_write_close('P', NAME, &out);
    pgw_write_close('S', NAME, &out);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        push(session, kinds[i]);
    if (session->unsynced) {
        pgw_write_flush(&out);
    } else {
        pgw_write_sync(&out);
        push(session, PX_REPLY_SYNC);
    }
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

static void ask(px_session *session, const px_catalog *catalog)
{
    px_state *state = &session->own;
    bool fresh = is_fresh(state, is_quiet(catalog));
    const px_kind *kind = px_kind_find(session->worker, session->base);
    if (state->base.user == NULL && kind != NULL)
        px_answer_copy(&kind->answer, &state->base);
    bool compares = fresh || state->now.user != NULL || state->base.user != NULL;
    state->everything = (reduced(state->doubt, catalog) & boundless) != 0 || !compares;
    pgw_buf sql = {0};
    px_state_question(px_catalog_names(session->worker), state->everything, &sql);
    state->config = session->worker->config;
    state->epoch = catalog->count > 0 ? catalog->epoch : 0;
    state->quiet = is_quiet(catalog);
    state->asking = true;
    state->known = state->failed = false;
    session->wait = PX_WAIT_STATE;
    send_question(session, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

bool px_settle(px_session *session, const px_catalog *catalog)
{
    if (is_aborted(session) || is_settled(session, catalog))
        return true;
    if (session->replies.count > 0 && !session->unsynced) {
        session->wait = PX_WAIT_IDLE;
        return false;
    }
    if (px_session_need_link(session))
        ask(session, catalog);
    return false;
}

bool px_settle_kind(px_session *session, const px_catalog *catalog)
{
    const px_kind *kind = px_kind_find(session->worker, session->base);
    bool known = kind != NULL && is_of(kind->epoch, catalog);
    if (known || !session->link_ready || !px_session_idle(session) || session->group.count > 0 ||
        !is_fresh(&session->own, is_quiet(catalog)) || session->own.known)
        return true;
    ask(session, catalog);
    return false;
}

/* ---- the answer ---- */

static bool same_names(const px_answer *a, const px_answer *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->names, b->names, a->count * sizeof *a->names) == 0);
}

/* What setting `i` is to be replayed as; NULL: as at the start. */
static const char *followed(const px_session *session, const px_answer *answer, size_t i)
{
    const px_state *state = &session->own;
    const char *value = answer->values[i];
    if (state->base.user != NULL)
        return strcmp(value, state->base.values[i]) == 0 ? NULL : value;
    if (answer->changed != NULL)
        return px_answer_has_changed(answer, px_tracked[i]) ? value : NULL;
    return strcmp(value, state->now.values[i]) == 0 ? session->settings[i] : value;
}

static void follow_settings(px_session *session, const px_answer *answer)
{
    const char *values[PX_TRACKED];
    for (size_t i = 0; i < PX_TRACKED; i++)
        values[i] = i >= PX_REPORTED ? followed(session, answer, i) : answer->values[i];
    px_session_follow(session, values);
}

/* Who the session is there, and whether it is as it came. */
static void judge(px_session *session, const px_answer *answer)
{
    px_state *state = &session->own;
    bool based = state->base.user != NULL;
    const char *user =
        based ? state->base.user : px_link_parameter(session->link, "session_authorization");
    const char *role = based ? state->base.role : "none";
    bool same =
        strcmp(answer->role, role) == 0 && (user == NULL || strcmp(answer->user, user) == 0);
    if (answer->changed != NULL)
        state->odd = px_answer_odd(answer).len > 0;
    session->private_session = !same || state->odd;
    if (based)
        session->output_changed = strcmp(answer->output, state->base.output) != 0;
    else if (answer->changed != NULL)
        session->output_changed = px_answer_has_changed(answer, "bytea_output") ||
                                  px_answer_has_changed(answer, "extra_float_digits") ||
                                  px_answer_has_changed(answer, "xmlbinary");
}

static void adopt(px_session *session, px_answer *answer)
{
    px_state *state = &session->own;
    if (is_fresh(state, state->quiet)) {
        px_answer_free(&state->base);
        px_answer_copy(answer, &state->base);
        px_kind_keep(session->worker, session->base, answer, state->epoch);
    }
    judge(session, answer);
    follow_settings(session, answer);
    if (state->now.names != NULL && !same_names(&state->now, answer))
        state->generation++;
    px_answer_free(&state->now);
    state->now = *answer;
    state->known = true;
    state->at = px_worker_now(session->worker);
}

void px_settle_row(px_session *session, pgw_slice body)
{
    px_state *state = &session->own;
    px_answer answer;
    if (!state->asking ||
        !px_answer_read(body, state->config->table_count, state->everything, &answer))
        return;
    adopt(session, &answer);
    state->doubt = 0;
    session->zone_moving = false;
    if (session->status == 'I' && !session->unsynced)
        state->here = 0;
}

static void stop_asking(px_session *session)
{
    session->own.asking = false;
}

void px_settle_answered(px_session *session)
{
    stop_asking(session);
    if (session->unsynced && session->wait == PX_WAIT_STATE)
        session->wait = PX_WAIT_NOTHING;
}

void px_settle_skipped(px_session *session)
{
    if (session->wait != PX_WAIT_STATE || !session->unsynced)
        return;
    stop_asking(session);
    session->wait = PX_WAIT_NOTHING;
}

void px_settle_failed(px_session *session, pgw_slice body)
{
    px_state *state = &session->own;
    stop_asking(session);
    if (session->unsynced) { /* the error is the client's, and its group ends here */
        session->wait = PX_WAIT_NOTHING;
        return;
    }
    pgw_buf_clear(&state->failure);
    pgw_buf_add_slice(&state->failure, body);
    state->failed = true;
}

/* The message at hand is answered with the error. */
static bool answer_failure(px_session *session)
{
    px_state *state = &session->own;
    pgw_buf out = {0};
    pgw_slice input = px_stream_input(session->stream);
    bool ready = input.len > 0 && strchr("QFS", input.ptr[0]) != NULL;
    size_t begun = pgw_begin(&out, 'E');
    pgw_buf_add_slice(&out, pgw_slice_buf(&state->failure));
    pgw_certainly(pgw_end(&out, begun));
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&state->failure), 'C'));
    px_group_clear(session);
    state->failed = false;
    if (ready)
        px_session_drop_message(session);
    else
        session->skipping = true;
    return ready;
}

bool px_settle_ready(px_session *session)
{
    if (session->wait == PX_WAIT_STATE)
        session->wait = PX_WAIT_NOTHING;
    return session->own.failed && answer_failure(session);
}
