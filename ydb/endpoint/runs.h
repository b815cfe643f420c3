/*
 * runs: portals under way at YDB: their rows in the formats that the client asked for, now or when
 * it wants them, and how they end.
 */
#ifndef PX_YDB_RUNS_H
#define PX_YDB_RUNS_H

#include "ydb/endpoint/half.h"

px_ydb_run *px_ydb_run_new(px_ydb_session *session, pgw_portal *portal);
void px_ydb_run_free(px_ydb_session *session, px_ydb_run *run);
/* False: it may give what has no binary form here, and was asked for in binary. */
PGW_MUST_CHECK bool px_ydb_run_can_be_sent(const px_ydb_run *run, pgw_error *error);
/* What it still gives is nobody's. */
void px_ydb_run_leave(px_ydb_run *run);
/* The runner is free; false: what it runs goes on, its rows are put by, and then it is. */
PGW_MUST_CHECK bool px_ydb_runs_make_way(px_ydb_session *session);

/* RESUME and END. `run` NULL: there is none any more. */
void px_ydb_runs_resume(px_ydb_session *session, px_ydb_run *run);
void px_ydb_runs_unwanted(px_ydb_session *session, px_ydb_run *run);

/* What the runner tells. */
void px_ydb_runs_columns(px_ydb_session *session, pgw_slice columns);
void px_ydb_runs_row(px_ydb_session *session, const pgw_slice *cells, size_t count);
void px_ydb_runs_again(px_ydb_session *session); /* it is begun once more */
/* … what runs is through; `error` NULL: with success. */
void px_ydb_runs_end(px_ydb_session *session, const char *tag, const pgw_error *error);
/* RUN of what YDB is not asked for: the portal gives these rows, of `width` cells each. */
typedef struct px_ydb_made {
    pgw_slice columns; /* the body of a RowDescription; empty: no rows */
    const pgw_slice *cells;
    size_t rows, width;
    const char *tag;
} px_ydb_made;
void px_ydb_runs_made(px_ydb_session *session, pgw_portal *portal, const px_ydb_made *made);
/* The machine's output was full, and is not any more. */
void px_ydb_runs_drained(px_ydb_session *session);

/* Room for so many cells, valid until the next row. */
pgw_slice *px_ydb_cells(px_ydb_session *session, size_t count);

#endif
