/*
 * changes: what a session did to the schema: its own transaction may see other tables than all
 * others do, and when it ends everybody is to look again.
 */
#ifndef PX_CHANGES_H
#define PX_CHANGES_H

#include "proxy/backend/catalog/catalog.h"

struct px_session;

/* The picture of the catalog to use now, of what others see, too; NULL: the backend must be asked
 * first. What the message at hand has asked for itself is right for it, however often others change
 * something meanwhile: else it would never get on while somebody always does. */
px_catalog *px_changes_known(struct px_session *session);
/* The question of the message at hand was answered just now. */
void px_changes_answered(struct px_session *session);
/* It was answered with these tables, which are given away; NULL: with none. */
void px_changes_answer(struct px_session *session, px_catalog *catalog);
/* The message at hand is another, or its question is to be asked anew. */
void px_changes_ask_anew(struct px_session *session);
/* The tables may be others than this session thought: all look again. */
void px_changes_stale(struct px_session *session);

/* Notes that something with these effects is sent: what is known of configured tables may be wrong
 * then. */
void px_changes_note(struct px_session *session, unsigned effects);
/* Does what px_changes_note() does for a statement that leaves keys alone (reach.h), and makes
 * something of this name; empty: nothing. */
void px_changes_note_kept(struct px_session *session, unsigned effects, pgw_slice made);
/* The tables for a text that is read by the names, columns and primary keys of those alone that it
 * mentions: the rest may be wrong. NULL: the backend must be asked first. */
px_catalog *px_changes_of_keys(const struct px_session *session, pgw_slice text);
/* Does what px_changes_note() does for a text of `count` statements, at least 1, each of which may
 * have all these effects. */
void px_changes_note_text(struct px_session *session, unsigned effects, size_t count);
/* A statement that may change configured tables is bound to a portal, `named` or not. */
void px_changes_bind(struct px_session *session, bool named);
/* What is bound, with these effects, is run. */
void px_changes_execute(struct px_session *session, unsigned effects);
/* Whether the tables may have been changed in the group at hand, and were not looked at since. */
bool px_changes_unseen(const struct px_session *session);
/* The tables as the session's own transaction, or the group at hand, has made them; NULL: it has
 * not looked. */
px_catalog *px_changes_own(const struct px_session *session);
/* The tables that an error is told by: those of px_changes_own(), or what all others see, right or
 * not; NULL: nothing is known. */
const px_catalog *px_changes_for_errors(const struct px_session *session);
/* Sync is sent: the group at hand ends, and with it what it has seen. */
void px_changes_synced(struct px_session *session);
/* To be called when what this session did to the schema is done, or perhaps is. */
void px_changes_end(struct px_session *session);
/* The transaction has ended, and with it its portals. */
void px_changes_end_portals(struct px_session *session);
/* The session's own transaction sees these tables, which are given away. */
void px_changes_see(struct px_session *session, px_catalog *catalog);
/* A wrong value has the tables looked at again from `at` on; px_worker_now(). */
void px_changes_recheck_from(struct px_session *session, uint64_t at);
/* Forgets what the session's own transaction has made of the tables. */
void px_changes_forget(struct px_session *session);
/* Frees what the session knows of its own changes, for it ends. */
void px_changes_free(struct px_session *session);
/* A statement of the transaction names configured tables, which it may lock. */
void px_changes_use(struct px_session *session);

#endif
