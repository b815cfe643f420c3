/*
 * described: columns of a row that is made here, as a RowDescription has them.
 */
#ifndef RW_DESCRIBED_H
#define RW_DESCRIBED_H

#include "protocol/bytes.h"

/* Appends a column of no table, in text; `length` as in pg_type, -1: any. Their number stands
 * before them, an int16. */
void rw_add_described(pgw_buf *out, const char *name, uint32_t type, int16_t length);

#endif
