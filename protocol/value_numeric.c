#include "protocol/value_numeric.h"

#include "protocol/value_integer.h"
#include "protocol/value_parts.h"

#include <string.h>

/* A finite number: `digits` decimal digits without leading zeros, of which the last `scale` stand
 * behind the point (missing ones are zeros). No digits: zero. */
typedef struct decimal {
    bool minus;
    char *digits;
    size_t length;
    int64_t scale; /* negative: that many zeros follow the digits */
} decimal;

enum {
    WEIGHT_MAX = 131072, /* digits before the point that the format can hold */
    SCALE_MAX = 16383,
    EXPONENT_MAX = INT32_MAX / 2
};

/* Whether the text is NaN, Infinity or -Infinity. */
static bool is_special(pgw_slice text)
{
    return text.len > 0 && (text.ptr[0] == 'N' || text.ptr[text.len - 1] == 'y');
}

static const char *match_special(pgw_slice text, size_t *at)
{
    static const struct {
        const char *spelling, *value;
    } specials[] = {
        {"nan", "NaN"},        {"infinity", "Infinity"}, {"+infinity", "Infinity"},
        {"inf", "Infinity"},   {"+inf", "Infinity"},     {"-infinity", "-Infinity"},
        {"-inf", "-Infinity"},
    };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        size_t length = strlen(specials[i].spelling);
        if (text.len - *at < length ||
            !pgw_slice_ieq_str((pgw_slice){text.ptr + *at, length}, specials[i].spelling))
            continue;
        *at += length;
        return specials[i].value;
    }
    return NULL;
}

/* Reads digits and at most one point; false if there is no digit where one must be. */
static bool parse_digits(pgw_slice text, size_t *at, decimal *number)
{
    bool point = *at < text.len && text.ptr[*at] == '.';
    if (point)
        ++*at;
    if (*at >= text.len || !pgw_is_digit(text.ptr[*at]))
        return false;
    for (; *at < text.len; ++*at) {
        char c = text.ptr[*at];
        if (pgw_is_digit(c)) {
            number->scale += point;
            if (number->length > 0 || c != '0')
                number->digits[number->length++] = c;
        } else if (c == '.' && !point) {
            point = true;
        } else {
            return c != '.';
        }
    }
    return true;
}

/* Reads the exponent behind 'e' as strtol() does: blanks before it are allowed. False: no
 * digits. */
static bool parse_exponent(pgw_slice text, size_t *at, int64_t *exponent)
{
    while (*at < text.len && pgw_is_blank(text.ptr[*at]))
        ++*at;
    bool minus = *at < text.len && text.ptr[*at] == '-';
    if (minus || (*at < text.len && text.ptr[*at] == '+'))
        ++*at;
    if (*at >= text.len || !pgw_is_digit(text.ptr[*at]))
        return false;
    int64_t number = 0;
    for (; *at < text.len && pgw_is_digit(text.ptr[*at]); ++*at)
        if (number < EXPONENT_MAX)
            number = number * 10 + (text.ptr[*at] - '0');
    *exponent = minus ? -number : number;
    return true;
}

static pgw_verdict parse_decimal(pgw_slice text, size_t at, pgw_arena *arena, decimal *number,
                                 pgw_error *error)
{
    *number = (decimal){.digits = pgw_arena_alloc(arena, text.len + 1)};
    number->minus = at < text.len && text.ptr[at] == '-';
    if (number->minus || (at < text.len && text.ptr[at] == '+'))
        at++;
    if (!parse_digits(text, &at, number))
        return PGW_REFUSE_SYNTAX(PGW_NUMERIC, text, error);
    int64_t exponent = 0;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        at++;
        if (!parse_exponent(text, &at, &exponent))
            return PGW_REFUSE_SYNTAX(PGW_NUMERIC, text, error);
        if (exponent >= EXPONENT_MAX || exponent <= -EXPONENT_MAX)
            return PGW_REFUSE(error, "22003", "value overflows numeric format");
    }
    number->scale -= exponent;
    return pgw_skip_blanks(text, at) == text.len ? PGW_KNOWN
                                                 : PGW_REFUSE_SYNTAX(PGW_NUMERIC, text, error);
}

/* Digits before the point; negative if zeros follow the point. */
static int64_t digits_before(const decimal *number)
{
    return (int64_t)number->length - number->scale;
}

/* Prints a number as numeric_out() does: sign, at least one digit before the point, `scale` digits
 * behind it. */
static pgw_slice print_decimal(const decimal *number, pgw_arena *arena)
{
    int64_t before = digits_before(number), scale = number->scale > 0 ? number->scale : 0;
    int64_t whole = number->length > 0 && before > 0 ? before : 1;
    char *text = pgw_arena_alloc(arena, (size_t)(whole + scale) + 3);
    size_t at = 0;
    if (number->minus && number->length > 0)
        text[at++] = '-';
    for (int64_t place = -whole; place < scale; place++) {
        if (place == 0)
            text[at++] = '.';
        int64_t index = place + before;
        bool within = number->length > 0 && index >= 0 && index < (int64_t)number->length;
        text[at++] = within ? number->digits[index] : '0';
    }
    return (pgw_slice){text, at};
}

static pgw_verdict make_numeric(decimal *number, int64_t most, pgw_arena *arena, pgw_value *out,
                                pgw_error *error)
{
    if (number->scale > SCALE_MAX || (number->length > 0 && digits_before(number) > WEIGHT_MAX))
        return PGW_REFUSE(error, "22003", "value overflows numeric format");
    if (number->length == 0 && number->scale < 0)
        number->scale = 0;
    if (number->scale > most || digits_before(number) > most)
        return PGW_UNKNOWABLE;
    *out = (pgw_value){.type = PGW_NUMERIC, .as.bytes = print_decimal(number, arena)};
    return PGW_KNOWN;
}

pgw_verdict pgw_numeric_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error)
{
    size_t at = 0;
    while (at < text.len && pgw_is_blank(text.ptr[at]))
        at++;
    const char *special = match_special(text, &at);
    if (special != NULL) {
        *out = (pgw_value){.type = PGW_NUMERIC, .as.bytes = pgw_slice_str(special)};
        return pgw_skip_blanks(text, at) == text.len ? PGW_KNOWN
                                                     : PGW_REFUSE_SYNTAX(PGW_NUMERIC, text, error);
    }
    decimal number;
    pgw_verdict verdict = parse_decimal(text, at, arena, &number, error);
    return verdict == PGW_KNOWN ? make_numeric(&number, PGW_NUMERIC_MAX, arena, out, error)
                                : verdict;
}

/* Adds one to the last digit, with its carry; the digits' room has one byte to spare. */
static void increment(decimal *number)
{
    size_t i = number->length;
    while (i > 0 && number->digits[i - 1] == '9')
        number->digits[--i] = '0';
    if (i > 0) {
        number->digits[i - 1]++;
        return;
    }
    memmove(number->digits + 1, number->digits, number->length++);
    number->digits[0] = '1';
}

/* Rounds half away from zero to `scale` digits behind the point; negative: before it. */
static void round_decimal(decimal *number, int64_t scale)
{
    int64_t dropped = number->scale - scale;
    if (dropped > 0) {
        int64_t length = (int64_t)number->length;
        bool up = dropped <= length && number->digits[length - dropped] >= '5';
        number->length = dropped < length ? (size_t)(length - dropped) : 0;
        if (up)
            increment(number);
        number->scale = scale;
    }
}

static pgw_verdict refuse_precision(int precision, int scale, pgw_error *error)
{
    int digits = precision - scale;
    pgw_fail(error, "22003", "numeric field overflow");
    pgw_error_detail(
        error,
        "A field with precision %d, scale %d must round to an absolute value less than %s%d.",
        precision, scale, digits != 0 ? "10^" : "", digits != 0 ? digits : 1);
    return PGW_INVALID;
}

/* Adds zeros until `scale` digits stand behind the point. */
static void pad_decimal(decimal *number, int64_t scale)
{
    for (; number->scale < scale; number->scale++)
        if (number->length > 0)
            number->digits[number->length++] = '0';
}

pgw_verdict pgw_numeric_fit(int32_t typmod, pgw_arena *arena, pgw_value *value, pgw_error *error)
{
    if (typmod < PGW_TYPMOD_BASE)
        return PGW_KNOWN;
    int precision = (typmod - PGW_TYPMOD_BASE) >> 16 & 0xffff;
    int scale = (((typmod - PGW_TYPMOD_BASE) & 0x7ff) ^ 1024) - 1024;
    pgw_slice text = value->as.bytes;
    if (is_special(text)) {
        if (text.ptr[0] == 'N')
            return PGW_KNOWN;
        pgw_fail(error, "22003", "numeric field overflow");
        pgw_error_detail(error,
                         "A field with precision %d, scale %d cannot hold an infinite value.",
                         precision, scale);
        return PGW_INVALID;
    }
    decimal number = {.minus = text.ptr[0] == '-',
                      .digits = pgw_arena_alloc(arena, text.len + 1100)};
    size_t at = number.minus ? 1 : 0;
    if (!parse_digits(text, &at, &number))
        return PGW_UNKNOWABLE;
    round_decimal(&number, scale);
    pad_decimal(&number, scale);
    if (number.length > 0 && digits_before(&number) > precision - scale)
        return refuse_precision(precision, scale, error);
    value->as.bytes = print_decimal(&number, arena);
    return PGW_KNOWN;
}

pgw_verdict pgw_numeric_to_integer(pgw_slice text, uint32_t type, pgw_value *out, pgw_error *error)
{
    if (is_special(text))
        return PGW_REFUSE(error, "0A000", "cannot convert %s to %s",
                          text.ptr[0] == 'N' ? "NaN" : "infinity", pgw_type_name(type));
    bool minus = text.ptr[0] == '-', too_large = false;
    size_t at = minus ? 1 : 0;
    int64_t number = 0;
    for (; at < text.len && pgw_is_digit(text.ptr[at]); at++)
        too_large = too_large || __builtin_mul_overflow(number, 10, &number) ||
                    __builtin_sub_overflow(number, text.ptr[at] - '0', &number);
    if (at + 1 < text.len && text.ptr[at + 1] >= '5')
        too_large = too_large || __builtin_sub_overflow(number, 1, &number);
    if (!minus)
        too_large = too_large || __builtin_sub_overflow((int64_t)0, number, &number);
    if (too_large)
        return PGW_REFUSE(error, "22003", "%s out of range", pgw_type_name(type));
    return pgw_integer_fit(type, number, out, error);
}

pgw_slice pgw_numeric_shortest(pgw_slice text)
{
    if (memchr(text.ptr, '.', text.len) == NULL)
        return text;
    while (text.ptr[text.len - 1] == '0')
        text.len--;
    if (text.ptr[text.len - 1] == '.')
        text.len--;
    return text;
}

static int read_16(pgw_slice bytes, size_t at)
{
    return (unsigned char)bytes.ptr[at] << 8 | (unsigned char)bytes.ptr[at + 1];
}

static void expand_groups(pgw_slice bytes, int count, decimal *number)
{
    for (int i = 0; i < count; i++) {
        int group = read_16(bytes, 8 + 2 * (size_t)i);
        for (int unit = 1000; unit > 0; unit /= 10) {
            char digit = (char)('0' + group / unit % 10);
            if (number->length > 0 || digit != '0')
                number->digits[number->length++] = digit;
        }
    }
}

/* The special value that a sign stands for; NULL: none. */
static const char *special_of(int sign)
{
    return sign == 0xc000   ? "NaN"
           : sign == 0xd000 ? "Infinity"
           : sign == 0xf000 ? "-Infinity"
                            : NULL;
}

/* Digits beyond the display scale are cut, not rounded, as numeric_recv() does. */
static pgw_verdict recv_finite(pgw_slice bytes, int64_t most, pgw_arena *arena, pgw_value *out,
                               pgw_error *error)
{
    int count = read_16(bytes, 0), weight = (int16_t)read_16(bytes, 2), scale = read_16(bytes, 6);
    if (count > most / 4)
        return PGW_UNKNOWABLE;
    decimal number = {.minus = read_16(bytes, 4) == 0x4000,
                      .digits = pgw_arena_alloc(arena, 4 * (size_t)count + (size_t)most + 2),
                      .scale = 4 * ((int64_t)count - 1 - weight)};
    expand_groups(bytes, count, &number);
    int64_t surplus = number.scale - scale;
    if (surplus > 0)
        number.length = surplus < (int64_t)number.length ? number.length - (size_t)surplus : 0;
    if (surplus > 0 || number.length == 0)
        number.scale = scale;
    if (scale > most || digits_before(&number) + scale > most)
        return PGW_UNKNOWABLE;
    pad_decimal(&number, scale);
    return make_numeric(&number, most, arena, out, error);
}

pgw_verdict pgw_numeric_recv_long(pgw_slice bytes, int64_t most, pgw_arena *arena, pgw_value *out,
                                  pgw_error *error)
{
    if (bytes.len < 8) /* the error depends on the missing part, which is left to the server */
        return PGW_UNKNOWABLE;
    int count = read_16(bytes, 0), sign = read_16(bytes, 4), scale = read_16(bytes, 6);
    const char *special = special_of(sign);
    if (sign != 0 && sign != 0x4000 && special == NULL)
        return PGW_REFUSE(error, "22P03", "invalid sign in external \"numeric\" value");
    if ((scale & ~SCALE_MAX) != 0)
        return PGW_REFUSE(error, "22P03", "invalid scale in external \"numeric\" value");
    for (int i = 0; i < count; i++) {
        size_t at = 8 + 2 * (size_t)i;
        if (bytes.len - 8 < 2 * (size_t)i + 2)
            return PGW_REFUSE(error, "08P01", "insufficient data left in message");
        if (read_16(bytes, at) > 9999)
            return PGW_REFUSE(error, "22P03", "invalid digit in external \"numeric\" value");
    }
    if (bytes.len > 8 + 2 * (size_t)count)
        return PGW_REFUSE(error, "22P03", "incorrect binary data format");
    if (special != NULL) {
        *out = (pgw_value){.type = PGW_NUMERIC, .as.bytes = pgw_slice_str(special)};
        return PGW_KNOWN;
    }
    return recv_finite(bytes, most, arena, out, error);
}

pgw_verdict pgw_numeric_recv(pgw_slice bytes, pgw_arena *arena, pgw_value *out, pgw_error *error)
{
    return pgw_numeric_recv_long(bytes, PGW_NUMERIC_MAX, arena, out, error);
}

/* The sign and the digits of a printed number. */
typedef struct printed {
    bool minus;
    pgw_slice whole, fraction;
} printed;

static printed find_digits(pgw_slice text)
{
    printed out = {.minus = text.ptr[0] == '-'};
    if (out.minus)
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    const char *point = memchr(text.ptr, '.', text.len);
    out.whole = (pgw_slice){text.ptr, point == NULL ? text.len : (size_t)(point - text.ptr)};
    out.fraction = point == NULL ? (pgw_slice){text.ptr + text.len, 0}
                                 : (pgw_slice){point + 1, text.len - out.whole.len - 1};
    return out;
}

/* The four digits that weigh 10000 to the power of `weight`. */
static int16_t group_at(const printed *number, int weight)
{
    int group = 0;
    for (int64_t place = 4 * (int64_t)weight + 3; place >= 4 * (int64_t)weight; place--) {
        int64_t behind = -1 - place;
        char digit = '0';
        if (place >= 0 && place < (int64_t)number->whole.len)
            digit = number->whole.ptr[number->whole.len - 1 - (size_t)place];
        else if (place < 0 && behind < (int64_t)number->fraction.len)
            digit = number->fraction.ptr[behind];
        group = 10 * group + (digit - '0');
    }
    return (int16_t)group;
}

/* The scale of the infinities is 32 in PostgreSQL, too: a bit of their own header is taken for it.
 */
static void send_special(pgw_slice text, pgw_buf *out)
{
    bool nan = text.ptr[0] == 'N';
    int sign = nan ? 0xc000 : text.ptr[0] == '-' ? 0xf000 : 0xd000;
    pgw_buf_add_i32(out, 0);
    pgw_buf_add_i16(out, (int16_t)sign);
    pgw_buf_add_i16(out, nan ? 0 : 32);
}

/* Groups that are zero stand at neither end. */
void pgw_numeric_send(pgw_slice text, pgw_buf *out)
{
    if (is_special(text)) {
        send_special(text, out);
        return;
    }
    printed number = find_digits(text);
    int first = (int)((number.whole.len + 3) / 4) - 1;
    int last = -(int)((number.fraction.len + 3) / 4);
    while (first >= last && group_at(&number, first) == 0)
        first--;
    while (last < first && group_at(&number, last) == 0)
        last++;
    bool zero = first < last;
    pgw_buf_add_i16(out, (int16_t)(zero ? 0 : first - last + 1));
    pgw_buf_add_i16(out, (int16_t)(zero ? 0 : first));
    pgw_buf_add_i16(out, zero || !number.minus ? 0 : 0x4000);
    pgw_buf_add_i16(out, (int16_t)number.fraction.len);
    for (int weight = first; weight >= last; weight--)
        pgw_buf_add_i16(out, group_at(&number, weight));
}
