#include "proxy/client/link/sync_state.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/state/kinds.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/ingest/blockers.h"
#include "rewrite/lex/splitter.h"
#include "rewrite/statement/words/settings.h"

#include <stdlib.h>
#include <string.h>

/* How long an answer is believed: others may change schemas and roles meanwhile. */
enum { BELIEVED_MS = 60000 };

/* ---- whether the state is verified ---- */

/* A name that meant nothing then means a table that has been made since; with a catalog of no table
 * any answer goes. */
static bool is_of(uint64_t epoch, const px_catalog *catalog)
{
    return catalog->count == 0 || epoch == catalog->epoch;
}

static bool is_believed(const px_session *session, const px_catalog *catalog)
{
    const px_state *state = &session->known;
    return state->known && is_of(state->epoch, catalog) &&
           state->config == session->worker->config &&
           px_worker_now(session->worker) - state->at < BELIEVED_MS;
}

/* A session without a link has done nothing there: it is as its kind is at the start. */
static bool is_as_its_kind(px_session *session, const px_catalog *catalog)
{
    px_state *state = &session->known;
    const px_kind *kind = px_kind_find(session->worker, session->who.base);
    if (session->own.ready || kind == NULL || !is_of(kind->epoch, catalog) ||
        kind->config != session->worker->config || !px_state_sets_nothing(session))
        return false;
    if (state->known && state->at == kind->at)
        return true;
    px_answer_free(&state->now);
    px_answer_copy(&kind->answer, &state->now);
    state->answers++;
    px_state_know(state, true);
    state->epoch = kind->epoch;
    state->config = kind->config;
    state->at = kind->at;
    return true;
}

static bool is_verified(px_session *session, const px_catalog *catalog)
{
    if (px_state_reduced(session->known.dirty, catalog) != 0 || session->pending.zone_moving)
        return false;
    return is_believed(session, catalog) || is_as_its_kind(session, catalog);
}

/* What the name of table `i` of the catalog means, by the answer. */
static rw_meaning meaning_of(const px_state *state, const px_catalog *catalog, size_t i)
{
    size_t place = px_catalog_place(catalog, i);
    if (catalog->config == state->config && place < state->now.count)
        return state->now.names[place];
    return RW_MEANS_UNKNOWN; /* The answer is of a configuration that is gone; the link is asked
                                again soon. */
}

static bool is_usual(const px_state *state, const px_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        if ((state->guess[i] == RW_MEANS_OURS) == catalog->tables[i]->schema_written)
            return false;
    return true;
}

static void view_tables(px_state *state, const px_catalog *catalog)
{
    bool verified = state->viewed->answer > 0;
    state->guess = pgw_realloc(state->guess, (catalog->count + 1) * sizeof *state->guess);
    for (size_t i = 0; i < catalog->count; i++)
        state->guess[i] = verified ? meaning_of(state, catalog, i) : state->viewed->unverified;
    state->usual = is_usual(state, catalog);
}

/* Views what tables made now would be. */
static void view_planned(px_state *state, const rw_catalog *names)
{
    bool verified = state->viewed->answer > 0;
    state->plans = pgw_realloc(state->plans, (names->count + 1) * sizeof *state->plans);
    for (size_t i = 0; i < names->count; i++)
        state->plans[i] = verified ? state->now.made[i] : state->viewed->unverified;
    state->viewed->planned = *names;
    state->viewed->planned.unqualified = state->plans;
    if (verified && state->now.here != NULL)
        state->viewed->planned.here = pgw_slice_str(state->now.here);
}

/* There may be many tables, and each statement is looked at with them. */
static void view_all(px_session *session, const px_catalog *catalog)
{
    px_state *state = &session->known;
    if (state->viewed == NULL)
        state->viewed = pgw_calloc(1, sizeof *state->viewed);
    const px_viewed *was = state->viewed;
    px_viewed is = {.config = session->worker->config, .epoch = catalog->epoch};
    if (is_verified(session, catalog))
        is.answer = state->answers;
    else
        is.unverified = px_session_aborted(session) ? RW_MEANS_UNKNOWN : RW_MEANS_OURS;
    if (is.config == was->config && is.epoch == was->epoch && is.answer == was->answer &&
        is.unverified == was->unverified)
        return;
    *state->viewed = is;
    view_tables(state, catalog);
    view_planned(state, px_catalog_names(session->worker));
}

/* Whether search_path may find relations of information_schema before any other's. Temporary ones
 * are found earlier, and nobody has looked what these are called. */
static bool may_inform(px_session *session, const px_catalog *catalog)
{
    if (session->own.has_state || session->known.touched & RW_EFFECT_CALLS)
        return false;
    bool verified = is_verified(session, catalog);
    const char *path = verified ? session->known.now.values[RW_SEARCH_PATH] : NULL;
    return !verified || (path != NULL && rw_path_informs(pgw_slice_str(path)));
}

/* Says which settings set the session apart from those that share batches. */
static void say_setting(const px_session *session, const rw_insert *insert, pgw_buf *why)
{
    pgw_slice odd = px_answer_odd(&session->known.now);
    px_standing standing = px_session_standing(session);
    if (session->known.odd && odd.len > 0) {
        pgw_buf_add_str(why, "the session has set ");
        pgw_buf_add_slice(why, odd);
    } else if (session->who.is_private) {
        pgw_buf_add_str(why, "the session has another role");
    } else if (session->who.output_changed && insert->shows) {
        pgw_buf_add_str(why, "the session has changed how values are shown");
    } else if (px_blocker_has_names(&standing, insert)) {
        pgw_buf_add_str(why, "names in it may mean others in this session");
    } else {
        pgw_buf_add_str(why, "the table reads settings, which the session may have changed");
    }
}

/* Appends why `data` (a px_session), as is known of it now, keeps an INSERT out of batches that
 * could be in one by itself; nothing: it does not. */
static void hinders(const void *data, const rw_insert *insert, pgw_buf *why)
{
    const px_session *session = data;
    px_standing standing = px_session_standing(session);
    px_counter reason =
        px_blocker(&session->write_groups, &standing, session->who.identity, insert);
    if (session->own.ready && session->own.status != 'I')
        pgw_buf_add_str(why, "it is inside of a transaction");
    else if (reason == PX_UNBATCHED_SETTINGS)
        say_setting(session, insert, why);
    else if (reason == PX_UNBATCHED_ENCODING)
        pgw_buf_add_str(why, session->who.identity->env.conforming
                                 ? "client_encoding is not UTF8"
                                 : "standard_conforming_strings is off");
    else if (reason == PX_UNBATCHED_SLOW)
        pgw_buf_add_str(why, "rows of the session took long a moment ago");
    else if (reason == PX_UNBATCHED_LOCK)
        pgw_buf_add_str(why, "it has waited too long for a lock");
}

void px_state_view(px_session *session, const px_catalog *catalog, rw_catalog *view)
{
    px_state *state = &session->known;
    *view = (rw_catalog){.tables = (const rw_table *const *)catalog->tables,
                         .count = catalog->count,
                         .words = px_catalog_words(session->worker, catalog),
                         .informs = may_inform(session, catalog),
                         .moved = px_state_reduced(state->here, catalog) != 0,
                         .executes = session->worker->config->backend.dialect == CFG_DIALECT_YDB,
                         .hinders = hinders,
                         .session = session};
    if (catalog == px_catalog_none())
        return;
    view_all(session, catalog);
    view->planned = &state->viewed->planned;
    if (catalog->count > 0 && !state->usual)
        view->unqualified = state->guess;
}

bool px_state_is_usual(px_session *session, const px_catalog *catalog)
{
    view_all(session, catalog);
    return (catalog->count == 0 || session->known.usual) &&
           px_state_reduced(session->known.here, catalog) == 0;
}

/* ---- asking ---- */

/* The next SET TRANSACTION that a text begins with. */
static bool next_opening(rw_lexer *text, pgw_slice *statement)
{
    rw_piece piece;
    rw_lexer words;
    if (!rw_split_next(text, &piece))
        return false;
    *statement = (pgw_slice){text->text.ptr + piece.start, piece.end - piece.start};
    rw_lexer_init(&words, *statement, text->conforming);
    return rw_token_is(*statement, rw_lexer_next(&words), "set") &&
           rw_token_is(*statement, rw_lexer_next(&words), "transaction");
}

static void send_question(px_session *session, pgw_slice text, pgw_slice sql)
{
    pgw_buf out = {0};
    rw_lexer lexer;
    pgw_slice opening;
    rw_lexer_init(&lexer, text, session->who.identity->env.conforming);
    px_ask_nothing(session);
    while (session->own.status == 'T' && next_opening(&lexer, &opening))
        px_ask(session, opening, PX_ASKS_STATE, &out);
    px_ask(session, sql, PX_ASKS_STATE, &out);
    px_ask_send(session, PX_ASKS_STATE, &out);
}

/* Writes the question for all that the configuration names, and what the database has by its
 * patterns. */
static void question(px_session *session, const px_catalog *catalog, pgw_buf *sql)
{
    px_state *state = &session->known;
    size_t more = catalog->by_pattern;
    state->asked = pgw_realloc(state->asked, (more + 1) * sizeof *state->asked);
    state->asked_count = more;
    for (size_t i = 0; i < more; i++)
        state->asked[i] = catalog->tables[catalog->count - more + i]->oid;
    px_asked all = {px_catalog_names(session->worker), state->asked, more,
                    session->own.status == 'T' || session->own.unsynced};
    px_state_question(&all, state->everything, sql);
}

/* `text`: the Query that waits for the answer; empty: something else does. */
static px_step ask(px_session *session, const px_catalog *catalog, pgw_slice text)
{
    px_state *state = &session->known;
    bool fresh = px_state_is_fresh(state, px_state_loud(catalog));
    const px_kind *kind = px_kind_find(session->worker, session->who.base);
    if (state->base.user == NULL && kind != NULL)
        px_answer_copy(&kind->answer, &state->base);
    bool compares = fresh || state->now.user != NULL || state->base.user != NULL;
    state->everything =
        (px_state_reduced(state->dirty, catalog) & px_state_boundless) != 0 || !compares;
    pgw_buf sql = {0};
    question(session, catalog, &sql);
    state->config = session->worker->config;
    state->epoch = catalog->epoch;
    state->loud = px_state_loud(catalog);
    state->failed = false;
    px_state_know(state, false);
    send_question(session, text, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
    return PX_WAIT_STATE;
}

px_step px_sync_state_query(px_session *session, const px_catalog *catalog, pgw_slice text)
{
    if (px_session_aborted(session) || is_verified(session, catalog))
        return PX_STEP_DONE;
    if (session->pending.replies.count > 0 && !session->own.unsynced)
        return PX_WAIT_IDLE;
    px_step step = px_session_need_link_to_ask(session);
    return step == PX_STEP_DONE ? ask(session, catalog, text) : step;
}

px_step px_sync_state(px_session *session, const px_catalog *catalog)
{
    return px_sync_state_query(session, catalog, (pgw_slice){NULL, 0});
}

px_step px_sync_state_now(px_session *session)
{
    const px_catalog *own = px_changes_own(session);
    const px_catalog *catalog = own != NULL ? own : px_changes_known(session);
    return px_sync_state(session, catalog != NULL ? catalog : px_catalog_none());
}

px_step px_sync_state_escapes(px_session *session, const px_catalog *catalog)
{
    bool reported = session->pending.replies.count == 0 && !session->own.unsynced;
    return reported ? PX_STEP_DONE : px_sync_state(session, catalog);
}

px_step px_sync_state_kind(px_session *session, const px_catalog *catalog)
{
    const px_kind *kind = px_kind_find(session->worker, session->who.base);
    bool known = kind != NULL && is_of(kind->epoch, catalog);
    if (known || !session->own.ready || !px_session_idle(session) || session->group.count > 0 ||
        !px_state_is_fresh(&session->known, px_state_loud(catalog)) || session->known.known)
        return PX_STEP_DONE;
    return ask(session, catalog, (pgw_slice){NULL, 0});
}

/* ---- the answer ---- */

/* Whether the tables of both that were known by a pattern mean the same; others came or went. */
static bool same_by_pattern(const px_answer *a, const px_answer *b)
{
    size_t own = a->count - a->oid_count;
    for (size_t i = 0, j = 0; i < a->oid_count && j < b->oid_count;) {
        if (a->oids[i] == b->oids[j] && a->names[own + i] != b->names[own + j])
            return false;
        bool behind = a->oids[i] < b->oids[j], both = a->oids[i] == b->oids[j];
        i += behind || both;
        j += !behind || both;
    }
    return true;
}

static bool same_names(const px_answer *a, const px_answer *b)
{
    size_t own = a->count - a->oid_count;
    return own == b->count - b->oid_count &&
           (own == 0 || memcmp(a->names, b->names, own * sizeof *a->names) == 0) &&
           same_by_pattern(a, b);
}

/* Whether tables that are made by the names of the file would be the same. */
static bool same_made(const px_answer *a, const px_answer *b)
{
    size_t own = a->count - a->oid_count;
    return own == b->count - b->oid_count && strcmp(a->here, b->here) == 0 &&
           (own == 0 || memcmp(a->made, b->made, own * sizeof *a->made) == 0);
}

/* What setting `i` is to be replayed as; NULL: as at the start. */
static const char *followed(const px_session *session, const px_answer *answer, size_t i)
{
    const px_state *state = &session->known;
    const char *value = answer->values[i];
    if (state->base.user != NULL)
        return strcmp(value, state->base.values[i]) == 0 ? NULL : value;
    if (answer->changed != NULL)
        return px_answer_has_changed(answer, rw_tracked[i]) ? value : NULL;
    return strcmp(value, state->now.values[i]) == 0 ? session->who.settings[i] : value;
}

static void follow_settings(px_session *session, const px_answer *answer)
{
    const char *values[RW_TRACKED];
    for (size_t i = 0; i < RW_TRACKED; i++)
        values[i] = i >= RW_REPORTED ? followed(session, answer, i) : answer->values[i];
    px_settings_follow(session, values);
}

/* Judges who the session is on its link, and whether it is as it came. */
static void judge(px_session *session, const px_answer *answer)
{
    px_state *state = &session->known;
    bool based = state->base.user != NULL;
    const char *user =
        based ? state->base.user : px_link_parameter(session->own.link, "session_authorization");
    const char *role = based ? state->base.role : "none";
    bool same =
        strcmp(answer->role, role) == 0 && (user == NULL || strcmp(answer->user, user) == 0);
    if (answer->changed != NULL)
        px_state_judge(state, px_answer_odd(answer).len > 0);
    px_settings_judge(session, !same || state->odd);
    if (based)
        px_settings_output(session, strcmp(answer->output, state->base.output) != 0);
    else if (answer->changed != NULL)
        px_settings_output(session, px_answer_has_changed(answer, "bytea_output") ||
                                        px_answer_has_changed(answer, "extra_float_digits") ||
                                        px_answer_has_changed(answer, "xmlbinary"));
}

/* Where the tables of patterns were not asked for, what they meant last is what is known of them:
 * else it would not be noticed that they mean others when they are asked for again. */
static void keep_by_pattern(const px_answer *was, px_answer *is)
{
    size_t more = was->oid_count, own = was->count - more;
    if (is->oid_count > 0 || more == 0 || own != is->count)
        return;
    is->names = pgw_realloc(is->names, (own + more) * sizeof *is->names);
    is->made = pgw_realloc(is->made, (own + more) * sizeof *is->made);
    memcpy(is->names + own, was->names + own, more * sizeof *is->names);
    memcpy(is->made + own, was->made + own, more * sizeof *is->made);
    free(is->oids);
    is->oids = pgw_calloc(more, sizeof *is->oids);
    memcpy(is->oids, was->oids, more * sizeof *is->oids);
    is->count = own + more;
    is->oid_count = more;
}

static void adopt(px_session *session, px_answer *answer)
{
    px_state *state = &session->known;
    if (px_state_is_fresh(state, state->loud)) {
        px_answer_free(&state->base);
        px_answer_copy(answer, &state->base);
        px_kind_keep(session->worker, session->who.base, answer, state->epoch);
    }
    bool was_private = session->who.is_private;
    judge(session, answer);
    if (session->who.is_private && !was_private)
        px_count(session->worker->metrics, state->odd ? PX_PRIVATE_SETTING : PX_PRIVATE_ROLE, 1);
    follow_settings(session, answer);
    if (state->now.names != NULL && !same_names(&state->now, answer))
        state->generation++;
    if (state->now.names != NULL && !same_made(&state->now, answer))
        state->made++;
    if (state->now.names != NULL && state->epoch == 0)
        keep_by_pattern(&state->now, answer);
    px_answer_free(&state->now);
    state->now = *answer;
    state->answers++;
    px_state_know(state, true);
    state->at = px_worker_now(session->worker);
}

void px_sync_state_row(px_session *session, pgw_slice body)
{
    px_state *state = &session->known;
    px_answer answer;
    if (state->asking == 0)
        return;
    size_t named = state->config->table_count + state->config->pattern_count;
    if (!px_answer_read(body, named, state->asked_count, state->everything, &answer))
        return;
    answer.oids = state->asked;
    answer.oid_count = state->asked_count;
    state->asked = NULL;
    state->asked_count = 0;
    adopt(session, &answer);
    px_state_verified(session);
    px_pending_know_zone(&session->pending);
}

static void stop_asking(px_session *session)
{
    px_ask_nothing(session);
}

void px_sync_state_answered(px_session *session)
{
    if (session->known.asking > 1) {
        px_ask_heard(session);
        return;
    }
    stop_asking(session);
    if (session->own.unsynced)
        px_session_end_wait(session, PX_WAIT_STATE);
}

void px_sync_state_skipped(px_session *session)
{
    if (session->wait != PX_WAIT_STATE || !session->own.unsynced)
        return;
    stop_asking(session);
    px_session_end_wait(session, PX_WAIT_STATE);
}

void px_sync_state_failed(px_session *session, pgw_slice body)
{
    px_state *state = &session->known;
    stop_asking(session);
    if (session->own.unsynced) { /* The error is the client's, and its group ends here. */
        px_session_end_wait(session, PX_WAIT_STATE);
        return;
    }
    pgw_buf_clear(&state->failure);
    pgw_buf_add_slice(&state->failure, body);
    state->failed = true;
}

/* Answers the message at hand with the error. True: ReadyForQuery is the client's. */
static bool answer_failure(px_session *session)
{
    px_state *state = &session->known;
    pgw_buf out = {0};
    pgw_frame frame = session->hand.frame;
    bool ready = frame.size > 0 && strchr("QFS", frame.type) != NULL;
    size_t begun = pgw_begin(&out, 'E');
    pgw_buf_add_slice(&out, pgw_slice_buf(&state->failure));
    pgw_certainly(pgw_end(&out, begun));
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&state->failure), 'C'));
    px_session_drop_group(session);
    state->failed = false;
    if (px_split_query_fail(session))
        return false;
    if (ready)
        px_relay_drop_message(session);
    else
        px_pending_skip(&session->pending, true);
    return ready;
}

bool px_sync_state_ready(px_session *session)
{
    px_session_end_wait(session, PX_WAIT_STATE);
    return session->known.failed && answer_failure(session);
}
