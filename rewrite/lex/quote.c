#include "rewrite/lex/quote.h"

void rw_add_identifier(pgw_buf *out, const char *name)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            pgw_buf_add_byte(out, '"');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}
