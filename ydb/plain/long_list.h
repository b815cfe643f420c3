/*
 * long_list: `x IN ($1, $2, … $30000)` with one parameter left of each list, so that libpg_query
 * can be asked about a text that is too large for it only because of its lists.
 */
#ifndef RW_LONG_LIST_H
#define RW_LONG_LIST_H

#include "rewrite/statement/lookup/lookup.h"

typedef struct rw_shortened {
    pgw_slice text;    /* the text with blanks for what was left out; arena-owned */
    size_t cut;        /* bytes that were left out */
    uint32_t *leaders; /* each parameter's leader, which has its type: PostgreSQL gives all of a
                          list one type; 0: it was not left out; arena-owned */
} rw_shortened;

/* Leaves out what stands behind the first element of a list, as far as it is parameters alone,
 * declared as the first one is. A list stays whole whose first parameter stands elsewhere, too: it
 * may have its type from there. `count`: the text's highest parameter or more. */
rw_shortened rw_shorten_lists(pgw_slice text, rw_declared declared, size_t count,
                              const pgw_reading *reading);

#endif
