/*
 * pauses: units that the backend has not done and may do another time. They wait for that without a
 * link, which serves others meanwhile; their keys stay theirs.
 */
#ifndef PX_PAUSES_H
#define PX_PAUSES_H

#include "proxy/batch/unit_list.h"

typedef struct px_pauses_ops {
    void (*over)(void *owner, px_unit *unit); /* its pause: it is not among them any more */
    void (*due)(void *owner);                 /* … and so it was told of all of them */
} px_pauses_ops;

/* A worker's. */
typedef struct px_pauses {
    px_worker *worker;
    const px_pauses_ops *ops;
    void *owner;
    px_unit_chain units; /* in the order in which they came */
    uv_timer_t *timer;
} px_pauses;

void px_pauses_begin(px_pauses *pauses, px_worker *worker, const px_pauses_ops *ops, void *owner);
/* Its timer goes. */
void px_pauses_end(px_pauses *pauses);
/* The unit is in no other list. */
void px_pauses_add(px_pauses *pauses, px_unit *unit, uint32_t ms);
void px_pauses_remove(px_pauses *pauses, px_unit *unit);

#endif
