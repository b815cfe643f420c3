/*
 * watch: a worker's sessions as one of its tenants: their deadlines, and their end when it drains.
 */
#ifndef PX_WATCH_H
#define PX_WATCH_H

#include "proxy/loop/worker.h"

extern const px_tenant px_sessions_tenant;

#endif
