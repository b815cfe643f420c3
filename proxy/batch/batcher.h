/*
 * batcher: write groups of rows, gathered by table, merge key and partition, and written to the
 * backend in batches that each commit at once. It knows write groups, never clients or sockets of
 * clients.
 */
#ifndef PX_BATCHER_H
#define PX_BATCHER_H

#include "proxy/backend/base/write_group.h"

/* A session of this identity has come, whose rows may be batched: the worker's first link for these
 * is opened before they come. */
void px_batcher_expect(px_worker *worker, px_identity *identity);
/* Takes the write group. Calls nothing of the session before it returns: the outcome comes on a
 * later turn. */
void px_batcher_submit(px_write_group *write_group);
/* Asks that a write group be withdrawn (cancel, disconnect): if it is still queued it comes back
 * FAILED with 57014, else its true outcome comes. By home and ticket, for the write group may be
 * another thread's. */
void px_batcher_withdraw(px_worker *home, px_write_group *write_group, uint64_t ticket);

/* A worker's part: queues of the partitions it owns, and its batch links. */
struct px_batcher *px_batcher_new(px_worker *worker);
void px_batcher_free(struct px_batcher *batcher);
/* The end of a turn: what came in it leaves together, if nothing of it is in flight and a link is
 * free. Units of one turn wait for nothing but each other, and are written when they would be
 * anyway. */
void px_batcher_turn(struct px_batcher *batcher);
void px_batcher_tick(struct px_batcher *batcher); /* every 100 ms: deadlines, idle links */
extern const px_tenant px_batcher_tenant; /* the functions above, as the worker calls them */

#endif
