/*
 * pg_type: the types that PostgreSQL 15 is born with, as its pg_type and pg_range tell of them; not
 * those of its tables' rows.
 */
#ifndef RW_PG_TYPE_H
#define RW_PG_TYPE_H

#include "protocol/bytes.h"

typedef struct rw_pg_type {
    uint32_t oid;
    uint32_t array;   /* the type of its arrays; 0: there is none */
    uint32_t element; /* of an array, a vector or a geometric type; 0: none */
    uint32_t subtype; /* of a range or a multirange; 0: none */
    int16_t length;   /* typlen */
    bool is_array;    /* its input is array_in() */
    char kind;        /* typtype */
    char delimiter;
    char name[40];  /* typname */
    char shown[40]; /* what format_type() says */
} rw_pg_type;

/* Those of pg_catalog. False: there is none. */
PGW_MUST_CHECK bool rw_pg_type_of(uint32_t oid, rw_pg_type *out);
PGW_MUST_CHECK bool rw_pg_type_called(pgw_slice name, rw_pg_type *out); /* typname */
/* All of them, those of arrays behind the others; `at` is 0 at first. False: there are no more. */
PGW_MUST_CHECK bool rw_pg_type_next(size_t *at, rw_pg_type *out);
/* As regtype's input reads it: "bigint", INT8[], pg_catalog.int8, varchar(10). */
PGW_MUST_CHECK bool rw_pg_type_written(pgw_slice text, rw_pg_type *out);

#endif
