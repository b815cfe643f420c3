/*
 * pauses: units that the backend has not done and may do another time. They wait for that without a
 * link, which serves others meanwhile; their keys stay theirs.
 */
#ifndef PX_PAUSES_H
#define PX_PAUSES_H

#include "proxy/batch/unit_list.h"

typedef struct px_pauses_ops {
    /* The unit's pause is over, and it is not in the list any more. */
    void (*over)(void *owner, px_unit *unit);
    /* `over` was called for all units whose pause is over. */
    void (*due)(void *owner);
} px_pauses_ops;

/* The pauses of one worker's units. */
typedef struct px_pauses {
    px_worker *worker;
    const px_pauses_ops *ops;
    void *owner;
    px_unit_chain units; /* pausing units, in the order in which they came */
    uv_timer_t *timer;
} px_pauses;

void px_pauses_begin(px_pauses *pauses, px_worker *worker, const px_pauses_ops *ops, void *owner);
/* Closes the timer. */
void px_pauses_end(px_pauses *pauses);
/* The unit is in no other list. */
void px_pauses_add(px_pauses *pauses, px_unit *unit, uint32_t ms);
void px_pauses_remove(px_pauses *pauses, px_unit *unit);

#endif
