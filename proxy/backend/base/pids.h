/*
 * pids: the process ids that clients were told, over all workers, each with the session it stands
 * for: that of a backend process, or a virtual one, which no backend process can have.
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

/* False: `pid` is none, or a session has it already. */
PGW_MUST_CHECK bool px_pids_take(px_pids *pids, uint32_t pid, px_place place);
/* One above 2^22, the largest that Linux gives a process (PID_MAX_LIMIT). */
uint32_t px_pids_take_virtual(px_pids *pids, px_place place);
void px_pids_drop(px_pids *pids, uint32_t pid); /* 0 is fine */
/* False: nobody was told this one. */
bool px_pids_find(px_pids *pids, uint32_t pid, px_place *place);

#endif
