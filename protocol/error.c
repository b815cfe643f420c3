#include "protocol/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pgw_fail(pgw_error *error, const char *sqlstate, const char *format, ...)
{
    *error = PGW_ERROR_NONE;
    snprintf(error->sqlstate, sizeof error->sqlstate, "%s", sqlstate);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

void pgw_error_detail(pgw_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->detail, sizeof error->detail, format, args);
    va_end(args);
}

void pgw_error_hint(pgw_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

bool pgw_error_is(const pgw_error *error, const char *sqlstate)
{
    return strcmp(error->sqlstate, sqlstate) == 0;
}

static void add_field(pgw_buf *out, char code, const char *text)
{
    if (text[0] == '\0')
        return;
    pgw_buf_add_byte(out, code);
    pgw_buf_add(out, text, strlen(text) + 1);
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
    add_field(out, 'D', error->detail);
    add_field(out, 'H', error->hint);
    if (error->position > 0) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", error->position);
        add_field(out, 'P', digits);
    }
    pgw_buf_add_byte(out, '\0');
    uint32_t length = (uint32_t)(out->len - length_at);
    for (int i = 0; i < 4; i++)
        out->ptr[length_at + (size_t)i] = (char)(length >> (24 - 8 * i));
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
    size_t len = field.len < size ? field.len : size - 1;
    if (len > 0)
        memcpy(to, field.ptr, len);
    to[len] = '\0';
}

void pgw_error_read(pgw_slice body, pgw_error *error)
{
    *error = PGW_ERROR_NONE;
    copy_field(body, 'C', error->sqlstate, sizeof error->sqlstate);
    copy_field(body, 'M', error->message, sizeof error->message);
    copy_field(body, 'D', error->detail, sizeof error->detail);
    copy_field(body, 'H', error->hint, sizeof error->hint);
    pgw_slice position = pgw_error_field(body, 'P');
    for (size_t i = 0; i < position.len; i++)
        error->position = error->position * 10 + (size_t)(position.ptr[i] - '0');
}
