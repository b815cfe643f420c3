/*
 * hinders: why a session's INSERTs are in no batch, in words.
 */
#ifndef PX_HINDERS_H
#define PX_HINDERS_H

#include "rewrite/insert/insert.h"

/* Appends why `session` (a px_session), as is known of it now, keeps an INSERT out of batches that
 * could be in one by itself; nothing: it does not. */
void px_hinders(const void *session, const rw_insert *insert, pgw_buf *why);

#endif
