/*
 * simple: the simple protocol: what a Query says, and where it goes.
 */
#ifndef PX_SIMPLE_H
#define PX_SIMPLE_H

#include "proxy/client/core/session.h"

/* Looks into a Query: PASS sends it on as it is. */
px_step px_simple(px_session *session, pgw_frame frame, pgw_slice message);

#endif
