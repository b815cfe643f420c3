/*
 * value_numeric: numeric, as decimal text: its input and receive functions, its rounding, and the
 * number that is left without needless zeros.
 */
#ifndef PGW_VALUE_NUMERIC_H
#define PGW_VALUE_NUMERIC_H

#include "protocol/value.h"

/* A decimal number longer than this is not computed: 1e131071 is eight bytes that grow to 128 KiB.
 */
enum { PGW_NUMERIC_MAX = 2000 };

PGW_MUST_CHECK pgw_verdict pgw_numeric_in(pgw_slice text, pgw_arena *arena, pgw_value *out,
                                          pgw_error *error);
PGW_MUST_CHECK pgw_verdict pgw_numeric_recv(pgw_slice bytes, pgw_arena *arena, pgw_value *out,
                                            pgw_error *error);
/* pgw_numeric_recv() of a number with up to `most` digits. */
PGW_MUST_CHECK pgw_verdict pgw_numeric_recv_long(pgw_slice bytes, int64_t most, pgw_arena *arena,
                                                 pgw_value *out, pgw_error *error);
/* Appends the binary form of a number as numeric_out prints it, however long that is. */
void pgw_numeric_send(pgw_slice text, pgw_buf *out);
/* Rounds to the typmod's scale; 22003 if the precision does not suffice. */
PGW_MUST_CHECK pgw_verdict pgw_numeric_fit(int32_t typmod, pgw_arena *arena, pgw_value *value,
                                           pgw_error *error);
/* Converts a number to an integer, rounded half away from zero. */
PGW_MUST_CHECK pgw_verdict pgw_numeric_to_integer(pgw_slice text, uint32_t type, pgw_value *out,
                                                  pgw_error *error);
/* The same number without needless zeros, a slice of `text`: 1.50 is 1.5, 0.00 is 0. */
pgw_slice pgw_numeric_shortest(pgw_slice text);

#endif
