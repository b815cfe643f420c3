/*
 * stores: a statement that is none of ours and writes rows, of tables that may come to be ours or
 * to have other keys after it was prepared. stores_again.h reads it again before it is run.
 */
#ifndef PX_STORES_H
#define PX_STORES_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/session.h"

/* Notes that `catalog` was what a statement of this text, with these effects, was read by. */
void px_stores_note(px_session *session, px_passthrough *passthrough, unsigned effects,
                    pgw_slice text, const px_catalog *catalog);
/* Whether the session may have such a statement that is to be read again. */
bool px_stores_may(const px_session *session);
/* Whether the statement must not be run as it is; the error says so (0A000). */
PGW_MUST_CHECK bool px_stores_is_stale(const px_session *session, const px_passthrough *passthrough,
                                       pgw_error *error);

#endif
