/*
 * value_text: values that are text or bytes: character types, name, boolean, uuid, bytea. But for
 * pgw_text_check(), texts are valid in the client's encoding and hold no NUL.
 */
#ifndef PGW_VALUE_TEXT_H
#define PGW_VALUE_TEXT_H

#include "protocol/utf8.h"
#include "protocol/value.h"

enum { PGW_NAME_MAX = 63 }; /* NAMEDATALEN - 1 */

/* The name as PostgreSQL keeps it and looks it up: cut between characters where it is too long. */
static inline pgw_slice pgw_name_cut(pgw_slice name)
{
    return name.len <= PGW_NAME_MAX ? name : pgw_utf8_cut(name, PGW_NAME_MAX);
}

PGW_MUST_CHECK pgw_verdict pgw_text_check(pgw_slice text, const pgw_env *env, pgw_error *error);
pgw_slice pgw_text_trim(pgw_slice text); /* without trailing ' ', as bpchar compares */
/* Length coercion of varchar and bpchar: too long is cut if `explicit_cast` or only blanks go. */
PGW_MUST_CHECK pgw_verdict pgw_text_fit(uint32_t type, int32_t typmod, bool explicit_cast,
                                        pgw_slice *text, pgw_error *error);
PGW_MUST_CHECK pgw_verdict pgw_bool_in(pgw_slice text, pgw_value *out, pgw_error *error);
PGW_MUST_CHECK pgw_verdict pgw_uuid_in(pgw_slice text, pgw_arena *arena, pgw_value *out,
                                       pgw_error *error);
pgw_slice pgw_uuid_out(pgw_slice bytes, pgw_arena *arena);
PGW_MUST_CHECK pgw_verdict pgw_bytea_in(pgw_slice text, pgw_arena *arena, pgw_value *out,
                                        pgw_error *error);

#endif
