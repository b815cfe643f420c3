/*
 * value_integer: smallint, integer and bigint: their input function and their range.
 */
#ifndef PGW_VALUE_INTEGER_H
#define PGW_VALUE_INTEGER_H

#include "protocol/value.h"

PGW_MUST_CHECK pgw_verdict pgw_integer_in(uint32_t type, pgw_slice text, pgw_value *out,
                                          pgw_error *error);
/* Whether `integer` fits int2, int4 or int8; else 22003 "… out of range". */
PGW_MUST_CHECK pgw_verdict pgw_integer_fit(uint32_t type, int64_t integer, pgw_value *out,
                                           pgw_error *error);

#endif
