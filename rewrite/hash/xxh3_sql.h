/*
 * xxh3_sql: XXH3_64bits as an expression of PostgreSQL's own functions, for statements whose keys
 * only the backend sees. Nothing is to be installed there, and no search_path changes what it says.
 */
#ifndef RW_XXH3_SQL_H
#define RW_XXH3_SQL_H

#include "protocol/bytes.h"

/* Keys of more bytes are not hashed by the expression, which would be too costly for the
 * planner. */
enum { RW_XXH3_SQL_MOST = 240 };

/* The hash of one or two numbers of type int8, eight bytes each, little-endian. Arena-owned. */
char *rw_xxh3_sql_of_numbers(pgw_arena *arena, const char *first, const char *second);
/* The hash of a bytea of `length` bytes; `length` 0: of any number up to RW_XXH3_SQL_MOST, beyond
 * which it is `otherwise`, an int8. Arena-owned. */
char *rw_xxh3_sql_of_bytes(pgw_arena *arena, const char *bytes, size_t length,
                           const char *otherwise);

/* The 64-bit arithmetic of the expression, for others. */
char *rw_sql_wrap(pgw_arena *arena,
                  const char *numeric); /* an int8 of the same low 64 bits; uses its operand once */
char *rw_sql_swapped(pgw_arena *arena,
                     const char *int8); /* the int8 with its bytes in reverse order; the operand is
                                           used eight times, so a name */

#endif
