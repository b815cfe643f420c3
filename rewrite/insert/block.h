/*
 * block: the question for a block of a sequence's numbers, drawn as a column's default would be,
 * before the rows that will have them.
 */
#ifndef RW_BLOCK_H
#define RW_BLOCK_H

#include "rewrite/hash/table.h"

/* The numbers that are asked for. */
typedef struct rw_block {
    size_t first, count; /* numbers from `first` on count the rows of the answer */
    bool sure;           /* no stored code asks what was drawn, as was looked up just before */
} rw_block;

/* Appends a SELECT of `table`'s column number `column` (which draws_from a sequence): for each
 * number a row of three texts: its count, the sequence's file, the number itself. Numbers that come
 * before an error (the sequence ends) are drawn all the same. No rows come to a user who may not
 * INSERT, nor where code that the database stores asks what was drawn or restarts sequences, for it
 * would notice the block. */
void rw_block_question(const rw_table *table, size_t column, rw_block block, pgw_buf *sql);

#endif
