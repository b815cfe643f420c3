/*
 * queue: the units of one table, merge key and partition (or lane of several) that wait for a batch
 * together; how many of them the next batch takes; and the order in which queues get links.
 */
#ifndef PX_QUEUE_H
#define PX_QUEUE_H

#include "proxy/batch/batch.h"
#include "proxy/batch/unit_list.h"

typedef enum px_unit_state {
    PX_UNIT_NEW,
    PX_UNIT_WAITING, /* for rows before it with the same keys; on the batcher's list */
    PX_UNIT_QUEUED,  /* on its queue's list */
    PX_UNIT_FLYING,  /* in a batch */
    PX_UNIT_PAUSING, /* between two of them; on the list of pauses */
    PX_UNIT_DONE     /* has its outcome; the owner must not touch it again */
} px_unit_state;

typedef enum px_queue_state {
    PX_QUEUE_EMPTY,   /* in the table of queues only */
    PX_QUEUE_HOLDING, /* on the batcher's list: its first unit waits for wait_ms */
    PX_QUEUE_READY,   /* in its pool's heap: waits for a link */
    PX_QUEUE_FLYING   /* a batch of it is on a link, and no other may leave yet */
} px_queue_state;

/* Batches of a queue that may be on links at a time: a slow one does not hold up all others. */
enum { PX_QUEUE_FLIGHTS = 2 };

typedef struct px_queue {
    struct px_queue *chain; /* in the table of queues */
    pgw_arena arena;
    px_unit key; /* the merge key: its fields are copies, nothing else is set */
    struct px_pool *pool;
    const cfg_table *table; /* the settings of the latest unit */
    px_queue_state state;

    px_unit_chain waiting; /* first come, first served */
    size_t units, rows, bytes;
    uint64_t limit_rows, limit_bytes; /* in force for a batch of several units */
    bool joined; /* rows failed when they were merged, and not alone: they are not merged again */
    uint64_t idle_since, ready_since; /* the latter by px_worker_clock() */

    size_t heap_index;                   /* READY */
    struct px_queue *next, *previous;    /* HOLDING */
    px_batch *flights[PX_QUEUE_FLIGHTS]; /* batches on links, the first ones; else NULL */
    size_t flying;
    uint64_t quick_ms, quick_until; /* the quickest batch of late, and when that is forgotten */
} px_queue;

/* ---- the queues of a worker ---- */

typedef struct px_queue_table {
    px_queue **slots;
    size_t slot_count, count;
    size_t bytes; /* of the texts in their keys */
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
/* The next batch leaves: its units, ordered by their first key. It is the caller's, to be given to
 * px_queue_land(). */
px_batch *px_queue_form(px_queue *queue, uint64_t now);
/* It is back, without units. */
void px_queue_land(px_batch *batch);
/* Whether a batch may leave now: none is under way, or it takes longer than it should. */
bool px_queue_may_leave(const px_queue *queue, uint64_t now);
/* Whether `ms` are long for something of this queue: longer than wanted, and not usual for it (for
 * a backend may be far away). */
bool px_queue_is_slow(const px_queue *queue, uint64_t ms);
/* A batch took `ms`. */
void px_queue_note_time(px_queue *queue, uint64_t now, uint64_t ms);
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
