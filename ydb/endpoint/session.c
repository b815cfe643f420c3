#include "ydb/endpoint/session.h"

#include "config/config.h"
#include "proxy/backend/state/state.h"
#include "ydb/endpoint/analysis.h"
#include "ydb/endpoint/answers.h"
#include "ydb/endpoint/copies.h"
#include "ydb/endpoint/cutter.h"
#include "ydb/endpoint/hashing.h"
#include "ydb/endpoint/runs.h"
#include "ydb/endpoint/table_answers.h"
#include "ydb/endpoint/type_answers.h"
#include "ydb/endpoint/wording.h"
#include "ydb/endpoint/text_most.h"
#include "ydb/plain/command_name.h"
#include "ydb/plain/copied.h"
#include "ydb/plain/session.h"

#include <stdlib.h>

/* ---- what the machine asks for ---- */

static void check_parameters(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    pgw_slice text;
    pgw_reading reading = px_ydb_reading(session, &error);
    if (px_ydb_word(portal, px_ydb_text_most(px_ydb_config(session)), &reading, &text))
        pgw_server_done(session->server);
    else
        pgw_server_failed(session->server, &error);
}

/* Puts hashes into an INSERT that was kept without them: by PREPARE, or by Parse before its table
 * was configured. An error has no position in the client's text. */
static bool hash(const rw_catalog *catalog, pgw_slice text, const pgw_reading *reading,
                 pgw_slice *out)
{
    if (px_ydb_hash(text, catalog, reading, out))
        return true;
    reading->error->position = 0;
    return false;
}

static bool plan(px_ydb_session *session, px_ydb_run *run, pgw_error *error)
{
    const cfg_config *config = px_ydb_config(session);
    const cfg_capabilities *capabilities = &config->backend.capabilities;
    const pgw_env *env = &px_plain_env;
    const pgw_reading reading = {env, &run->arena, error};
    bool alone = !px_runner_is_in_block(session->runner);
    pgw_command command = run->portal->statement->piece.command;
    rw_catalog catalog = px_ydb_catalog(session);
    catalog.others = px_ydb_learned_now(&session->learned, px_worker_now(session->link->worker));
    pgw_slice text;
    const rw_program_options options = {.env = env,
                                        .exact = config->backend.exact_counts,
                                        .insert_first = config->backend.insert_first && alone,
                                        .update_from = capabilities->can[CFG_CAN_UPDATE_FROM],
                                        .drops_typmods = !capabilities->can[CFG_CAN_TYPMODS],
                                        .changes = command == PGW_COMMAND_ALONE,
                                        .most = px_ydb_text_most(config)};
    if (!px_ydb_word(run->portal, options.most, &reading, &text) ||
        !px_ydb_copies_out(run, &reading, &text))
        return false;
    if ((run->portal->statement->ordered || run->portal->arguments != NULL) &&
        command == PGW_COMMAND_WRITE && !hash(&catalog, text, &reading, &text))
        return false;
    run->program = rw_program_new(text, &catalog, &options, error);
    if (run->program == NULL)
        return false;
    run->held = run->kept = rw_program_writes(run->program);
    return !run->held || px_ydb_run_can_be_sent(run, error);
}

/* Refuses DDL in a transaction: YDB would do it at once, whatever becomes of the transaction. */
static bool refuses_alone(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    if (portal->statement->piece.command != PGW_COMMAND_ALONE ||
        !px_runner_is_in_block(session->runner))
        return false;
    pgw_fail(&error, "0A000", "tables cannot be changed inside a transaction on YDB");
    pgw_error_hint(&error, "Send CREATE, ALTER, DROP and the like outside of transactions.");
    pgw_server_failed(session->server, &error);
    return true;
}

/* Refuses writes in a read-only transaction; YDB is not asked, for READ ONLY is kept here. */
static bool refuses_write(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    char name[RW_COMMAND_NAME_MOST];
    const pgw_piece *piece = &portal->statement->piece;
    bool writes = piece->command == PGW_COMMAND_WRITE || piece->command == PGW_COMMAND_ALONE;
    if (!writes || !rw_variables_read_only(session->variables))
        return false;
    rw_command_name(piece->text, px_plain_env.conforming, name);
    pgw_fail(&error, "25006", "cannot execute %s in a read-only transaction", name);
    pgw_server_failed(session->server, &error);
    return true;
}

static void run(px_ydb_session *session, pgw_portal *portal)
{
    if (px_state_is_question(portal->statement->piece.text)) {
        px_ydb_state_run(session, portal);
        return;
    }
    if (px_ydb_is_about_settings(portal->statement->piece.command)) {
        px_ydb_settings_run(session, portal);
        return;
    }
    if (px_ydb_types_run(session, portal) || px_ydb_tables_run(session, portal) ||
        refuses_write(session, portal) || refuses_alone(session, portal) ||
        px_ydb_learns_target(session, portal))
        return;
    if (px_runner_is_in_block(session->runner))
        rw_variables_queried(session->variables);
    if (pgw_server_status(session->server) == 'T')
        px_runner_end_group(session->runner);
    if (px_ydb_copies_run(session, portal))
        return;
    px_ydb_run *run = px_ydb_run_new(session, portal);
    pgw_error error;
    if (portal->statement->piece.command == PGW_COMMAND_ALONE)
        px_ydb_learned_forget(&session->learned);
    pgw_buf_add_slice(&run->columns, portal->statement->columns);
    if (!plan(session, run, &error)) {
        px_ydb_run_leave(run);
        px_ydb_run_free(session, run);
        pgw_server_failed(session->server, &error);
        return;
    }
    session->running = run;
    px_runner_program(session->runner, run->program, px_ydb_timeout(session));
}

/* Sets the modes that BEGIN or AND CHAIN gives its transaction. False: refused. */
static bool set_modes(px_ydb_session *session, const pgw_action *action, pgw_error *error)
{
    rw_said said;
    const pgw_reading reading = px_ydb_reading(session, error);
    if (action->chain)
        rw_variables_chain(session->variables);
    return action->text.len == 0 ||
           rw_session_run(session->variables, action->text, true, &reading, &said);
}

static void begin(px_ydb_session *session, const pgw_action *action)
{
    pgw_error error;
    if (!set_modes(session, action, &error)) {
        px_ydb_settle(session, false);
        pgw_server_failed(session->server, &error);
    } else if (action->text.len > 0 || action->chain) {
        px_runner_control(session->runner, PX_CONTROL_BEGIN);
    } else {
        px_runner_begin_group(session->runner);
    }
}

/* Answers MODES: a BEGIN within a transaction. */
static void change_modes(px_ydb_session *session, const pgw_action *action)
{
    pgw_error error;
    if (set_modes(session, action, &error))
        pgw_server_done(session->server);
    else
        pgw_server_failed(session->server, &error);
}

static void do_action(px_ydb_session *session, const pgw_action *action)
{
    switch (action->ask) {
    case PGW_ASK_ANALYZE:
        px_ydb_analyze(session, action->statement);
        return;
    case PGW_ASK_BIND:
        check_parameters(session, action->portal);
        return;
    case PGW_ASK_RUN:
        run(session, action->portal);
        return;
    case PGW_ASK_PUT:
        px_ydb_copies_put(session, action->text);
        return;
    case PGW_ASK_STORE:
        px_ydb_copies_store(session, action->portal);
        return;
    case PGW_ASK_SETTLE:
        px_ydb_settle(session, action->keep);
        pgw_server_done(session->server);
        return;
    case PGW_ASK_MODES:
        change_modes(session, action);
        return;
    case PGW_ASK_BEGIN:
        begin(session, action);
        return;
    case PGW_ASK_COMMIT:
        px_runner_control(session->runner, PX_CONTROL_COMMIT);
        return;
    case PGW_ASK_ROLLBACK:
        px_runner_control(session->runner, PX_CONTROL_ROLLBACK);
        return;
    default:
        return;
    }
}

/* Does the action. False: the runner is busy with it. */
static bool try_action(px_ydb_session *session, const pgw_action *action)
{
    px_ydb_run *running = session->running;
    if (action->ask == PGW_ASK_RESUME)
        px_ydb_runs_resume(session, action->portal->link);
    else if (action->ask == PGW_ASK_END)
        px_ydb_runs_unwanted(session, action->portal->link);
    else if (!px_ydb_runs_make_way(session))
        return false;
    else
        do_action(session, action);
    return !px_runner_is_busy(session->runner) ||
           (running != NULL && running == session->running && running->suspended);
}

void px_ydb_session_go_on(px_ydb_session *session)
{
    for (;;) {
        pgw_action action = pgw_server_next(session->server);
        px_ydb_copies_tidy(session);
        bool busy = px_runner_is_busy(session->runner);
        bool waits = session->running != NULL && session->running->suspended;
        if (action.ask == PGW_ASK_MESSAGE || action.ask == PGW_ASK_CLOSE || (busy && !waits))
            return;
        if (!try_action(session, &action))
            return;
        pgw_arena_free(&session->arena);
    }
}

/* Settles what a transaction has set, when it has ended or could not begin. */
static void on_controlled(px_ydb_session *session, bool done)
{
    pgw_asked asked = pgw_server_next(session->server).ask;
    if (asked == PGW_ASK_COMMIT || asked == PGW_ASK_ROLLBACK || (asked == PGW_ASK_BEGIN && !done))
        px_ydb_settle(session, done && asked == PGW_ASK_COMMIT);
}

void px_ydb_session_done(px_ydb_session *session, const char *tag)
{
    if (session->running != NULL) {
        px_ydb_runs_end(session, tag, NULL);
    } else if (pgw_server_next(session->server).ask == PGW_ASK_ANALYZE) {
        px_ydb_described(session);
    } else if (session->learning != NULL) {
        px_ydb_learned_told(session);
        run(session, pgw_server_next(session->server).portal);
    } else {
        on_controlled(session, true);
        pgw_server_done(session->server);
    }
    if (!px_runner_is_busy(session->runner))
        pgw_arena_free(&session->arena);
}

void px_ydb_session_failed(px_ydb_session *session, const pgw_error *error)
{
    session->learning = NULL;
    if (session->running != NULL) {
        px_ydb_runs_end(session, "", error);
    } else {
        on_controlled(session, false);
        pgw_server_failed(session->server, error);
    }
    pgw_arena_free(&session->arena);
}

/* ---- life ---- */

enum { PREPARED_BYTES = 64 * 1024 * 1024 }; /* limit of the statements and portals of one session */

/* A pgw_report. */
static void report_settings(void *data, pgw_buf *out)
{
    const px_ydb_session *session = data;
    px_ydb_settings_report(session->variables, out);
}

void px_ydb_session_begin(px_ydb_session *session, px_link *link, px_runner *runner)
{
    session->link = link;
    session->runner = runner;
    session->server = pgw_server_new(px_ydb_cut, session, PREPARED_BYTES);
    pgw_server_on_ready(session->server, report_settings, session);
}

bool px_ydb_session_open(px_ydb_session *session, pgw_error *error)
{
    pgw_buf told = {0};
    const char *version = px_runner_parameter(session->runner, "server_version");
    rw_variables_free(session->variables);
    session->variables =
        px_ydb_settings_new(session->link, version != NULL ? version : "14.5", error);
    if (session->variables == NULL)
        return false;
    px_ydb_settings_report(session->variables,
                           &told); /* dropped: the client's greeting tells them */
    pgw_buf_free(&told);
    return true;
}

void px_ydb_session_end(px_ydb_session *session)
{
    while (session->runs != NULL) {
        session->runs->portal = NULL;
        px_ydb_run_free(session, session->runs);
    }
    if (session->server != NULL)
        pgw_server_free(session->server);
    rw_copied_free(session->copied);
    rw_variables_free(session->variables);
    px_ydb_learned_forget(&session->learned);
    pgw_arena_free(&session->arena);
    pgw_buf_free(&session->columns);
    pgw_buf_free(&session->row);
    free(session->cells);
}
