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
    uint32_t element; /* the element type of an array, a vector or a geometric type; 0: none */
    uint32_t subtype; /* the subtype of a range or a multirange; 0: none */
    int16_t length;   /* typlen */
    bool is_array;    /* the type's input function is array_in() */
    char kind;        /* typtype */
    char delimiter;
    char name[40];  /* typname */
    char shown[40]; /* what format_type() says */
} rw_pg_type;

/* Finds a type of pg_catalog by its oid, or by its typname. False: there is none. */
PGW_MUST_CHECK bool rw_pg_type_of(uint32_t oid, rw_pg_type *out);
PGW_MUST_CHECK bool rw_pg_type_called(pgw_slice name, rw_pg_type *out); /* typname */
/* Finds the next type, those of arrays behind the others; `at` is 0 at first. False: there are no
 * more. */
PGW_MUST_CHECK bool rw_pg_type_next(size_t *at, rw_pg_type *out);
/* Finds a type as regtype's input does: "bigint", INT8[], pg_catalog.int8, varchar(10). */
PGW_MUST_CHECK bool rw_pg_type_written(pgw_slice text, rw_pg_type *out);

#endif
