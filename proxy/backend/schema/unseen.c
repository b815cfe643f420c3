#include "proxy/backend/schema/unseen.h"

bool px_unseen_write(pgw_slice name, pgw_slice sql, const px_unseen_values *values, pgw_buf *out)
{
    size_t before = out->len;
    const uint32_t *types = values != NULL ? values->types : NULL;
    pgw_bind bind = values != NULL ? values->bind : (pgw_bind){0};
    bind.results = (pgw_slice){NULL, 0};
    pgw_write_close('S', name, out);
    if (!pgw_write_parse(name, sql, types, bind.value_count, out) ||
        !pgw_write_bind(&bind, name, name, NULL, 0, out)) {
        out->len = before;
        return false;
    }
    pgw_write_execute(name, 0, out);
    pgw_write_close('P', name, out);
    pgw_write_close('S', name, out);
    return true;
}
