/*
 * like: LIKE as in PostgreSQL, with UTF-8 and a backslash as its escape.
 */
#ifndef RW_LIKE_H
#define RW_LIKE_H

#include "protocol/bytes.h"

/* Whether the text is like the pattern. False, too, for a pattern that ends with its escape, which
 * PostgreSQL refuses. Takes time as the product of both lengths. */
bool rw_is_like(pgw_slice text, pgw_slice pattern);

#endif
