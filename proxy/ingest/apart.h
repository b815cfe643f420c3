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

/* Takes the load, which px_apart_free() frees; `copy`, and `rows`, which cuts the data, must live
 * as long. */
px_apart *px_apart_new(px_worker *worker, px_load *load, const rw_copy *copy, pgw_copy *rows);
void px_apart_free(px_apart *apart); /* NULL is fine; frees the load as well */
px_load *px_apart_load(const px_apart *apart);
/* Takes the next bytes of the data, and its end: they go through `rows`, whose pgw_copy_fill is to
 * call px_apart_row(). */
void px_apart_data(px_apart *apart, pgw_slice bytes);
void px_apart_end(px_apart *apart);
/* Fails the load at the line that its data has come to. */
void px_apart_refuse(px_apart *apart, const char *sqlstate, const char *message);
/* Tells the hash of the row at hand, which ends at byte `end` of what was put out. */
void px_apart_row(px_apart *apart, uint64_t hash, size_t end);

#endif
