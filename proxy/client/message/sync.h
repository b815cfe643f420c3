/*
 * sync: the end of a held group, or a Flush in its middle: it becomes a write group, goes to the
 * own link, or is answered.
 */
#ifndef PX_SYNC_H
#define PX_SYNC_H

#include "proxy/client/core/session.h"

px_step px_sync(px_session *session);
px_step px_sync_flush(px_session *session);

#endif
