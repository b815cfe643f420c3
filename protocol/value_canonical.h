/*
 * value_canonical: the bytes of a value that are hashed: the same for all values that its type's
 * own = calls equal, in whatever form they were written.
 */
#ifndef PGW_VALUE_CANONICAL_H
#define PGW_VALUE_CANONICAL_H

#include "protocol/value.h"

enum { PGW_CANONICAL_ROOM = 8 }; /* bytes, which all values of a fixed width fit in */

/* The canonical bytes, in `room` or the value's own: int2/4/8 as 8 bytes little-endian; text and varchar as they are;
 * bpchar without trailing blanks; bytea, uuid; bool 1 byte; date as int32 days and timestamps as
 * int64 microseconds since 1970-01-01, little-endian; numeric as its shortest decimal text;
 * float8 as 8 bytes little-endian with -0 as 0. NULL has none. Equal values (by the type's
 * own =) give equal bytes. */
pgw_slice pgw_value_canonical(const pgw_value *value, char room[PGW_CANONICAL_ROOM]);

#endif
