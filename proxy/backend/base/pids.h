/*
 * pids: the process ids that clients of all workers were told, each with its session: the id of a
 * backend process, or a virtual one, which no backend process can have.
 */
#ifndef PX_PIDS_H
#define PX_PIDS_H

#include "protocol/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct px_pids px_pids;

/* Where a session lives. */
typedef struct px_place {
    unsigned worker;
    size_t slot;
} px_place;

px_pids *px_pids_new(void);
void px_pids_free(px_pids *pids);

/* Any thread may call these. */

/* False: `pid` is no process id, or a session has it already. */
PGW_MUST_CHECK bool px_pids_take(px_pids *pids, uint32_t pid, px_place place);
/* Takes a process id above 2^22, the largest that Linux gives a process (PID_MAX_LIMIT). */
uint32_t px_pids_take_virtual(px_pids *pids, px_place place);
void px_pids_drop(px_pids *pids, uint32_t pid); /* 0 is fine */
/* False: no client was told this process id. */
bool px_pids_find(px_pids *pids, uint32_t pid, px_place *place);

#endif
