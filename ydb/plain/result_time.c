#include "ydb/plain/result_time.h"

#include "protocol/value_parts.h"

#include <string.h>

static const uint64_t second = 1000000; /* microseconds, as in all times here */

typedef struct printed {
    pgw_slice text;
    size_t at;
} printed;

static bool take_char(printed *it, char c)
{
    bool is = it->at < it->text.len && it->text.ptr[it->at] == c;
    it->at += is;
    return is;
}

static bool take_word(printed *it, const char *word)
{
    size_t len = strlen(word);
    bool is = it->text.len - it->at >= len && memcmp(it->text.ptr + it->at, word, len) == 0;
    it->at += is ? len : 0;
    return is;
}

/* Takes digits, no more than fit; returns how many: 0, if there are none. */
static size_t take_digits(printed *it, uint64_t *value)
{
    size_t start = it->at;
    *value = 0;
    while (it->at < it->text.len && it->at < start + 18 && pgw_is_digit(it->text.ptr[it->at]))
        *value = 10 * *value + (uint64_t)(it->text.ptr[it->at++] - '0');
    return it->at - start;
}

/* Takes two digits below 60. */
static bool take_sixtieth(printed *it, uint64_t *value)
{
    return take_digits(it, value) == 2 && *value < 60;
}

/* Takes a fraction, if there is one: ".5" is half a second. */
static bool take_fraction(printed *it, uint64_t *usecs)
{
    size_t digits;
    *usecs = 0;
    if (!take_char(it, '.'))
        return true;
    digits = take_digits(it, usecs);
    for (size_t i = digits; i < 6; i++)
        *usecs *= 10;
    return digits > 0 && digits <= 6;
}

/* Takes what follows the hours, of which there are no more than an interval has. */
static bool take_rest(printed *it, uint64_t hours, uint64_t *usecs)
{
    const uint64_t most_hours = 2562047788;
    uint64_t minutes, seconds, fraction;
    if (hours > most_hours || !take_char(it, ':') || !take_sixtieth(it, &minutes) ||
        !take_char(it, ':') || take_digits(it, &seconds) != 2 || seconds > 60 ||
        !take_fraction(it, &fraction))
        return false;
    *usecs = ((hours * 60 + minutes) * 60 + seconds) * second + fraction;
    return true;
}

static bool take_time(printed *it, uint64_t *usecs)
{
    uint64_t hours;
    return take_digits(it, &hours) == 2 && take_rest(it, hours, usecs) &&
           *usecs <= 24 * 3600 * second;
}

static bool is_whole(const printed *it)
{
    return it->at == it->text.len;
}

bool rw_send_time(pgw_slice text, pgw_buf *out)
{
    printed it = {text, 0};
    uint64_t usecs;
    if (!take_time(&it, &usecs) || !is_whole(&it))
        return false;
    pgw_buf_add_i64(out, (int64_t)usecs);
    return true;
}

/* Takes "+02", "-03:30" or "+00:00:01", as seconds to the west. */
static bool take_zone(printed *it, int32_t *west)
{
    uint64_t hours, minutes = 0, seconds = 0;
    bool east = take_char(it, '+');
    if ((!east && !take_char(it, '-')) || take_digits(it, &hours) != 2 ||
        (take_char(it, ':') && !take_sixtieth(it, &minutes)) ||
        (take_char(it, ':') && !take_sixtieth(it, &seconds)))
        return false;
    int32_t all = (int32_t)((hours * 60 + minutes) * 60 + seconds);
    *west = east ? -all : all;
    return true;
}

bool rw_send_timetz(pgw_slice text, pgw_buf *out)
{
    printed it = {text, 0};
    uint64_t usecs;
    int32_t west;
    if (!take_time(&it, &usecs) || !take_zone(&it, &west) || !is_whole(&it))
        return false;
    pgw_buf_add_i64(out, (int64_t)usecs);
    pgw_buf_add_i32(out, west);
    return true;
}

typedef struct interval {
    int64_t months, days;
    uint64_t usecs; /* microseconds in two's complement */
} interval;

static bool take_unit(printed *it, int64_t number, interval *out)
{
    if (take_word(it, " year"))
        out->months += 12 * number;
    else if (take_word(it, " mon"))
        out->months += number;
    else if (take_word(it, " day"))
        out->days = number;
    else
        return false;
    take_char(it, 's');
    return take_char(it, ' ') || is_whole(it);
}

/* Takes "-3 days", or the last part, "-04:05:06.7". */
static bool take_part(printed *it, interval *out)
{
    uint64_t number;
    bool minus = take_char(it, '-');
    if (!minus)
        take_char(it, '+');
    if (take_digits(it, &number) == 0)
        return false;
    if (it->at == it->text.len || it->text.ptr[it->at] != ':')
        return number <= UINT32_MAX &&
               take_unit(it, minus ? -(int64_t)number : (int64_t)number, out);
    if (!take_rest(it, number, &out->usecs))
        return false;
    out->usecs = minus ? -out->usecs : out->usecs;
    return is_whole(it);
}

static bool fits(int64_t number)
{
    return number >= INT32_MIN && number <= INT32_MAX;
}

bool rw_send_interval(pgw_slice text, pgw_buf *out)
{
    printed it = {text, 0};
    interval read = {0};
    do {
        if (!take_part(&it, &read))
            return false;
    } while (!is_whole(&it));
    if (!fits(read.months) || !fits(read.days))
        return false;
    pgw_buf_add_i64(out, (int64_t)read.usecs);
    pgw_buf_add_i32(out, (int32_t)read.days);
    pgw_buf_add_i32(out, (int32_t)read.months);
    return true;
}
