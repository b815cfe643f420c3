/*
 * value: one typed value, and its ways in and out: PostgreSQL's text and binary forms, the
 * assignment cast from type to type with its rounding and errors, and the canonical bytes that
 * are hashed. Everything as PostgreSQL 15 does it, or PGW_UNKNOWABLE: never a guess.
 */
#ifndef PGW_VALUE_H
#define PGW_VALUE_H

#include "protocol/bytes.h"
#include "protocol/error.h"
#include "protocol/types.h"

typedef enum pgw_verdict {
    PGW_KNOWN,      /* the value is exactly what PostgreSQL would store */
    PGW_UNKNOWABLE, /* it depends on what cannot be seen here, or is not covered */
    PGW_INVALID     /* PostgreSQL would refuse it: the error is filled with its SQLSTATE and text */
} pgw_verdict;

/* What a session's settings mean for the reading of values. */
typedef struct pgw_env {
    bool utf8;            /* client_encoding is UTF8 */
    bool zone_known;      /* TimeZone is UTC or a fixed offset */
    int32_t zone_seconds; /* … that many seconds east of UTC */
    bool conforming;      /* standard_conforming_strings is on */
} pgw_env;

typedef struct pgw_value {
    uint32_t type; /* an oid of types.h */
    bool null;
    union {
        int64_t integer; /* int2/4/8, bool; date: days since 2000-01-01; timestamps: microseconds
                            since 2000-01-01 (UTC for timestamptz), as PostgreSQL counts */
        double real;     /* float4, float8 */
        pgw_slice bytes; /* text, varchar, bpchar, name, unknown, bytea, uuid (16 bytes); numeric:
                            its decimal text as numeric_out would print it */
    } as;
} pgw_value;

/* Whether values of this type can be part of a key that is hashed. */
bool pgw_type_is_key(uint32_t type);
/* The name as SQL writes it ("bigint", "timestamp with time zone"); NULL for a type not known here.
 */
const char *pgw_type_name(uint32_t type);
/* The oid for a type's name in any spelling of pg_type or the grammar ("int8", "bigint",
 * "character varying"); lower case, blanks single; PGW_UNSPECIFIED if not known here. */
uint32_t pgw_type_by_name(pgw_slice name);

/* Type input function: `text` (already unescaped) into `type` with `typmod` (-1 = none).
 * Bytes of the result live in `arena` or in `text`. */
pgw_verdict pgw_value_from_text(uint32_t type, int32_t typmod, pgw_slice text, const pgw_env *env,
                                pgw_arena *arena, pgw_value *out, pgw_error *error);
/* Type receive function, as for a parameter in binary format (no typmod: parameters have none). */
pgw_verdict pgw_value_from_binary(uint32_t type, pgw_slice bytes, const pgw_env *env,
                                  pgw_arena *arena, pgw_value *out, pgw_error *error);
/* Cast of `in` to `type`/`typmod`: explicit_cast as by `::` (truncates character types),
 * else as by assignment to a column (too long is 22001). */
pgw_verdict pgw_value_cast(const pgw_value *in, uint32_t type, int32_t typmod, bool explicit_cast,
                           const pgw_env *env, pgw_arena *arena, pgw_value *out, pgw_error *error);

/* Appends the canonical bytes: int2/4/8 as 8 bytes little-endian; text and varchar as they are;
 * bpchar without trailing blanks; bytea, uuid; bool 1 byte; date as int32 days and timestamps as
 * int64 microseconds since 1970-01-01, little-endian; numeric as its shortest decimal text;
 * float8 as 8 bytes little-endian with -0 as 0. NULL adds nothing. Equal values (by the type's
 * own =) give equal bytes. */
void pgw_value_canonical(const pgw_value *value, pgw_buf *out);

#endif
