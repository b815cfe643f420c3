/*
 * batcher_parts: what the parts of a worker's batcher share: batcher.c (units come, wait and go),
 * flight.c (batches on links) and homecoming.c (outcomes on the thread of the session).
 */
#ifndef PX_BATCHER_PARTS_H
#define PX_BATCHER_PARTS_H

#include "proxy/batch/keylocks.h"
#include "proxy/batch/pool.h"
#include "proxy/batch/queue.h"

/* Units in a row, linked through message.next. */
typedef struct px_unit_list {
    px_unit *first, *last;
} px_unit_list;

typedef struct px_batcher {
    px_worker *worker;
    px_queue_table queues;
    px_pool *pools;
    px_unit *waiting_first, *waiting_last; /* for keys; through next and previous */
    px_queue *holding;                     /* for wait_ms */
    uv_timer_t *hold_timer;
    px_unit_list granted; /* have their keys now, and are to be queued */
    px_unit_list done;    /* of this worker's sessions, to be told */
    bool winding_up;
    bool asking;            /* another worker is asked for a link */
    uint64_t ask_after;     /* … not before then */
    size_t here;            /* units between arrival and outcome */
    uint64_t next_deadline; /* none of them expires before */
    uint64_t next_sweep, next_measure;
    pgw_buf scratch;

    px_unit **registered; /* units of this worker's sessions, by ticket, chained */
    size_t registered_slots, registered_count;
} px_batcher;

/* ---- batcher.c ---- */

/* The unit has its outcome: its keys are free and it goes home. */
void px_batcher_finish(px_batcher *batcher, px_unit *unit);
/* Finishes it with 57014 if it expired or is not wanted any more. */
bool px_batcher_give_up(px_batcher *batcher, px_unit *unit);
/* Puts the queue among the empty, the holding or the ready ones, where it belongs now. */
void px_batcher_place(px_batcher *batcher, px_queue *queue);
/* Ends every turn: queues what was granted, tells what is done, until there is neither. */
void px_batcher_wind_up(px_batcher *batcher);

/* ---- flight.c ---- */

extern const px_pool_ops px_flight_ops;
/* Gives the pool's links to the queues that wait longest. */
void px_flight_dispatch(px_pool *pool);

/* ---- homecoming.c ---- */

void px_home_register(px_batcher *home, px_unit *unit);
/* NULL if no such unit is under way. */
px_unit *px_home_find(const px_batcher *home, const px_unit *unit, uint64_t ticket);
/* Tells the session, unless a withdrawal still looks at the unit. */
void px_home_deliver(px_batcher *home, px_unit *unit);

static inline void px_batcher_note_deadline(px_batcher *batcher, const px_unit *unit)
{
    if (unit->deadline < batcher->next_deadline)
        batcher->next_deadline = unit->deadline;
}

static inline void px_unit_list_add(px_unit_list *list, px_unit *unit)
{
    unit->message.next = NULL;
    if (list->first == NULL)
        list->first = unit;
    else
        list->last->message.next = &unit->message;
    list->last = unit;
}

static inline px_unit *px_unit_list_pop(px_unit_list *list)
{
    px_unit *unit = list->first;
    if (unit != NULL)
        list->first = (px_unit *)unit->message.next;
    return unit;
}

#endif
