/*
 * schema_probe: a session looks at the configured tables over its own link, unseen by its client:
 * where its transaction has changed them unseen by others, and where its user can have no other
 * connection.
 */
#ifndef PX_SCHEMA_PROBE_H
#define PX_SCHEMA_PROBE_H

#include "proxy/backend/catalog/catalog.h"

struct px_session;

/* The catalog to look at a statement with that may name a configured table; NULL: the session now
 * waits for it. */
px_catalog *px_schema_probe_now(struct px_session *session);
/* The catalog to look at `text` with. It is empty if that names no configured table; NULL: the
 * session now waits for it. */
px_catalog *px_schema_probe_catalog(struct px_session *session, pgw_slice text);
/* Does what px_schema_probe_catalog() does for a Query. px_catalog_unasked(): the text is sent
 * alike whatever tables there are, so that it waits for nothing. */
px_catalog *px_schema_probe_script(struct px_session *session, pgw_slice text);
/* A statement would be refused because of what `catalog` says, which may be old: true if the
 * session waits until it is known whether it is. Once a statement: `doubted` is the caller's to
 * end. */
bool px_schema_probe_doubts(struct px_session *session, const px_catalog *catalog);
/* Does what px_schema_probe_doubts() does where the question for a key was in vain: it is asked
 * anew.
 */
bool px_schema_probe_doubts_keys(struct px_session *session);
/* Looks at the tables for other sessions, while this one has nothing under way: given up as soon as
 * its client sends something. False if it does not look. */
bool px_schema_probe_unasked(struct px_session *session);
/* A message of the link that answers a look; false: it is the client's. */
bool px_schema_probe_take(struct px_session *session, char type, pgw_slice body);
void px_schema_probe_free(struct px_session *session);

#endif
