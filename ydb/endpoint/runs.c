#include "ydb/endpoint/runs.h"

#include "config/config.h"
#include "protocol/backend.h"
#include "ydb/plain/copied_out.h"
#include "ydb/plain/result.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KEPT_BYTES = 64 * 1024 * 1024, /* most bytes of rows put by for one portal */
    COLUMN_BYTES = 18              /* length of a RowDescription's column after its name */
};

px_ydb_run *px_ydb_run_new(px_ydb_session *session, pgw_portal *portal)
{
    px_ydb_run *run = pgw_calloc(1, sizeof *run);
    run->portal = portal;
    run->next = session->runs;
    session->runs = run;
    portal->link = run;
    return run;
}

void px_ydb_run_free(px_ydb_session *session, px_ydb_run *run)
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

/* The statement_timeout runs again for a run whose rows, or whose end, are wanted again. */
static void wake(px_ydb_session *session, px_ydb_run *run)
{
    if (run->suspended)
        px_runner_limit(session->runner, px_ydb_timeout(session));
    run->suspended = false;
}

/* Resumes what the runner runs, with its rows put by, so that the runner becomes free. */
bool px_ydb_runs_make_way(px_ydb_session *session)
{
    px_ydb_run *run = session->running;
    if (run != NULL) {
        run->kept = !run->unwanted;
        wake(session, run);
        px_runner_resume(session->runner);
    }
    return !px_runner_is_busy(session->runner);
}

/* The type of the next column of a RowDescription. */
static uint32_t next_type(pgw_reader *columns)
{
    pgw_read_string(columns);
    pgw_reader rest = pgw_reader_of(pgw_read_bytes(columns, COLUMN_BYTES));
    pgw_read_bytes(&rest, 6);
    return pgw_read_u32(&rest);
}

/* Whether a column is in binary: by Bind's rules for 0, 1 and n result format codes. */
static bool is_binary(pgw_slice results, size_t column)
{
    pgw_reader reader = pgw_reader_of(results);
    size_t count = pgw_read_u16(&reader), skipped = count > 1 ? column : 0;
    if (count == 0)
        return false;
    pgw_read_bytes(&reader, 2 * skipped);
    return pgw_read_u16(&reader) == 1;
}

bool px_ydb_run_can_be_sent(const px_ydb_run *run, pgw_error *error)
{
    pgw_slice results = run->portal->bind.results;
    pgw_reader columns = pgw_reader_of(pgw_slice_buf(&run->columns));
    size_t count = run->columns.len > 0 && results.len > 2 ? pgw_read_u16(&columns) : 0;
    pgw_buf none = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t type = next_type(&columns);
        if (is_binary(results, i) && !rw_result_has_binary(type))
            return rw_result_send(type, PGW_LITERAL(""), &px_plain_env, &none, error);
    }
    return true;
}

static bool add_cell(px_ydb_session *session, uint32_t type, pgw_slice text, bool binary,
                     pgw_error *error)
{
    if (binary)
        return rw_result_send(type, text, &px_plain_env, &session->row, error);
    pgw_buf_add_slice(&session->row, text);
    return true;
}

pgw_slice *px_ydb_cells(px_ydb_session *session, size_t count)
{
    if (count > session->cells_room) {
        session->cells_room = count;
        session->cells = pgw_realloc(session->cells, count * sizeof *session->cells);
    }
    return session->cells;
}

/* Fills session->cells with the row in the client's formats; their bytes are in session->row, whose
 * memory moves while it grows. */
static bool convert(px_ydb_session *session, const px_ydb_run *run, const pgw_slice *cells,
                    size_t count, pgw_error *error)
{
    pgw_reader columns = pgw_reader_of(pgw_slice_buf(&run->columns));
    pgw_slice *out = px_ydb_cells(session, count);
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

/* --- COPY TO, whose rows are data --- */

static void send_data(px_ydb_session *session)
{
    if (session->row.len > 0)
        pgw_server_copy_bytes(session->server, pgw_slice_buf(&session->row));
}

static void begin_data(px_ydb_session *session, px_ydb_run *run)
{
    pgw_buf_clear(&session->row);
    size_t count =
        rw_copied_out_begin(run->out, pgw_slice_buf(&run->columns), &run->arena, &session->row);
    pgw_server_copy_out(session->server, rw_copied_out_is_binary(run->out), count);
    send_data(session);
}

/* Sends a row as CopyData. False: one of its values has no binary form. */
static bool give_data(px_ydb_session *session, px_ydb_run *run, const pgw_slice *cells,
                      size_t count, pgw_error *error)
{
    pgw_buf_clear(&session->row);
    if (!rw_copied_out_row(run->out, cells, count, &session->row, error))
        return false;
    send_data(session);
    return true;
}

static void end_data(px_ydb_session *session, px_ydb_run *run)
{
    pgw_buf_clear(&session->row);
    uint64_t rows = rw_copied_out_end(run->out, &session->row);
    snprintf(run->tag, sizeof run->tag, "COPY %llu", (unsigned long long)rows);
    send_data(session);
}

/* Parts the run from its portal; rows that still come are dropped. */
void px_ydb_run_leave(px_ydb_run *run)
{
    run->portal->link = NULL;
    run->portal = NULL;
    run->unwanted = true;
}

/* Gives the portal a row. True: more rows are wanted. */
static bool give(px_ydb_session *session, px_ydb_run *run, const pgw_slice *cells, size_t count)
{
    pgw_error error;
    bool data = run->out != NULL;
    if (data && give_data(session, run, cells, count, &error))
        return true;
    if (!data && run->portal->bind.results.len <= 2)
        return pgw_server_row(session->server, cells, count);
    if (!data && convert(session, run, cells, count, &error))
        return pgw_server_row(session->server, session->cells, count);
    px_ydb_run_leave(run);
    pgw_server_failed(session->server, &error);
    return false;
}

static void keep(px_ydb_run *run, const pgw_slice *cells, size_t count)
{
    run->overflowed = run->overflowed || run->rows.len > KEPT_BYTES ||
                      !pgw_write_data_row(cells, count, &run->rows);
}

/* Lets a write fail, before anything is written, if one of its rows has no binary form. */
static void check_held(px_ydb_session *session, const px_ydb_run *run, const pgw_slice *cells,
                       size_t count)
{
    pgw_error error;
    if (run->held && run->portal->bind.results.len > 2 && run->columns.len > 0 &&
        !convert(session, run, cells, count, &error))
        px_runner_refuse(session->runner, &error);
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

void px_ydb_runs_row(px_ydb_session *session, const pgw_slice *cells, size_t count)
{
    px_ydb_run *run = session->running;
    if (run->unwanted)
        return;
    check_held(session, run, cells, count);
    if (run->kept)
        keep(run, cells, count);
    else if (!give(session, run, cells, count))
        run->suspended = run->portal != NULL;
    /* A write's rows come before anything is written, so that it can still fail. */
    if (run->held && run->overflowed) {
        say_overflowed(run);
        px_runner_refuse(session->runner, &run->error);
    }
    if (run->suspended)
        px_runner_limit(session->runner, 0); /* no timeout while the client does not fetch */
    bool full = pgw_server_output(session->server)->len > PX_STREAM_HIGH;
    if (run->suspended || (full && !run->kept))
        px_runner_pause(session->runner);
}

void px_ydb_runs_again(px_ydb_session *session)
{
    if (session->running == NULL)
        return;
    pgw_buf_clear(&session->running->rows);
    session->running->overflowed = false;
    session->running->error = PGW_ERROR_NONE;
}

void px_ydb_runs_drained(px_ydb_session *session)
{
    if (session->running != NULL && !session->running->suspended)
        px_runner_resume(session->runner);
}

/* The columns to be told. EXECUTE's are told as they were prepared, for its arguments stand in the
 * text as constants, which would give columns other names. */
static pgw_slice columns_of(const px_ydb_run *run)
{
    const pgw_slice columns = pgw_slice_buf(&run->columns);
    const pgw_slice described = run->portal->statement->columns;
    bool with_arguments = run->portal->arguments != NULL && run->portal->statement->type_count > 0;
    return with_arguments && pgw_row_descriptions_read_alike(columns, described) ? described
                                                                                 : columns;
}

/* Tells the columns of a Query's statement, or begins COPY's data; other portals were described.
 * False: the columns are refused. */
static bool tells_columns(px_ydb_session *session, px_ydb_run *run)
{
    if (run->out != NULL && run->portal != NULL) {
        begin_data(session, run);
        return true;
    }
    bool lone = run->portal != NULL && run->portal->borrowed && run->columns.len > 0;
    return !lone || pgw_server_columns(session->server, columns_of(run));
}

/* Refuses a write, before anything is written, if its columns are not those that were described:
 * the latter are the table's, the former expressions that are cast to the configured types. */
static void check_columns(px_ydb_session *session, const px_ydb_run *run, pgw_slice columns)
{
    pgw_error error;
    pgw_slice described = pgw_slice_buf(&run->columns);
    if (!run->held || described.len == 0 || pgw_row_descriptions_read_alike(columns, described))
        return;
    pgw_fail(&error, "0A000", "cached plan must not change result type");
    pgw_error_stale(&error);
    px_runner_refuse(session->runner, &error);
}

void px_ydb_runs_columns(px_ydb_session *session, pgw_slice columns)
{
    px_ydb_run *run = session->running;
    pgw_buf *to = run != NULL ? &run->columns : &session->columns;
    if (run != NULL)
        check_columns(session, run, columns);
    /* A write keeps the columns with which it was described. */
    if (run == NULL || !run->held || to->len == 0) {
        pgw_buf_clear(to);
        pgw_buf_add_slice(to, columns);
    }
    if (run != NULL && !run->held && !tells_columns(session, run))
        px_ydb_run_leave(run);
}

/* Parts the run from its portal, which may be gone once the machine is told of the run's end. */
static void detach(px_ydb_run *run)
{
    if (run->portal != NULL)
        run->portal->link = NULL;
    run->portal = NULL;
}

static void tell_end(px_ydb_session *session, px_ydb_run *run)
{
    detach(run);
    if (run->error.sqlstate[0] != '\0') {
        pgw_server_failed(session->server, &run->error);
        return;
    }
    if (run->out != NULL)
        end_data(session, run);
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

/* Gives the rows that were put by, as many as are wanted; then the end of the run. */
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
                px_ydb_run_free(session, run);
            return;
        }
    }
    tell_end(session, run);
    px_ydb_run_free(session, run);
}

/* Gives the rows of a run that has succeeded, or only its error. */
static void give_held(px_ydb_session *session, px_ydb_run *run)
{
    if (run->error.sqlstate[0] == '\0' && tells_columns(session, run)) {
        give_kept(session, run);
        return;
    }
    if (run->error.sqlstate[0] != '\0')
        tell_end(session, run);
    else
        px_ydb_run_leave(run);
    px_ydb_run_free(session, run);
}

/* The runner has finished the run's program; `error` NULL: with success. */
void px_ydb_runs_end(px_ydb_session *session, const char *tag, const pgw_error *error)
{
    px_ydb_run *run = session->running;
    session->running = NULL;
    run->ended = true;
    snprintf(run->tag, sizeof run->tag, "%s", tag);
    if (error != NULL)
        run->error = *error;
    else if (px_runner_keep(session->runner, run->program, &run->arena))
        run->program = NULL;
    say_overflowed(run);
    if (run->held && run->portal != NULL && !run->unwanted) {
        give_held(session, run);
        return;
    }
    if (error != NULL && (run->kept || run->unwanted)) /* the client is not told now */
        px_runner_lose_block(session->runner, error);
    if (run->kept)
        return;
    (run->unwanted ? tell_unwanted : tell_end)(session, run);
    px_ydb_run_free(session, run);
}

void px_ydb_runs_made(px_ydb_session *session, pgw_portal *portal, const px_ydb_made *made)
{
    px_ydb_run *run = px_ydb_run_new(session, portal);
    run->ended = true;
    pgw_buf_add_slice(&run->columns, made->columns);
    for (size_t i = 0; i < made->rows; i++)
        keep(run, &made->cells[i * made->width], made->width);
    snprintf(run->tag, sizeof run->tag, "%s", made->tag);
    say_overflowed(run);
    give_held(session, run);
}

void px_ydb_runs_resume(px_ydb_session *session, px_ydb_run *resumed)
{
    if (resumed != session->running) {
        give_kept(session, resumed);
        return;
    }
    wake(session, resumed);
    px_runner_resume(session->runner);
}

void px_ydb_runs_unwanted(px_ydb_session *session, px_ydb_run *ended)
{
    if (ended == session->running && ended != NULL) {
        ended->unwanted = true;
        ended->kept = false;
        wake(session, ended);
        px_runner_resume(session->runner);
        return;
    }
    if (ended == NULL) {
        pgw_server_done(session->server);
        return;
    }
    tell_unwanted(session, ended);
    px_ydb_run_free(session, ended);
}
