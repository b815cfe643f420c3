/*
 * loading: how far each COPY … FROM STDIN of a configured table has come that is under way, as
 * pg_stat_progress_copy has it.
 */
#ifndef PX_LOADING_H
#define PX_LOADING_H

#include "protocol/bytes.h"

typedef struct px_loading px_loading;
/* A COPY that is under way. */
typedef struct px_loading_copy px_loading_copy;

px_loading *px_loading_new(void);
void px_loading_free(px_loading *loading); /* NULL is fine; no COPY is under way any more */
/* A COPY begins; `pid` is the process id that its client was told, and `mode` a constant. The texts
 * are copied. Any thread. Freed by px_loading_end(). NULL: there is no `loading`. */
px_loading_copy *px_loading_begin(px_loading *loading, uint32_t pid, const char *database,
                                  const char *table, const char *mode);
/* More bytes of the client's data have come, and rows in them have got their hash. Any thread; NULL
 * is fine. */
void px_loading_more(px_loading_copy *copy, uint64_t bytes, uint64_t rows);
void px_loading_end(px_loading *loading, px_loading_copy *copy); /* NULL is fine */
/* Adds a line of names, and one for each COPY, the oldest first; fields have tabs between them. Any
 * thread. */
void px_loading_write(px_loading *loading, pgw_buf *out);

#endif
