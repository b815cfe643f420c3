/*
 * value_time: date, timestamp and timestamptz, in ISO forms alone: their input and receive
 * functions, their rounding and the casts between them.
 */
#ifndef PGW_VALUE_TIME_H
#define PGW_VALUE_TIME_H

#include "protocol/value.h"

PGW_MUST_CHECK pgw_verdict pgw_time_in(uint32_t type, pgw_slice text, const pgw_env *env,
                                       pgw_value *out, pgw_error *error);
/* Reads a timestamptz of the form 2026-01-31 12:00:00+00, in little time. False: the text has
 * another form, or may be wrong. */
PGW_MUST_CHECK bool pgw_time_usual(pgw_slice text, int64_t *usecs);

enum { PGW_TIME_USUAL = 22 /* The length of that form. */ };

/* The day of a timestamptz that was read: timestamps behind it are mostly of the same. */
typedef struct pgw_day {
    uint64_t date; /* Year and month as they are written; 0: there is no day. */
    uint32_t day, zone;
    int64_t begin; /* The day's first microsecond, since 2000-01-01 00:00:00+00. */
} pgw_day;

/* Reads PGW_TIME_USUAL bytes as pgw_time_usual() does: in less time if they are of that day, which
 * becomes theirs. */
PGW_MUST_CHECK bool pgw_time_usual_at(const char *at, pgw_day *day, int64_t *usecs);
PGW_MUST_CHECK pgw_verdict pgw_time_recv(uint32_t type, int64_t integer, pgw_value *out,
                                         pgw_error *error);
void pgw_time_fit(int32_t typmod, pgw_value *value); /* rounds to the typmod's fraction digits */
/* Appends the value as the output function does with DateStyle ISO, and TimeZone UTC. */
void pgw_time_out(const pgw_value *value, pgw_buf *out);
PGW_MUST_CHECK pgw_verdict pgw_time_cast(const pgw_value *in, uint32_t type, const pgw_env *env,
                                         pgw_value *out, pgw_error *error);

#endif
