/*
 * pauses: write groups that the backend has not done and may do another time. They wait for that
 * without a link, which serves others meanwhile; their keys stay theirs.
 */
#ifndef PX_PAUSES_H
#define PX_PAUSES_H

#include "proxy/batch/write_group_list.h"

typedef struct px_pauses_ops {
    /* The write group's pause is over, and it is not in the list any more. */
    void (*over)(void *owner, px_write_group *write_group);
    /* `over` was called for all write groups whose pause is over. */
    void (*due)(void *owner);
} px_pauses_ops;

/* The pauses of one worker's write groups. */
typedef struct px_pauses {
    px_worker *worker;
    const px_pauses_ops *ops;
    void *owner;
    px_write_group_chain write_groups; /* pausing write groups, in the order in which they came */
    uv_timer_t *timer;
} px_pauses;

void px_pauses_begin(px_pauses *pauses, px_worker *worker, const px_pauses_ops *ops, void *owner);
/* Closes the timer. */
void px_pauses_end(px_pauses *pauses);
/* The write group is in no other list. */
void px_pauses_add(px_pauses *pauses, px_write_group *write_group, uint32_t ms);
void px_pauses_remove(px_pauses *pauses, px_write_group *write_group);

#endif
