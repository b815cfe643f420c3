/*
 * schema_probe: a session looks at the configured tables over its own link, unseen by its client:
 * where its transaction has changed them unseen by others, and where its user can have no other
 * connection.
 */
#ifndef PX_SCHEMA_PROBE_H
#define PX_SCHEMA_PROBE_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/states.h"

struct px_session;

/* DONE: `*catalog` is what to look at a statement with that may name a configured table. Else it is
 * NULL, and is asked for. */
PGW_MUST_CHECK px_step px_schema_probe_now(struct px_session *session, px_catalog **catalog);
/* Does what px_schema_probe_now() does, and then px_sync_state(). */
PGW_MUST_CHECK px_step px_schema_probe_verified(struct px_session *session, px_catalog **catalog);
/* DONE: `*catalog` is what to look at `text` with. It is empty if that names no configured table.
 */
PGW_MUST_CHECK px_step px_schema_probe_catalog(struct px_session *session, pgw_slice text,
                                               px_catalog **catalog);
/* Does what px_schema_probe_catalog() does for a Query. px_catalog_unasked(): the text is sent
 * alike whatever tables there are, so that it waits for nothing. */
PGW_MUST_CHECK px_step px_schema_probe_script(struct px_session *session, pgw_slice text,
                                              px_catalog **catalog);
/* A statement would be refused because of what `catalog` says. DONE: it is known not to be old;
 * else the tables are looked at anew, once a statement: `rechecked` is the caller's to end. */
PGW_MUST_CHECK px_step px_schema_probe_recheck(struct px_session *session,
                                               const px_catalog *catalog);
/* Does what px_schema_probe_recheck() does where the question for a key was in vain: it is asked
 * anew.
 */
PGW_MUST_CHECK px_step px_schema_probe_recheck_keys(struct px_session *session);
/* Looks at the tables for other sessions, while this one has nothing under way: given up as soon as
 * its client sends something. False if it does not look. */
bool px_schema_probe_unasked(struct px_session *session);
/* A message of the link that answers a look; false: it is the client's. */
bool px_schema_probe_take(struct px_session *session, char type, pgw_slice body);
void px_schema_probe_free(struct px_session *session);

#endif
