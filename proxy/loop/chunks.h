/*
 * chunks: what a stream has to write: a ring of slices of blocks, of bytes of its own and of other
 * streams' input.
 */
#ifndef PX_CHUNKS_H
#define PX_CHUNKS_H

#include "proxy/loop/block.h"

#include <stdbool.h>

typedef struct px_chunk {
    px_block *block; /* a counted reference */
    size_t offset, len;
} px_chunk;

typedef struct px_chunks {
    px_chunk *ring; /* `cap` slices, a power of two */
    size_t head, count, cap;
    size_t bytes; /* bytes of all slices */
} px_chunks;

/* The i-th slice from the front; i < count. */
static inline px_chunk *px_chunks_at(const px_chunks *chunks, size_t i)
{
    return &chunks->ring[(chunks->head + i) & (chunks->cap - 1)];
}

/* How many bytes can be put at the end without allocating memory. */
size_t px_chunks_room(const px_chunks *chunks);
/* Puts a copy of the bytes at the end. */
void px_chunks_put(px_chunks *chunks, px_blocks *blocks, const char *bytes, size_t len);
/* Puts a slice of `block` at the end, which is shared from now on. */
void px_chunks_share(px_chunks *chunks, px_block *block, size_t offset, size_t len);
/* Puts the first `len` bytes of `block` at the end, with its reference. */
void px_chunks_give(px_chunks *chunks, px_block *block, size_t len);
/* If the last slice ends where this one begins, makes it longer; else false. */
bool px_chunks_extend(px_chunks *chunks, const px_block *block, size_t offset, size_t len);
/* Moves all bytes into one block of their own, so that no other block is kept for them. */
void px_chunks_own(px_chunks *chunks, px_blocks *blocks);
/* Removes the first `len` bytes. */
void px_chunks_consume(px_chunks *chunks, px_blocks *blocks, size_t len);
void px_chunks_free(px_chunks *chunks, px_blocks *blocks);

#endif
