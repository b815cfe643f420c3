#include "protocol/value_integer.h"

#include "protocol/value_parts.h"

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

/* As pg_strtoint64: counted downwards, because the least number has no positive twin, and what is
 * too large is said before what is behind it is looked at. */
pgw_verdict pgw_integer_in(uint32_t type, pgw_slice text, pgw_value *out, pgw_error *error)
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
    return PGW_REFUSE(error, "22003", "value \"%.*s\" is out of range for type %s", PGW_SHOWN(text),
                      pgw_type_name(type));
}
