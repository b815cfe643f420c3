/*
 * half: the state of a session (session.h): the portals that run, what is kept, and what the action
 * at hand needs.
 */
#ifndef PX_YDB_HALF_H
#define PX_YDB_HALF_H

#include "ydb/server/server.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/schema/audit.h"
#include "ydb/endpoint/learned.h"
#include "ydb/endpoint/runner.h"
#include "ydb/endpoint/settings.h"

/* A portal that was begun to be run, and whose end is not told yet. */
typedef struct px_ydb_run {
    struct px_ydb_run *next;   /* the next run of the session */
    pgw_portal *portal;        /* NULL: no portal hears of the run any more */
    pgw_arena arena;           /* memory of the program's text */
    rw_program *program;       /* may become the runner's, with `arena`, when the run has ended */
    pgw_buf columns;           /* body of the portal's RowDescription */
    struct rw_copied_out *out; /* COPY TO STDOUT, in the arena; NULL: rows are DataRows */
    bool suspended;            /* no rows are wanted until the portal is executed once more */
    bool unwanted;             /* no rows will be wanted any more */
    bool held;                 /* the program writes: its rows are put by until it has succeeded */
    bool kept;                 /* rows are put by in `rows` until they are wanted */
    pgw_buf rows;              /* whole DataRow messages that were put by */
    size_t at;                 /* bytes of `rows` that were given */
    bool overflowed;           /* the rows put by are more than KEPT_BYTES, or one is too long */
    bool ended;                /* the runner has finished it: `tag` or `error` says how */
    char tag[64];
    pgw_error error;
} px_ydb_run;

typedef struct px_ydb_session {
    pgw_server *server;
    px_runner *runner;
    px_link *link;
    px_ydb_run *runs;
    px_ydb_run *running;      /* the run whose program the runner runs; NULL: none */
    pgw_arena arena;          /* memory of the action at hand */
    struct rw_copied *copied; /* the COPY FROM STDIN whose data is awaited; NULL: none */
    rw_variables *variables;
    px_ydb_learned learned;
    const rw_relation *learning; /* the table that YDB is asked to describe; NULL: the statement */
    const uint32_t *types;       /* ANALYZE: types of the statement's parameters */
    size_t type_count;
    pgw_buf columns; /* RowDescription body of what was described or is answered here */
    pgw_buf row;     /* bytes of the row at hand, in the client's formats */
    pgw_slice *cells;
    size_t cells_room;
} px_ydb_session;

static inline const cfg_config *px_ydb_config(const px_ydb_session *session)
{
    return session->link->worker->config;
}

/* The session's statement_timeout in ms; 0: none. */
static inline uint64_t px_ydb_timeout(const px_ydb_session *session)
{
    return (uint64_t)rw_variables_statement_timeout(session->variables);
}

/* How texts and values of the action are read: as in px_plain_env, which no SET changes. The link's
 * identity cannot say it, for that is made before the settings are known. */
static inline pgw_reading px_ydb_reading(px_ydb_session *session, pgw_error *error)
{
    return (pgw_reading){&px_plain_env, &session->arena, error};
}

/* The configured tables. They are read from the file if nothing has asked for them yet. */
static inline rw_catalog px_ydb_catalog(const px_ydb_session *session)
{
    const px_catalog *tables = px_catalog_by_file(session->link->worker, session->link->identity);
    return (rw_catalog){.tables = (const rw_table *const *)tables->tables, .count = tables->count};
}

#endif
