/*
 * lookup_bind: a client's messages about a prepared statement that asks for rows by their hash key:
 * the own link has it with further parameters (ingest/lookups), of which its client is not told.
 */
#ifndef PX_LOOKUP_BIND_H
#define PX_LOOKUP_BIND_H

#include "proxy/client/core/client_message.h"
#include "proxy/client/core/session.h"

/* Whether the statement asks for rows by their hash key by protocol; NULL does not. */
bool px_lookup_bind_is(const px_statement *statement);
/* Sends the Parse of a text whose lookups are session->names.lookups. */
px_step px_lookup_bind_parse(px_session *session, const px_client_message *decoded);
/* Where the tables are others than when it was prepared, the statement (NULL, or of any kind) is as
 * its client wrote it from now on. DONE, or the session waits. */
px_step px_lookup_bind_renew(px_session *session, px_statement *statement);
/* Sends a Bind of the statement. `changes`: it changes the key (px_lookup_bind_may_change()). */
px_step px_lookup_bind_bind(px_session *session, const px_statement *statement,
                            const px_client_message *decoded, bool changes);
/* Whether the statement has a form for Binds that change the key. */
bool px_lookup_bind_may_change(const px_statement *statement);
/* Refuses a Bind that changes the key, and may not; the error is another where it might before. */
px_step px_lookup_bind_refuse(px_session *session, const px_passthrough *passthrough,
                              const pgw_error *refusal);
px_step px_lookup_bind_describe(px_session *session, const px_client_message *decoded,
                                px_lookups *lookups);
/* The lookups that the portal of an Execute was bound with; NULL: none. */
px_lookups *px_lookup_bind_bound(const px_session *session, pgw_slice message);
/* Whether the beginning of a Bind names a statement for which px_lookup_bind_is() holds. */
bool px_lookup_bind_is_bound(const px_session *session, pgw_slice message);

#endif
