#include "proxy/batch/batch.h"

#include <stdlib.h>

static void add(px_unit ***units, size_t *count, size_t *cap, px_unit *unit)
{
    if (*count == *cap) {
        *cap = *cap == 0 ? 16 : 2 * *cap;
        *units = pgw_realloc(*units, *cap * sizeof **units);
    }
    (*units)[(*count)++] = unit;
}

void px_batch_add(px_batch *batch, px_unit *unit)
{
    add(&batch->units, &batch->attempt.count, &batch->unit_cap, unit);
    batch->attempt.units = batch->units;
}

void px_batch_add_again(px_batch *batch, px_unit *unit)
{
    add(&batch->again, &batch->again_count, &batch->again_cap, unit);
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
    free(batch->units);
    free(batch->again);
    free(batch);
}
