/*
 * signals: SIGTERM, SIGINT and SIGHUP as events of the main thread's loop. They are blocked in all
 * threads and read from a signalfd: no handler interrupts anything, and none can be missed.
 */
#ifndef PX_SIGNALS_H
#define PX_SIGNALS_H

#include <uv.h>

typedef struct px_signals px_signals;

/* Called from the loop; `number` is the signal's. */
typedef void px_signals_on(void *owner, int number);

/* Blocks the signals; called before other threads start, so that all inherit the mask. Signals that
 * come from here on wait for px_signals_watch(). */
void px_signals_block(void);

/* Calls `on` for each signal until px_signals_close(). */
px_signals *px_signals_watch(uv_loop_t *loop, px_signals_on *on, void *owner);

/* Stops watching, so that the loop can end, and frees `signals`; the next signal ends the process.
 */
void px_signals_close(px_signals *signals);

#endif
