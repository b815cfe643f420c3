/*
 * savepoints: the names of a transaction's savepoints, in the order in which they were set. A name
 * may stand there more than once: the last one counts.
 */
#ifndef PGW_SAVEPOINTS_H
#define PGW_SAVEPOINTS_H

#include "protocol/bytes.h"

/* All zero: there are none. */
typedef struct pgw_savepoints {
    pgw_buf names; /* each with its end */
} pgw_savepoints;

/* False: their names would take more than any application's do. */
PGW_MUST_CHECK bool pgw_savepoints_add(pgw_savepoints *savepoints, pgw_slice name);
bool pgw_savepoints_have(const pgw_savepoints *savepoints, pgw_slice name);
/* … and all that were set behind it. False: there is none of this name. */
PGW_MUST_CHECK bool pgw_savepoints_release(pgw_savepoints *savepoints, pgw_slice name);
void pgw_savepoints_free(pgw_savepoints *savepoints); /* of all; new ones may be added */

#endif
