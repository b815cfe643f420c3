/*
 * value_in: values as they come from a client: through the input function of their type, or its
 * receive function.
 */
#ifndef PGW_VALUE_IN_H
#define PGW_VALUE_IN_H

#include "protocol/value.h"

/* Type input function: `text` (already unescaped) into `type` with `typmod` (-1 = none).
 * Bytes of the result live in the arena or in `text`. */
PGW_MUST_CHECK pgw_verdict pgw_value_from_text(uint32_t type, int32_t typmod, pgw_slice text,
                                               const pgw_reading *reading, pgw_value *out);
/* Type receive function, as for a parameter in binary format (no typmod: parameters have none). */
PGW_MUST_CHECK pgw_verdict pgw_value_from_binary(uint32_t type, pgw_slice bytes,
                                                 const pgw_reading *reading, pgw_value *out);
/* The last step of a cast, on a value that has the type already: length coercion and rounding to
 * the typmod. PGW_UNKNOWABLE for a typmod that PostgreSQL would not accept. */
PGW_MUST_CHECK pgw_verdict pgw_value_fit(int32_t typmod, bool explicit_cast, pgw_arena *arena,
                                         pgw_value *value, pgw_error *error);

#endif
