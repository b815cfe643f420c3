/*
 * value_number: floating-point numbers, and the casts between them, integers and numeric.
 */
#ifndef PGW_VALUE_NUMBER_H
#define PGW_VALUE_NUMBER_H

#include "protocol/value.h"

PGW_MUST_CHECK pgw_verdict pgw_float_in(uint32_t type, pgw_slice text, pgw_arena *arena,
                                        pgw_value *out, pgw_error *error);
/* Casts between integers, floats and numeric. */
PGW_MUST_CHECK pgw_verdict pgw_number_cast(const pgw_value *in, uint32_t type, pgw_arena *arena,
                                           pgw_value *out, pgw_error *error);

#endif
