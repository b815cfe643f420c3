/*
 * drawn: what a session drew of numbers that others drew ahead. Its own link knows nothing of them,
 * so a text that asks for them (lastval(), currval()) is told.
 */
#ifndef PX_DRAWN_H
#define PX_DRAWN_H

#include "protocol/bytes.h"

struct px_session;

void px_drawn_note(struct px_session *session, uint32_t sequence, int64_t number);
/* It draws this sequence (0: any) over its own link, which tells from now on. */
void px_drawn_drop(struct px_session *session, uint32_t sequence);
/* A Query or Parse that asks: `message` becomes the one that goes on in its place, which lives as
 * long as it is at hand. */
bool px_drawn_tell(struct px_session *session, char type, pgw_slice *message);
/* The statement `name` was prepared of such a message: when the link itself can tell, it is
 * prepared there anew as its client wrote it. */
void px_drawn_keep(struct px_session *session, pgw_slice name);

#endif
