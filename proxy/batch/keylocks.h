/*
 * keylocks: the order of writes by key. Units whose rows may be equal follow each other in the
 * order of their arrival, over all workers, queues, shapes and links of their tables.
 */
#ifndef PX_KEYLOCKS_H
#define PX_KEYLOCKS_H

#include "proxy/backend/base/write_group.h"

/* A row whose whole key is known holds its key alone; a row whose key is not (now(), a default)
 * holds its hash alone, for it may equal any row of that hash. While there are such rows of a
 * table, and for a while after, all others hold their hashes shared as well. All claims of a write
 * group, in all of its tables, are made at once and each lock is first come, first served: no two
 * write groups can wait for each other. Any thread may call these; a table has one mutex.
 *
 * Lists of write groups are linked through message.next (each write group's message is its first
 * member), which no write group needs while it waits. */

/* Makes the write group's claims (in its arena). True: all are granted. False: it is to wait, and
 * comes back in the list of some release or cancel. */
PGW_MUST_CHECK bool px_keylocks_claim(px_write_group *write_group);
/* Gives the claims up; returns the write groups that now have all of theirs. */
PGW_MUST_CHECK px_write_group *px_keylocks_release(px_write_group *write_group);
/* Takes a waiting write group's claims back and fills `granted` as release returns it. False, and
 * nothing done: the write group was granted meanwhile, and the thread that did that is about to
 * hand it over. */
PGW_MUST_CHECK bool px_keylocks_cancel(px_write_group *write_group, px_write_group **granted);
static inline px_write_group *px_keylocks_next(const px_write_group *granted)
{
    return (px_write_group *)granted->message.next;
}

/* Frees all tables at the end of the process: no write group holds keys any more. */
void px_keylocks_free(void);

#endif
