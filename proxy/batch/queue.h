/*
 * queue: the write groups of one table, merge key and partition (or lane of several) that wait for
 * a batch together; how many of them the next batch takes; and the order in which queues get links.
 */
#ifndef PX_QUEUE_H
#define PX_QUEUE_H

#include "proxy/batch/batch.h"
#include "proxy/batch/write_group_list.h"

typedef enum px_write_group_state {
    PX_WRITE_GROUP_NEW,
    PX_WRITE_GROUP_WAITING, /* the write group waits for rows with the same keys; on the batcher's
                               list */
    PX_WRITE_GROUP_QUEUED,  /* the write group waits for a batch; on its queue's list */
    PX_WRITE_GROUP_FLYING,  /* the write group is in a batch */
    PX_WRITE_GROUP_PAUSING, /* the write group waits to be sent again; on the list of pauses */
    PX_WRITE_GROUP_DONE     /* the write group has its outcome; the owner must not touch it again */
} px_write_group_state;

typedef enum px_queue_state {
    PX_QUEUE_EMPTY,   /* no write group waits or is in a batch; in the table of queues only */
    PX_QUEUE_HOLDING, /* the first write group waits for wait_ms; on the schedule's list */
    PX_QUEUE_READY,   /* the queue waits for a link; in its pool's heap */
    PX_QUEUE_FLYING   /* a batch of it is on a link, and no other may leave yet */
} px_queue_state;

/* Batches of a queue that may be on links at a time. */
enum { PX_QUEUE_FLIGHTS = 4 };

typedef struct px_queue {
    struct px_queue *chain; /* the next queue in one slot of the table */
    pgw_arena arena;
    px_write_group key; /* the merge key: its fields are copies, and nothing else is set */
    struct px_pool *pool;
    const cfg_table *table; /* the settings of the latest write group */
    px_queue_state state;

    px_write_group_chain waiting; /* write groups that wait for a batch: first come, first served */
    size_t write_groups, rows, bytes;
    uint64_t limit_rows, limit_bytes; /* the most for a batch of several write groups */
    bool joined; /* rows failed when they were merged, and not alone: they are not merged again */
    uint64_t idle_since, ready_since; /* scales: px_worker_now(); px_worker_clock() */

    size_t heap_index;                   /* the queue's place in its pool's heap; READY only */
    struct px_queue *next, *previous;    /* neighbours on the schedule's list; HOLDING only */
    px_batch *flights[PX_QUEUE_FLIGHTS]; /* the first `flying` are batches on links; else NULL */
    size_t flying;
    px_batch *spare;                /* a batch that is back, for the next; owned; NULL: none */
    uint64_t quick_ms, quick_until; /* the quickest batch of late, and when that is forgotten */
} px_queue;

/* ---- the queues of a worker ---- */

typedef struct px_queue_table {
    px_queue **slots;
    size_t slot_count, count;
    size_t bytes; /* bytes of the texts in the queues' keys */
} px_queue_table;

/* The queue of the write group's merge key and partition, made if it is not there (then its pool is
 * NULL).
 */
px_queue *px_queue_find(px_queue_table *table, const px_write_group *write_group);
/* Frees queues that were empty since before `since`; `on_free` is told of each (may be NULL). */
void px_queue_sweep(px_queue_table *table, uint64_t since, void (*on_free)(px_queue *queue));
void px_queue_table_free(px_queue_table *table);

/* ---- one queue ---- */

/* The settings of the latest write group hold, as after a reload. */
void px_queue_configure(px_queue *queue, const cfg_table *table);
void px_queue_push(px_queue *queue, px_write_group *write_group);
void px_queue_push_front(px_queue *queue, px_write_group *write_group);
void px_queue_remove(px_queue *queue, px_write_group *write_group);
/* Makes the next batch: its write groups are ordered by their least keys. The caller is to give it
 * to px_queue_land(). */
px_batch *px_queue_form(px_queue *queue, uint64_t now);
/* The batch, which has no write groups any more, is back, and is freed. */
void px_queue_land(px_batch *batch);
/* Whether a batch may leave now: none is under way, or the only one takes longer than it should,
 * for a slow one does not hold up all others. */
bool px_queue_may_leave(const px_queue *queue, uint64_t now);
/* Whether a batch of a lane may leave where partitions cost nothing: also if so much waits that it
 * is worth a link, or if all that are under way take longer than they should. */
bool px_queue_lane_may_leave(const px_queue *queue, uint64_t now);
/* Whether `ms` are long for something of this queue: longer than wanted, and not usual for it (for
 * a backend may be far away). */
bool px_queue_is_slow(const px_queue *queue, uint64_t ms);
/* Notes that a batch took `ms`. */
void px_queue_note_time(px_queue *queue, uint64_t now, uint64_t ms);
/* Whether there is enough for a full batch. */
bool px_queue_is_full(const px_queue *queue);
/* The limit in force learns from a committed batch that took `ms`, or from a refused size. */
void px_queue_learn(px_queue *queue, uint64_t ms);
void px_queue_refused(px_queue *queue);

/* ---- which queue is next: a heap by the arrival of the first write group ---- */

typedef struct px_ready {
    px_queue **heap;
    size_t count, cap;
} px_ready;

void px_ready_add(px_ready *ready, px_queue *queue);
void px_ready_remove(px_ready *ready, px_queue *queue);
void px_ready_moved(px_ready *ready,
                    px_queue *queue); /* the queue's first write group is another one */
static inline px_queue *px_ready_first(const px_ready *ready)
{
    return ready->count > 0 ? ready->heap[0] : NULL;
}

#endif
