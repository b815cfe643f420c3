#include "proxy/client/message/lazy.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/ended.h"
#include "proxy/client/answer/owed.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/settle.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/script.h"
#include "proxy/ingest/obstacles.h"
#include "proxy/ingest/submit.h"
#include "rewrite/insert/render.h"

#include <stdlib.h>
#include <string.h>

/* The name of the statement that each kept one is prepared as on the session's own link, in its
 * turn. */
#define KEPT PGW_LITERAL("keyspread kept")

/* ---- which ---- */

bool px_lazy_is_wanted(const px_session *session)
{
    return (session->worker->config->has_lazy ||
            session->known.now.says[RW_OWN_TRANSACTIONS] == RW_SAYS_LAZY) &&
           !session->who.is_private;
}

bool px_lazy_begins(const px_session *session, bool ordinary)
{
    const char *standby = px_link_parameter(session->own.link, "in_hot_standby");
    return ordinary && px_lazy_is_wanted(session) && standby != NULL && strcmp(standby, "off") == 0;
}

bool px_lazy_may(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    return begun != NULL && begun->lazy && !begun->commits &&
           (begun->state == PX_BEGUN_HERE || begun->state == PX_BEGUN_THERE) &&
           session->own.status == 'T' && session->pending.replies.count == 0 &&
           !session->own.unsynced && session->hand.parts == NULL;
}

bool px_lazy_takes(const px_session *session, const rw_insert *insert, const px_catalog *catalog)
{
    rw_own_word says = session->known.now.says[RW_OWN_TRANSACTIONS];
    cfg_transactions table = px_catalog_config(catalog, insert->table)->transactions;
    bool lazy = table == CFG_TRANSACTIONS_LAZY
                    ? says != RW_SAYS_EAGER
                    : table == CFG_TRANSACTIONS_UNSAID && says == RW_SAYS_LAZY;
    return lazy && insert->values_merge && insert->returning == 0;
}

/* Whether so many bytes more may wait. */
static bool has_room(const px_session *session, size_t bytes, size_t statements)
{
    const px_kept *kept = session->own.begun->kept;
    size_t count = kept != NULL ? kept->count : 0;
    return px_kept_bytes(kept) + bytes <= session->worker->config->limits.lazy_bytes &&
           count + statements <= PX_KEPT_MOST && px_register_may_keep(session->worker);
}

static const rw_table *table_of(const px_kept_statement *statement)
{
    return statement->text != NULL ? statement->text->script.statements[statement->at].insert->table
                                   : statement->plan->insert->table;
}

/* A unit has PX_UNIT_MOST tables and prepared statements at most: of what comes behind as many
 * statements all are like one of those. */
static bool is_like_one(const px_kept *kept, const rw_table *table, const px_plan *plan)
{
    bool like = kept == NULL || kept->count < PX_UNIT_MOST;
    for (size_t i = 0; !like && i < PX_UNIT_MOST; i++)
        like = plan != NULL ? strcmp(kept->all[i].plan->name, plan->name) == 0
                            : table_of(&kept->all[i]) == table;
    return like;
}

/* ---- texts ---- */

static bool takes_text(const px_session *session, const px_text *text)
{
    const px_kept *kept = session->own.begun->kept;
    size_t count = text->script.count;
    if (!px_lazy_may(session) || session->group.count > 0 ||
        (kept != NULL && kept->all[0].text == NULL) || !has_room(session, text->arena.bytes, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        if (!px_lazy_takes(session, insert, text->catalog) || text->superseded[i] > 0 ||
            !is_like_one(kept, insert->table, NULL))
            return false;
    }
    return kept != NULL || count <= PX_UNIT_MOST || is_like_one(kept, NULL, NULL);
}

bool px_lazy_keeps_text(px_session *session, px_text *text)
{
    pgw_buf out = {0};
    if (!takes_text(session, text))
        return false;
    px_kept **kept = &session->own.begun->kept;
    for (size_t i = 0; i < text->script.count; i++) {
        px_kept_add_text(kept, text, i, i == 0 ? text->arena.bytes : 0);
        pgw_write_insert_tag((*kept)->all[(*kept)->count - 1].told, &out);
    }
    px_names_forget_unnamed(session);
    pgw_write_ready(session->own.status, &out);
    px_session_put(session, &out);
    pgw_buf_free(&out);
    return true;
}

/* ---- groups ---- */

/* The Bind that a held Execute runs, which may be kept: its keys are known. */
static bool takes_bind(px_session *session, const px_held *bind, pgw_arena *arena)
{
    const px_kept *kept = session->own.begun->kept;
    px_plan *plan = bind->plan;
    px_bound bound;
    if (bind->said->as.bind.portal.len > 0 ||
        !px_lazy_takes(session, plan->insert, plan->catalog) || !is_like_one(kept, NULL, plan) ||
        !px_bind_keys(session->worker, plan, &bind->said->as.bind, &session->who.identity->env,
                      arena, &bound))
        return false;
    px_plan *other = px_plan_for_bind(plan, bound.keys);
    px_plan_drop(other);
    return other == NULL;
}

static bool takes_group(px_session *session, size_t *executed)
{
    const px_group *group = &session->group;
    const px_kept *kept = session->own.begun->kept;
    pgw_arena arena = {0};
    bool takes = (kept == NULL || kept->all[0].plan != NULL) && px_group_runs_all(group);
    *executed = 0;
    for (size_t i = 0; i < group->count && takes; i++) {
        if (group->held[i].type != 'E')
            continue;
        ++*executed;
        takes = takes_bind(session, &group->held[px_group_executed(group, i)], &arena);
    }
    pgw_arena_free(&arena);
    return takes && has_room(session, group->bytes, *executed);
}

bool px_lazy_keeps_group(px_session *session)
{
    px_group *group = &session->group;
    size_t executed, at = 0;
    pgw_buf out = {0};
    if (!px_lazy_may(session) || !takes_group(session, &executed))
        return false;
    uint64_t *told = pgw_alloc((executed + 1) * sizeof *told);
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].type != 'E')
            continue;
        const px_held *bind = &group->held[px_group_executed(group, i)];
        told[at] = bind->plan->insert->row_count;
        px_kept_add_bind(&session->own.begun->kept, bind->plan, bind->said, told[at],
                         sizeof *bind->said + bind->said->message.len);
        at++;
    }
    const px_outcome outcome = {.told = told};
    px_owed_write(session, group->count, &outcome, &out);
    px_owed_end(session, &out);
    free(told);
    return true;
}

/* ---- COMMIT ---- */

/* All of the text whose statements are the only ones that were kept; NULL: there are more. Counted.
 */
static px_text *only_text(const px_kept *kept)
{
    px_text *first = kept->all[0].text;
    if (first->script.count != kept->count || kept->all[kept->count - 1].text != first)
        return NULL;
    px_text_take(first);
    return first;
}

static void join(const px_kept *kept, pgw_buf *whole)
{
    for (size_t i = 0; i < kept->count; i++) {
        const px_text *text = kept->all[i].text;
        const rw_statement *statement = &text->script.statements[kept->all[i].at];
        pgw_buf_add_str(whole, i > 0 ? "\n;\n" : "");
        pgw_buf_add(whole, text->text.ptr + statement->start, statement->end - statement->start);
    }
}

/* Whether statements that were read once more are what they were. */
static bool is_same(const px_session *session, const px_kept *kept, const px_text *text)
{
    bool same =
        text->script.count == kept->count && text->script.inserts == kept->count && !text->refused;
    for (size_t i = 0; i < kept->count && same; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        same = insert->obstacle == RW_BATCHABLE && insert->row_count == kept->all[i].told &&
               insert->wanted_count == 0 && text->superseded[i] == 0 &&
               px_lazy_takes(session, insert, text->catalog);
    }
    return same;
}

/* All that was kept as one text, hashed; counted. NULL: it is to be sent. */
static px_text *text_of(px_session *session, const px_kept *kept)
{
    px_catalog *catalog = px_changes_known(session);
    px_text *text = only_text(kept);
    if (text != NULL || catalog == NULL)
        return text;
    rw_catalog view;
    pgw_buf whole = {0};
    const pgw_env env = px_settings_env(session);
    join(kept, &whole);
    px_state_view(session, catalog, &view);
    text = px_text_parse(session->worker, pgw_slice_buf(&whole), catalog, &view, &env);
    px_text_hash(session->worker, text, env);
    pgw_buf_free(&whole);
    if (is_same(session, kept, text))
        return text;
    px_text_drop(text);
    return NULL;
}

static bool submit_text(px_session *session, const px_standing *standing)
{
    px_text *text = text_of(session, session->own.begun->kept);
    if (text == NULL)
        return false;
    px_submit_script(&session->units, standing, text);
    px_text_drop(text);
    return true;
}

static bool submit_binds(px_session *session, const px_standing *standing)
{
    const px_kept *kept = session->own.begun->kept;
    px_unfit unfit = {.error = PGW_ERROR_NONE};
    px_execution *list = pgw_alloc(kept->count * sizeof *list);
    for (size_t i = 0; i < kept->count; i++)
        list[i] = (px_execution){kept->all[i].plan, &kept->all[i].bind->as.bind, 0};
    const px_executions all = {list, kept->count};
    px_submission what = px_submit_bound(&session->units, standing, &all, &unfit);
    free(list);
    return what == PX_SUBMITTED;
}

bool px_lazy_commits(px_session *session)
{
    px_begun *begun = session->own.begun;
    const px_standing standing = px_session_standing(session);
    bool text = begun->kept->all[0].text != NULL;
    bool first = !begun->commits; /* else it has come back, to be sent */
    begun->commits = true;
    if (!first || session->who.is_private ||
        !(text ? submit_text : submit_binds)(session, &standing))
        return false;
    px_session_set_wait(session, PX_WAIT_UNIT);
    return true;
}

/* ---- to the own link ---- */

/* Whatever has become of it: the server refuses this. */
static void write_refused(pgw_buf *out)
{
    const pgw_bind nothing = {0};
    pgw_certainly(
        pgw_write_parse(KEPT, PGW_LITERAL("select \"refused by keyspread\""), NULL, 0, out));
    pgw_certainly(pgw_write_bind(&nothing, PGW_LITERAL(""), KEPT, NULL, 0, out));
}

static void write_text(px_session *session, const px_kept_statement *statement, pgw_buf *out)
{
    px_text *text = statement->text;
    const rw_statement *of = &text->script.statements[statement->at];
    const pgw_bind nothing = {0};
    pgw_buf sql = {0};
    if (statement->at == 0) {
        px_standing standing = px_session_standing(session);
        px_obstacle_count_text(&session->units, &standing, text);
        px_script_note(session, &text->script, false);
        px_text_spell(text, &session->who.identity->env);
    }
    rw_render_statement(of->insert, RW_HASH_CONSTANT, text->hashes[statement->at], &sql);
    pgw_certainly(pgw_write_parse(KEPT, pgw_slice_buf(&sql), NULL, 0, out));
    pgw_certainly(pgw_write_bind(&nothing, PGW_LITERAL(""), KEPT, NULL, 0, out));
    pgw_buf_free(&sql);
}

static void write_bind(px_session *session, const px_kept_statement *statement, pgw_buf *out)
{
    px_plan *plan = statement->plan;
    const pgw_bind *bind = &statement->bind->as.bind;
    const px_bind_names names = {PGW_LITERAL(""), KEPT};
    const pgw_env now = px_settings_env(session);
    pgw_arena arena = {0};
    pgw_buf written = {0};
    px_bound bound;
    bool known =
        px_bind_keys(session->worker, plan, bind, &session->who.identity->env, &arena, &bound);
    pgw_bind spelled =
        px_bind_spell(plan->types, px_bind_feeding(plan, &arena), bind, &now, &arena);
    if (known && px_bind_write(plan, &spelled, names, &bound, &written, &bound.error)) {
        px_standing standing = px_session_standing(session);
        px_obstacle_count_bind(&session->units, &standing, plan, &bound);
        px_script_note_plan(session, plan);
        pgw_certainly(
            pgw_write_parse(KEPT, plan->rewritten, plan->declared, plan->declared_count, out));
        pgw_buf_add_slice(out, pgw_slice_buf(&written));
    } else {
        write_refused(out);
    }
    pgw_buf_free(&written);
    pgw_arena_free(&arena);
}

static void push(px_session *session, px_reply_kind kind, size_t number)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->swallow = true;
    reply->kept = number;
}

void px_lazy_send(px_session *session)
{
    static const px_reply_kind kinds[] = {PX_REPLY_PARSE, PX_REPLY_BIND, PX_REPLY_EXECUTE,
                                          PX_REPLY_CLOSE};
    px_begun *begun = session->own.begun;
    pgw_buf out = {0};
    px_session_send_begun(session);
    begun->state = PX_BEGUN_SENT;
    begun->lazy = session->units.rerouted = false;
    px_owner_go_on(&session->units); /* Its COMMIT has waited, and waits no more. */
    begun->kept->sent = true;
    pgw_write_close('S', KEPT, &out); /* One that failed left it there. */
    push(session, PX_REPLY_CLOSE, 0);
    for (size_t i = 0; i < begun->kept->count; i++) {
        const px_kept_statement *statement = &begun->kept->all[i];
        (statement->text != NULL ? write_text : write_bind)(session, statement, &out);
        pgw_write_execute(PGW_LITERAL(""), 0, &out);
        pgw_write_close('S', KEPT, &out);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            push(session, kinds[k], i + 1);
    }
    pgw_write_sync(&out);
    push(session, PX_REPLY_SYNC, 0);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    px_count(session->worker->metrics, PX_TRANSACTIONS_MADE_ORDINARY, 1);
}

/* ---- what has failed there ---- */

/* The error, to whatever else is at hand. */
static void tell(px_session *session, pgw_frame frame, pgw_buf *error)
{
    if (strchr("QFS", frame.type) != NULL)
        pgw_write_ready(session->own.status, error);
    else
        session->pending.skipping = true;
    px_session_put(session, error);
    px_riding_is_ordinary(session);
    if (frame.type == 'Q')
        px_names_forget_unnamed(session);
    px_relay_drop(session, frame);
}

bool px_lazy_tells(px_session *session, pgw_frame frame)
{
    px_begun *begun = session->own.begun;
    pgw_buf error = {0};
    if (begun->failure.len == 0)
        return false;
    size_t at = pgw_begin(&error, 'E');
    pgw_buf_add_slice(&error, pgw_slice_buf(&begun->failure));
    pgw_certainly(pgw_end(&error, at));
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&begun->failure), 'C'));
    pgw_buf_clear(&begun->failure);
    session->units.rerouted = session->units.repeated = false;
    px_session_drop_group(session);
    if (begun->commits)
        px_ended_commit(session, &error);
    else
        tell(session, frame, &error);
    pgw_buf_free(&error);
    return true;
}
