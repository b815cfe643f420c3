#include "protocol/value_number.h"

#include "protocol/value_integer.h"
#include "protocol/value_numeric.h"
#include "protocol/value_parts.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The end of [sign] digits [. digits] [e [sign] digits] from `at`; `at` itself if it is none. */
static size_t decimal_end(pgw_slice text, size_t at)
{
    size_t start = at, digits = 0;
    if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+'))
        at++;
    for (; at < text.len && pgw_is_digit(text.ptr[at]); at++)
        digits++;
    if (at < text.len && text.ptr[at] == '.')
        for (at++; at < text.len && pgw_is_digit(text.ptr[at]); at++)
            digits++;
    if (digits == 0)
        return start;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < text.len && (text.ptr[exponent] == '-' || text.ptr[exponent] == '+'))
            exponent++;
        if (exponent < text.len && pgw_is_digit(text.ptr[exponent]))
            for (at = exponent; at < text.len && pgw_is_digit(text.ptr[at]);)
                at++;
    }
    return at;
}

/* A number in decimal digits, NUL-terminated; false if it does not fit the type. */
static bool parse_float(uint32_t type, const char *digits, double *real)
{
    errno = 0;
    *real = type == PGW_FLOAT4 ? (double)strtof(digits, NULL) : strtod(digits, NULL);
    return errno != ERANGE || (*real != 0 && !isinf(*real));
}

/* float8in() shows the number alone, float4in() the whole text. */
static pgw_verdict refuse_range(uint32_t type, pgw_slice text, const char *digits, pgw_error *error)
{
    if (type == PGW_FLOAT8)
        text = pgw_slice_str(digits);
    return PGW_REFUSE(error, "22003", "\"%.*s\" is out of range for type %s", PGW_SHOWN(text),
                      pgw_type_name(type));
}

/* NaN and infinity in the spellings that PostgreSQL itself knows. */
static bool special_float(pgw_slice word, double *real)
{
    static const char *const infinities[] = {"infinity", "+infinity", "inf", "+inf"};
    *real = NAN;
    if (pgw_slice_ieq_str(word, "nan"))
        return true;
    *real = INFINITY;
    for (size_t i = 0; i < sizeof infinities / sizeof *infinities; i++)
        if (pgw_slice_ieq_str(word, infinities[i]))
            return true;
    *real = -INFINITY;
    return pgw_slice_ieq_str(word, "-infinity") || pgw_slice_ieq_str(word, "-inf");
}

/* Whether only some C libraries' strtod() reads the word: hexadecimal numbers, nan(…), signed
 * nan. */
static bool depends_on_library(pgw_slice word)
{
    if (word.len > 0 && (word.ptr[0] == '-' || word.ptr[0] == '+'))
        word = (pgw_slice){word.ptr + 1, word.len - 1};
    char first = word.len > 0 ? word.ptr[0] : ' ', second = word.len > 1 ? word.ptr[1] : ' ';
    return first == 'n' || first == 'N' || first == 'i' || first == 'I' ||
           (first == '0' && (second == 'x' || second == 'X'));
}

pgw_verdict pgw_float_in(uint32_t type, pgw_slice text, pgw_arena *arena, pgw_value *out,
                         pgw_error *error)
{
    size_t start = pgw_skip_blanks(text, 0), end = text.len;
    *out = (pgw_value){.type = type};
    while (end > start && pgw_is_blank(text.ptr[end - 1]))
        end--;
    pgw_slice word = {text.ptr + start, end - start};
    if (special_float(word, &out->as.real))
        return PGW_KNOWN;
    if (depends_on_library(word))
        return PGW_UNKNOWABLE;
    size_t used = decimal_end(word, 0);
    if (used == 0)
        return PGW_REFUSE_SYNTAX(type, text, error);
    const char *digits = pgw_arena_copy(arena, (pgw_slice){word.ptr, used}).ptr;
    if (!parse_float(type, digits, &out->as.real))
        return refuse_range(type, text, digits, error);
    return used == word.len ? PGW_KNOWN : PGW_REFUSE_SYNTAX(type, text, error);
}

static pgw_verdict float_to_numeric(double real, int digits, pgw_arena *arena, pgw_value *out,
                                    pgw_error *error)
{
    if (isnan(real))
        return pgw_numeric_in(PGW_LITERAL("NaN"), arena, out, error);
    if (isinf(real))
        return pgw_numeric_in(pgw_slice_str(real > 0 ? "Infinity" : "-Infinity"), arena, out,
                              error);
    return pgw_numeric_in(pgw_slice_str(pgw_arena_printf(arena, "%.*g", digits, real)), arena, out,
                          error);
}

static pgw_verdict float_to_real(double real, pgw_value *out, pgw_error *error)
{
    float narrow = (float)real;
    if (isinf(narrow) && !isinf(real))
        return PGW_REFUSE(error, "22003", "value out of range: overflow");
    if (narrow == 0 && real != 0)
        return PGW_REFUSE(error, "22003", "value out of range: underflow");
    out->as.real = (double)narrow;
    return PGW_KNOWN;
}

/* dtoi8() and its like: halves go to the even neighbour, and NaN is beyond every range. */
static pgw_verdict float_to_integer(double real, uint32_t type, pgw_value *out, pgw_error *error)
{
    const double beyond = 9223372036854775808.0; /* the first double that int8 cannot hold */
    double whole = rint(real);
    if (!(whole >= -beyond && whole < beyond))
        return PGW_REFUSE(error, "22003", "%s out of range", pgw_type_name(type));
    return pgw_integer_fit(type, (int64_t)whole, out, error);
}

static pgw_verdict cast_float(const pgw_value *in, uint32_t type, pgw_arena *arena, pgw_value *out,
                              pgw_error *error)
{
    *out = (pgw_value){.type = type};
    switch (type) {
    case PGW_NUMERIC:
        return float_to_numeric(in->as.real, in->type == PGW_FLOAT4 ? FLT_DIG : DBL_DIG, arena, out,
                                error);
    case PGW_FLOAT4:
        return float_to_real(in->as.real, out, error);
    case PGW_FLOAT8:
        out->as.real = in->as.real;
        return PGW_KNOWN;
    default:
        return float_to_integer(in->as.real, type, out, error);
    }
}

static pgw_verdict cast_integer(const pgw_value *in, uint32_t type, pgw_arena *arena,
                                pgw_value *out, pgw_error *error)
{
    int64_t integer = in->as.integer;
    *out = (pgw_value){.type = type};
    switch (type) {
    case PGW_NUMERIC:
        out->as.bytes = pgw_slice_str(pgw_arena_printf(arena, "%lld", (long long)integer));
        return PGW_KNOWN;
    case PGW_FLOAT4:
        out->as.real = (double)(float)integer;
        return PGW_KNOWN;
    case PGW_FLOAT8:
        out->as.real = (double)integer;
        return PGW_KNOWN;
    default:
        return pgw_integer_fit(type, integer, out, error);
    }
}

static pgw_verdict cast_numeric(const pgw_value *in, uint32_t type, pgw_arena *arena,
                                pgw_value *out, pgw_error *error)
{
    if (type == PGW_FLOAT4 || type == PGW_FLOAT8)
        return pgw_float_in(type, in->as.bytes, arena, out, error);
    return pgw_numeric_to_integer(in->as.bytes, type, out, error);
}

pgw_verdict pgw_number_cast(const pgw_value *in, uint32_t type, pgw_arena *arena, pgw_value *out,
                            pgw_error *error)
{
    switch (in->type) {
    case PGW_NUMERIC:
        return cast_numeric(in, type, arena, out, error);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        return cast_float(in, type, arena, out, error);
    default:
        return cast_integer(in, type, arena, out, error);
    }
}
