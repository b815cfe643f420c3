/*
 * chunks: what a stream has to write: a ring of slices of blocks, its own bytes and other streams'
 * input alike.
 */
#ifndef PX_CHUNKS_H
#define PX_CHUNKS_H

#include "proxy/loop/block.h"

#include <stdbool.h>

typedef struct px_chunk {
    px_block *block; /* counted */
    size_t offset, len;
} px_chunk;

typedef struct px_chunks {
    px_chunk *ring; /* of `cap` (a power of two) */
    size_t head, count, cap;
    size_t bytes; /* of all */
} px_chunks;

/* The i-th from the front; i < count. */
static inline px_chunk *px_chunks_at(const px_chunks *chunks, size_t i)
{
    return &chunks->ring[(chunks->head + i) & (chunks->cap - 1)];
}

/* So many bytes can be put at the end, and take no memory. */
size_t px_chunks_room(const px_chunks *chunks);
/* Puts a copy of the bytes at the end. */
void px_chunks_put(px_chunks *chunks, px_blocks *blocks, const char *bytes, size_t len);
/* Puts a slice of `block` at the end, which is shared from now on. */
void px_chunks_share(px_chunks *chunks, px_block *block, size_t offset, size_t len);
/* Puts the first `len` bytes of `block` at the end, with its reference. */
void px_chunks_give(px_chunks *chunks, px_block *block, size_t len);
/* If the last slice ends where this one begins, makes it longer; else false. */
bool px_chunks_extend(px_chunks *chunks, const px_block *block, size_t offset, size_t len);
/* What is there moves into a block of its own, and keeps no other one. */
void px_chunks_own(px_chunks *chunks, px_blocks *blocks);
/* The first `len` bytes are dealt with. */
void px_chunks_consume(px_chunks *chunks, px_blocks *blocks, size_t len);
void px_chunks_free(px_chunks *chunks, px_blocks *blocks);

#endif
