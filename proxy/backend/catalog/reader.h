/*
 * reader: reads a database's configured tables for all workers, over one link, on the worker that
 * owns the database. The link is kept while the tables are used; `notify keyspread_ddl` has it look
 * at once. A short question tells whether anything has changed; only then the tables are read.
 * Before `keyspread migrate` switches tables, it notifies PX_SWITCH_NOTICE and holds
 * PX_SWITCH_LOCK: no look begins before it gives the lock back, so that statements on configured
 * tables wait. Anybody can do both: a lock that is kept is not waited for again for some time.
 */
#ifndef PX_READER_H
#define PX_READER_H

#include "proxy/backend/base/slots.h"
#include "proxy/backend/catalog/question.h"

#define PX_DDL_CHANNEL "keyspread_ddl"
#define PX_SWITCH_NOTICE "switch"
#define PX_SWITCH_LOCK "7308613550893297511" /* the key of an advisory lock */

/* Sends the question to the reader of its database. Any thread. */
void px_reader_ask(px_question *question);

/* On the owner's thread: */
typedef struct px_reader px_reader;
void px_readers_tick(px_worker *worker);
void px_readers_free(px_worker *worker);
/* A reader whose link would help the plea closes it, at once or after the look that is under way.
 */
bool px_readers_yield(px_worker *worker, px_plea *plea);
/* Has the database's reader close its link. Any thread. */
void px_reader_leave(px_worker *worker, const char *database);

#endif
