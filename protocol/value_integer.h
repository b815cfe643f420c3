/*
 * value_integer: smallint, integer and bigint: their input function and their range.
 */
#ifndef PGW_VALUE_INTEGER_H
#define PGW_VALUE_INTEGER_H

#include "protocol/value.h"

/* The most digits with which every number fits the type (integer: 9); 0: the type is none of
 * smallint, integer and bigint.
 */
static inline size_t pgw_integer_digits(uint32_t type)
{
    return type == PGW_INT8 ? 18 : type == PGW_INT4 ? 9 : type == PGW_INT2 ? 4 : 0;
}
/* Reads a text of nothing but digits, so few that any number of them fits; false: the text is
 * another, or the type no integer. */
PGW_MUST_CHECK bool pgw_integer_plain(uint32_t type, pgw_slice text, pgw_value *out);
/* Reads `text` as smallint's, integer's or bigint's input function of the server at hand does. */
PGW_MUST_CHECK pgw_verdict pgw_integer_in(uint32_t type, pgw_slice text, const pgw_reading *reading,
                                          pgw_value *out);
/* Turns a number that is written in a form new in PostgreSQL 16 (" -0x1F", "1_000", "1_0.5e1_0";
 * numeric's, too) into the decimal without underscores that all versions take; `older` is in the
 * arena. PGW_INVALID: the text has no such form, or a wrong one; no error is filled, and the
 * readers of decimals judge it. PGW_UNKNOWABLE: the number is larger than 64 bits. */
PGW_MUST_CHECK pgw_verdict pgw_number_older(pgw_slice text, pgw_arena *arena, pgw_slice *older);
/* Whether `integer` fits int2, int4 or int8; else 22003, "out of range". */
PGW_MUST_CHECK pgw_verdict pgw_integer_fit(uint32_t type, int64_t integer, pgw_value *out,
                                           pgw_error *error);

#endif
