/*
 * blockers: why an INSERT into a configured table goes to its session's own link instead of into a
 * batch, and the counting of those that do.
 */
#ifndef PX_BLOCKERS_H
#define PX_BLOCKERS_H

#include "proxy/ingest/bind.h"
#include "proxy/ingest/submitter.h"

/* What of the session and the settings of `identity` keeps an INSERT out of batches that could be
 * batched by itself: PX_UNBATCHED_SETTINGS, _ENCODING, _SLOW, _LOCK, or PX_NO_BLOCKER for nothing.
 */
px_counter px_blocker(const px_submitter *submitter, const px_standing *standing,
                      const px_identity *identity, const rw_insert *insert);

/* Whether names in the INSERT may mean something else on this session's link, as temporary objects
 * come first. */
bool px_blocker_has_names(const px_standing *standing, const rw_insert *insert);

/* The INSERTs of a text, whose hashes are known, are about to be sent to the own link. */
void px_blocker_count_text(const px_submitter *submitter, const px_standing *standing,
                           const px_text *text);
/* A Bind to an INSERT, whose keys are known, is about to be sent to the own link. */
void px_blocker_count_bind(const px_submitter *submitter, const px_standing *standing,
                           const px_plan *plan, const px_bound *bound);

#endif
