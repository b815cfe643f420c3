/*
 * dirty: what is sent to a session's own link may change what the session has there. Unless it is
 * proven harmless, the session's state is dirty, with a mark of what kind, until sync_state.h has
 * verified it.
 */
#ifndef PX_DIRTY_H
#define PX_DIRTY_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/own_state.h"

struct px_session;

/* Notes that something with these effects is sent to the own link. */
void px_state_note(struct px_session *session, unsigned effects);
/* Each notes that a Bind or Execute of what is none of keyspread's is sent there. `message` may be
 * cut off. */
void px_state_note_bind(struct px_session *session, pgw_slice message);
void px_state_note_bound(struct px_session *session, unsigned effects, pgw_slice portal);
void px_state_note_execute(struct px_session *session);
/* What is known of a statement that keyspread passes as it is, by its name (NULL: it means none of
 * a name); NULL: the statement has a plan, or is not known. */
px_passthrough *px_state_passthrough(struct px_session *session, px_statement *statement,
                                     pgw_slice name);
/* A Parse of what is none of keyspread's is at hand, with these effects: gives its record, of which
 * nothing else is known yet, to be filled. It is good until the next call. */
px_passthrough *px_state_parse(struct px_session *session, unsigned effects);
/* `moving`: a prepared statement would write a configured table if a name came to mean that. */
void px_state_note_moving(struct px_session *session, bool moving);
/* Notes the effects of a Parse as far as its statement draws numbers when it is run later. */
void px_state_note_draws(struct px_session *session, unsigned effects);
/* Whether a text that keyspread passes as it is would be refused or rewritten if names meant all
 * configured tables. */
bool px_state_would_write(const struct px_session *session, pgw_slice text,
                          const px_catalog *catalog);
/* Whether a text would make a configured table, or be refused, if the unqualified names of what it
 * makes meant configured tables. */
bool px_state_would_make(const struct px_session *session, pgw_slice text);
/* Notes that `catalog` was what the text of SQL's PREPARE was read by. */
void px_state_note_prepare(struct px_session *session, px_passthrough *passthrough, pgw_slice text,
                           const px_catalog *catalog);
/* Whether the session may have a statement that is to be looked at before EXECUTE runs it. */
bool px_state_may_move(const struct px_session *session);
/* The generation of what names mean now to such a statement. */
unsigned px_state_generation(const struct px_session *session, const px_passthrough *passthrough);
/* Whether names came to mean others since this was prepared, and it may write a configured table
 * now, or make one: PostgreSQL looks names up again. The error says so. */
bool px_state_has_moved(const struct px_session *session, const px_passthrough *passthrough,
                        pgw_error *error);
void px_state_tell_moved(pgw_error *error);
/* Writes the error that names came to mean others since a row's key was asked for: the server would
 * find another table by now. */
void px_state_moved_by_key(pgw_error *error);
/* Forgets what is known of the link, for a new one was sent nothing. */
void px_state_forget(struct px_session *session);
/* DISCARD ALL was answered. */
void px_state_discard(struct px_session *session);
void px_state_free(px_state *state);
/* ReadyForQuery: a transaction that has ended may have taken back what was answered inside. */
void px_state_ended(struct px_session *session);

/* Whether nothing was ever sent to the link that cannot be made again elsewhere. */
bool px_state_is_replaceable(const struct px_session *session);
/* Whether the link would be replaceable if what the database stores changes no sessions, which is
 * not known now. */
bool px_state_is_unproven(const struct px_session *session);

/* ---- for sync_state.c ---- */

/* The link has answered what the session has there: nothing is dirty. */
void px_state_verified(struct px_session *session);
/* `known`: the answer is that of the present link, or its kind. */
void px_state_know(px_state *state, bool known);
/* `odd`: settings that keyspread cannot follow differ from the start. */
void px_state_judge(px_state *state, bool odd);

/* Any setting may be another after one of these effects, not only those that are followed. */
extern const unsigned px_state_boundless;
/* The effects that make the state dirty, where the configured tables are those of `catalog`. */
unsigned px_state_reduced(unsigned effects, const px_catalog *catalog);
/* Those of RW_EFFECT_RUNS and RW_EFFECT_READS by which code that the database stores may change the
 * session's state. */
unsigned px_state_loud(const px_catalog *catalog);
/* Whether the link was told nothing that could change the state it started with. */
bool px_state_is_fresh(const px_state *state, unsigned loud);
/* Whether no setting that the server does not report differs from the start. */
bool px_state_sets_nothing(const struct px_session *session);

#endif
