/*
 * told_session: how a session stands by the statements of a text that came before: whether they
 * have begun a transaction, and which settings they have set by which rows travel alone.
 */
#ifndef RW_TOLD_SESSION_H
#define RW_TOLD_SESSION_H

#include "rewrite/insert/insert.h"
#include "rewrite/statement/words/statement.h"

enum { RW_TOLD_SETTINGS = 8 };

/* Zeroed, it is a new session's. Names are the statements'. */
typedef struct rw_told_session {
    bool open;
    pgw_slice set[RW_TOLD_SETTINGS]; /* names of settings, the first RW_TOLD_SETTINGS ones; no
                                        length: none */
} rw_told_session;

/* Notes what a statement, whose own text is `text`, leaves in the session. */
void rw_told_note(const rw_statement *statement, pgw_slice text, rw_told_session *told);
/* Can be rw_catalog's `hinders`, with an rw_told_session as its session. */
void rw_told_hinders(const void *told, const rw_insert *insert, pgw_buf *why);

#endif
