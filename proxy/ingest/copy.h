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

/* A COPY that was read with `catalog`; `env` is how its client's values are read, `encoding` what
 * they are written in, and `server` the name of the server's encoding. All but `server` are kept,
 * as is what is needed of `copy`. Freed by px_copy_free(). */
px_copy *px_copy_new(const rw_copy *copy, px_catalog *catalog, pgw_env env, rw_encoding encoding,
                     const char *server);
void px_copy_free(px_copy *copy); /* NULL is fine */
/* Before any data, where rows get the next numbers of a sequence (rw_copy's `drawn`): has them
 * drawn for `identity`. When `moved` is called, px_copy_data() is to be called, if only with no
 * bytes. */
void px_copy_draw(px_copy *copy, px_worker *worker, px_identity *identity, void (*moved)(void *),
                  void *submitter);
/* The last number that a row has got; false: none has. */
PGW_MUST_CHECK bool px_copy_drawn(const px_copy *copy, uint32_t *sequence, int64_t *number);
/* Whether numbers cannot be drawn any more: a COPY that is not in batches is to be failed. */
bool px_copy_lacks_numbers(const px_copy *copy);
/* Before any data: has the rows stored in batches (load.h), so that px_copy_data() writes no
 * messages for the server any more. `statement` is the COPY as the server got it. */
px_load *px_copy_load(px_copy *copy, px_worker *worker, px_identity *identity, pgw_slice statement,
                      const px_load_ops *ops, void *submitter);
px_load *px_copy_loads(const px_copy *copy); /* NULL: its rows are not stored in batches */
/* Whether no more data is to come until batches are answered, or numbers are drawn. */
bool px_copy_is_full(const px_copy *copy);
/* Fails a COPY in batches at the line that its data has come to. */
void px_copy_refuse(px_copy *copy, const char *sqlstate, const char *message);

/* How many rows were given their hash since this was asked last. */
uint64_t px_copy_rows_since(px_copy *copy);
/* The CopyInResponse as its client is to see it: without the columns that are added. */
void px_copy_response(const px_copy *copy, pgw_slice body, pgw_buf *out);
/* The messages for the server with the next bytes of data; none, if nothing is complete so far. */
void px_copy_data(px_copy *copy, pgw_slice bytes, pgw_buf *out);
/* The data has ended: the messages for the server with what is left of it; none, if nothing is. */
void px_copy_end(px_copy *copy, pgw_buf *out);

/* The body of an error about a COPY as its client is to see it: the row in its context is as the
 * client wrote it, and what the server says of a row without a hash is said of that row's key. */
void px_copy_error(const px_copy *copy, pgw_slice body, bool fails, pgw_buf *out);

#endif
