/*
 * result_array: arrays as PostgreSQL writes them as text (array_out), in binary (array_send).
 */
#ifndef RW_RESULT_ARRAY_H
#define RW_RESULT_ARRAY_H

#include "protocol/value.h"

/* Appends one element's binary form. */
typedef bool rw_send_element(uint32_t type, pgw_slice text, const pgw_env *env, pgw_buf *out,
                             pgw_error *error);

typedef struct rw_elements {
    uint32_t type;
    rw_send_element *send;
    const pgw_env *env;
} rw_elements;

/* Appends an array's binary form. False: the text is no array, and `error` has no SQLSTATE, or an
 * element cannot be sent, and the error is filled; then nothing is appended. */
PGW_MUST_CHECK bool rw_send_array(const rw_elements *elements, pgw_slice text, pgw_buf *out,
                                  pgw_error *error);

#endif
