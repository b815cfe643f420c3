/*
 * hint: what PostgreSQL advises who misspells a column's name, less the hash column, of which its
 * client does not know.
 */
#ifndef RW_HINT_H
#define RW_HINT_H

#include "protocol/error.h"
#include "rewrite/hash/table.h"

/* Rewrites the body of an ErrorResponse whose hint names the hash column of one of the tables, if
 * `*` does not show it. False: it names none, and nothing was written. */
bool rw_hint_hide(const rw_table *const *tables, size_t count, pgw_slice body, pgw_buf *out);

#endif
