#include "protocol/value_text.h"

#include "protocol/value_parts.h"

#include <stdio.h>
#include <string.h>

static pgw_verdict refuse_encoding(pgw_slice rest, pgw_error *error)
{
    char hex[32] = "";
    size_t shown = pgw_utf8_announced(rest.ptr[0]);
    if (shown > rest.len)
        shown = rest.len;
    for (size_t i = 0, at = 0; i < shown; i++)
        at += (size_t)snprintf(hex + at, sizeof hex - at, "%s0x%02x", i > 0 ? " " : "",
                               (unsigned char)rest.ptr[i]);
    return PGW_REFUSE(error, "22021", "invalid byte sequence for encoding \"UTF8\": %s", hex);
}

/* How many of the first bytes are certainly ASCII, and no NUL: eight at a time. */
static size_t plain_bytes(pgw_slice text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    size_t at = 0;
    uint64_t eight;
    for (; text.len - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text.ptr + at, sizeof eight);
        if (((eight - ones) | eight) & highs) /* A byte is 0, or has its highest bit. */
            break;
    }
    return at;
}

pgw_verdict pgw_text_check(pgw_slice text, const pgw_env *env, pgw_error *error)
{
    size_t at = plain_bytes(text);
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (c != 0 && c < 0x80) {
            at++;
            continue;
        }
        if (!env->utf8)
            return PGW_UNKNOWABLE;
        pgw_slice rest = {text.ptr + at, text.len - at};
        size_t length = pgw_utf8_length(rest);
        if (length == 0)
            return refuse_encoding(rest, error);
        at += length;
    }
    return PGW_KNOWN;
}

pgw_slice pgw_text_trim(pgw_slice text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* The first `limit` characters. The text is valid: each character begins with a byte that is not
 * 10xxxxxx. */
static size_t clip(pgw_slice text, size_t limit)
{
    size_t characters = 0;
    for (size_t at = 0; at < text.len; at++)
        if (!pgw_utf8_continues(text.ptr[at]) && characters++ == limit)
            return at;
    return text.len;
}

pgw_verdict pgw_text_fit(uint32_t type, int32_t typmod, bool explicit_cast, pgw_slice *text,
                         pgw_error *error)
{
    if (typmod < PGW_TYPMOD_BASE || (type != PGW_VARCHAR && type != PGW_BPCHAR))
        return PGW_KNOWN;
    size_t limit = (size_t)(typmod - PGW_TYPMOD_BASE);
    size_t kept = clip(*text, limit);
    pgw_slice rest = {text->ptr + kept, text->len - kept};
    if (!explicit_cast && pgw_text_trim(rest).len > 0)
        return PGW_REFUSE(error, "22001", "value too long for type %s(%zu)", pgw_type_name(type),
                          limit);
    text->len = kept;
    return PGW_KNOWN;
}

static pgw_slice trim_blanks(pgw_slice text)
{
    while (text.len > 0 && pgw_is_blank(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && pgw_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Whether the text is a beginning of `word` of at least `least` letters. */
static bool abbreviates(pgw_slice text, const char *word, size_t least)
{
    size_t length = strlen(word);
    if (text.len < least || text.len > length)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] | 0x20) != word[i])
            return false;
    return true;
}

pgw_verdict pgw_bool_in(pgw_slice text, pgw_value *out, pgw_error *error)
{
    pgw_slice word = trim_blanks(text);
    out->type = PGW_BOOL;
    if (abbreviates(word, "true", 1) || abbreviates(word, "yes", 1) || abbreviates(word, "on", 2) ||
        pgw_slice_eq_str(word, "1")) {
        out->as.integer = 1;
        return PGW_KNOWN;
    }
    if (abbreviates(word, "false", 1) || abbreviates(word, "no", 1) ||
        abbreviates(word, "off", 2) || pgw_slice_eq_str(word, "0")) {
        out->as.integer = 0;
        return PGW_KNOWN;
    }
    return PGW_REFUSE_SYNTAX(PGW_BOOL, text, error);
}

static int hex_digit(char c)
{
    if (pgw_is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Parses a uuid; braces around it and a hyphen behind every second byte are allowed. */
static bool uuid_parse(pgw_slice text, unsigned char uuid[16])
{
    bool braces = text.len > 0 && text.ptr[0] == '{';
    size_t at = braces ? 1 : 0;
    for (int i = 0; i < 16; i++) {
        if (text.len - at < 2)
            return false;
        int high = hex_digit(text.ptr[at]), low = hex_digit(text.ptr[at + 1]);
        if (high < 0 || low < 0)
            return false;
        uuid[i] = (unsigned char)(high << 4 | low);
        at += 2;
        if (at < text.len && text.ptr[at] == '-' && i % 2 == 1 && i < 15)
            at++;
    }
    if (braces && (at >= text.len || text.ptr[at++] != '}'))
        return false;
    return at == text.len;
}

pgw_verdict pgw_uuid_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error)
{
    unsigned char uuid[16];
    if (!uuid_parse(text, uuid))
        return PGW_REFUSE_SYNTAX(PGW_UUID, text, error);
    out->type = PGW_UUID;
    out->as.bytes = pgw_arena_copy(arena, (pgw_slice){(const char *)uuid, sizeof uuid});
    return PGW_KNOWN;
}

pgw_slice pgw_uuid_out(pgw_slice bytes, pgw_arena *arena)
{
    char *text = pgw_arena_alloc(arena, 37);
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        text[at++] = "0123456789abcdef"[(unsigned char)bytes.ptr[i] >> 4];
        text[at++] = "0123456789abcdef"[(unsigned char)bytes.ptr[i] & 15];
    }
    return (pgw_slice){text, at};
}

static pgw_verdict bytea_hex(pgw_slice text, char *bytes, size_t *length, pgw_error *error)
{
    int high = -1;
    for (size_t at = 2; at < text.len; at++) {
        char c = text.ptr[at];
        if (high < 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
            continue;
        int digit = hex_digit(c);
        if (digit < 0) {
            pgw_slice shown = {text.ptr + at, pgw_utf8_announced(c)};
            if (shown.len > text.len - at)
                shown.len = text.len - at;
            return PGW_REFUSE(error, "22023", "invalid hexadecimal digit: \"%.*s\"",
                              PGW_SHOWN(shown));
        }
        if (high < 0) {
            high = digit;
            continue;
        }
        bytes[(*length)++] = (char)(high << 4 | digit);
        high = -1;
    }
    if (high >= 0)
        return PGW_REFUSE(error, "22023", "invalid hexadecimal data: odd number of digits");
    return PGW_KNOWN;
}

/* The byte that the escape sequence at the beginning of `rest` means; -1 if it is none. */
static int bytea_escape(pgw_slice rest, size_t *used)
{
    const char *s = rest.ptr;
    if (rest.len >= 2 && s[1] == '\\') {
        *used = 2;
        return '\\';
    }
    if (rest.len >= 4 && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
        s[3] <= '7') {
        *used = 4;
        return (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
    }
    return -1;
}

static pgw_verdict bytea_escaped(pgw_slice text, char *bytes, size_t *length, pgw_error *error)
{
    for (size_t at = 0; at < text.len;) {
        if (text.ptr[at] != '\\') {
            bytes[(*length)++] = text.ptr[at++];
            continue;
        }
        size_t used = 0;
        int byte = bytea_escape((pgw_slice){text.ptr + at, text.len - at}, &used);
        if (byte < 0)
            return PGW_REFUSE(error, "22P02", "invalid input syntax for type bytea");
        bytes[(*length)++] = (char)byte;
        at += used;
    }
    return PGW_KNOWN;
}

pgw_verdict pgw_bytea_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error)
{
    char *bytes = pgw_arena_alloc(arena, text.len + 1);
    size_t length = 0;
    bool hex = text.len >= 2 && text.ptr[0] == '\\' && text.ptr[1] == 'x';
    pgw_verdict verdict =
        hex ? bytea_hex(text, bytes, &length, error) : bytea_escaped(text, bytes, &length, error);
    out->type = PGW_BYTEA;
    out->as.bytes = (pgw_slice){bytes, length};
    return verdict;
}
