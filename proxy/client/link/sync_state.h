/*
 * sync_state: what a session has on its own link is asked for, not guessed. What is sent there
 * makes that dirty (dirty.h); before the next write of a configured table the link itself is asked,
 * unseen by the client. Who does not write one is asked nothing.
 */
#ifndef PX_SYNC_STATE_H
#define PX_SYNC_STATE_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/states.h"

struct px_session;

/* Makes the view for texts: what names mean; unless that is verified, all may mean configured
 * tables. */
void px_state_view(struct px_session *session, const px_catalog *catalog, rw_catalog *view);
/* Whether unqualified names mean what the file says they do, by that view. */
PGW_MUST_CHECK bool px_state_is_usual(struct px_session *session, const px_catalog *catalog);
/* DONE: the view is no guess, and write groups of this session are what its link would do. Else the
 * link is asked. */
PGW_MUST_CHECK px_step px_sync_state(struct px_session *session, const px_catalog *catalog);
/* Does what px_sync_state() does for a Query. The SET TRANSACTION that it begins with may be
 * allowed before the first query of a transaction only, so it is run before the question. */
PGW_MUST_CHECK px_step px_sync_state_query(struct px_session *session, const px_catalog *catalog,
                                           pgw_slice text);
/* Does what px_sync_state() does where no catalog is at hand: by the one that is known now, or seen
 * in the session's own transaction. */
PGW_MUST_CHECK px_step px_sync_state_now(struct px_session *session);
/* DONE: it is known how backslashes are read, which the link reports when it is idle. */
PGW_MUST_CHECK px_step px_sync_state_escapes(struct px_session *session, const px_catalog *catalog);
/* Once a minute for each kind of session, a link that nothing was done on is asked, so that others
 * of its kind need no link to write. DONE: it need not be asked. */
PGW_MUST_CHECK px_step px_sync_state_kind(struct px_session *session, const px_catalog *catalog);

/* The link's answer: its row, its end, an error in its place. */
void px_sync_state_row(struct px_session *session, pgw_slice body);
void px_sync_state_answered(struct px_session *session);
void px_sync_state_failed(struct px_session *session, pgw_slice body);
/* An error came before the question in its group, which has no Sync yet: the server skips the
 * question. */
void px_sync_state_skipped(struct px_session *session);
/* The question's ReadyForQuery has come. True: the question failed, the message at hand was
 * answered with the error, and ReadyForQuery is the client's. */
bool px_sync_state_ready(struct px_session *session);

#endif
