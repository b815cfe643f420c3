/*
 * runner_state: the state of a runner (runner.h), and the callbacks of its owner.
 */
#ifndef PX_YDB_RUNNER_STATE_H
#define PX_YDB_RUNNER_STATE_H

#include "ydb/endpoint/executor.h"
#include "ydb/endpoint/replay.h"

typedef enum px_runner_state {
    PX_RUNNER_CLOSED,  /* no executor is open: the next thing opens one */
    PX_RUNNER_OPENING, /* an executor is being opened, for the thing at hand or at the start */
    PX_RUNNER_IDLE,
    PX_RUNNER_BEGINNING,  /* BEGIN of the program's own transaction, or of a replayed one, runs */
    PX_RUNNER_STEPPING,   /* a text of the program runs */
    PX_RUNNER_COMMITTING, /* COMMIT of the program's own transaction runs */
    PX_RUNNER_UNDOING,    /* ROLLBACK after a failed text or COMMIT runs */
    PX_RUNNER_PAUSING,    /* a pause before the next try */
    PX_RUNNER_DESCRIBING,
    PX_RUNNER_CONTROLLING, /* BEGIN, COMMIT or ROLLBACK of the client's or a group's runs */
    PX_RUNNER_KEEPING      /* SELECT 1 runs, for YDB closes connections that are silent */
} px_runner_state;

typedef enum px_control { PX_CONTROL_BEGIN, PX_CONTROL_COMMIT, PX_CONTROL_ROLLBACK } px_control;

/* Callbacks of the owner. Only on_again and on_closed may come inside a call of the owner's. */
typedef struct px_runner_ops {
    void (*on_open)(void *owner);                            /* the first executor is open */
    void (*on_refused)(void *owner, const pgw_error *error); /* no first executor can be opened */
    void (*on_columns)(void *owner, pgw_slice columns);      /* the body of a RowDescription */
    void (*on_row)(void *owner, const pgw_slice *cells, size_t count);
    void (*on_again)(void *owner); /* the program begins: what an earlier try gave is void */
    void (*on_done)(void *owner, const char *tag);          /* the thing at hand has succeeded */
    void (*on_failed)(void *owner, const pgw_error *error); /* the thing at hand has failed */
    void (*on_cancelled)(void *owner);                      /* a cancel request is through */
    void (*on_closed)(void *owner);
} px_runner_ops;

typedef struct px_runner {
    const px_executor_kind *kind;
    const px_runner_ops *ops;
    void *owner;
    px_link *link;
    px_executor *executor;
    unsigned executors; /* number of executors that have not closed yet, with `executor` */
    px_runner_state state;
    bool closing, timed, limited;
    uv_timer_t limit;  /* statement_timeout of a program */
    bool timed_out;    /* the thing at hand was cancelled by `limit` */
    uv_timer_t timer;  /* ends the pause before a try, or is due for the next SELECT 1 */
    char block;        /* status of the executor's transaction: 'I', 'T' or 'E' */
    bool in_block;     /* a transaction of the client's or a group's is open for the owner */
    px_replay replay;  /* what was done in a group's transaction */
    pgw_error unheard; /* why the owner's transaction ended unasked; no SQLSTATE: it did not */
    bool cancelled, cancelling;
    bool called_back; /* `call` is on its way, and ends the thing at hand */
    px_message call;

    /* The fields below are about the thing at hand. */
    px_runner_state thing; /* STEPPING, DESCRIBING or CONTROLLING; IDLE: none */
    rw_program *program;   /* belongs to the owner */
    pgw_buf text;          /* the text to be described */
    px_control control;
    bool given;      /* the owner has columns or rows that it may have passed on: no further try */
    bool own_block;  /* the program has a transaction of its own */
    bool committing; /* COMMIT of the program's own transaction was sent */
    bool doubted;    /* an earlier try may have been committed; the program is run once more */
    rw_step step;
    unsigned tries, stumbles;
    uint64_t until; /* end of the time for further tries, px_worker_now() scale */
    pgw_error
        failure;      /* why the thing at hand failed, until the owner is told; no SQLSTATE: none */
    px_ydb_fate fate; /* what `failure` says of another try */
    bool overtaken;   /* another client's row came in between: tried again, as after ABORTED */
    char tag[64];
} px_runner;

/* The program whose texts are run: one that is replayed, or the owner's. */
static inline rw_program *px_runner_program_of(const px_runner *runner)
{
    return runner->replay.due ? px_replay_program(&runner->replay) : runner->program;
}

#endif
