#include "rewrite/lex/quote.h"

#include "protocol/utf8.h"

#include <inttypes.h>
#include <string.h>

static bool is_ascii(pgw_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] >= 0x80)
            return false;
    return true;
}

/* Adds letters beyond ASCII by number, for a text in any encoding. `quote` is doubled; `string`: as
 * E'…' takes numbers, else as U&"…" does. */
static void add_by_numbers(pgw_buf *out, pgw_slice text, char quote, bool string)
{
    for (size_t at = 0; at < text.len;) {
        size_t length;
        pgw_slice rest = {text.ptr + at, text.len - at};
        uint32_t point = pgw_utf8_code_point(rest, &length);
        if (point == (unsigned char)quote || point == '\\')
            pgw_buf_add_byte(out, (char)point);
        if (point < 0x80)
            pgw_buf_add_byte(out, (char)point);
        else if (string)
            pgw_buf_addf(out, "\\U%08" PRIx32, point);
        else
            pgw_buf_addf(out, "\\+%06" PRIx32, point);
        at += length;
    }
}

void rw_add_quoted(pgw_buf *out, const char *name)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            pgw_buf_add_byte(out, '"');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}

void rw_add_identifier(pgw_buf *out, const char *name)
{
    pgw_slice whole = pgw_slice_str(name);
    if (is_ascii(whole) || !pgw_utf8_valid(whole)) {
        rw_add_quoted(out, name);
        return;
    }
    pgw_buf_add_str(out, "U&\"");
    add_by_numbers(out, whole, '"', false);
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

void rw_add_name_constant(pgw_buf *out, pgw_slice text)
{
    if (is_ascii(text) || !pgw_utf8_valid(text)) {
        rw_add_constant(out, text);
        return;
    }
    pgw_buf_add_str(out, "E'");
    add_by_numbers(out, text, '\'', true);
    pgw_buf_add_byte(out, '\'');
}
