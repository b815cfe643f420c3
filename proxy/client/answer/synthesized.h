/*
 * synthesized: what a client gets for the messages that were held, as if the server had answered
 * them.
 */
#ifndef PX_SYNTHESIZED_H
#define PX_SYNTHESIZED_H

#include "proxy/ingest/submitter.h"

struct px_session;

/* Writes what is owed for the held messages before `before`; `outcome` is that of each Execute, or
 * (NULL) none is among them. */
void px_synthesized_write(struct px_session *session, size_t before, const px_outcome *outcome,
                          pgw_buf *out);
/* Writes the notices of statement `i`, behind the last the rest; they, too, have positions. */
void px_synthesized_notices(const struct px_session *session, const px_outcome *outcome, size_t i,
                            pgw_buf *out);
/* Writes the rows that statement `i` returned behind `out`: much of it is put at once, not copied
 * there. */
void px_synthesized_rows(const struct px_session *session, const px_outcome *outcome, size_t i,
                         pgw_buf *out);
/* Writes ReadyForQuery behind `out`, sends it, and forgets the group. */
void px_synthesized_end(struct px_session *session, pgw_buf *out);

#endif
