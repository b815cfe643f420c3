/*
 * runs: portals that are run at YDB: their rows, in the formats and at the time that the client
 * asks for, and how the runs end.
 */
#ifndef PX_YDB_RUNS_H
#define PX_YDB_RUNS_H

#include "ydb/endpoint/half.h"

px_ydb_run *px_ydb_run_new(px_ydb_session *session, pgw_portal *portal);
void px_ydb_run_free(px_ydb_session *session, px_ydb_run *run);
/* False: a column that the client asks for in binary is of a type without a binary form here. */
PGW_MUST_CHECK bool px_ydb_run_can_be_sent(const px_ydb_run *run, pgw_error *error);
/* Parts the run from its portal; rows that still come are dropped. */
void px_ydb_run_leave(px_ydb_run *run);
/* Whether the runner is free. False: the run that it is at goes on, with its rows put by; the
 * runner is free when that run has ended. */
PGW_MUST_CHECK bool px_ydb_runs_make_way(px_ydb_session *session);

/* Answer RESUME and END; for END `run` may be NULL: it is gone already. */
void px_ydb_runs_resume(px_ydb_session *session, px_ydb_run *run);
void px_ydb_runs_unwanted(px_ydb_session *session, px_ydb_run *run);

/* What the runner tells of its columns and rows; they are those of session->running, if any. */
void px_ydb_runs_columns(px_ydb_session *session, pgw_slice columns);
void px_ydb_runs_row(px_ydb_session *session, const pgw_slice *cells, size_t count);
void px_ydb_runs_again(px_ydb_session *session); /* the program begins anew */
/* The runner has finished the program of session->running; `error` NULL: with success. */
void px_ydb_runs_end(px_ydb_session *session, const char *tag, const pgw_error *error);
/* Rows that are made here without YDB, of `width` cells each. */
typedef struct px_ydb_made {
    pgw_slice columns; /* the body of a RowDescription; empty: no rows */
    const pgw_slice *cells;
    size_t rows, width;
    const char *tag;
} px_ydb_made;
/* Answers RUN of a portal with such rows. */
void px_ydb_runs_made(px_ydb_session *session, pgw_portal *portal, const px_ydb_made *made);
/* The machine's output was full, and has been sent: rows go on. */
void px_ydb_runs_drained(px_ydb_session *session);

/* Room for `count` cells, valid until the next row. */
pgw_slice *px_ydb_cells(px_ydb_session *session, size_t count);

#endif
