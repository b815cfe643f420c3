/*
 * described: the columns of rows that keyspread makes, as a RowDescription has them.
 */
#ifndef RW_DESCRIBED_H
#define RW_DESCRIBED_H

#include "protocol/bytes.h"

/* Appends a column that belongs to no table, in text format. `length`: typlen, -1: any. The int16
 * before the first column, the number of columns, is the caller's. */
void rw_add_described(pgw_buf *out, const char *name, uint32_t type, int16_t length);

#endif
