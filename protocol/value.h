/*
 * value: one typed value, and what decides how it is read. Its ways in and out are value_in.h,
 * value_cast.h and value_canonical.h. Everything as PostgreSQL 15 does it, or PGW_UNKNOWABLE: never
 * a guess.
 */
#ifndef PGW_VALUE_H
#define PGW_VALUE_H

#include "protocol/error.h"
#include "protocol/types.h"

typedef enum pgw_verdict {
    PGW_KNOWN,      /* the value is exactly what PostgreSQL would store */
    PGW_UNKNOWABLE, /* the value depends on what cannot be seen here, or is not covered */
    PGW_INVALID     /* PostgreSQL would refuse it: the error is filled with its SQLSTATE and text */
} pgw_verdict;

/* What a session's settings mean for the reading of values. */
typedef struct pgw_env {
    bool utf8;            /* the client's texts are in UTF8 */
    bool zone_known;      /* TimeZone is UTC or a fixed offset */
    int32_t zone_seconds; /* TimeZone's offset: seconds east of UTC */
    bool conforming;      /* standard_conforming_strings is on */
    bool settled; /* the client has set standard_conforming_strings, so no default moves it */
    int server;   /* the server's major version, such as 18; 0: not known */
} pgw_env;

/* The first PostgreSQL that takes 0x1F, 0o17, 0b11 and 1_000 as numbers. */
enum { PGW_NUMBERS_SINCE = 16 };

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

/* What the reading of a value needs: the session's settings, memory for its bytes, and room for an
 * error. */
typedef struct pgw_reading {
    const pgw_env *env;
    pgw_arena *arena;
    pgw_error *error;
} pgw_reading;

#endif
