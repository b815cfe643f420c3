#include "proxy/backend/base/writer.h"

#include "protocol/backend.h"

px_unit *px_attempt_answering(const px_attempt *attempt, size_t at, size_t to)
{
    px_unit *unit = at < to ? attempt->units[at] : NULL;
    return unit != NULL && unit->completed < unit->statement_count ? unit : NULL;
}

px_progress px_unit_hears_complete(px_unit *unit, bool suspended, pgw_slice body)
{
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    struct px_unit_statement *statement = &unit->statements[unit->completed++];
    statement->tag = pgw_tag_rows(body);
    statement->suspended = suspended;
    statement->returned = unit->returned.len;
    statement->noticed = unit->notices.len;
    return PX_PROGRESS_MORE;
}

px_progress px_unit_hears_returned(px_unit *unit, pgw_slice message)
{
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    pgw_buf_add_slice(&unit->returned, message);
    return PX_PROGRESS_MORE;
}

px_progress px_unit_hears_bound(px_unit *unit)
{
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    unit->statements[unit->completed].bound = true;
    return PX_PROGRESS_MORE;
}

void px_unit_hears_stored(px_unit *unit)
{
    for (size_t s = 0; s < unit->statement_count; s++)
        unit->statements[s].tag = unit->statements[s].rows;
    unit->completed = unit->statement_count;
}
