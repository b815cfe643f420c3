/*
 * types: the built-in types that keyspread looks into: their object identifiers
 * (src/include/catalog/pg_type.dat of PostgreSQL; they never change) and their names.
 */
#ifndef PGW_TYPES_H
#define PGW_TYPES_H

#include "protocol/bytes.h"

enum pgw_type_oid {
    PGW_UNSPECIFIED = 0,
    PGW_BOOL = 16,
    PGW_BYTEA = 17,
    PGW_NAME = 19,
    PGW_INT8 = 20,
    PGW_INT2 = 21,
    PGW_INT4 = 23,
    PGW_TEXT = 25,
    PGW_FLOAT4 = 700,
    PGW_FLOAT8 = 701,
    PGW_UNKNOWN = 705,
    PGW_BPCHAR = 1042,
    PGW_VARCHAR = 1043,
    PGW_DATE = 1082,
    PGW_TIMESTAMP = 1114,
    PGW_TIMESTAMPTZ = 1184,
    PGW_NUMERIC = 1700,
    PGW_UUID = 2950
};

/* Whether values of this type can be part of a key that is hashed. */
bool pgw_type_is_key(uint32_t type);
/* Whether extra_float_digits, bytea_output and xmlbinary have no say in how a value of this type is
 * written as text. */
bool pgw_type_has_one_text(uint32_t type);
/* The name as SQL writes it ("bigint", "timestamp with time zone"); NULL for a type not known here.
 */
const char *pgw_type_name(uint32_t type);
/* The oid for a type's name in any spelling of pg_type or the grammar ("int8", "bigint",
 * "character varying"); lower case, blanks single; PGW_UNSPECIFIED if not known here. */
uint32_t pgw_type_by_name(pgw_slice name);

#endif
