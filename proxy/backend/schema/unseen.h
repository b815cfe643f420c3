/*
 * unseen: one statement of keyspread's own on a session's own link, prepared, run and closed under
 * a name: a Query would drop the client's unnamed statement and portal.
 */
#ifndef PX_UNSEEN_H
#define PX_UNSEEN_H

#include "protocol/frontend.h"

/* Values for the parameters of keyspread's own statement, taken from a client's Bind. */
typedef struct px_unseen_values {
    const uint32_t *types; /* one type for each value */
    pgw_bind bind;         /* the client's Bind; names and result formats in it are not used */
} px_unseen_values;

/* Appends Close, Parse, Bind, Execute, Close, Close, and no Sync; the first Close is for a
 * statement that an error has left under the name. `values`: NULL if `sql` has no parameters.
 * False, and nothing is appended: a message would be too long. */
PGW_MUST_CHECK bool px_unseen_write(pgw_slice name, pgw_slice sql, const px_unseen_values *values,
                                    pgw_buf *out);

#endif
