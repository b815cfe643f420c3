#include "proxy/loop/block.h"

#include <stdlib.h>

enum { MAX_SPARE = 256 };

/* Takes a spare block if there is one: malloc() would give pages back to the system and ask for
 * them again in each turn. */
px_block *px_block_new(px_blocks *blocks, size_t cap)
{
    px_block *block = cap == PX_BLOCK ? blocks->spare : NULL;
    if (block != NULL) {
        blocks->spare = block->next;
        blocks->count--;
        if (blocks->count < blocks->unused)
            blocks->unused = blocks->count;
    } else {
        block = pgw_alloc(sizeof *block + cap);
        block->cap = cap;
    }
    block->references = 1;
    return block;
}

void px_block_drop(px_blocks *blocks, px_block *block)
{
    if (block == NULL || --block->references > 0)
        return;
    if (block->cap != PX_BLOCK || blocks->count == MAX_SPARE) {
        free(block);
        return;
    }
    block->next = blocks->spare;
    blocks->spare = block;
    blocks->count++;
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

static void free_spares(px_blocks *blocks, size_t count)
{
    for (; count > 0; count--) {
        px_block *next = blocks->spare->next;
        free(blocks->spare);
        blocks->spare = next;
        blocks->count--;
    }
}

size_t px_blocks_trim(px_blocks *blocks)
{
    size_t count = (blocks->unused + 1) / 2;
    free_spares(blocks, count);
    blocks->unused = blocks->count;
    return count * PX_BLOCK;
}

void px_blocks_free(px_blocks *blocks)
{
    free_spares(blocks, blocks->count);
}
