/*
 * value_canonical: the bytes of a value that are hashed: the same for all values that its type's
 * own = calls equal, in whatever form they were written.
 */
#ifndef PGW_VALUE_CANONICAL_H
#define PGW_VALUE_CANONICAL_H

#include "protocol/value.h"

/* Appends the canonical bytes: int2/4/8 as 8 bytes little-endian; text and varchar as they are;
 * bpchar without trailing blanks; bytea, uuid; bool 1 byte; date as int32 days and timestamps as
 * int64 microseconds since 1970-01-01, little-endian; numeric as its shortest decimal text;
 * float8 as 8 bytes little-endian with -0 as 0. NULL adds nothing. Equal values (by the type's
 * own =) give equal bytes. */
void pgw_value_canonical(const pgw_value *value, pgw_buf *out);

/* The same of a type of which all values have as few bytes, and that is not NULL: how many, in
 * `out`; 0: it is of another type. */
enum { PGW_CANONICAL_FEW = 8 };
size_t pgw_value_canonical_few(const pgw_value *value, char *out);

#endif
