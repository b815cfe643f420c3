#include "proxy/loop/block.h"

#include <stdlib.h>

enum { MAX_SPARE = 256 };

static px_block *take(px_spares *spares)
{
    px_block *block = spares->first;
    spares->first = block->next;
    spares->count--;
    if (spares->count < spares->unused)
        spares->unused = spares->count;
    return block;
}

static void put(px_spares *spares, px_block *block)
{
    block->next = spares->first;
    spares->first = block;
    spares->count++;
}

/* Makes a block that is none of the spare ones of the usual size. */
static __attribute__((noinline)) px_block *make(px_blocks *blocks, size_t cap)
{
    if (cap == PX_SMALL_BLOCK && blocks->small.first != NULL)
        return take(&blocks->small);
    px_block *block = pgw_alloc(sizeof *block + cap);
    block->cap = cap;
    return block;
}

/* Takes a spare block if there is one: malloc() would give pages back to the system and ask for
 * them again in each turn. */
px_block *px_block_new(px_blocks *blocks, size_t cap)
{
    bool spare = cap == PX_BLOCK && blocks->usual.first != NULL;
    px_block *block = spare ? take(&blocks->usual) : make(blocks, cap);
    block->references = 1;
    return block;
}

/* Drops a block that is not kept as one of the usual size. */
static __attribute__((noinline)) void drop_other(px_blocks *blocks, px_block *block)
{
    if (block->cap == PX_SMALL_BLOCK && blocks->small.count < MAX_SPARE)
        put(&blocks->small, block);
    else
        free(block);
}

void px_block_drop(px_blocks *blocks, px_block *block)
{
    if (block == NULL || --block->references > 0)
        return;
    if (block->cap == PX_BLOCK && blocks->usual.count < MAX_SPARE)
        put(&blocks->usual, block);
    else
        drop_other(blocks, block);
}

void px_block_begin(pgw_buf *buf)
{
    pgw_buf_reserve(buf, sizeof(px_block));
    buf->len = sizeof(px_block);
}

size_t px_block_len(const pgw_buf *buf)
{
    return buf->len - sizeof(px_block);
}

px_block *px_block_of(pgw_buf *buf)
{
    px_block *block = (px_block *)buf->ptr;
    block->cap = buf->cap - sizeof *block;
    block->references = 1;
    *buf = (pgw_buf){0};
    return block;
}

static void free_spares(px_spares *spares, size_t count)
{
    for (; count > 0; count--) {
        px_block *next = spares->first->next;
        free(spares->first);
        spares->first = next;
        spares->count--;
    }
}

/* Returns how many were freed. */
static size_t trim(px_spares *spares)
{
    size_t count = (spares->unused + 1) / 2;
    free_spares(spares, count);
    spares->unused = spares->count;
    return count;
}

size_t px_blocks_trim(px_blocks *blocks)
{
    return trim(&blocks->usual) * PX_BLOCK + trim(&blocks->small) * PX_SMALL_BLOCK;
}

void px_blocks_free(px_blocks *blocks)
{
    free_spares(&blocks->usual, blocks->usual.count);
    free_spares(&blocks->small, blocks->small.count);
}
