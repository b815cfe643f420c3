/*
 * unspread: a table that has the name of a pattern, and was made without its hash.
 */
#ifndef PX_UNSPREAD_H
#define PX_UNSPREAD_H

struct px_session;

/* Warns the client, and the log, that a table that it has made stays an ordinary one, and why, by
 * the number of rw_define_warning(). To be called between two messages of the link. */
void px_unspread_warn(struct px_session *session, unsigned warning);

#endif
