/*
 * staged: a COPY whose rows may be there already: it goes to a temporary table with the name of its
 * table, so that its errors name the same lines, and an INSERT … ON CONFLICT behind it stores what
 * came.
 */
#ifndef RW_STAGED_H
#define RW_STAGED_H

#include "rewrite/statement/copy/copy_from.h"

typedef struct rw_staged {
    pgw_buf create;    /* makes the temporary table, which is empty behind each transaction */
    pgw_buf statement; /* the COPY to it, and the INSERT */
} rw_staged;

/* Makes both texts of the COPY as it is sent to the server, with the list of its columns.
 * `updates`: rows that are there get the values that came last, else they stay. The caller owns
 * both buffers. */
void rw_copy_stage(const rw_copy *copy, pgw_slice sent, bool conforming, bool updates,
                   rw_staged *out);

#endif
