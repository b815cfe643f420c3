/*
 * block: memory that input is read into and that output refers to. Counted, so that a relayed slice
 * keeps what it lies in; blocks of the usual size are kept by their worker for the next reader.
 */
#ifndef PX_BLOCK_H
#define PX_BLOCK_H

#include "protocol/bytes.h"

#include <stddef.h>

typedef struct px_block {
    struct px_block *next; /* while it is spare */
    unsigned references;
    size_t cap;
    char bytes[];
} px_block;

/* A worker's spare ones. */
typedef struct px_blocks {
    px_block *spare;
    size_t count, unused; /* the latter: the fewest since they were last trimmed */
} px_blocks;

enum { PX_BLOCK = 16 * 1024 }; /* bytes of the usual size */

/* With one reference; px_block_drop() gives it back. */
px_block *px_block_new(px_blocks *blocks, size_t cap);
void px_block_drop(px_blocks *blocks, px_block *block); /* NULL is fine */

/* Makes the room for the head of a block in an empty buffer: what is appended to it then can become
 * a block without being copied. */
void px_block_begin(pgw_buf *buf);
/* The bytes that were appended since px_block_begin(); so many are there. */
size_t px_block_len(const pgw_buf *buf);
/* The buffer's memory as a block with one reference; the buffer is empty then. */
px_block *px_block_of(pgw_buf *buf);

/* Frees half of those that nobody asked for since the last time; how many bytes that were. */
size_t px_blocks_trim(px_blocks *blocks);
void px_blocks_free(px_blocks *blocks);

#endif
