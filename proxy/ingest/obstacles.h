/*
 * unbatched: why an INSERT into a configured table goes to its session's own link instead of into a
 * batch, and the counting of those that do.
 */
#ifndef PX_UNBATCHED_H
#define PX_UNBATCHED_H

#include "proxy/client/session.h"
#include "proxy/ingest/bind.h"

/* What keeps an INSERT that could be batched by itself out of batches, for the session is as it is
 * and has the settings of `identity`: PX_UNBATCHED_SETTINGS, _ENCODING, _LOCK, or PX_COUNTERS for
 * nothing. */
px_counter px_session_obstacle(const px_session *session, const px_identity *identity,
                               const rw_insert *insert);

/* The INSERTs of a text, whose hashes are known, are about to be sent to the own link. */
void px_count_unbatched_text(px_session *session, const px_text *text);
/* A Bind to an INSERT is. */
void px_count_unbatched_bind(px_session *session, const px_plan *plan, const px_bound *bound);

#endif
