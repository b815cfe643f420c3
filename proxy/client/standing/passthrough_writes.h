/*
 * passthrough_writes: a statement that is none of ours and writes rows, of tables that may come to
 * be ours or to have other keys after it was prepared. passthrough_renew.h reads it again before it
 * is run.
 */
#ifndef PX_PASSTHROUGH_WRITES_H
#define PX_PASSTHROUGH_WRITES_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/session.h"

/* Notes that `catalog` was what a statement of this text, with these effects, was read by. */
void px_passthrough_writes_note(px_session *session, px_passthrough *passthrough, unsigned effects,
                                pgw_slice text, const px_catalog *catalog);
/* Whether the session may have such a statement that is to be read again. */
bool px_passthrough_writes_may(const px_session *session);
/* Whether the statement must not be run as it is; the error says so (0A000). */
PGW_MUST_CHECK bool px_passthrough_writes_is_stale(const px_session *session,
                                                   const px_passthrough *passthrough,
                                                   pgw_error *error);

#endif
