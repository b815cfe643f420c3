#include "proxy/client/answer/outcome.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/answer/ended.h"
#include "proxy/client/answer/errors.h"
#include "proxy/client/answer/lone.h"
#include "proxy/client/answer/synthesized.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/session.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/names.h"
#include "proxy/ingest/plan_cache.h"
#include "rewrite/statement/errors/part_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RECHECK_EVERY_MS = 1000 };

static px_session *session_of(px_submitter *submitter)
{
    return (px_session *)((char *)submitter - offsetof(px_session, write_groups));
}

/* ---- errors ---- */

/* The held Execute of the statement that failed; group->count if none did. */
static size_t failed_execute(const px_group *group, const px_outcome *outcome)
{
    size_t executed = 0, i = 0;
    while (i < group->count && (group->held[i].type != 'E' || executed++ < outcome->completed))
        i++;
    return i;
}

static pgw_slice failed_portal(const px_group *group, const px_outcome *outcome)
{
    size_t i = failed_execute(group, outcome);
    return i < group->count ? group->held[i].decoded->as.execute.portal : PGW_LITERAL("");
}

/* The held message at which it stopped: the Execute of the statement that failed, or its Bind. */
static size_t failed_at(const px_group *group, const px_outcome *outcome)
{
    size_t i = failed_execute(group, outcome);
    bool bound = outcome->completed < outcome->statement_count &&
                 outcome->statements[outcome->completed].bound;
    size_t bind = bound || i == group->count ? PX_GROUP_NONE : px_group_executed(group, i);
    return bind != PX_GROUP_NONE ? bind : i;
}

/* Adds the error of a statement that is several write groups: it has no position, for the client
 * did not write their text. */
static void add_error_of_parts(px_session *session, const px_outcome *outcome, pgw_buf *out)
{
    const px_submitter *write_groups = &session->write_groups;
    const rw_insert *insert = write_groups->text != NULL
                                  ? write_groups->text->script.statements[0].insert
                                  : write_groups->plans[0]->insert;
    pgw_error error;
    if (!px_error_changed(insert->table->name, outcome->error, &error))
        pgw_error_read(outcome->error, &error);
    error.position = 0;
    px_error_count_rows(&error, outcome->committed, outcome->rows);
    if (outcome->unknown > 0)
        pgw_error_detail(&error, "%zu of %zu rows are committed, of %zu it is unknown.",
                         outcome->committed, outcome->rows, outcome->unknown);
    px_count_error(session->worker->metrics, pgw_slice_str(error.sqlstate));
    pgw_error_write(&error, "ERROR", out);
}

/* Adds a message, and frees its body. */
static void add_message(char type, pgw_buf *body, pgw_buf *out)
{
    pgw_buf_add_byte(out, type);
    pgw_buf_add_i32(out, (int32_t)(body->len + 4));
    pgw_buf_add_slice(out, pgw_slice_buf(body));
    pgw_buf_free(body);
}

static bool writes_named(const px_submitter *write_groups, const px_outcome *outcome, size_t i)
{
    const rw_table *table = write_groups->text != NULL
                                ? write_groups->text->script.statements[i].insert->table
                                : px_outcome_plan(write_groups, outcome, i)->insert->table;
    return rw_part_table(&table, 1, outcome->error) != NULL;
}

/* The statement that failed. An error of the commit, which may come before the last statement's
 * tag, is about one of those that wrote the table that it names. */
static size_t failed_statement(const px_submitter *write_groups, const px_outcome *outcome)
{
    size_t last = outcome->statement_count - 1;
    if (outcome->completed < last || pgw_error_field(outcome->error, 'P').len > 0)
        return outcome->completed;
    for (size_t i = 0; i <= last; i++)
        if (writes_named(write_groups, outcome, last - i))
            return last - i;
    return outcome->completed;
}

static void add_error_of_write_group(px_session *session, const px_outcome *outcome, pgw_buf *out)
{
    const px_submitter *write_groups = &session->write_groups;
    size_t failed = failed_statement(write_groups, outcome);
    pgw_buf body = {0};
    if (write_groups->text != NULL)
        px_error_of_text(write_groups->text, failed, outcome->error, &body);
    else
        px_error_of_portal(px_outcome_plan(write_groups, outcome, failed),
                           failed_portal(&session->group, outcome), outcome->error, &body);
    px_error_explain(session->worker, session->who.identity, px_changes_for_errors(session), true,
                     &body);
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&body), 'C'));
    add_message('E', &body, out);
}

static void add_error(px_session *session, const px_outcome *outcome, pgw_buf *out)
{
    if (outcome->error.len > 0)
        (outcome->rows > 0 ? add_error_of_parts : add_error_of_write_group)(session, outcome, out);
}

/* ---- the answer ---- */

static void answer_text(px_session *session, const px_outcome *outcome)
{
    pgw_buf out = {0};
    for (size_t i = 0; i < outcome->completed; i++) {
        px_synthesized_notices(session, outcome, i, &out);
        px_synthesized_rows(session, outcome, i, &out);
        pgw_write_insert_tag(outcome->statements[i].tag + session->write_groups.text->superseded[i],
                             &out);
    }
    px_synthesized_notices(session, outcome, outcome->completed, &out);
    if (outcome->completed < outcome->statement_count && outcome->returned.len > 0)
        px_synthesized_rows(session, outcome, outcome->completed, &out);
    add_error(session, outcome, &out);
    pgw_write_ready('I', &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_names_drop_unnamed(session); /* a simple Query destroys it */
}

static void answer_group(px_session *session, const px_outcome *outcome)
{
    px_group *group = &session->group;
    bool failed = outcome->error.len > 0;
    pgw_buf out = {0};
    px_synthesized_write(session, failed ? failed_at(group, outcome) : group->count, outcome, &out);
    px_synthesized_notices(session, outcome, outcome->completed, &out);
    add_error(session, outcome, &out);
    px_synthesized_end(session, &out);
}

/* ---- of a COMMIT ---- */

static void fail_stale(px_session *session, pgw_buf *out)
{
    pgw_error error;
    px_changes_stale(session);
    px_count_error(session->worker->metrics, PGW_LITERAL("40001"));
    pgw_fail(&error, "40001", "the table was changed while the transaction was kept until COMMIT");
    pgw_error_hint(&error, "Send the transaction again.");
    pgw_error_write(&error, "ERROR", out);
}

static void add_error_of_kept(px_session *session, const px_outcome *outcome, pgw_buf *out)
{
    const px_kept *kept = session->own.begun->kept;
    pgw_buf body = {0};
    if (outcome->kind == PX_ERROR_STALE || outcome->kind == PX_ERROR_STALE_PLAN) {
        fail_stale(session, out);
        return;
    }
    if (outcome->failure == PX_FAILED_BY_ERROR) {
        size_t failed = failed_statement(&session->write_groups, outcome);
        failed = failed < kept->count ? failed : kept->count - 1;
        if (kept->all[failed].text != NULL)
            px_text_read(session->worker, kept->all[failed].text, &session->who.identity->env);
        px_error_of_kept(&kept->all[failed], failed + 1, outcome->error, &body);
        px_error_explain(session->worker, session->who.identity, px_changes_for_errors(session),
                         true, &body);
    } else {
        pgw_buf_add_slice(&body, outcome->error);
    }
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&body), 'C'));
    add_message('E', &body, out);
}

static void answer_commit(px_session *session, const px_outcome *outcome)
{
    pgw_buf answer = {0};
    if (outcome->error.len > 0)
        add_error_of_kept(session, outcome, &answer);
    else
        pgw_write_tag("COMMIT", &answer);
    px_count(session->worker->metrics, PX_TRANSACTIONS_LAZY, 1);
    px_ended_commit(session, &answer);
    pgw_buf_free(&answer);
}

/* Whether the write group under way is a COMMIT's. */
static bool commits(const px_session *session)
{
    return session->own.begun != NULL && session->own.begun->commits;
}

static bool has_made_list(const px_submitter *write_groups)
{
    for (size_t i = 0; i < write_groups->plan_count; i++)
        if (write_groups->plans[i]->insert->list_made)
            return true;
    for (size_t i = 0; write_groups->text != NULL && i < write_groups->text->script.count; i++)
        if (write_groups->text->script.statements[i].insert->list_made)
            return true;
    return false;
}

/* Whether a value may be wrong only for the column that it came to by a list that was made here.
 * Who sends many such values does not make others look for each. */
static bool may_be_misplaced(px_session *session, const px_outcome *outcome)
{
    uint64_t now = px_worker_now(session->worker);
    pgw_slice sqlstate = pgw_error_field(outcome->error, 'C');
    bool of_value = sqlstate.len == 5 && memcmp(sqlstate.ptr, "22", 2) == 0;
    if (outcome->kind != PX_ERROR_OWN || (!of_value && !pgw_slice_eq_str(sqlstate, "23502")) ||
        now < session->ddl.recheck_from || !has_made_list(&session->write_groups))
        return false;
    px_changes_recheck_from(session, now + RECHECK_EVERY_MS);
    return true;
}

/* Whether a statement is tried once more: it wrote nothing, for the schema is another than it was
 * thought to be. */
static bool repeats(px_session *session, const px_outcome *outcome)
{
    px_submitter *write_groups = &session->write_groups;
    if (outcome->error.len == 0 || outcome->stored || write_groups->repeated)
        return false;
    bool stale = outcome->kind == PX_ERROR_STALE;
    bool other_rows = outcome->kind == PX_ERROR_STALE_PLAN && write_groups->plan_count > 0;
    if (!stale && !other_rows && !may_be_misplaced(session, outcome))
        return false;
    if (other_rows)
        px_outcome_plan(write_groups, outcome, outcome->completed)->outdated = true;
    else if (stale && write_groups->plan_count > 0)
        px_plan_doubt_types(px_outcome_plan(write_groups, outcome, outcome->completed));
    px_changes_stale(session);
    px_submitter_repeat(write_groups);
    return true;
}

static bool on_answered(px_submitter *submitter, const px_outcome *outcome)
{
    px_session *session = session_of(submitter);
    bool stored = px_lone_answer(session, outcome);
    bool again = !stored && !commits(session) && repeats(session, outcome);
    if (commits(session)) {
        answer_commit(session, outcome);
    } else if (!stored && !again) {
        if (submitter->text != NULL)
            answer_text(session, outcome);
        else
            answer_group(session, outcome);
        px_relay_drop_message(session);
        px_submitter_go_on(submitter);
    }
    px_session_wake(session, PX_WAIT_WRITE_GROUP);
    return !again;
}

static void on_rerouted(px_submitter *submitter)
{
    px_lone_hold(session_of(submitter));
    px_session_wake(session_of(submitter), PX_WAIT_WRITE_GROUP);
}

const px_submitter_ops px_session_submitter_ops = {on_answered, on_rerouted};

/* ---- the rest, on the own link ---- */

bool px_outcome_has_rest(const px_session *session)
{
    const px_submitter *write_groups = &session->write_groups;
    return write_groups->rerouted && (write_groups->text != NULL || write_groups->plan_count > 0);
}

/* The setting as the session has it now; NULL: that is not known. */
static const char *setting_now(const px_session *session, rw_tracked_setting setting)
{
    const px_answer *start = &session->known.base;
    if (session->who.settings[setting] != NULL)
        return session->who.settings[setting];
    return start->user != NULL ? start->values[setting] : NULL;
}

static bool may_time_out(const px_session *session)
{
    const char *statement = setting_now(session, RW_STATEMENT_TIMEOUT);
    const char *lock = setting_now(session, RW_LOCK_TIMEOUT);
    return statement == NULL || lock == NULL || strcmp(statement, "0") != 0 ||
           strcmp(lock, "0") != 0;
}

/* The server knows what the session, its role and its database have set. What is left is at least
 * 1 ms, so that it is the server that says what has run out. */
#define SHORTEN                                                                                    \
    "select pg_catalog.set_config(s.name, greatest(s.setting::pg_catalog.int4"                     \
    " operator(pg_catalog.-) w.ms, 1)::pg_catalog.text, true) from pg_catalog.pg_settings s,"      \
    " (values ('statement_timeout', %" PRIu64 "), ('lock_timeout', %" PRIu32 ")) w (name, ms)"     \
    " where s.name operator(pg_catalog.=) w.name and s.setting operator(pg_catalog.<>) '0'"

bool px_outcome_write_waited(px_session *session, pgw_buf *sql)
{
    px_submitter *write_groups = &session->write_groups;
    uint64_t since = px_submitter_take_since(write_groups);
    uint64_t waited = px_worker_now(session->worker) - since;
    uint32_t locked = write_groups->locked_ms < INT32_MAX ? write_groups->locked_ms : INT32_MAX;
    bool is_postgres = session->worker->config->backend.dialect != CFG_DIALECT_YDB;
    if (since == 0 || !is_postgres || !may_time_out(session))
        return false;
    pgw_buf_addf(sql, SHORTEN, waited < INT32_MAX ? waited : INT32_MAX, locked);
    return true;
}

void px_outcome_send_waited(px_session *session)
{
    pgw_buf sql = {0};
    if (px_outcome_write_waited(session, &sql) && session->own.status == 'I')
        px_ask_between(session, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

void px_outcome_give_up(px_session *session, pgw_error *error)
{
    const px_text *text = session->write_groups.text;
    if (text != NULL)
        px_error_count_rows(error, text->superseded[0],
                            text->script.statements[0].insert->row_count);
    else
        px_error_count_rows(error, session->write_groups.plans[0]->left_out,
                            session->write_groups.plans[0]->insert->row_count);
    px_submitter_drop_statement(&session->write_groups);
}
