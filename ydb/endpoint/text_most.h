/*
 * text_most: how long a text may be that YDB is sent.
 */
#ifndef PX_YDB_TEXT_MOST_H
#define PX_YDB_TEXT_MOST_H

#include "config/config.h"
#include "ydb/plain/inline.h"

/* Most bytes of a text. After a message longer than backend.capabilities.max_message YDB closes the
 * connection without an error. */
static inline size_t px_ydb_text_most(const cfg_config *config)
{
    return config->backend.capabilities.max_message - RW_AROUND_TEXT;
}

#endif
