/*
 * value_parts: what value.c is made of, for the protocol layer's own use: each type's input
 * function, its receive function where that is more than reading a number, and its casts.
 * Texts given to these functions are valid in the client's encoding and hold no NUL.
 */
#ifndef PGW_VALUE_PARTS_H
#define PGW_VALUE_PARTS_H

#include "protocol/value.h"

#define PGW_REFUSE(...) (pgw_fail(__VA_ARGS__), PGW_INVALID)

/* For printf's "%.*s": a message is cut long before this. */
#define PGW_SHOWN(slice) (int)((slice).len < 1024 ? (slice).len : 1024), (slice).ptr

enum { PGW_TYPMOD_BASE = 4 }; /* VARHDRSZ: typmods of varchar, bpchar, numeric are that much more */

/* A decimal number longer than this is not computed: 1e131071 is eight bytes that grow to 128 KiB.
 */
enum { PGW_NUMERIC_MAX = 2000 };

static inline bool pgw_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool pgw_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* value.c: pgw_value_cast()'s last step, on a value that has the type already. PGW_UNKNOWABLE for a
 * typmod that PostgreSQL would not accept. */
pgw_verdict pgw_value_fit(int32_t typmod, bool explicit_cast, pgw_arena *arena, pgw_value *value,
                          pgw_error *error);

/* value_text.c */
pgw_verdict pgw_text_check(pgw_slice text, const pgw_env *env, pgw_error *error);
size_t pgw_utf8_length(pgw_slice text);  /* bytes of the first character; 0: not valid */
pgw_slice pgw_text_trim(pgw_slice text); /* without trailing ' ', as bpchar compares */
/* Length coercion of varchar and bpchar: too long is cut if `explicit_cast` or only blanks go. */
pgw_verdict pgw_text_fit(uint32_t type, int32_t typmod, bool explicit_cast, pgw_slice *text,
                         pgw_error *error);
pgw_slice pgw_name_cut(pgw_slice text); /* at 63 bytes, between characters */
pgw_verdict pgw_bool_in(pgw_slice text, pgw_value *out, pgw_error *error);
pgw_verdict pgw_uuid_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error);
pgw_slice pgw_uuid_out(pgw_slice bytes, pgw_arena *arena);
pgw_verdict pgw_bytea_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error);

/* value_number.c */
pgw_verdict pgw_integer_in(uint32_t type, pgw_slice text, pgw_value *out, pgw_error *error);
/* Whether `integer` fits int2, int4 or int8; else 22003 "… out of range". */
pgw_verdict pgw_integer_fit(uint32_t type, int64_t integer, pgw_value *out, pgw_error *error);
pgw_verdict pgw_float_in(uint32_t type, pgw_slice text, pgw_arena *arena, pgw_value *out,
                         pgw_error *error);
/* Between integers, floats and numeric. */
pgw_verdict pgw_number_cast(const pgw_value *in, uint32_t type, pgw_arena *arena, pgw_value *out,
                            pgw_error *error);

/* value_numeric.c */
pgw_verdict pgw_numeric_in(pgw_slice text, pgw_arena *arena, pgw_value *out, pgw_error *error);
pgw_verdict pgw_numeric_recv(pgw_slice bytes, pgw_arena *arena, pgw_value *out, pgw_error *error);
/* Rounds to the typmod's scale; 22003 if the precision does not suffice. */
pgw_verdict pgw_numeric_fit(int32_t typmod, pgw_arena *arena, pgw_value *value, pgw_error *error);
/* Rounded half away from zero. */
pgw_verdict pgw_numeric_to_integer(pgw_slice text, uint32_t type, pgw_value *out, pgw_error *error);
bool pgw_numeric_is_special(pgw_slice text); /* NaN, Infinity, -Infinity */
/* The same number without needless zeros, a slice of `text`: 1.50 is 1.5, 0.00 is 0. */
pgw_slice pgw_numeric_shortest(pgw_slice text);

/* value_time.c */
pgw_verdict pgw_time_in(uint32_t type, pgw_slice text, const pgw_env *env, pgw_value *out,
                        pgw_error *error);
pgw_verdict pgw_time_recv(uint32_t type, int64_t integer, pgw_value *out, pgw_error *error);
void pgw_time_fit(int32_t typmod, pgw_value *value); /* rounds to the typmod's fraction digits */
pgw_verdict pgw_time_cast(const pgw_value *in, uint32_t type, const pgw_env *env, pgw_value *out,
                          pgw_error *error);

#endif
