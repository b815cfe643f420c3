/*
 * block: the question for a block of a sequence's numbers, drawn as a column's default would be,
 * before the rows that will have them.
 */
#ifndef RW_BLOCK_H
#define RW_BLOCK_H

#include "rewrite/hash/table.h"

/* Which numbers are asked for. */
typedef struct rw_block {
    size_t first, count; /* how they are counted */
    bool sure; /* no code that the database stores asks what was drawn: that was looked at just
                  before */
} rw_block;

/* Appends a SELECT of `table`'s column number `column` (which draws_from a sequence): a row of
 * three texts for each number: how it is counted, the sequence's file, and the
 * number itself. They come as they are drawn: what comes before an error (the sequence ends) is
 * drawn all the same. No row comes to who may not INSERT, nor where code that the database stores
 * asks what was drawn, or makes sequences go on from elsewhere: it would be told of a block. */
void rw_block_question(const rw_table *table, size_t column, rw_block block, pgw_buf *sql);

#endif
