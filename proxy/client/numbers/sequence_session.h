/*
 * sequence_session: what a session drew of numbers that others drew ahead. Its own link knows
 * nothing of them, so they are written into a text that asks for them (lastval(), currval()).
 */
#ifndef PX_SEQUENCE_SESSION_H
#define PX_SEQUENCE_SESSION_H

#include "protocol/bytes.h"

struct px_session;

/* Notes a number for the session that others drew, of which its own link does not know. */
void px_sequence_session_ahead(struct px_session *session, uint32_t sequence, int64_t number);
/* Notes a number for the session that its own link drew. */
void px_sequence_session_here(struct px_session *session, uint32_t sequence, int64_t number);
/* Notes a number that the own link drew for others, of a sequence of which the session has one. */
void px_sequence_session_for_others(struct px_session *session, uint32_t sequence, int64_t number);
/* Whether the own link drew a number of it: only then can that be told apart from what others drew.
 */
bool px_sequence_session_is_here(const struct px_session *session, uint32_t sequence);
/* The own link is lost: the next one has drawn nothing. */
void px_sequence_session_lose_link(struct px_session *session);
/* DISCARD ALL was run: the session has drawn nothing. */
void px_sequence_session_forget(struct px_session *session);
/* Whether the bytes may ask what was drawn. */
bool px_sequence_session_is_asked(pgw_slice bytes);
/* Writes the numbers into a Query or Parse that asks: `message` becomes the one that goes on in its
 * place, which lives as long as it is at hand. False: it does not ask. */
bool px_sequence_session_rewrite(struct px_session *session, char type, pgw_slice *message);
/* The statement `name` was prepared of such a message: when the link itself can tell, it is
 * prepared there anew as its client wrote it. */
void px_sequence_session_keep(struct px_session *session, pgw_slice name);

#endif
