#include "protocol/copy/fields.h"

#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* The byte that stands behind a backslash at `*at`, which moves behind it. */
static char unescaped(const char *raw, size_t len, size_t *at)
{
    char c = raw[(*at)++];
    if (is_octal(c)) {
        int value = c - '0';
        for (int digits = 1; digits < 3 && *at < len && is_octal(raw[*at]); digits++)
            value = value * 8 + (raw[(*at)++] - '0');
        return (char)value;
    }
    if (c == 'x' && *at < len && hex(raw[*at]) >= 0) {
        int value = hex(raw[(*at)++]);
        if (*at < len && hex(raw[*at]) >= 0)
            value = value * 16 + hex(raw[(*at)++]);
        return (char)value;
    }
    static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    return found != NULL ? to[found - from] : c;
}

void pgw_copy_field_plain(const pgw_copy_options *options, unsigned force, pgw_slice raw,
                          pgw_copy_field *out)
{
    bool null = pgw_copy_is(options->null, raw);
    out->null = null && !(options->format == PGW_COPY_CSV && (force & PGW_COPY_FORCE_NOT_NULL));
    out->unknown = !null && pgw_copy_is(options->marker, raw);
    out->bytes = raw;
}

pgw_copy_field pgw_copy_field_text(const pgw_copy_options *options, char *raw, size_t len)
{
    pgw_copy_field plain;
    pgw_copy_field_plain(options, 0, (pgw_slice){raw, len}, &plain);
    if (plain.null || plain.unknown || memchr(raw, '\\', len) == NULL)
        return plain;
    size_t out = 0;
    for (size_t at = 0; at < len;) {
        char c = raw[at++];
        /* A backslash that ends the data stands for itself. */
        raw[out++] = c == '\\' && at < len ? unescaped(raw, len, &at) : c;
    }
    return (pgw_copy_field){.bytes = {raw, out}};
}

/* Takes quotes and escapes away; returns how many bytes are left. */
static size_t unquote(const pgw_copy_options *options, char *raw, size_t len)
{
    size_t out = 0;
    bool quoted = false;
    for (size_t at = 0; at < len; at++) {
        char c = raw[at];
        bool escapes = quoted && c == options->escape && at + 1 < len &&
                       (raw[at + 1] == options->escape || raw[at + 1] == options->quote);
        if (escapes)
            raw[out++] = raw[++at];
        else if (c == options->quote)
            quoted = !quoted;
        else
            raw[out++] = c;
    }
    return out;
}

pgw_copy_field pgw_copy_field_csv(const pgw_copy_options *options, unsigned force, char *raw,
                                  size_t len)
{
    if (memchr(raw, options->quote, len) == NULL) {
        pgw_copy_field plain;
        pgw_copy_field_plain(options, force, (pgw_slice){raw, len}, &plain);
        return plain;
    }
    size_t out = unquote(options, raw, len);
    bool null = (force & PGW_COPY_FORCE_NULL) && pgw_copy_is(options->null, (pgw_slice){raw, out});
    return (pgw_copy_field){.null = null, .bytes = {raw, out}};
}

bool pgw_copy_delimits(bool csv, char delimiter, char quote, pgw_error *error)
{
    static const char never[] = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
    if (delimiter == '\n' || delimiter == '\r')
        return pgw_fail(error, "22023", "COPY delimiter cannot be newline or carriage return");
    if (!csv && strchr(never, delimiter) != NULL)
        return pgw_fail(error, "22023", "COPY delimiter cannot be \"%c\"", delimiter);
    return !csv || delimiter != quote ||
           pgw_fail(error, "22023", "COPY delimiter and quote must be different");
}

bool pgw_copy_confuses(const pgw_copy_options *options)
{
    static const char digits[] = "-0123456789";
    if (options->format == PGW_COPY_BINARY)
        return false;
    bool null = options->null.len > 0 && strspn(options->null.ptr, digits) >= options->null.len;
    bool marker =
        options->marker.len > 0 && strspn(options->marker.ptr, digits) >= options->marker.len;
    bool csv = options->format == PGW_COPY_CSV;
    return null || marker || strchr(digits, options->delimiter) != NULL ||
           (csv &&
            (strchr(digits, options->quote) != NULL || strchr(digits, options->escape) != NULL));
}
