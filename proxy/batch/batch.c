#include "proxy/batch/batch.h"

#include <stdlib.h>
#include <string.h>

static void free_list(const px_batch *batch, px_unit **units)
{
    if (units != batch->lone)
        free(units);
}

static void add(px_batch *batch, px_unit ***units, size_t *count, size_t *cap, px_unit *unit)
{
    if (*count == *cap) {
        *cap = *cap < 16 ? 16 : 2 * *cap;
        px_unit **grown = pgw_alloc(*cap * sizeof *grown);
        if (*count > 0)
            memcpy(grown, *units, *count * sizeof *grown);
        free_list(batch, *units);
        *units = grown;
    }
    (*units)[(*count)++] = unit;
}

px_batch *px_batch_new(void)
{
    px_batch *batch = pgw_calloc(1, sizeof *batch);
    batch->units = batch->lone;
    batch->unit_cap = sizeof batch->lone / sizeof *batch->lone;
    batch->first = true;
    return batch;
}

void px_batch_add(px_batch *batch, px_unit *unit)
{
    add(batch, &batch->units, &batch->attempt.count, &batch->unit_cap, unit);
    batch->attempt.units = batch->units;
}

void px_batch_add_again(px_batch *batch, px_unit *unit)
{
    add(batch, &batch->again, &batch->again_count, &batch->again_cap, unit);
}

void px_batch_next_attempt(px_batch *batch)
{
    px_unit **units = batch->units;
    size_t cap = batch->unit_cap;
    batch->units = batch->again;
    batch->unit_cap = batch->again_cap;
    batch->attempt.units = batch->units;
    batch->attempt.count = batch->again_count;
    batch->again = units;
    batch->again_cap = cap;
    batch->again_count = 0;
    batch->first = false;
}

void px_batch_free(px_batch *batch)
{
    free_list(batch, batch->units);
    free_list(batch, batch->again);
    free(batch);
}
