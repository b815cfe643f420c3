/*
 * types: PostgreSQL's own types as a cast in a text names them.
 */
#ifndef RW_PLAIN_TYPES_H
#define RW_PLAIN_TYPES_H

#include "protocol/types.h"

/* Oids of pg_type, in addition to those of protocol/types.h. */
enum {
    RW_CHAR = 18,
    RW_OID = 26,
    RW_JSON = 114,
    RW_TIME = 1083,
    RW_INTERVAL = 1186,
    RW_TIMETZ = 1266,
    RW_VOID = 2278,
    RW_JSONB = 3802,
};

/* Appends what stands behind `::` so that no length is read into it: int8, "char", text[]. False,
 * and nothing is appended, for a type that is not known here. */
PGW_MUST_CHECK bool rw_add_type(uint32_t type, pgw_buf *out);
/* The oid of a name of pg_type's; PGW_UNSPECIFIED if it is not known here. */
uint32_t rw_type_named(pgw_slice name);

#endif
