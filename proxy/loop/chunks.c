#include "proxy/loop/chunks.h"

#include "protocol/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1 }; /* Most streams never have more than one slice. */

static void grow(px_chunks *chunks)
{
    size_t cap = chunks->cap ? chunks->cap * 2 : FIRST_CAP;
    px_chunk *ring = pgw_alloc(cap * sizeof *ring);
    for (size_t i = 0; i < chunks->count; i++)
        ring[i] = *px_chunks_at(chunks, i);
    free(chunks->ring);
    chunks->ring = ring;
    chunks->cap = cap;
    chunks->head = 0;
}

/* Adds a slice, which takes the caller's reference of `block`. */
static px_chunk *add(px_chunks *chunks, px_block *block, size_t offset, size_t len)
{
    if (chunks->count == chunks->cap)
        grow(chunks);
    px_chunk *chunk = px_chunks_at(chunks, chunks->count++);
    *chunk = (px_chunk){.block = block, .offset = offset, .len = len};
    return chunk;
}

static px_chunk *last_of(const px_chunks *chunks)
{
    return chunks->count > 0 ? px_chunks_at(chunks, chunks->count - 1) : NULL;
}

size_t px_chunks_room(const px_chunks *chunks)
{
    const px_chunk *last = last_of(chunks);
    bool ours = last != NULL && last->block->references == 1;
    return ours ? last->block->cap - last->offset - last->len : 0;
}

void px_chunks_put(px_chunks *chunks, px_blocks *blocks, const char *bytes, size_t len)
{
    chunks->bytes += len;
    while (len > 0) {
        size_t room = px_chunks_room(chunks);
        if (room == 0) {
            room = len > PX_SMALL_BLOCK ? len : PX_SMALL_BLOCK;
            add(chunks, px_block_new(blocks, room), 0, 0);
        }
        px_chunk *last = last_of(chunks);
        size_t part = len < room ? len : room;
        memcpy(last->block->bytes + last->offset + last->len, bytes, part);
        last->len += part;
        bytes += part;
        len -= part;
    }
}

void px_chunks_share(px_chunks *chunks, px_block *block, size_t offset, size_t len)
{
    block->references++;
    add(chunks, block, offset, len);
    chunks->bytes += len;
}

void px_chunks_give(px_chunks *chunks, px_block *block, size_t len)
{
    add(chunks, block, 0, len);
    chunks->bytes += len;
}

bool px_chunks_extend(px_chunks *chunks, const px_block *block, size_t offset, size_t len)
{
    px_chunk *last = last_of(chunks);
    if (last == NULL || last->block != block || last->offset + last->len != offset)
        return false;
    last->len += len;
    chunks->bytes += len;
    return true;
}

void px_chunks_own(px_chunks *chunks, px_blocks *blocks)
{
    size_t len = 0;
    px_block *own =
        px_block_new(blocks, chunks->bytes > PX_SMALL_BLOCK ? chunks->bytes : PX_SMALL_BLOCK);
    for (size_t i = 0; i < chunks->count; i++) {
        const px_chunk *chunk = px_chunks_at(chunks, i);
        memcpy(own->bytes + len, chunk->block->bytes + chunk->offset, chunk->len);
        len += chunk->len;
    }
    px_chunks_consume(chunks, blocks, len);
    px_chunks_give(chunks, own, len);
}

void px_chunks_consume(px_chunks *chunks, px_blocks *blocks, size_t len)
{
    chunks->bytes -= len;
    while (len > 0) {
        px_chunk *first = px_chunks_at(chunks, 0);
        size_t part = len < first->len ? len : first->len;
        first->offset += part;
        first->len -= part;
        len -= part;
        if (first->len > 0)
            return;
        px_block_drop(blocks, first->block);
        chunks->head = (chunks->head + 1) & (chunks->cap - 1);
        chunks->count--;
    }
}

void px_chunks_free(px_chunks *chunks, px_blocks *blocks)
{
    px_chunks_consume(chunks, blocks, chunks->bytes);
    free(chunks->ring);
    *chunks = (px_chunks){0};
}
