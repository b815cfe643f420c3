/*
 * savepoints: the names of a transaction's savepoints, in the order in which they were set. A name
 * may stand there more than once: the last one counts.
 */
#ifndef PGW_SAVEPOINTS_H
#define PGW_SAVEPOINTS_H

#include "protocol/bytes.h"

/* All zero: no savepoints. */
typedef struct pgw_savepoints {
    pgw_buf names; /* names, each with a NUL behind it */
} pgw_savepoints;

/* Adds a savepoint. False: the names would take 1 MiB or more. */
PGW_MUST_CHECK bool pgw_savepoints_add(pgw_savepoints *savepoints, pgw_slice name);
bool pgw_savepoints_have(const pgw_savepoints *savepoints, pgw_slice name);
/* Removes the last savepoint of this name, and all set after it. False: there is none. */
PGW_MUST_CHECK bool pgw_savepoints_release(pgw_savepoints *savepoints, pgw_slice name);
void pgw_savepoints_free(pgw_savepoints *savepoints); /* removes all; more may be added */

#endif
