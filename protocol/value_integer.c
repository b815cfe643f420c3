#include "protocol/value_integer.h"

#include "protocol/digits.h"
#include "protocol/value_parts.h"

#include <ctype.h>
#include <string.h>

static void integer_range(uint32_t type, int64_t *least, int64_t *most)
{
    *least = type == PGW_INT2 ? INT16_MIN : type == PGW_INT4 ? INT32_MIN : INT64_MIN;
    *most = type == PGW_INT2 ? INT16_MAX : type == PGW_INT4 ? INT32_MAX : INT64_MAX;
}

pgw_verdict pgw_integer_fit(uint32_t type, int64_t integer, pgw_value *out, pgw_error *error)
{
    int64_t least, most;
    integer_range(type, &least, &most);
    if (integer < least || integer > most)
        return PGW_REFUSE(error, "22003", "%s out of range", pgw_type_name(type));
    *out = (pgw_value){.type = type, .as.integer = integer};
    return PGW_KNOWN;
}

static pgw_verdict refuse_range(uint32_t type, pgw_slice text, pgw_error *error)
{
    return PGW_REFUSE(error, "22003", "value \"%.*s\" is out of range for type %s", PGW_SHOWN(text),
                      pgw_type_name(type));
}

/* Reads a decimal as pg_strtoint64() does: downwards, because the least number has no positive
 * twin; a number that is too large is told before the rest of the text is looked at. */
static pgw_verdict decimal_in(uint32_t type, pgw_slice text, pgw_value *out, pgw_error *error)
{
    int64_t least, most, number = 0;
    integer_range(type, &least, &most);
    size_t at = pgw_skip_blanks(text, 0);
    bool minus = at < text.len && text.ptr[at] == '-';
    if (minus || (at < text.len && text.ptr[at] == '+'))
        at++;
    if (at >= text.len || !pgw_is_digit(text.ptr[at]))
        return PGW_REFUSE_SYNTAX(type, text, error);
    for (; at < text.len && pgw_is_digit(text.ptr[at]); at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, text.ptr[at] - '0', &number) || number < least)
            goto out_of_range;
    if (pgw_skip_blanks(text, at) != text.len)
        return PGW_REFUSE_SYNTAX(type, text, error);
    if (!minus && number == least)
        goto out_of_range;
    *out = (pgw_value){.type = type, .as.integer = minus ? number : -number};
    return PGW_KNOWN;
out_of_range:
    return refuse_range(type, text, error);
}

/* The base that 0x, 0o or 0b at `at` announces; 10 without one. */
static int base_at(pgw_slice text, size_t at)
{
    if (at + 1 >= text.len || text.ptr[at] != '0')
        return 10;
    char mark = (char)(text.ptr[at + 1] | 32);
    return mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
}

/* The value of a digit of this base; -1: it is none. */
static int digit_of(char c, int base)
{
    int value = pgw_is_digit(c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : 16;
    return value < base ? value : -1;
}

/* Digits with single underscores between them, or before the first where `leading` allows it: adds
 * the digits to `out`. Returns where they end; `at` if there are none, or an underscore ends them.
 */
static size_t take_digits(pgw_slice text, size_t at, int base, bool leading, pgw_buf *out)
{
    size_t end = at;
    while (end < text.len) {
        bool skips = text.ptr[end] == '_' && (leading || end > at);
        size_t digit = end + skips;
        if (digit == text.len || digit_of(text.ptr[digit], base) < 0)
            return skips ? at : end;
        pgw_buf_add_byte(out, text.ptr[digit]);
        end = digit + 1;
    }
    return end;
}

/* "0x1F" and its like, from its 0 on. */
static pgw_verdict read_based(pgw_slice text, size_t at, int base, pgw_buf *out)
{
    pgw_buf digits = {0};
    size_t end = take_digits(text, at + 2, base, true, &digits);
    uint64_t number = 0;
    bool fits = true;
    for (size_t i = 0; i < digits.len; i++)
        fits = fits && !__builtin_mul_overflow(number, (uint64_t)base, &number) &&
               !__builtin_add_overflow(number, (uint64_t)digit_of(digits.ptr[i], base), &number);
    pgw_buf_free(&digits);
    if (end == at + 2 || pgw_skip_blanks(text, end) != text.len)
        return PGW_INVALID;
    pgw_buf_addf(out, "%llu", (unsigned long long)number);
    return fits ? PGW_KNOWN : PGW_UNKNOWABLE;
}

/* "1_000.25e1_0" and its like; all but the digits is for the readers of decimal numbers to judge.
 */
static pgw_verdict read_parted(pgw_slice text, size_t at, pgw_buf *out)
{
    while (at < text.len) {
        size_t end = take_digits(text, at, 10, false, out);
        if (end == at && text.ptr[at] == '_')
            return PGW_INVALID;
        if (end == at)
            pgw_buf_add_byte(out, text.ptr[end++]);
        at = end;
    }
    return PGW_KNOWN;
}

pgw_verdict pgw_number_older(pgw_slice text, pgw_arena *arena, pgw_slice *older)
{
    size_t at = pgw_skip_blanks(text, 0);
    pgw_buf out = {0};
    if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+'))
        pgw_buf_add_byte(&out, text.ptr[at++]);
    int base = base_at(text, at);
    pgw_verdict verdict = PGW_INVALID;
    if (base != 10)
        verdict = read_based(text, at, base, &out);
    else if (text.len > 0 && memchr(text.ptr, '_', text.len) != NULL)
        verdict = read_parted(text, at, &out);
    *older = pgw_arena_keep(arena, &out);
    return verdict;
}

bool pgw_integer_plain(uint32_t type, pgw_slice text, pgw_value *out)
{
    /* An empty one is longer than all then. */
    int64_t number = text.len - 1 < pgw_integer_digits(type) ? pgw_digits(text) : -1;
    if (number < 0)
        return false;
    *out = (pgw_value){.type = type, .as.integer = number};
    return true;
}

pgw_verdict pgw_integer_in(uint32_t type, pgw_slice text, const pgw_reading *reading,
                           pgw_value *out)
{
    pgw_slice older;
    pgw_verdict form = reading->env->server < PGW_NUMBERS_SINCE
                           ? PGW_INVALID
                           : pgw_number_older(text, reading->arena, &older);
    if (form == PGW_INVALID)
        return decimal_in(type, text, out, reading->error);
    pgw_verdict verdict =
        form == PGW_KNOWN ? decimal_in(type, older, out, reading->error) : PGW_INVALID;
    if (verdict == PGW_KNOWN || (form == PGW_KNOWN && !pgw_error_is(reading->error, "22003")))
        return verdict == PGW_KNOWN ? verdict : PGW_REFUSE_SYNTAX(type, text, reading->error);
    return refuse_range(type, text, reading->error);
}
