#include "proxy/backend/base/writer.h"

#include "protocol/backend.h"

px_write_group *px_attempt_answering(const px_attempt *attempt, size_t at, size_t to)
{
    px_write_group *write_group = at < to ? attempt->write_groups[at] : NULL;
    return write_group != NULL && write_group->completed < write_group->statement_count
               ? write_group
               : NULL;
}

px_progress px_write_group_hears_complete(px_write_group *write_group, bool suspended,
                                          pgw_slice body)
{
    if (write_group == NULL)
        return PX_PROGRESS_BROKEN;
    struct px_write_group_statement *statement = &write_group->statements[write_group->completed++];
    statement->tag = pgw_tag_rows(body);
    statement->suspended = suspended;
    statement->returned = write_group->returned.len;
    statement->noticed = write_group->notices.len;
    return PX_PROGRESS_MORE;
}

px_progress px_write_group_hears_returned(px_write_group *write_group, pgw_slice message)
{
    if (write_group == NULL)
        return PX_PROGRESS_BROKEN;
    pgw_buf_add_slice(&write_group->returned, message);
    return PX_PROGRESS_MORE;
}

px_progress px_write_group_hears_bound(px_write_group *write_group)
{
    if (write_group == NULL)
        return PX_PROGRESS_BROKEN;
    write_group->statements[write_group->completed].bound = true;
    return PX_PROGRESS_MORE;
}

void px_write_group_hears_stored(px_write_group *write_group)
{
    for (size_t s = 0; s < write_group->statement_count; s++)
        write_group->statements[s].tag = write_group->statements[s].rows;
    write_group->completed = write_group->statement_count;
}
