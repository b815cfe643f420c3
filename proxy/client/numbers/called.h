/*
 * called: what a session calls the sequence of a key's column, in nextval('name'). Where its own
 * link has said so just before, such a cell is the same as the column's default.
 */
#ifndef PX_CALLED_H
#define PX_CALLED_H

#include "rewrite/insert/sequence_name.h"

struct px_session;
typedef struct px_called px_called;

/* Whether wanted cell `i` is nextval('name') of the sequence of its column's default, as far as is
 * known. */
bool px_called_is_own(struct px_session *session, const rw_insert *insert, size_t i);
/* Appends the question whether wanted cell `i` is that; it is the session's only one. */
void px_called_ask(struct px_session *session, const rw_insert *insert, size_t i, pgw_buf *sql);
/* Notes the answer that the name means that sequence. */
void px_called_own(struct px_session *session);

#endif
