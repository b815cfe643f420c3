/*
 * sequence_call: what a session calls the sequence of a key's column, in nextval('name'). Where its
 * own link has said so just before, such a cell is the same as the column's default.
 */
#ifndef PX_SEQUENCE_CALL_H
#define PX_SEQUENCE_CALL_H

#include "rewrite/insert/sequence_name.h"

struct px_session;
typedef struct px_sequence_call px_sequence_call;

/* Whether wanted cell `i` is nextval('name') of the sequence of its column's default, as far as is
 * known. */
bool px_sequence_call_is_own(struct px_session *session, const rw_insert *insert, size_t i);
/* Appends the question whether wanted cell `i` is that; it is the session's only one. */
void px_sequence_call_ask(struct px_session *session, const rw_insert *insert, size_t i,
                          pgw_buf *sql);
/* Notes the answer that the name means that sequence. */
void px_sequence_call_own(struct px_session *session);

#endif
