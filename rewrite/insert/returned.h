/*
 * returned: what a statement returned when its table was another.
 */
#ifndef RW_RETURNED_H
#define RW_RETURNED_H

#include "rewrite/insert/insert.h"

/* Whether the same statement, parsed when its table may have been another, still returns columns of
 * the same names and types. */
PGW_MUST_CHECK bool rw_insert_returns_same(const rw_insert *before, const rw_insert *now);

#endif
