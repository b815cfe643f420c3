/*
 * constant: a value that was bound to a parameter, as a constant that PostgreSQL reads back as the
 * same value of the same type: 'it''s'::text. Backslashes mean themselves, as they do where
 * standard_conforming_strings is on.
 */
#ifndef RW_CONSTANT_H
#define RW_CONSTANT_H

#include "rewrite/hash/literal.h"

/* Appends the constant; a NULL is NULL::type, and a type that is not known here is left out, so
 * that the constant's place decides. False: PostgreSQL would refuse the value, or its binary form
 * is not known here (0A000); then nothing is appended. `env` tells the client's encoding. */
PGW_MUST_CHECK bool rw_add_bound(const rw_param *param, const pgw_env *env, pgw_buf *out,
                                 pgw_error *error);
/* Appends NULL::type, for a parameter of which only the type is known. */
void rw_add_null(uint32_t type, pgw_buf *out);
/* Appends an expression in brackets, with a cast to the type. */
void rw_add_operand(pgw_slice expression, uint32_t type, pgw_buf *out);

#endif
