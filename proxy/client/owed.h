/*
 * owed: what a client gets for the messages that were held, as if the server had answered them.
 */
#ifndef PX_OWED_H
#define PX_OWED_H

#include "proxy/ingest/owner.h"

struct px_session;

/* Writes what is owed for the held messages before `before`; `outcome` is that of each Execute, or
 * (NULL) none is among them. */
void px_owed_write(struct px_session *session, size_t before, const struct px_outcome *outcome,
                   pgw_buf *out);
/* Writes ReadyForQuery behind `out`, sends it, and forgets the group. */
void px_owed_end(struct px_session *session, pgw_buf *out);

#endif
