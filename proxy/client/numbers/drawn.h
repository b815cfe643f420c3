/*
 * drawn: what a session drew of numbers that others drew ahead. Its own link knows nothing of them,
 * so a text that asks for them (lastval(), currval()) is told.
 */
#ifndef PX_DRAWN_H
#define PX_DRAWN_H

#include "protocol/bytes.h"

struct px_session;

/* It got a number that others drew; … its own link drew it, and knows of it. */
void px_drawn_ahead(struct px_session *session, uint32_t sequence, int64_t number);
void px_drawn_here(struct px_session *session, uint32_t sequence, int64_t number);
/* Its own link drew a number that is not for it, of a sequence that it has got one of. */
void px_drawn_for_others(struct px_session *session, uint32_t sequence, int64_t number);
/* Whether its own link has drawn any: only then can it be told apart from what others drew. */
bool px_drawn_is_here(const struct px_session *session, uint32_t sequence);
/* The next one knows of nothing. */
void px_drawn_lose_link(struct px_session *session);
/* DISCARD ALL. */
void px_drawn_forget(struct px_session *session);
/* Whether bytes may ask. */
bool px_drawn_is_asked(pgw_slice bytes);
/* A Query or Parse that asks: `message` becomes the one that goes on in its place, which lives as
 * long as it is at hand. */
bool px_drawn_tell(struct px_session *session, char type, pgw_slice *message);
/* The statement `name` was prepared of such a message: when the link itself can tell, it is
 * prepared there anew as its client wrote it. */
void px_drawn_keep(struct px_session *session, pgw_slice name);

#endif
