/*
 * like: LIKE, as PostgreSQL does it with UTF-8 and a backslash as its escape.
 */
#ifndef RW_LIKE_H
#define RW_LIKE_H

#include "protocol/bytes.h"

/* False, too, for a pattern that ends with its escape, which PostgreSQL refuses. In time as long as
 * the product of both lengths. */
bool rw_is_like(pgw_slice text, pgw_slice pattern);

#endif
