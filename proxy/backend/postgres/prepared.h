/*
 * prepared: the statements that are prepared on one link, by name. There are at most 500; the one
 * that was not used for longest goes first.
 */
#ifndef PX_PREPARED_H
#define PX_PREPARED_H

#include "proxy/backend/base/write_group.h"
#include "proxy/base/table.h"

enum { PX_PREPARED_MAX = 500, PX_DOUBTED_MS = 20 };

/* The list of one link; all zero is empty. */
typedef struct px_prepared {
    struct px_prepared_entry *first, *last; /* least recently used first */
    size_t count;
    px_table names;
} px_prepared;

/* Whether the name is prepared with just this text and these types, and is not doubted or was added
 * less than PX_DOUBTED_MS ago; if so, marks it as used. `now`: milliseconds. */
bool px_prepared_use(px_prepared *prepared, const px_write_group_prepared *what, uint64_t now);
/* Adds a statement, in place of one of the same name. There must be room: see px_prepared_evict().
 */
void px_prepared_add(px_prepared *prepared, const px_write_group_prepared *what, uint64_t now);
/* Both do nothing for a name that is not prepared. */
void px_prepared_doubt(px_prepared *prepared, pgw_slice name);
void px_prepared_remove(px_prepared *prepared, pgw_slice name);
/* If the list is full: removes the least recently used statement and returns its name, which the
 * caller frees; else NULL. */
PGW_MUST_CHECK char *px_prepared_evict(px_prepared *prepared);
void px_prepared_free(px_prepared *prepared);

#endif
