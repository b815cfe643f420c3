/*
 * canceller: the one thread on which PQcancel runs, for it blocks: a backend that does not answer
 * holds up other cancels, but neither a loop nor libuv's thread pool, which resolves names.
 */
#ifndef PX_CANCELLER_H
#define PX_CANCELLER_H

#include "proxy/loop/worker.h"

#include <libpq-fe.h>

typedef struct px_canceller px_canceller;

/* A cancel to be sent; embedded in what `message.run` gets back on `worker` when it was. */
typedef struct px_cancel {
    px_message message;
    struct px_worker *worker;
    PGcancel *target; /* lives until then */
} px_cancel;

px_canceller *px_canceller_start(void);
/* The end is near: what waits is given back undone, and nothing is taken any more. */
void px_canceller_refuse(px_canceller *canceller);
/* After that: frees it. False: a cancel is still not answered, and it lives on. */
PGW_MUST_CHECK bool px_canceller_stop(px_canceller *canceller);
/* False: too many wait already, and nothing will come of it. Thread-safe. */
PGW_MUST_CHECK bool px_canceller_ask(px_canceller *canceller, px_cancel *cancel);

#endif
