/*
 * bound_text: a value in binary as the text that its type's input function reads as the same value:
 * scalars and their arrays.
 */
#ifndef RW_BOUND_TEXT_H
#define RW_BOUND_TEXT_H

#include "protocol/value.h"

/* Appends the text of a value in its type's binary form. False: PostgreSQL would refuse it, or the
 * type's binary form is not known here (0A000); then what was appended is of no use. */
PGW_MUST_CHECK bool rw_add_bound_text(uint32_t type, pgw_slice bytes, const pgw_env *env,
                                      pgw_buf *out, pgw_error *error);

/* Whether PostgreSQL would take the bytes as text; else 22021. Text in another encoding than UTF-8
 * is left to the server, except for NULs, which would end the statement. */
PGW_MUST_CHECK bool rw_check_characters(pgw_slice text, const pgw_env *env, pgw_error *error);

#endif
