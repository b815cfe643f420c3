#include "protocol/printable.h"

#include "protocol/utf8.h"

#include <string.h>

/* C1 controls, and the separators of lines and marks of direction: U+2028 to U+202E, U+2066 to
 * U+2069. */
static bool is_unsafe_character(const unsigned char *s, size_t len)
{
    if (len == 2)
        return s[0] == 0xc2 && s[1] < 0xa0;
    if (len != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Bytes at the beginning of `text`, which is not empty, that can be shown as they are; 0: the first
 * one cannot. */
static size_t plain_length(pgw_slice text)
{
    const unsigned char *s = (const unsigned char *)text.ptr;
    if (s[0] < 0x80)
        return s[0] >= ' ' && s[0] != 0x7f;
    size_t len = pgw_utf8_length(text);
    return is_unsafe_character(s, len) ? 0 : len;
}

static void add_escaped(char byte, pgw_buf *out)
{
    if (byte == '\n')
        pgw_buf_add_str(out, "\\n");
    else if (byte == '\t')
        pgw_buf_add_str(out, "\\t");
    else
        pgw_buf_addf(out, "\\x%02X", (unsigned char)byte);
}

/* Adds the beginning of `text`; returns how many bytes were taken. */
static size_t add_next(pgw_slice text, pgw_buf *out)
{
    size_t len = plain_length(text);
    if (len == 0) {
        add_escaped(text.ptr[0], out);
        return 1;
    }
    pgw_buf_add(out, text.ptr, len);
    return len;
}

void pgw_add_printable(pgw_slice text, bool lines, pgw_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        if (lines && text.ptr[at] == '\n')
            pgw_buf_add_byte(out, text.ptr[at++]);
        else
            at += add_next((pgw_slice){text.ptr + at, text.len - at}, out);
    }
}

static bool is_bare(pgw_slice value)
{
    size_t at = 0, len = 1;
    while (at < value.len && len > 0 && strchr(" \"\\=", value.ptr[at]) == NULL) {
        len = plain_length((pgw_slice){value.ptr + at, value.len - at});
        at += len;
    }
    return value.len > 0 && value.len <= PGW_LOGFMT_MAX && at == value.len;
}

void pgw_add_logfmt(pgw_slice value, pgw_buf *out)
{
    if (is_bare(value)) {
        pgw_buf_add_slice(out, value);
        return;
    }
    pgw_buf_add_byte(out, '"');
    size_t at = 0;
    while (at < value.len && at < PGW_LOGFMT_MAX) {
        if (value.ptr[at] == '"' || value.ptr[at] == '\\')
            pgw_buf_add_byte(out, '\\');
        at += add_next((pgw_slice){value.ptr + at, value.len - at}, out);
    }
    pgw_buf_add_str(out, at < value.len ? "...\"" : "\"");
}
