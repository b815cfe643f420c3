/*
 * reader: the one link a database over which the configured tables are looked at, for all workers.
 * It lives on the worker that owns the database, is kept while statements use those tables, and
 * listens: `notify keyspread_ddl` makes it look at once. A short question tells whether anything
 * has changed; only then the tables are read anew.
 */
#ifndef PX_READER_H
#define PX_READER_H

#include "proxy/backend/base/slots.h"
#include "proxy/backend/catalog/question.h"

/* Any thread. */
void px_reader_ask(px_question *question);

/* On the owner's thread: */
typedef struct px_reader px_reader;
void px_readers_tick(px_worker *worker);
void px_readers_free(px_worker *worker);
/* One that has a link of this kind closes it, or does when nobody waits for what it looks at. */
bool px_readers_yield(px_worker *worker, px_plea *plea);
/* Any thread: the owner closes its link to the database. */
void px_reader_leave(px_worker *worker, const char *database);

#endif
