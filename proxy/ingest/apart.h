/*
 * apart: the rows of a COPY, each with its hash, on their way to a load, which stores them in
 * batches: where each begins and ends, the head that every batch needs, and what is left at the
 * end.
 */
#ifndef PX_APART_H
#define PX_APART_H

#include "proxy/ingest/load.h"
#include "rewrite/statement/copy/copy_from.h"

typedef struct px_apart px_apart;

enum { PX_APART_ROW_MOST = 9 << 20 }; /* bytes of a row */

/* The load is its own from now on; `copy`, and `rows`, which cuts the data, must live as long. */
px_apart *px_apart_new(px_worker *worker, px_load *load, const rw_copy *copy, pgw_copy *rows);
void px_apart_free(px_apart *apart); /* NULL is fine */
px_load *px_apart_load(const px_apart *apart);
/* The next bytes of the data, and its end: they go through `rows`, whose pgw_copy_fill is to call
 * px_apart_row(). */
void px_apart_data(px_apart *apart, pgw_slice bytes);
void px_apart_end(px_apart *apart);
/* Fails it, where its data has come to. */
void px_apart_refuse(px_apart *apart, const char *sqlstate, const char *message);
/* The row at hand has got its hash; so many bytes were put out by then. */
void px_apart_row(px_apart *apart, uint64_t hash, size_t end);

#endif
