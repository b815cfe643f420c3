#include "proxy/backend/ydb/session.h"

#include "protocol/backend.h"
#include "protocol/types.h"
#include "proxy/backend/catalog.h"
#include "proxy/backend/state.h"
#include "proxy/backend/ydb/cutter.h"
#include "proxy/backend/ydb/wording.h"
#include "rewrite/plain/result.h"
#include "rewrite/plain/returning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 * 1024 * 1024 }; /* of rows that nobody wants yet, of one portal */

static const cfg_config *config_of(const px_ydb_session *session)
{
    return session->link->worker->config;
}

static pgw_reading reading_of(px_ydb_session *session, pgw_error *error)
{
    return (pgw_reading){&session->link->identity->env, &session->arena, error};
}

/* ---- runs ---- */

static px_ydb_run *new_run(px_ydb_session *session, pgw_portal *portal)
{
    px_ydb_run *run = pgw_calloc(1, sizeof *run);
    run->portal = portal;
    run->next = session->runs;
    session->runs = run;
    portal->link = run;
    return run;
}

static void free_run(px_ydb_session *session, px_ydb_run *run)
{
    px_ydb_run **at = &session->runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    if (run->portal != NULL)
        run->portal->link = NULL;
    rw_program_free(run->program);
    pgw_arena_free(&run->arena);
    pgw_buf_free(&run->columns);
    pgw_buf_free(&run->rows);
    free(run);
}

/* The runner is free, or what it runs goes on, to make it so. */
static bool has_runner(px_ydb_session *session)
{
    px_ydb_run *run = session->running;
    if (run != NULL) {
        run->kept = !run->unwanted;
        run->suspended = false;
        px_runner_resume(session->runner);
    }
    return !px_runner_is_busy(session->runner);
}

/* ---- rows, as the client wants them ---- */

enum { COLUMN_BYTES = 18 }; /* of a RowDescription's column, behind its name */

/* The type of the next column of a RowDescription. */
static uint32_t next_type(pgw_reader *columns)
{
    pgw_read_string(columns);
    pgw_reader rest = pgw_reader_of(pgw_read_bytes(columns, COLUMN_BYTES));
    pgw_read_bytes(&rest, 6);
    return pgw_read_u32(&rest);
}

/* The format of each column: by the rules for 0, 1 and n codes. */
static bool is_binary(pgw_slice results, size_t column)
{
    pgw_reader reader = pgw_reader_of(results);
    size_t count = pgw_read_u16(&reader), skipped = count > 1 ? column : 0;
    if (count == 0)
        return false;
    pgw_read_bytes(&reader, 2 * skipped);
    return pgw_read_u16(&reader) == 1;
}

static bool add_cell(px_ydb_session *session, uint32_t type, pgw_slice text, bool binary,
                     pgw_error *error)
{
    if (binary)
        return rw_result_send(type, text, &session->link->identity->env, &session->row, error);
    pgw_buf_add_slice(&session->row, text);
    return true;
}

static pgw_slice *room_for(px_ydb_session *session, size_t count)
{
    if (count > session->cells_room) {
        session->cells_room = count;
        session->cells = pgw_realloc(session->cells, count * sizeof *session->cells);
    }
    return session->cells;
}

/* session->cells; their bytes are in session->row, which moves while it grows. */
static bool convert(px_ydb_session *session, const px_ydb_run *run, const pgw_slice *cells,
                    size_t count, pgw_error *error)
{
    pgw_reader columns = pgw_reader_of(pgw_slice_buf(&run->columns));
    pgw_slice *out = room_for(session, count);
    pgw_read_u16(&columns);
    pgw_buf_clear(&session->row);
    for (size_t i = 0; i < count; i++) {
        size_t at = session->row.len;
        uint32_t type = next_type(&columns);
        bool binary = is_binary(run->portal->bind.results, i);
        if (cells[i].ptr != NULL && !add_cell(session, type, cells[i], binary, error))
            return false;
        out[i].len = session->row.len - at;
    }
    const char *bytes = pgw_buf_reserve(&session->row, 1) - session->row.len;
    for (size_t i = 0; i < count; bytes += out[i++].len)
        out[i].ptr = cells[i].ptr == NULL ? NULL : bytes;
    return true;
}

/* What it still gives is nobody's. */
static void leave(px_ydb_run *run)
{
    run->portal->link = NULL;
    run->portal = NULL;
    run->unwanted = true;
}

/* True: more rows are wanted. */
static bool give(px_ydb_session *session, px_ydb_run *run, const pgw_slice *cells, size_t count)
{
    pgw_error error;
    if (run->portal->bind.results.len <= 2)
        return pgw_server_row(session->server, cells, count);
    if (convert(session, run, cells, count, &error))
        return pgw_server_row(session->server, session->cells, count);
    leave(run);
    pgw_server_failed(session->server, &error);
    return false;
}

static void keep(px_ydb_run *run, const pgw_slice *cells, size_t count)
{
    run->overflowed = run->overflowed || run->rows.len > KEPT_BYTES ||
                      !pgw_write_data_row(cells, count, &run->rows);
}

void px_ydb_session_row(px_ydb_session *session, const pgw_slice *cells, size_t count)
{
    px_ydb_run *run = session->running;
    if (run->unwanted)
        return;
    if (run->kept)
        keep(run, cells, count);
    else if (!give(session, run, cells, count))
        run->suspended = run->portal != NULL;
    bool full = pgw_server_output(session->server)->len > PX_STREAM_HIGH;
    if (run->suspended || (full && !run->kept))
        px_runner_pause(session->runner);
}

void px_ydb_session_again(px_ydb_session *session)
{
    if (session->running != NULL)
        pgw_buf_clear(&session->running->rows);
}

void px_ydb_session_drained(px_ydb_session *session)
{
    if (session->running != NULL && !session->running->suspended)
        px_runner_resume(session->runner);
}

void px_ydb_session_columns(px_ydb_session *session, pgw_slice columns)
{
    px_ydb_run *run = session->running;
    pgw_buf *to = run != NULL ? &run->columns : &session->columns;
    pgw_buf_clear(to);
    pgw_buf_add_slice(to, columns);
    bool lone = run != NULL && run->portal != NULL && run->portal->borrowed;
    if (lone && !pgw_server_columns(session->server, columns))
        leave(run);
}

/* ---- the ends of runs ---- */

/* Behind what is told of a run its portal may be gone. */
static void detach(px_ydb_run *run)
{
    if (run->portal != NULL)
        run->portal->link = NULL;
    run->portal = NULL;
}

static void tell_end(px_ydb_session *session, px_ydb_run *run)
{
    detach(run);
    if (run->error.sqlstate[0] != '\0')
        pgw_server_failed(session->server, &run->error);
    else
        pgw_server_completed(session->server, run->tag);
}

static void tell_unwanted(px_ydb_session *session, px_ydb_run *run)
{
    if (run->portal == NULL)
        return;
    detach(run);
    if (run->error.sqlstate[0] != '\0')
        pgw_server_failed(session->server, &run->error);
    else
        pgw_server_done(session->server);
}

static void say_overflowed(px_ydb_run *run)
{
    if (!run->overflowed)
        return;
    pgw_fail(&run->error, "53200",
             "rows of a portal that are not fetched yet take more than %d MiB",
             KEPT_BYTES / 1024 / 1024);
    pgw_error_hint(&run->error, "Fetch them before another statement is run, or on another "
                                "connection.");
}

/* Rows that were put by. */
static void give_kept(px_ydb_session *session, px_ydb_run *run)
{
    while (run->at < run->rows.len) {
        pgw_slice rest = {run->rows.ptr + run->at, run->rows.len - run->at};
        pgw_frame frame;
        if (pgw_frame_next(rest, &frame) != PGW_FRAME_OK)
            break;
        run->at += frame.size;
        pgw_reader reader = pgw_reader_of(pgw_frame_body(rest, frame));
        size_t count = pgw_read_u16(&reader);
        pgw_slice *cells = pgw_arena_alloc(&session->arena, count * sizeof *cells + 1);
        for (size_t i = 0; i < count; i++) {
            uint32_t len = pgw_read_u32(&reader);
            cells[i] = len == UINT32_MAX ? (pgw_slice){NULL, 0} : pgw_read_bytes(&reader, len);
        }
        if (!give(session, run, cells, count)) {
            if (run->portal == NULL)
                free_run(session, run);
            return;
        }
    }
    tell_end(session, run);
    free_run(session, run);
}

/* The runner has done its part; `error` NULL: with success. */
static void end_run(px_ydb_session *session, const char *tag, const pgw_error *error)
{
    px_ydb_run *run = session->running;
    session->running = NULL;
    run->ended = true;
    snprintf(run->tag, sizeof run->tag, "%s", tag);
    if (error != NULL)
        run->error = *error;
    say_overflowed(run);
    if (run->held && run->portal != NULL && !run->unwanted) {
        give_kept(session, run);
        return;
    }
    if (run->kept)
        return;
    (run->unwanted ? tell_unwanted : tell_end)(session, run);
    free_run(session, run);
}

/* ---- what the machine asks for ---- */

static rw_catalog catalog_of(px_ydb_session *session)
{
    const px_catalog *known = px_catalog_last(session->link->worker, session->link->identity);
    if (known == NULL)
        return (rw_catalog){0};
    return (rw_catalog){.tables = (const rw_table *const *)known->tables, .count = known->count};
}

static void analyzed(px_ydb_session *session)
{
    pgw_server_analyzed(session->server, session->types, session->type_count,
                        pgw_slice_buf(&session->columns));
}

const char *px_ydb_session_setting(const px_ydb_session *session, const char *name)
{
    pgw_slice value;
    bool known = session->variables != NULL &&
                 rw_variables_get(session->variables, pgw_slice_str(name), &value);
    return known ? value.ptr : NULL;
}

static const char *setting_of(void *data, const char *name)
{
    const char *value = px_ydb_session_setting(data, name);
    return value != NULL ? value : "";
}

/* ---- settings ---- */

static void report(px_ydb_session *session)
{
    px_ydb_settings_report(session->variables, pgw_server_notes(session->server));
}

static void settle(px_ydb_session *session, bool keep)
{
    (keep ? rw_variables_commit : rw_variables_rollback)(session->variables);
    report(session);
}

static bool is_about_settings(pgw_command command)
{
    return command == PGW_COMMAND_SESSION || command == PGW_COMMAND_DISCARD;
}

static void analyze_settings(px_ydb_session *session, const pgw_statement *statement,
                             const rw_inferred *inferred, const pgw_reading *reading)
{
    rw_said said;
    if (rw_session_describe(session->variables, statement->piece.text, reading, &said))
        pgw_server_analyzed(session->server, inferred->types, inferred->count, said.columns);
    else
        pgw_server_failed(session->server, reading->error);
}

static void say(px_ydb_session *session, const rw_said *said)
{
    bool wanted = said->columns.len == 0 || pgw_server_columns(session->server, said->columns);
    for (size_t i = 0; wanted && i < said->rows; i++)
        wanted = pgw_server_row(session->server, &said->cells[i * said->width], said->width);
    if (said->warning.sqlstate[0] != '\0')
        pgw_notice_write(&said->warning, "WARNING", pgw_server_output(session->server));
    if (wanted)
        pgw_server_completed(session->server, said->tag);
}

static void run_settings(px_ydb_session *session, const pgw_portal *portal)
{
    rw_said said;
    pgw_error error;
    pgw_slice text;
    pgw_reading reading = reading_of(session, &error);
    bool in_block = pgw_server_status(session->server) != 'I';
    size_t most = config_of(session)->backend.capabilities.max_message;
    if (!px_ydb_word(portal, most, &reading, &text) ||
        !rw_session_run(session->variables, text, in_block, &reading, &said)) {
        pgw_server_failed(session->server, &error);
        return;
    }
    report(session);
    say(session, &said);
}

/* What the rooms above ask of a session's state is answered here, for here it is. */
static pgw_slice *answer_state(px_ydb_session *session, pgw_slice question)
{
    pgw_slice *cells = room_for(session, px_state_cells(question));
    pgw_buf_clear(&session->columns);
    px_state_answer(question, setting_of, session, &session->columns, cells);
    return cells;
}

static void run_state(px_ydb_session *session, pgw_slice question)
{
    pgw_slice *cells = answer_state(session, question);
    if (pgw_server_columns(session->server, pgw_slice_buf(&session->columns)) &&
        pgw_server_row(session->server, cells, px_state_cells(question)))
        pgw_server_completed(session->server, "SELECT 1");
}

static void analyze_state(px_ydb_session *session, pgw_slice question)
{
    answer_state(session, question);
    pgw_server_analyzed(session->server, NULL, 0, pgw_slice_buf(&session->columns));
}

/* Not all of a statement's parameters have a type that it declares. */
static bool is_open(const pgw_statement *statement, const rw_inferred *inferred)
{
    for (uint32_t i = 1; i <= inferred->count; i++)
        if (!rw_is_declared((rw_declared){statement->types, statement->type_count}, i))
            return true;
    return false;
}

/* A table of the statement is asked for its columns first. */
static bool learns(px_ydb_session *session, const pgw_statement *statement,
                   const rw_inferred *inferred)
{
    const rw_relation *lacks = px_ydb_learned_lacks(&session->learned, inferred->missing);
    if (lacks == NULL || !is_open(statement, inferred))
        return false;
    pgw_buf text = {0};
    px_ydb_learned_ask(lacks, &text);
    session->learning = lacks;
    px_runner_describe(session->runner, pgw_slice_buf(&text));
    pgw_buf_free(&text);
    return true;
}

/* A read is described by itself, RETURNING by a query that has its columns. Other writes are not
 * looked at before they are run: that would cost them a round trip. */
static void describe(px_ydb_session *session, const pgw_statement *statement, pgw_slice text)
{
    pgw_error error;
    const pgw_reading reading = reading_of(session, &error);
    pgw_slice query = text;
    if (statement->piece.command != PGW_COMMAND_READ && !rw_returning_query(text, &reading, &query))
        pgw_server_failed(session->server, &error);
    else if (query.len > 0)
        px_runner_describe(session->runner, query);
    else
        analyzed(session);
}

static void analyze(px_ydb_session *session, const pgw_statement *statement)
{
    pgw_error error;
    pgw_reading reading = reading_of(session, &error);
    rw_catalog catalog = catalog_of(session);
    size_t most = config_of(session)->backend.capabilities.max_message;
    rw_inferred inferred = {0};
    pgw_slice text;
    if (px_state_is_question(statement->piece.text)) {
        analyze_state(session, statement->piece.text);
        return;
    }
    catalog.others = px_ydb_learned_now(&session->learned, px_worker_now(session->link->worker));
    pgw_buf_clear(&session->columns);
    if (!px_ydb_word_nulls(statement, &catalog, most, &reading, &inferred, &text)) {
        pgw_server_failed(session->server, &error);
        return;
    }
    if (is_about_settings(statement->piece.command)) {
        analyze_settings(session, statement, &inferred, &reading);
        return;
    }
    if (learns(session, statement, &inferred))
        return;
    session->types = inferred.types;
    session->type_count = inferred.count;
    describe(session, statement, text);
}

static void on_described(px_ydb_session *session)
{
    const rw_relation *learned = session->learning;
    uint64_t now = px_worker_now(session->link->worker);
    session->learning = NULL;
    if (learned == NULL) {
        analyzed(session);
        return;
    }
    px_ydb_learned_add(&session->learned, learned, pgw_slice_buf(&session->columns),
                       now + (uint64_t)config_of(session)->backend.catalog_s * 1000);
    analyze(session, pgw_server_next(session->server).statement);
}

static void check_parameters(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    pgw_slice text;
    pgw_reading reading = reading_of(session, &error);
    if (px_ydb_word(portal, config_of(session)->backend.capabilities.max_message, &reading, &text))
        pgw_server_done(session->server);
    else
        pgw_server_failed(session->server, &error);
}

static bool plan(px_ydb_session *session, px_ydb_run *run, pgw_error *error)
{
    const cfg_config *config = config_of(session);
    const cfg_capabilities *capabilities = &config->backend.capabilities;
    const pgw_env *env = &session->link->identity->env;
    const pgw_reading reading = {env, &run->arena, error};
    bool idle = pgw_server_status(session->server) == 'I';
    rw_catalog catalog = catalog_of(session);
    pgw_slice text;
    const rw_program_options options = {.env = env,
                                        .exact = config->backend.exact_counts,
                                        .insert_first = config->backend.insert_first && idle,
                                        .update_from = capabilities->can[CFG_CAN_UPDATE_FROM],
                                        .drops_typmods = !capabilities->can[CFG_CAN_TYPMODS],
                                        .most = capabilities->max_message};
    if (!px_ydb_word(run->portal, capabilities->max_message, &reading, &text))
        return false;
    run->program = rw_program_new(text, &catalog, &options, error);
    return run->program != NULL;
}

/* YDB would do it at once, whatever becomes of the transaction. */
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

static void run(px_ydb_session *session, pgw_portal *portal)
{
    if (px_state_is_question(portal->statement->piece.text)) {
        run_state(session, portal->statement->piece.text);
        return;
    }
    if (is_about_settings(portal->statement->piece.command)) {
        run_settings(session, portal);
        return;
    }
    if (refuses_alone(session, portal))
        return;
    px_ydb_run *run = new_run(session, portal);
    pgw_error error;
    if (portal->statement->piece.command == PGW_COMMAND_ALONE)
        px_ydb_learned_forget(&session->learned);
    if (!plan(session, run, &error)) {
        leave(run);
        free_run(session, run);
        pgw_server_failed(session->server, &error);
        return;
    }
    bool several = !rw_program_is_single(run->program);
    run->held = run->kept = several && pgw_server_status(session->server) == 'I';
    pgw_buf_add_slice(&run->columns, portal->statement->columns);
    session->running = run;
    px_runner_program(session->runner, run->program,
                      (uint64_t)rw_variables_statement_timeout(session->variables));
}

static void resume(px_ydb_session *session, px_ydb_run *resumed)
{
    if (resumed != session->running) {
        give_kept(session, resumed);
        return;
    }
    resumed->suspended = false;
    px_runner_resume(session->runner);
}

static void end(px_ydb_session *session, px_ydb_run *ended)
{
    if (ended == session->running && ended != NULL) {
        ended->unwanted = true;
        ended->kept = ended->suspended = false;
        px_runner_resume(session->runner);
        return;
    }
    if (ended == NULL) {
        pgw_server_done(session->server);
        return;
    }
    tell_unwanted(session, ended);
    free_run(session, ended);
}

static void do_action(px_ydb_session *session, const pgw_action *action)
{
    switch (action->ask) {
    case PGW_ASK_ANALYZE:
        analyze(session, action->statement);
        return;
    case PGW_ASK_BIND:
        check_parameters(session, action->portal);
        return;
    case PGW_ASK_RUN:
        run(session, action->portal);
        return;
    case PGW_ASK_SETTLE:
        settle(session, action->keep);
        pgw_server_done(session->server);
        return;
    case PGW_ASK_BEGIN:
        px_runner_control(session->runner, PX_CONTROL_BEGIN);
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

/* False: the runner is at it. */
static bool try_action(px_ydb_session *session, const pgw_action *action)
{
    px_ydb_run *running = session->running;
    if (action->ask == PGW_ASK_RESUME)
        resume(session, action->portal->link);
    else if (action->ask == PGW_ASK_END)
        end(session, action->portal->link);
    else if (!has_runner(session))
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
        bool busy = px_runner_is_busy(session->runner);
        bool waits = session->running != NULL && session->running->suspended;
        if (action.ask == PGW_ASK_MESSAGE || action.ask == PGW_ASK_CLOSE || (busy && !waits))
            return;
        if (!try_action(session, &action))
            return;
        pgw_arena_free(&session->arena);
    }
}

/* BEGIN, COMMIT or ROLLBACK, which settle what was set within. */
static void on_controlled(px_ydb_session *session, bool done)
{
    pgw_asked asked = pgw_server_next(session->server).ask;
    if (asked == PGW_ASK_COMMIT || asked == PGW_ASK_ROLLBACK)
        settle(session, done && asked == PGW_ASK_COMMIT);
}

void px_ydb_session_done(px_ydb_session *session, const char *tag)
{
    if (session->running != NULL) {
        end_run(session, tag, NULL);
    } else if (pgw_server_next(session->server).ask == PGW_ASK_ANALYZE) {
        on_described(session);
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
        end_run(session, "", error);
    } else {
        on_controlled(session, false);
        pgw_server_failed(session->server, error);
    }
    pgw_arena_free(&session->arena);
}

/* ---- life ---- */

enum { PREPARED_BYTES = 64 * 1024 * 1024 }; /* of one session */

void px_ydb_session_begin(px_ydb_session *session, px_link *link, px_runner *runner)
{
    session->link = link;
    session->runner = runner;
    session->server = pgw_server_new(px_ydb_cut, &link->identity->env, PREPARED_BYTES);
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
    px_ydb_settings_report(session->variables, &told); /* the rooms above tell them at first */
    pgw_buf_free(&told);
    return true;
}

void px_ydb_session_end(px_ydb_session *session)
{
    while (session->runs != NULL) {
        session->runs->portal = NULL;
        free_run(session, session->runs);
    }
    if (session->server != NULL)
        pgw_server_free(session->server);
    rw_variables_free(session->variables);
    px_ydb_learned_forget(&session->learned);
    pgw_arena_free(&session->arena);
    pgw_buf_free(&session->columns);
    pgw_buf_free(&session->row);
    free(session->cells);
}
