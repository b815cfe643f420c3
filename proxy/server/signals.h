/*
 * signals: SIGTERM, SIGINT and SIGHUP as events of the main thread's loop. They are blocked in all
 * threads and read from a signalfd: no handler interrupts anything, and none can be missed.
 */
#ifndef PX_SIGNALS_H
#define PX_SIGNALS_H

#include <uv.h>

typedef struct px_signals px_signals;

/* From the loop; `number` is the signal's. */
typedef void px_signals_on(void *owner, int number);

/* Before any other thread starts, so that all of them inherit the mask: what arrives from here on
 * waits for px_signals_watch. */
void px_signals_block(void);

/* `on` is called for each one until px_signals_close. */
px_signals *px_signals_watch(uv_loop_t *loop, px_signals_on *on, void *owner);

/* No more of it, so that the loop can end: frees `signals`, and the next signal ends the process. */
void px_signals_close(px_signals *signals);

#endif
