/*
 * queue: the units of one table, merge key and partition (or lane of several) that wait for a batch
 * together; how many of them the next batch takes; and the order in which queues get links.
 */
#ifndef PX_QUEUE_H
#define PX_QUEUE_H

#include "proxy/batch.h"

typedef enum px_unit_state {
    PX_UNIT_NEW,
    PX_UNIT_WAITING, /* for rows before it with the same keys; on the batcher's list */
    PX_UNIT_QUEUED,  /* on its queue's list */
    PX_UNIT_FLYING,  /* in a batch */
    PX_UNIT_DONE     /* has its outcome; the owner must not touch it again */
} px_unit_state;

typedef enum px_queue_state {
    PX_QUEUE_EMPTY,   /* in the table of queues only */
    PX_QUEUE_HOLDING, /* on the batcher's list: its first unit waits for wait_ms */
    PX_QUEUE_READY,   /* in its pool's heap: waits for a link */
    PX_QUEUE_FLYING   /* its batch is on a link */
} px_queue_state;

typedef struct px_queue {
    struct px_queue *chain; /* in the table of queues */
    pgw_arena arena;
    px_unit key; /* the merge key: its fields are copies, nothing else is set */
    struct px_pool *pool;
    const cfg_table *table; /* the settings of the latest unit */
    px_queue_state state;

    px_unit *first, *last; /* first come, first served */
    size_t units, rows, bytes;
    uint64_t limit_rows, limit_bytes; /* in force for a batch of several units */
    bool joined; /* rows failed when they were merged, and not alone: they are not merged again */
    uint64_t idle_since, ready_since; /* the latter by px_worker_clock() */

    size_t heap_index;                /* READY */
    struct px_queue *next, *previous; /* HOLDING */
    px_batch batch;                   /* FLYING */
} px_queue;

/* ---- the queues of a worker ---- */

typedef struct px_queue_table {
    px_queue **slots;
    size_t slot_count, count;
} px_queue_table;

/* The queue of the unit's merge key and partition, made if it is not there (then its pool is NULL).
 */
px_queue *px_queue_find(px_queue_table *table, const px_unit *unit);
/* Frees queues that were empty since before `since`; `on_free` is told of each (may be NULL). */
void px_queue_sweep(px_queue_table *table, uint64_t since, void (*on_free)(px_queue *queue));
void px_queue_table_free(px_queue_table *table);

/* ---- one queue ---- */

/* The settings of the latest unit hold, as after a reload. */
void px_queue_configure(px_queue *queue, const cfg_table *table);
void px_queue_push(px_queue *queue, px_unit *unit);
void px_queue_push_front(px_queue *queue, px_unit *unit);
void px_queue_remove(px_queue *queue, px_unit *unit);
/* The units of the next batch go into queue->batch, ordered by their first key. */
void px_queue_form(px_queue *queue);
/* Enough for a full batch is there. */
bool px_queue_is_full(const px_queue *queue);
/* The limit in force learns from a committed batch that took `ms`, or from a refused size. */
void px_queue_learn(px_queue *queue, uint64_t ms);
void px_queue_refused(px_queue *queue);

/* ---- which queue is next: a heap by the arrival of the first unit ---- */

typedef struct px_ready {
    px_queue **heap;
    size_t count, cap;
} px_ready;

void px_ready_add(px_ready *ready, px_queue *queue);
void px_ready_remove(px_ready *ready, px_queue *queue);
void px_ready_moved(px_ready *ready, px_queue *queue); /* its first unit is another one */
static inline px_queue *px_ready_first(const px_ready *ready)
{
    return ready->count > 0 ? ready->heap[0] : NULL;
}

#endif
