/*
 * prepared: the statements that are prepared on one link, by name. There are at most 500; the
 * oldest goes first.
 */
#ifndef PX_PREPARED_H
#define PX_PREPARED_H

#include "proxy/base/table.h"

enum { PX_PREPARED_MAX = 500 };

/* All zero is an empty one. */
typedef struct px_prepared {
    struct px_prepared_entry **ring; /* the oldest at `head`; NULL: removed since */
    size_t head, count;
    px_table names;
} px_prepared;

/* Whether `name` stands for just this text and these types. */
bool px_prepared_has(const px_prepared *prepared, pgw_slice name, pgw_slice text,
                     const uint32_t *types, size_t type_count);
/* There must be room: see px_prepared_evict(). Replaces one of the same name. */
void px_prepared_add(px_prepared *prepared, pgw_slice name, pgw_slice text, const uint32_t *types,
                     size_t type_count);
void px_prepared_remove(px_prepared *prepared, pgw_slice name);
/* If it is full: takes the oldest out and returns its name, which the caller frees; else NULL. */
PGW_MUST_CHECK char *px_prepared_evict(px_prepared *prepared);
void px_prepared_free(px_prepared *prepared);

#endif
