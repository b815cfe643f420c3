#include "protocol/value_time.h"

#include "protocol/value_parts.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USECS_PER_SECOND INT64_C(1000000)
#define USECS_PER_DAY INT64_C(86400000000)
/* What PostgreSQL's types can hold (src/include/datatype/timestamp.h), counted from 2000-01-01. */
#define TIMESTAMP_LEAST INT64_C(-211813488000000000)
#define TIMESTAMP_END INT64_C(9223371331200000000)

enum {
    DATE_LEAST = -2451545,
    DATE_END = 2147483494 - 2451545,
    TIMESTAMP_DATE_END = 109203528 - 2451545,
    YEAR_MAX = 5874897,
    YEAR_DIGITS_MAX = 7,
    FRACTION_DIGITS_MAX = 40,
    OFFSET_HOURS_MAX = 15
};

/* The fields of a text in a form of ISO 8601, not yet checked. */
typedef struct moment {
    int64_t year, month, day;
    int64_t hour, minute, second, fraction; /* fraction in microseconds */
    bool has_time, has_offset, before_christ;
    int64_t offset_hours, offset_minutes, offset_seconds;
    bool offset_minus;
} moment;

typedef struct cursor {
    pgw_slice text;
    size_t at;
} cursor;

static char peek(const cursor *c)
{
    return c->at < c->text.len ? c->text.ptr[c->at] : '\0';
}

static bool take(cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    c->at++;
    return true;
}

static size_t take_blanks(cursor *c)
{
    size_t start = c->at;
    while (pgw_is_blank(peek(c)))
        c->at++;
    return c->at - start;
}

/* Takes a run of `least` to `most` digits, at most 9. */
static bool take_number(cursor *c, size_t least, size_t most, int64_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (; pgw_is_digit(peek(c)); c->at++, digits++) {
        if (digits == most)
            return false;
        *number = *number * 10 + (peek(c) - '0');
    }
    return digits >= least;
}

static bool take_date(cursor *c, moment *m)
{
    return take_number(c, 4, YEAR_DIGITS_MAX, &m->year) && take(c, '-') &&
           take_number(c, 1, 2, &m->month) && take(c, '-') && take_number(c, 1, 2, &m->day);
}

/* Takes the digits behind the point, to microseconds: through a double, because PostgreSQL does
 * so. */
static bool take_fraction(cursor *c, moment *m)
{
    char digits[FRACTION_DIGITS_MAX + 2] = ".";
    size_t length = 1;
    for (; pgw_is_digit(peek(c)); c->at++) {
        if (length > FRACTION_DIGITS_MAX)
            return false;
        digits[length++] = peek(c);
    }
    m->fraction = (int64_t)rint(strtod(digits, NULL) * 1000000);
    return length > 1;
}

static bool take_time(cursor *c, moment *m)
{
    m->has_time = true;
    if (!take_number(c, 1, 2, &m->hour) || !take(c, ':') || !take_number(c, 2, 2, &m->minute))
        return false;
    if (!take(c, ':'))
        return true;
    if (!take_number(c, 2, 2, &m->second))
        return false;
    return !take(c, '.') || take_fraction(c, m);
}

/* Takes an offset: +HH, +HHMM, +HH:MM or +HH:MM:SS. */
static bool take_offset(cursor *c, moment *m)
{
    m->offset_minus = take(c, '-');
    if (!m->offset_minus && !take(c, '+'))
        return false;
    size_t start = c->at;
    if (!take_number(c, 1, 4, &m->offset_hours))
        return false;
    size_t digits = c->at - start;
    if (digits == 4) {
        m->offset_minutes = m->offset_hours % 100;
        m->offset_hours /= 100;
        return true;
    }
    if (digits > 2)
        return false;
    if (!take(c, ':'))
        return true;
    if (!take_number(c, 2, 2, &m->offset_minutes))
        return false;
    return !take(c, ':') || take_number(c, 2, 2, &m->offset_seconds);
}

static bool take_zone(cursor *c, moment *m)
{
    take_blanks(c);
    pgw_slice rest = {c->text.ptr + c->at, c->text.len - c->at};
    if (rest.len == 0)
        return true;
    m->has_offset = true;
    if (pgw_slice_ieq_str(rest, "z") || pgw_slice_ieq_str(rest, "utc")) {
        c->at = c->text.len;
        return true;
    }
    return take_offset(c, m);
}

static pgw_slice trim_end(pgw_slice text)
{
    while (text.len > 0 && pgw_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Takes " BC" from the end of the text, where PostgreSQL writes it. */
static bool trim_era(pgw_slice *text)
{
    enum { LENGTH = 3 };
    if (text->len <= LENGTH ||
        !pgw_slice_ieq_str((pgw_slice){text->ptr + text->len - LENGTH, LENGTH}, " bc"))
        return false;
    *text = trim_end((pgw_slice){text->ptr, text->len - LENGTH});
    return true;
}

/* Reads a text in ISO form. False: it has another form, which PostgreSQL may take or not. */
static bool parse_moment(pgw_slice text, moment *m)
{
    cursor c = {trim_end(text), 0};
    *m = (moment){.before_christ = trim_era(&c.text)};
    take_blanks(&c);
    if (!take_date(&c, m))
        return false;
    if (c.at == c.text.len)
        return true;
    if (take_blanks(&c) == 0 && !take(&c, 'T') && !take(&c, 't'))
        return false;
    return take_time(&c, m) && take_zone(&c, m) && c.at == c.text.len;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* The Gregorian calendar repeats; counted from so many cycles earlier, no year is below zero. */
enum { CYCLES = 25000, CYCLE_YEARS = 400, CYCLE_DAYS = 146097, EPOCH_DAYS = 730425 };

/* The year counted through: 1 BC is 0. */
static int64_t year_of(const moment *m)
{
    return m->before_christ ? 1 - m->year : m->year;
}

/* Days since 2000-01-01 in the proleptic Gregorian calendar; a year begins in March here, so that
 * the leap day is its last one. */
static inline int64_t days_of(int64_t year, unsigned month, unsigned day)
{
    uint64_t y = (uint64_t)(year + CYCLES * CYCLE_YEARS - (month <= 2)), century = y / 100;
    uint64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (int64_t)(y * 365 + y / 4 - century + century / 4 + day_of_year) - EPOCH_DAYS -
           (int64_t)CYCLES * CYCLE_DAYS;
}

static int64_t days_from_date(const moment *m)
{
    return days_of(year_of(m), (unsigned)m->month, (unsigned)m->day);
}

static int64_t time_of_day(const moment *m)
{
    return ((m->hour * 60 + m->minute) * 60 + m->second) * USECS_PER_SECOND + m->fraction;
}

static pgw_verdict refuse_field(pgw_slice text, pgw_error *error)
{
    return PGW_REFUSE(error, "22008", "date/time field value out of range: \"%.*s\"",
                      PGW_SHOWN(text));
}

/* Checks the fields in PostgreSQL's order: time and offset first, the date last. */
static pgw_verdict check_moment(const moment *m, pgw_slice text, pgw_error *error)
{
    if (m->minute > 59 || m->second > 60 || time_of_day(m) > USECS_PER_DAY)
        return refuse_field(text, error);
    if (m->offset_hours > OFFSET_HOURS_MAX || m->offset_minutes > 59 || m->offset_seconds > 59)
        return PGW_REFUSE(error, "22009", "time zone displacement out of range: \"%.*s\"",
                          PGW_SHOWN(text));
    if (m->year == 0)
        return refuse_field(text, error);
    if (m->month < 1 || m->month > 12 || m->day < 1 || m->day > 31) {
        refuse_field(text, error);
        pgw_error_hint(error, "Perhaps you need a different \"datestyle\" setting.");
        return PGW_INVALID;
    }
    return m->day <= days_in_month(year_of(m), m->month) ? PGW_KNOWN : refuse_field(text, error);
}

static bool timestamp_holds(int64_t usecs)
{
    return usecs >= TIMESTAMP_LEAST && usecs < TIMESTAMP_END;
}

static pgw_verdict make_date(const moment *m, pgw_slice text, pgw_value *out, pgw_error *error)
{
    out->as.integer = days_from_date(m);
    if (m->year > YEAR_MAX || out->as.integer < DATE_LEAST)
        return PGW_REFUSE(error, "22008", "date out of range: \"%.*s\"", PGW_SHOWN(text));
    return PGW_KNOWN;
}

static pgw_verdict make_timestamp(uint32_t type, const moment *m, pgw_slice text,
                                  const pgw_env *env, pgw_value *out, pgw_error *error)
{
    int64_t east = 0;
    if (type == PGW_TIMESTAMPTZ) {
        if (!m->has_offset && !env->zone_known)
            return PGW_UNKNOWABLE;
        east = (m->offset_hours * 60 + m->offset_minutes) * 60 + m->offset_seconds;
        if (m->offset_minus)
            east = -east;
        if (!m->has_offset)
            east = env->zone_seconds;
    }
    int64_t days = days_from_date(m);
    /* an offset to the west may bring a day earlier into range */
    if (days >= DATE_LEAST - 1 && days <= TIMESTAMP_DATE_END) {
        out->as.integer = days * USECS_PER_DAY + (time_of_day(m) - east * USECS_PER_SECOND);
        if (timestamp_holds(out->as.integer))
            return PGW_KNOWN;
    }
    return PGW_REFUSE(error, "22008", "timestamp out of range: \"%.*s\"", PGW_SHOWN(text));
}

/* The infinities are the ends of the type's integer. */
static int64_t infinity(uint32_t type, bool minus)
{
    if (type == PGW_DATE)
        return minus ? INT32_MIN : INT32_MAX;
    return minus ? INT64_MIN : INT64_MAX;
}

static bool is_infinite(const pgw_value *value)
{
    return value->as.integer == infinity(value->type, true) ||
           value->as.integer == infinity(value->type, false);
}

static bool match_infinity(pgw_slice text, bool *minus)
{
    while (text.len > 0 && pgw_is_blank(text.ptr[text.len - 1]))
        text.len--;
    while (text.len > 0 && pgw_is_blank(text.ptr[0]))
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    *minus = text.len > 0 && text.ptr[0] == '-';
    if (*minus)
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    return pgw_slice_ieq_str(text, "infinity");
}

/* The highest bit of each of eight bytes. */
#define TOPS UINT64_C(0x8080808080808080)

static inline uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Reads eight bytes that are those of the form, but for its zeros, which are any digits. Each byte
 * of `numbers` is the number of the two digits that begin there. Returns 0, or bits of TOPS where
 * the bytes are others. `room`: 0x76 for each digit of the form, which brings no digit to 0x80, and
 * 0x7f for each other byte. */
static inline uint64_t take_form(const char *at, const char *form, const char *room,
                                 uint64_t *numbers)
{
    uint64_t digits = word_at(at) ^ word_at(form);
    uint64_t first = le64toh(digits);
    *numbers = first * 10 + (first >> 8);
    return (digits | (digits + word_at(room))) & TOPS;
}

/* Whether no byte of `numbers`, which are below 0x80, is more than that of `most`, of which all are
 * 0x80 or more: that much more than the limit. */
static inline bool are_within(uint64_t numbers, uint64_t most)
{
    return ((most - numbers) & TOPS) == TOPS;
}

static unsigned number_at(uint64_t numbers, unsigned byte)
{
    return numbers >> 8 * byte & 0xff;
}

static inline uint32_t half_at(const char *at)
{
    uint32_t half;
    memcpy(&half, at, sizeof half);
    return half;
}

/* The zone's three bytes, behind one of the second. */
static inline uint32_t zone_at(const char *at)
{
    return half_at(at + 18) & htole32(0xffffff00);
}

/* Reads the date and the zone: the day's first microsecond. False: they have another form, or there
 * is no such day. */
static inline bool take_day(const char *at, int64_t *begin)
{
    const uint64_t most_date = UINT64_C(0xffff8cffffffffff);     /* month 12 */
    const uint64_t most_day_zone = UINT64_C(0xff8effffffff9fff); /* day 31, 14 hours east */
    uint64_t date, day_zone;
    char rest[sizeof day_zone];
    memcpy(rest, at + 7, 4);
    memcpy(rest + 4, at + 18, 4);
    uint64_t others = take_form(at, "0000-00-", "\x76\x76\x76\x76\x7f\x76\x76\x7f", &date);
    others |= take_form(rest, "-00 0+00", "\x7f\x76\x76\x7f\x76\x7f\x76\x76", &day_zone);
    if (others != 0 || !are_within(date, most_date) || !are_within(day_zone, most_day_zone))
        return false;
    unsigned year = 100 * number_at(date, 0) + number_at(date, 2), month = number_at(date, 5);
    unsigned day = number_at(day_zone, 1), east = number_at(day_zone, 6);
    if (year < 1000 || month < 1 || day < 1 || (day > 28 && day > days_in_month(year, month)))
        return false;
    *begin = days_of(year, month, day) * USECS_PER_DAY - (int64_t)east * 3600 * USECS_PER_SECOND;
    return true;
}

/* Adds the time of day. False: it has another form, or there is no such time. */
static inline bool add_time(const char *at, int64_t begin, int64_t *usecs)
{
    const uint64_t most = UINT64_C(0xffbbffffbbffff97); /* hour 23, minute 59, second 59 */
    uint64_t time;
    uint64_t others = take_form(at + 11, "00:00:00", "\x76\x76\x7f\x76\x76\x7f\x76\x76", &time);
    if (others != 0 || !are_within(time, most))
        return false;
    unsigned minutes = number_at(time, 0) * 60 + number_at(time, 3);
    *usecs = begin + (int64_t)(minutes * 60 + number_at(time, 6)) * USECS_PER_SECOND;
    return true;
}

static __attribute__((noinline)) bool keep_day(const char *at, pgw_day *out)
{
    int64_t begin;
    if (!take_day(at, &begin))
        return false;
    *out = (pgw_day){word_at(at), half_at(at + 7), zone_at(at), begin};
    return true;
}

bool pgw_time_usual_at(const char *at, pgw_day *day, int64_t *usecs)
{
    bool same = word_at(at) == day->date && half_at(at + 7) == day->day && zone_at(at) == day->zone;
    return (same || keep_day(at, day)) && add_time(at, day->begin, usecs);
}

bool pgw_time_usual(pgw_slice text, int64_t *usecs)
{
    int64_t begin;
    return text.len == PGW_TIME_USUAL && take_day(text.ptr, &begin) &&
           add_time(text.ptr, begin, usecs);
}

pgw_verdict pgw_time_in(uint32_t type, pgw_slice text, const pgw_env *env, pgw_value *out,
                        pgw_error *error)
{
    enum { TEXT_MAX = 100 }; /* PostgreSQL's work space may be too small for longer texts */
    moment m;
    bool minus;
    *out = (pgw_value){.type = type};
    if (text.len > TEXT_MAX)
        return PGW_UNKNOWABLE;
    if (match_infinity(text, &minus)) {
        out->as.integer = infinity(type, minus);
        return PGW_KNOWN;
    }
    if (!parse_moment(text, &m))
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = check_moment(&m, text, error);
    if (verdict != PGW_KNOWN)
        return verdict;
    return type == PGW_DATE ? make_date(&m, text, out, error)
                            : make_timestamp(type, &m, text, env, out, error);
}

pgw_verdict pgw_time_recv(uint32_t type, int64_t integer, pgw_value *out, pgw_error *error)
{
    *out = (pgw_value){.type = type, .as.integer = integer};
    if (is_infinite(out))
        return PGW_KNOWN;
    if (type == PGW_DATE)
        return integer >= DATE_LEAST && integer < DATE_END
                   ? PGW_KNOWN
                   : PGW_REFUSE(error, "22008", "date out of range");
    return timestamp_holds(integer) ? PGW_KNOWN
                                    : PGW_REFUSE(error, "22008", "timestamp out of range");
}

void pgw_time_fit(int32_t typmod, pgw_value *value)
{
    static const int64_t scales[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    if (value->type == PGW_DATE || typmod < 0 || typmod > 6 || is_infinite(value))
        return;
    int64_t scale = scales[typmod], usecs = value->as.integer;
    if (usecs >= 0)
        value->as.integer = (usecs + scale / 2) / scale * scale;
    else
        value->as.integer = -((-usecs + scale / 2) / scale * scale);
}

static int64_t floor_days(int64_t usecs)
{
    int64_t days = usecs / USECS_PER_DAY;
    return usecs % USECS_PER_DAY < 0 ? days - 1 : days;
}

static pgw_verdict cast_date(const pgw_value *in, int64_t east, pgw_value *out, pgw_error *error)
{
    if (in->as.integer < TIMESTAMP_DATE_END) {
        out->as.integer = in->as.integer * USECS_PER_DAY - east * USECS_PER_SECOND;
        if (timestamp_holds(out->as.integer))
            return PGW_KNOWN;
    }
    return PGW_REFUSE(error, "22008", "date out of range for timestamp");
}

pgw_verdict pgw_time_cast(const pgw_value *in, uint32_t type, const pgw_env *env, pgw_value *out,
                          pgw_error *error)
{
    *out = (pgw_value){.type = type, .as.integer = in->as.integer};
    bool zoned = in->type == PGW_TIMESTAMPTZ || type == PGW_TIMESTAMPTZ;
    if (is_infinite(in)) {
        out->as.integer = infinity(type, in->as.integer < 0);
        return PGW_KNOWN;
    }
    if (zoned && !env->zone_known)
        return PGW_UNKNOWABLE;
    int64_t east = zoned ? env->zone_seconds : 0;
    if (in->type == PGW_DATE)
        return cast_date(in, east, out, error);
    if (type == PGW_TIMESTAMPTZ)
        east = -east;
    int64_t usecs = in->as.integer + east * USECS_PER_SECOND;
    out->as.integer = type == PGW_DATE ? floor_days(usecs) : usecs;
    if (type != PGW_DATE && !timestamp_holds(usecs))
        return PGW_REFUSE(error, "22008", "timestamp out of range");
    return PGW_KNOWN;
}

/* --- out --- */

/* The date of a number of days since 2000-01-01: the reverse of days_from_date(). */
static moment date_from_days(int64_t days)
{
    moment m = {0};
    int64_t all = days + EPOCH_DAYS + (int64_t)CYCLES * CYCLE_DAYS;
    int64_t cycle = all / CYCLE_DAYS, day = all % CYCLE_DAYS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t from_march = (5 * day + 2) / 153;
    m.day = day - (153 * from_march + 2) / 5 + 1;
    m.month = from_march < 10 ? from_march + 3 : from_march - 9;
    m.year = cycle * CYCLE_YEARS + year - CYCLES * CYCLE_YEARS + (m.month <= 2);
    m.before_christ = m.year <= 0;
    if (m.before_christ)
        m.year = 1 - m.year;
    return m;
}

static void add_time_of_day(int64_t usecs, pgw_buf *out)
{
    int64_t seconds = usecs / USECS_PER_SECOND, fraction = usecs % USECS_PER_SECOND;
    pgw_buf_addf(out, " %02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                 (int)(seconds % 60));
    if (fraction == 0)
        return;
    pgw_buf_addf(out, ".%06d", (int)fraction);
    while (out->ptr[out->len - 1] == '0')
        out->len--;
}

void pgw_time_out(const pgw_value *value, pgw_buf *out)
{
    if (is_infinite(value)) {
        pgw_buf_add_str(out, value->as.integer < 0 ? "-infinity" : "infinity");
        return;
    }
    bool date = value->type == PGW_DATE;
    int64_t days = date ? value->as.integer : floor_days(value->as.integer);
    moment m = date_from_days(days);
    pgw_buf_addf(out, "%04d-%02d-%02d", (int)m.year, (int)m.month, (int)m.day);
    if (!date)
        add_time_of_day(value->as.integer - days * USECS_PER_DAY, out);
    if (value->type == PGW_TIMESTAMPTZ)
        pgw_buf_add_str(out, "+00");
    if (m.before_christ)
        pgw_buf_add_str(out, " BC");
}
