/*
 * large_bind: a Bind that is too large to be held. Its beginning is read and rewritten, and the
 * rest passes as it comes.
 */
#ifndef PGW_LARGE_BIND_H
#define PGW_LARGE_BIND_H

#include "protocol/frontend.h"

/* Reads the beginning of a Bind's body. `out` has the parameters that are here whole, `given` of
 * out->value_count, and no result formats. False: the count of the parameters is not here yet. */
PGW_MUST_CHECK bool pgw_bind_begins(pgw_slice body, pgw_bind *out, size_t *given);
/* Writes a whole Bind of such a beginning, with a NULL for each parameter that is not here. */
void pgw_write_bind_begun(const pgw_bind *bind, size_t given, pgw_buf *out);

/* Cuts the message in `out`, a whole Bind whose first `count` parameters are a client's, behind the
 * first `given` of these: `behind` gets the parameters behind the client's. The message is then as
 * long as it will be with `coming` bytes of the client's Bind and with `behind`. False: that is
 * more than PostgreSQL takes. */
PGW_MUST_CHECK bool pgw_bind_cut(pgw_buf *out, size_t given, size_t count, size_t coming,
                                 pgw_buf *behind);

/* A walk over parameters whose bytes come in pieces. All zero but `left` at its beginning. */
typedef struct pgw_bind_walk {
    size_t left;     /* parameters that have not come whole */
    size_t value;    /* bytes of the next one's value that have not come */
    uint32_t length; /* the bytes of its length that have come */
    unsigned digits; /* how many bytes of its length have come */
} pgw_bind_walk;
/* How many of the bytes that come next belong to parameters; all, until none is left. */
size_t pgw_bind_walk_on(pgw_bind_walk *walk, pgw_slice bytes);

#endif
