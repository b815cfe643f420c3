/*
 * value_out: values as they go out: what the output or the send function of their type would write.
 * The settings that the text depends on are DateStyle ISO, TimeZone UTC, bytea_output hex and
 * extra_float_digits 1: what is written so is read back as the same value under any others.
 */
#ifndef PGW_VALUE_OUT_H
#define PGW_VALUE_OUT_H

#include "protocol/value.h"

/* Appends the text of a value that is not NULL. Real numbers have as few digits as bring them back,
 * but not always PostgreSQL's choice of an exponent. */
void pgw_value_out(const pgw_value *value, pgw_buf *out);
/* Appends its binary form, which pgw_value_from_binary() reads. */
void pgw_value_send(const pgw_value *value, pgw_buf *out);

#endif
