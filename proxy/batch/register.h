/*
 * register: the write groups of a worker's sessions that are under way, from when they are
 * submitted until their sessions are told; and what those of all workers weigh and come to.
 */
#ifndef PX_REGISTER_H
#define PX_REGISTER_H

#include "proxy/backend/base/write_group.h"

/* A register that is all zero but for the worker is empty. */
typedef struct px_register {
    px_worker *worker;
    px_write_group **slots; /* a hash table by ticket; the write groups of a slot are chained */
    size_t slot_count, count;
} px_register;

void px_register_add(px_register *home, px_write_group *write_group);
/* NULL if no such write group is under way: `write group` is only compared, never read. */
px_write_group *px_register_find(const px_register *home, const px_write_group *write_group,
                                 uint64_t ticket);
/* Tells the session, unless a withdrawal still looks at the write group. */
void px_register_deliver(px_register *home, px_write_group *write_group);
void px_register_free(px_register *home); /* no write group of the worker's sessions is under way */

/* ---- of all workers; any thread ---- */

/* Whether limits.queue_bytes lets one more write group in. A session asks before it reads on. */
bool px_register_has_room(const px_worker *worker);
/* No write group of any worker is under way: only then may the first batcher be freed. */
bool px_register_all_idle(void);
/* Whether rows may wait for a COMMIT: only while all rows take less than half of
 * limits.queue_bytes. */
bool px_register_may_keep(const px_worker *worker);
/* Counts bytes of rows that wait for the COMMIT of their transaction, and that do not any more. */
void px_register_keep(size_t bytes);
void px_register_let_go(size_t bytes);
/* The bytes of all rows between arrival and answer. */
uint64_t px_register_bytes(void);
/* What all batchers of the process did, in one line:
 * `event=batches batches=… rows=… units=… rows_per_batch=… failed=…` */
void px_register_log_totals(const struct px_server *server);

#endif
