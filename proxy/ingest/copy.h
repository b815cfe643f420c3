/*
 * copy: one COPY … FROM STDIN of a configured table under way: its client's data with each row's
 * hash put in, and what the server says of it without that.
 */
#ifndef PX_COPY_H
#define PX_COPY_H

#include "proxy/backend/catalog/catalog.h"
#include "proxy/ingest/load.h"
#include "rewrite/statement/copy/copy_from.h"

typedef struct px_copy px_copy;

/* Of what was read with `catalog`; `env` is how its client's values are read. Both are kept, as is
 * what is needed of `copy`. Freed by px_copy_free(). */
px_copy *px_copy_new(const rw_copy *copy, px_catalog *catalog, pgw_env env);
void px_copy_free(px_copy *copy); /* NULL is fine */
/* Before any data: its rows are stored in batches (load.h), and px_copy_data() has no messages for
 * the server any more. `statement` is the COPY as the server got it. */
px_load *px_copy_load(px_copy *copy, px_worker *worker, px_identity *identity, pgw_slice statement,
                      const px_load_ops *ops, void *owner);
px_load *px_copy_loads(const px_copy *copy); /* NULL: it has none */
/* No more data is to come until batches are answered. */
bool px_copy_is_full(const px_copy *copy);
/* Fails such a one where its data has come to. */
void px_copy_refuse(px_copy *copy, const char *sqlstate, const char *message);

/* How many rows were given their hash. */
uint64_t px_copy_rows(const px_copy *copy);
/* The CopyInResponse as its client is to see it: without the hash column. */
void px_copy_response(pgw_slice body, pgw_buf *out);
/* The messages for the server with the next bytes of data; none, if nothing is complete so far. */
void px_copy_data(px_copy *copy, pgw_slice bytes, pgw_buf *out);
/* The data has ended: the messages for the server with what is left of it; none, if nothing is. */
void px_copy_end(px_copy *copy, pgw_buf *out);

/* The body of an error about it as its client is to see it: the row in its context as the client
 * wrote it; and what the server says of a row without a hash is said of that row's key. */
void px_copy_error(const px_copy *copy, pgw_slice body, bool fails, pgw_buf *out);

#endif
