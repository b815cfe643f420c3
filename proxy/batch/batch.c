#include "proxy/batch/batch.h"

#include <stdlib.h>
#include <string.h>

static void free_list(const px_batch *batch, px_write_group **write_groups)
{
    if (write_groups != batch->lone)
        free(write_groups);
}

static void add(px_batch *batch, px_write_group ***write_groups, size_t *count, size_t *cap,
                px_write_group *write_group)
{
    if (*count == *cap) {
        *cap = *cap < 16 ? 16 : 2 * *cap;
        px_write_group **grown = pgw_alloc(*cap * sizeof *grown);
        if (*count > 0)
            memcpy(grown, *write_groups, *count * sizeof *grown);
        free_list(batch, *write_groups);
        *write_groups = grown;
    }
    (*write_groups)[(*count)++] = write_group;
}

static void begin(px_batch *batch)
{
    *batch = (px_batch){.write_groups = batch->lone,
                        .write_group_cap = sizeof batch->lone / sizeof *batch->lone,
                        .first = true};
}

px_batch *px_batch_new(void)
{
    px_batch *batch = pgw_alloc(sizeof *batch);
    begin(batch);
    return batch;
}

void px_batch_add(px_batch *batch, px_write_group *write_group)
{
    add(batch, &batch->write_groups, &batch->attempt.count, &batch->write_group_cap, write_group);
    batch->attempt.write_groups = batch->write_groups;
}

void px_batch_add_again(px_batch *batch, px_write_group *write_group)
{
    add(batch, &batch->again, &batch->again_count, &batch->again_cap, write_group);
}

void px_batch_next_attempt(px_batch *batch)
{
    px_write_group **write_groups = batch->write_groups;
    size_t cap = batch->write_group_cap;
    batch->write_groups = batch->again;
    batch->write_group_cap = batch->again_cap;
    batch->attempt.write_groups = batch->write_groups;
    batch->attempt.count = batch->again_count;
    batch->again = write_groups;
    batch->again_cap = cap;
    batch->again_count = 0;
    batch->first = false;
}

static void free_lists(px_batch *batch)
{
    free_list(batch, batch->write_groups);
    free_list(batch, batch->again);
}

void px_batch_clear(px_batch *batch)
{
    free_lists(batch);
    begin(batch);
}

void px_batch_free(px_batch *batch)
{
    if (batch == NULL)
        return;
    free_lists(batch);
    free(batch);
}
