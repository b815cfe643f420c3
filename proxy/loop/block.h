/*
 * block: memory that input is read into and that output refers to. Counted, so that a relayed slice
 * keeps its block; the worker keeps blocks of the usual size for the next reader.
 */
#ifndef PX_BLOCK_H
#define PX_BLOCK_H

#include "protocol/bytes.h"

#include <stddef.h>

typedef struct px_block {
    struct px_block *next; /* the next spare block, while this one is spare */
    unsigned references;
    size_t cap;
    char bytes[];
} px_block;

/* Spare blocks of one size. */
typedef struct px_spares {
    px_block *first;
    size_t count, unused; /* `unused`: the fewest spare blocks since the last trim */
} px_spares;

/* The spare blocks of a worker. */
typedef struct px_blocks {
    px_spares usual, small;
} px_blocks;

/* Bytes of the sizes that are kept: for input, and for what keyspread itself writes. */
enum { PX_BLOCK = 16 * 1024, PX_SMALL_BLOCK = 1024 - sizeof(px_block) };

/* Makes a block with one reference, which px_block_drop() gives back. */
px_block *px_block_new(px_blocks *blocks, size_t cap);
void px_block_drop(px_blocks *blocks, px_block *block); /* NULL is fine */

/* Reserves room for a block's head in an empty buffer, so that px_block_of() can make a block of it
 * without copying. */
void px_block_begin(pgw_buf *buf);
/* How many bytes were appended since px_block_begin(). */
size_t px_block_len(const pgw_buf *buf);
/* Makes the buffer's memory a block with one reference; the buffer is empty then. */
px_block *px_block_of(pgw_buf *buf);

/* Frees half of the spare blocks that were not used since the last trim; returns how many bytes. */
size_t px_blocks_trim(px_blocks *blocks);
void px_blocks_free(px_blocks *blocks);

#endif
