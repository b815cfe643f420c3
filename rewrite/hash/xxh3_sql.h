/*
 * xxh3_sql: XXH3_64bits as an expression of PostgreSQL's own functions, for statements whose keys
 * only the backend sees. Nothing is to be installed there, and no search_path changes what it says.
 */
#ifndef RW_XXH3_SQL_H
#define RW_XXH3_SQL_H

#include "protocol/bytes.h"

/* Longer keys are not hashed by the expression, which would cost the planner too much. */
enum { RW_XXH3_SQL_MOST = 240 };

/* The hash of one or two numbers of type int8, eight bytes each, little-endian. Arena-owned. */
char *rw_xxh3_sql_of_numbers(pgw_arena *arena, const char *first, const char *second);
/* The hash of a bytea of `length` bytes; `length` 0: of any number up to RW_XXH3_SQL_MOST, beyond
 * which it is `otherwise`, an int8. Arena-owned. */
char *rw_xxh3_sql_of_bytes(pgw_arena *arena, const char *bytes, size_t length,
                           const char *otherwise);

/* The 64-bit arithmetic of the expression, for others. */
/* An int8 with the low 64 bits of `numeric`, which is used once. */
char *rw_sql_wrap(pgw_arena *arena, const char *numeric);
/* The int8 with its bytes in reverse order. It is used eight times: the operand is to be a name. */
char *rw_sql_swapped(pgw_arena *arena, const char *int8);

#endif
