/*
 * cancel: a CancelRequest finds the session that it is for.
 */
#ifndef PX_CANCEL_H
#define PX_CANCEL_H

#include "proxy/loop/worker.h"

/* Hands a CancelRequest to the worker of the session that was told `pid`. A wrong key is answered
 * like a right one: not. Any thread. */
void px_sessions_cancel(struct px_server *server, uint32_t pid, uint32_t key);

#endif
