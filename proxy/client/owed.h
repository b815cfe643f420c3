/*
 * owed: what a client gets for the messages that were held, as if the server had answered them.
 */
#ifndef PX_OWED_H
#define PX_OWED_H

#include "protocol/bytes.h"

struct px_session;

/* Writes what is owed for the held messages before `before`; `tags` says how many rows each Execute
 * stored, or (NULL) it is as if all were. */
void px_owed_write(struct px_session *session, size_t before, const uint64_t *tags, pgw_buf *out);
/* Writes ReadyForQuery behind `out`, sends it, and forgets the group. */
void px_owed_end(struct px_session *session, pgw_buf *out);

#endif
