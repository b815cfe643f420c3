/*
 * result_time: time, timetz and interval as PostgreSQL prints them (DateStyle ISO, IntervalStyle
 * postgres) in their binary form.
 */
#ifndef RW_RESULT_TIME_H
#define RW_RESULT_TIME_H

#include "protocol/bytes.h"

/* Each appends a value's binary form to `out`. False, and nothing is appended: PostgreSQL would not
 * have printed the text. */
PGW_MUST_CHECK bool rw_send_time(pgw_slice text, pgw_buf *out);
PGW_MUST_CHECK bool rw_send_timetz(pgw_slice text, pgw_buf *out);
PGW_MUST_CHECK bool rw_send_interval(pgw_slice text, pgw_buf *out);

#endif
