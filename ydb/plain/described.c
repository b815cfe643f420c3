#include "ydb/plain/described.h"

void rw_add_described(pgw_buf *out, const char *name, uint32_t type, int16_t length)
{
    pgw_buf_add_str(out, name);
    pgw_buf_add(out, "\0\0\0\0\0\0", 7); /* end of the name, table oid 0, column number 0 */
    pgw_buf_add_i32(out, (int32_t)type);
    pgw_buf_add_i16(out, length);
    pgw_buf_add_i32(out, -1);
    pgw_buf_add_i16(out, 0);
}
