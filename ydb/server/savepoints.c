#include "ydb/server/savepoints.h"

#include <string.h>

enum { MOST_BYTES = 1024 * 1024 };

bool pgw_savepoints_add(pgw_savepoints *savepoints, pgw_slice name)
{
    if (savepoints->names.len + name.len >= MOST_BYTES)
        return false;
    pgw_buf_add_slice(&savepoints->names, name);
    pgw_buf_add_byte(&savepoints->names, '\0');
    return true;
}

/* The place of the last savepoint of this name; names.len: there is none. */
static size_t find(const pgw_savepoints *savepoints, pgw_slice name)
{
    const pgw_buf *names = &savepoints->names;
    size_t found = names->len;
    for (size_t at = 0; at < names->len; at += strlen(names->ptr + at) + 1)
        if (pgw_slice_eq_str(name, names->ptr + at))
            found = at;
    return found;
}

bool pgw_savepoints_have(const pgw_savepoints *savepoints, pgw_slice name)
{
    return find(savepoints, name) < savepoints->names.len;
}

bool pgw_savepoints_release(pgw_savepoints *savepoints, pgw_slice name)
{
    const size_t at = find(savepoints, name);
    if (at == savepoints->names.len)
        return false;
    savepoints->names.len = at;
    return true;
}

void pgw_savepoints_free(pgw_savepoints *savepoints)
{
    pgw_buf_free(&savepoints->names);
}
