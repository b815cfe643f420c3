/*
 * half: the state of one link's half of a server, as session.h has it: what runs, what is kept, and
 * what the action at hand needs.
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
    struct px_ydb_run *next;   /* of all of a session */
    pgw_portal *portal;        /* NULL: nobody is to hear of it any more */
    pgw_arena arena;           /* of its text, … */
    rw_program *program;       /* both may be the runner's when it has ended */
    pgw_buf columns;           /* the body of its RowDescription */
    struct rw_copied_out *out; /* its rows are a COPY TO's, in the arena; NULL: they are rows */
    bool suspended;            /* no rows are wanted just now */
    bool unwanted;             /* … nor ever */
    bool held;       /* rows are put by till the end: only then it is certain that they are right */
    bool kept;       /* rows are put by: */
    pgw_buf rows;    /* DataRows */
    size_t at;       /* of them, those that were given */
    bool overflowed; /* they were too many */
    bool ended;      /* at YDB, with this tag, or this error */
    char tag[64];
    pgw_error error;
} px_ydb_run;

typedef struct px_ydb_session {
    pgw_server *server;
    px_runner *runner;
    px_link *link;
    px_ydb_run *runs;
    px_ydb_run *running;      /* what the runner runs is of that one; NULL: none */
    pgw_arena arena;          /* of the action at hand */
    struct rw_copied *copied; /* the COPY FROM whose data is awaited; NULL: there is none */
    rw_variables *variables;
    px_ydb_learned learned;
    const rw_relation *learning; /* what is described is that, for ANALYZE; NULL: the statement */
    const uint32_t *types;       /* ANALYZE: what is known of its parameters … */
    size_t type_count;
    pgw_buf columns; /* … and what YDB tells */
    pgw_buf row;     /* in the client's formats */
    pgw_slice *cells;
    size_t cells_room;
} px_ydb_session;

static inline const cfg_config *px_ydb_config(const px_ydb_session *session)
{
    return session->link->worker->config;
}

/* Of one statement, in ms; 0: none. */
static inline uint64_t px_ydb_timeout(const px_ydb_session *session)
{
    return (uint64_t)rw_variables_statement_timeout(session->variables);
}

/* How texts and values of the action are read: as no SET can change on YDB. The identity of a link
 * is made before the settings are known. */
static inline pgw_reading px_ydb_reading(px_ydb_session *session, pgw_error *error)
{
    return (pgw_reading){&px_plain_env, &session->arena, error};
}

/* The configured tables. Not all that is run names one, so that nobody may have asked for them. */
static inline rw_catalog px_ydb_catalog(const px_ydb_session *session)
{
    const px_catalog *tables = px_catalog_by_file(session->link->worker, session->link->identity);
    return (rw_catalog){.tables = (const rw_table *const *)tables->tables, .count = tables->count};
}

#endif
