/*
 * session_timeouts: a worker's sessions as one of its tenants: their deadlines, and their end when
 * it drains.
 */
#ifndef PX_SESSION_TIMEOUTS_H
#define PX_SESSION_TIMEOUTS_H

#include "proxy/loop/worker.h"

extern const px_tenant px_sessions_tenant;

#endif
