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

void rw_add_constant(pgw_buf *out, const char *text)
{
    pgw_buf_add_str(out, strchr(text, '\\') != NULL ? "E'" : "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            pgw_buf_add_byte(out, *text);
        pgw_buf_add_byte(out, *text);
    }
    pgw_buf_add_byte(out, '\'');
}
