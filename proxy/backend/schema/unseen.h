/*
 * unseen: one statement of ours on a session's own link, prepared, run and closed under a name of
 * ours: a Query would drop its client's unnamed statement and portal.
 */
#ifndef PX_UNSEEN_H
#define PX_UNSEEN_H

#include "protocol/frontend.h"

/* Values for the parameters of a statement of ours: those of a Bind of another one. */
typedef struct px_unseen_values {
    const uint32_t *types; /* one a value */
    pgw_bind bind;         /* its names and result formats are not looked at */
} px_unseen_values;

/* Appends Close, Parse, Bind, Execute, Close, Close, and no Sync; the first for what an error has
 * left of the name. `values`: NULL, if `sql` has no parameters. False, and nothing is appended: it
 * is longer than a message may be. */
PGW_MUST_CHECK bool px_unseen_write(pgw_slice name, pgw_slice sql, const px_unseen_values *values,
                                    pgw_buf *out);

#endif
