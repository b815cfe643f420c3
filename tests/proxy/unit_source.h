/*
 * unit_source: what write groups that no client sent are rendered from.
 */
#ifndef TEST_WRITE_GROUP_SOURCE_H
#define TEST_WRITE_GROUP_SOURCE_H

#include "proxy/backend/base/write_group.h"

enum { SOURCE_MOST = 4 };

typedef struct fake_source {
    pgw_slice alone;
    pgw_slice rows[SOURCE_MOST];
} fake_source;

static void fake_source_rows(const void *of, size_t statement, pgw_buf *out)
{
    pgw_buf_add_slice(out, ((const fake_source *)of)->rows[statement]);
}

static void fake_source_alone(const void *of, pgw_buf *out)
{
    pgw_buf_add_slice(out, ((const fake_source *)of)->alone);
}

static void fake_source_drop(void *of)
{
    (void)of;
}

/* The write group's, whose texts live as long as it does. */
static fake_source *source_of(px_write_group *write_group)
{
    if (write_group->source.of == NULL)
        write_group->source =
            (px_write_group_source){pgw_arena_alloc(&write_group->arena, sizeof(fake_source)),
                                    fake_source_rows, fake_source_alone, fake_source_drop};
    return write_group->source.of;
}

#endif
