#include "rewrite/lex/quote.h"

#include <string.h>

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

void rw_add_constant(pgw_buf *out, pgw_slice text)
{
    bool escapes = memchr(text.ptr, '\\', text.len) != NULL;
    pgw_buf_add_str(out, escapes ? "E'" : "'");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'' || text.ptr[i] == '\\')
            pgw_buf_add_byte(out, text.ptr[i]);
        pgw_buf_add_byte(out, text.ptr[i]);
    }
    pgw_buf_add_byte(out, '\'');
}
