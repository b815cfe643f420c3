/*
 * result: a value that a server sent as text, in the binary form that the client asked for.
 */
#ifndef RW_RESULT_H
#define RW_RESULT_H

#include "protocol/value.h"

/* Whether values of the type can be sent in binary. */
bool rw_result_has_binary(uint32_t type);

/* Appends the binary form of what PostgreSQL writes with DateStyle ISO, IntervalStyle postgres and
 * bytea_output hex. `env` says what a timestamptz without an offset would mean. False: 0A000, the
 * type has no binary form here, or the text is no value of it; then nothing is appended. */
PGW_MUST_CHECK bool rw_result_send(uint32_t type, pgw_slice text, const pgw_env *env, pgw_buf *out,
                                   pgw_error *error);

#endif
