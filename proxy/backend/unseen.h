/*
 * unseen: one statement of ours on a session's own link, prepared, run and closed under a name of
 * ours: a Query would drop its client's unnamed statement and portal.
 */
#ifndef PX_UNSEEN_H
#define PX_UNSEEN_H

#include "protocol/bytes.h"

/* Appends Close, Parse, Bind, Execute, Close, Close, and no Sync; the first for what an error has
 * left of the name. `sql` has no parameters. False, and nothing is appended: it is longer than a
 * message may be. */
PGW_MUST_CHECK bool px_unseen_write(pgw_slice name, pgw_slice sql, pgw_buf *out);

#endif
