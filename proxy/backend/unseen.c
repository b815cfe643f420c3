#include "proxy/backend/unseen.h"

#include "protocol/frontend.h"

bool px_unseen_write(pgw_slice name, pgw_slice sql, pgw_buf *out)
{
    size_t before = out->len;
    pgw_write_close('S', name, out);
    if (!pgw_write_parse(name, sql, NULL, 0, out)) {
        out->len = before;
        return false;
    }
    pgw_certainly(pgw_write_bind(&(pgw_bind){0}, name, name, NULL, 0, out));
    pgw_write_execute(name, 0, out);
    pgw_write_close('P', name, out);
    pgw_write_close('S', name, out);
    return true;
}
