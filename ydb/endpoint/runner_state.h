/*
 * runner_state: what a runner (runner.h) is at.
 */
#ifndef PX_YDB_RUNNER_STATE_H
#define PX_YDB_RUNNER_STATE_H

#include "ydb/endpoint/executor.h"
#include "ydb/endpoint/replay.h"

typedef enum px_runner_state {
    PX_RUNNER_CLOSED,  /* no executor: the next thing opens one */
    PX_RUNNER_OPENING, /* one, for the thing at hand, or at the start */
    PX_RUNNER_IDLE,
    PX_RUNNER_BEGINNING,  /* a transaction of the program's own */
    PX_RUNNER_STEPPING,   /* a text of the program */
    PX_RUNNER_COMMITTING, /* … its own transaction */
    PX_RUNNER_UNDOING,    /* what has failed, or the COMMIT that has */
    PX_RUNNER_PAUSING,    /* before it is tried again */
    PX_RUNNER_DESCRIBING,
    PX_RUNNER_CONTROLLING, /* BEGIN, COMMIT or ROLLBACK of the client's */
    PX_RUNNER_KEEPING      /* a text, for YDB closes connections that say nothing */
} px_runner_state;

typedef enum px_control { PX_CONTROL_BEGIN, PX_CONTROL_COMMIT, PX_CONTROL_ROLLBACK } px_control;

/* How the owner hears of things: never from inside of a call of its own but on_row, which comes as
 * rows do, and what may come at once as it is said below. */
typedef struct px_runner_ops {
    void (*on_open)(void *owner);                            /* the first executor, and … */
    void (*on_refused)(void *owner, const pgw_error *error); /* … none can be had */
    void (*on_columns)(void *owner, pgw_slice columns);      /* the body of a RowDescription */
    void (*on_row)(void *owner, const pgw_slice *cells, size_t count);
    void (*on_again)(void *owner); /* what has come of the program's is void: it is begun anew */
    void (*on_done)(void *owner, const char *tag);          /* the thing */
    void (*on_failed)(void *owner, const pgw_error *error); /* … which has left nothing behind */
    void (*on_cancelled)(void *owner);                      /* a cancel was heard */
    void (*on_closed)(void *owner);
} px_runner_ops;

typedef struct px_runner {
    const px_executor_kind *kind;
    const px_runner_ops *ops;
    void *owner;
    px_link *link;
    px_executor *executor;
    unsigned executors; /* that have not closed yet, this one among them */
    px_runner_state state;
    bool closing, timed, limited;
    uv_timer_t limit;  /* statement_timeout, of a program */
    bool timed_out;    /* … is over */
    uv_timer_t timer;  /* the pause; or until the connection has said nothing for too long */
    char block;        /* the executor's transaction: 'I', 'T' or 'E' */
    bool in_block;     /* the client's: it began, and has not ended */
    px_replay replay;  /* … a group's: what was done in it */
    pgw_error unheard; /* of what has ended it while nobody asked for anything; none: it is there */
    bool cancelled, cancelling;
    bool called_back; /* a message to itself is on its way */
    px_message call;

    /* The thing at hand: */
    px_runner_state thing; /* STEPPING, DESCRIBING or CONTROLLING; IDLE: none */
    rw_program *program;   /* the owner's */
    pgw_buf text;          /* to be described */
    px_control control;
    bool given;      /* rows or columns, to the owner */
    bool own_block;  /* the program has a transaction of its own */
    bool committing; /* … of which the COMMIT was sent */
    bool doubted;    /* … and may have been done; the program is done once more all the same */
    rw_step step;
    unsigned tries, stumbles;
    uint64_t until;    /* px_worker_now() scale: not tried any more */
    pgw_error failure; /* of what is being undone, or the answer that is due */
    px_ydb_fate fate;  /* … */
    bool overtaken;    /* … that is another client's row, and passes like what was ABORTED */
    char tag[64];
} px_runner;

/* Whose texts are run. */
static inline rw_program *px_runner_program_of(const px_runner *runner)
{
    return runner->replay.due ? px_replay_program(&runner->replay) : runner->program;
}

#endif
