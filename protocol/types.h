/*
 * types: the object identifiers of the built-in types that keyspread looks into
 * (src/include/catalog/pg_type.dat of PostgreSQL; they never change).
 */
#ifndef PGW_TYPES_H
#define PGW_TYPES_H

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

#endif
