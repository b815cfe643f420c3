#include "protocol/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STALE "RevalidateCachedQuery" /* the routine that finds an outdated plan (plancache.c) */

/* The place up to `len` at which to cut `text`, so that no UTF-8 character is split. Text in other
 * encodings loses three bytes at most. */
static size_t cut(const char *text, size_t len)
{
    size_t at = len;
    while (len - at < 3 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return ((unsigned char)text[at] & 0xc0) == 0x80 ? len : at;
}

__attribute__((format(printf, 3, 0))) static void print(char *to, size_t size, const char *format,
                                                        va_list args)
{
    /* The array has one byte more than fits, to see whether the text is cut. */
    char text[sizeof((pgw_error *)NULL)->message + 1];
    int len = vsnprintf(text, size + 1, format, args);
    if (len < 0)
        text[0] = '\0';
    else if ((size_t)len >= size)
        text[cut(text, size - 1)] = '\0';
    memcpy(to, text, strlen(text) + 1);
}

void pgw_error_clear(pgw_error *error)
{
    error->sqlstate[0] = error->message[0] = error->detail[0] = error->hint[0] = '\0';
    error->position = 0;
    error->stale = false;
}

bool pgw_fail(pgw_error *error, const char *sqlstate, const char *format, ...)
{
    pgw_error_clear(error);
    snprintf(error->sqlstate, sizeof error->sqlstate, "%s", sqlstate);
    va_list args;
    va_start(args, format);
    print(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

void pgw_error_detail(pgw_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(error->detail, sizeof error->detail, format, args);
    va_end(args);
}

void pgw_error_hint(pgw_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

void pgw_error_stale(pgw_error *error)
{
    memcpy(error->sqlstate, "0A000", sizeof error->sqlstate);
    error->stale = true;
}

bool pgw_error_is(const pgw_error *error, const char *sqlstate)
{
    return strcmp(error->sqlstate, sqlstate) == 0;
}

static void add_field(pgw_buf *out, char code, const char *text)
{
    pgw_buf_add_byte(out, code);
    pgw_buf_add(out, text, strlen(text) + 1);
}

static void add_optional(pgw_buf *out, char code, const char *text)
{
    if (text[0] != '\0')
        add_field(out, code, text);
}

void pgw_error_write(const pgw_error *error, const char *severity, pgw_buf *out)
{
    pgw_buf_add_byte(out, 'E');
    size_t length_at = out->len;
    pgw_buf_add_i32(out, 0);
    add_field(out, 'S', severity);
    add_field(out, 'V', severity);
    add_field(out, 'C', error->sqlstate);
    add_field(out, 'M', error->message);
    add_optional(out, 'D', error->detail);
    add_optional(out, 'H', error->hint);
    if (error->position > 0) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", error->position);
        add_field(out, 'P', digits);
    }
    if (error->stale)
        add_field(out, 'R', STALE);
    pgw_buf_add_byte(out, '\0');
    uint32_t length = (uint32_t)(out->len - length_at);
    for (int i = 0; i < 4; i++)
        out->ptr[length_at + (size_t)i] = (char)(length >> (24 - 8 * i));
}

void pgw_notice_write(const pgw_error *notice, const char *severity, pgw_buf *out)
{
    size_t begun = out->len;
    pgw_error_write(notice, severity, out);
    out->ptr[begun] = 'N';
}

void pgw_error_write_old(const pgw_error *error, const char *severity, pgw_buf *out)
{
    pgw_buf_addf(out, "E%s:  %s\n", severity, error->message);
    pgw_buf_add_byte(out, '\0');
}

pgw_slice pgw_error_field(pgw_slice body, char code)
{
    size_t at = 0;
    while (at < body.len && body.ptr[at] != '\0') {
        const char *text = body.ptr + at + 1;
        const char *end = memchr(text, '\0', body.len - at - 1);
        if (end == NULL)
            break;
        if (body.ptr[at] == code)
            return (pgw_slice){text, (size_t)(end - text)};
        at = (size_t)(end - body.ptr) + 1;
    }
    return (pgw_slice){NULL, 0};
}

static void copy_field(pgw_slice body, char code, char *to, size_t size)
{
    pgw_slice field = pgw_error_field(body, code);
    size_t len = field.len < size ? field.len : cut(field.ptr, size - 1);
    if (len > 0)
        memcpy(to, field.ptr, len);
    to[len] = '\0';
}

/* The number that the digits are; 0 if they are none. */
static size_t number(pgw_slice digits)
{
    size_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return 0;
        value = value * 10 + (size_t)(digits.ptr[i] - '0');
    }
    return value;
}

void pgw_error_read(pgw_slice body, pgw_error *error)
{
    *error = PGW_ERROR_NONE;
    copy_field(body, 'C', error->sqlstate, sizeof error->sqlstate);
    if (error->sqlstate[0] == '\0')
        strcpy(error->sqlstate, "XX000");
    copy_field(body, 'M', error->message, sizeof error->message);
    copy_field(body, 'D', error->detail, sizeof error->detail);
    copy_field(body, 'H', error->hint, sizeof error->hint);
    pgw_slice position = pgw_error_field(body, 'P');
    error->stale = pgw_slice_eq_str(pgw_error_field(body, 'R'), STALE);
    if (position.len <= 10) /* a position counts characters of a message: below 2^30 */
        error->position = number(position);
}
