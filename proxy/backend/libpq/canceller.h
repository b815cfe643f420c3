/*
 * canceller: PQcancel on threads, for it blocks, and has no deadline of its own: each cancel has a
 * thread and a deadline, and holds up neither a loop nor another cancel.
 */
#ifndef PX_CANCELLER_H
#define PX_CANCELLER_H

#include "proxy/loop/worker.h"

#include <libpq-fe.h>
#include <semaphore.h>
#include <time.h>

/* A cancel to be sent; embedded in what `done` gets back on `worker`, when it was heard or when
 * backend.connect_ms are over: then it may still take effect, or never. */
typedef struct px_cancel {
    px_message message;
    void (*done)(struct px_cancel *cancel);
    struct px_worker *worker;
    PGcancel *target; /* lives until `done` is called */
    sem_t over;
    struct timespec until; /* deadline by CLOCK_MONOTONIC */
    char reason[1];        /* libpq's reason for a failure, cut off and never told */
} px_cancel;

/* Sends a cancel on its worker's thread, which counts it among its `cancels` until it is done.
 * False: too many are under way, and nothing will come of it. */
PGW_MUST_CHECK bool px_canceller_ask(px_cancel *cancel);

#endif
