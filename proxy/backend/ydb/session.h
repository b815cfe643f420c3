/*
 * session: one link's half of a server: what the machine of protocol/server asks for is done by a
 * runner at YDB. Statements become texts, with parameters as constants (wording.h), and rows what
 * the client asked for. There is one connection: rows that nobody wants yet are put by when it is
 * needed for something else.
 */
#ifndef PX_YDB_SESSION_H
#define PX_YDB_SESSION_H

#include "protocol/server/server.h"
#include "proxy/backend/ydb/learned.h"
#include "proxy/backend/ydb/runner.h"
#include "proxy/backend/ydb/settings.h"

/* A portal that was begun to be run, and whose end is not told yet. */
typedef struct px_ydb_run {
    struct px_ydb_run *next; /* of all of a session */
    pgw_portal *portal;      /* NULL: nobody is to hear of it any more */
    pgw_arena arena;         /* of its text, … */
    rw_program *program;
    pgw_buf columns; /* the body of its RowDescription */
    bool suspended;  /* no rows are wanted just now */
    bool unwanted;   /* … nor ever */
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
    px_ydb_run *running; /* what the runner runs is of that one; NULL: none */
    pgw_arena arena;     /* of the action at hand */
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

/* `session` is all zero. The runner is the caller's, who passes on what it tells. */
void px_ydb_session_begin(px_ydb_session *session, px_link *link, px_runner *runner);
/* The link has opened. False: what its client has set at its start is refused. */
PGW_MUST_CHECK bool px_ydb_session_open(px_ydb_session *session, pgw_error *error);
/* A setting's value; NULL: there is none of the name. Valid until it is set. */
const char *px_ydb_session_setting(const px_ydb_session *session, const char *name);
void px_ydb_session_end(px_ydb_session *session);

/* Does what the machine asks for, until that is a message, or the connection's end, or the runner
 * is at it. */
void px_ydb_session_go_on(px_ydb_session *session);
/* The machine's output was full, and is not any more. */
void px_ydb_session_drained(px_ydb_session *session);

/* What the runner runs is begun once more. */
void px_ydb_session_again(px_ydb_session *session);
/* What the runner tells; behind the latter two go_on() is due. */
void px_ydb_session_columns(px_ydb_session *session, pgw_slice columns);
void px_ydb_session_row(px_ydb_session *session, const pgw_slice *cells, size_t count);
void px_ydb_session_done(px_ydb_session *session, const char *tag);
void px_ydb_session_failed(px_ydb_session *session, const pgw_error *error);

#endif
