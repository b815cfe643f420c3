/*
 * hash_sql: the hash of a key that only the backend sees, as an expression of its own functions.
 */
#ifndef RW_HASH_SQL_H
#define RW_HASH_SQL_H

#include "rewrite/hash/table.h"

/* The words in the error by which a statement fails whose key is too long for the expression. */
#define RW_KEY_TOO_LONG "keyspread cannot hash so long a key in INSERT ... SELECT"

/* Whether PostgreSQL's functions can compute the hash by the table's rule. */
bool rw_hash_has_sql(const rw_table *table);
/* Whether the server can compute the hash of a changed key and store it with the row: no trigger or
 * rule changes the key or the row afterwards. */
bool rw_key_may_change(const rw_table *table);
/* The type of a key column as a cast names it under any search_path, without a modifier. */
const char *rw_hash_sql_type(uint32_t type);
/* The expression of a key's hash, of the type of the hash column, or an int8 where that holds
 * buckets. `values`: one expression for each column of the hash_key, in its order, each to be used
 * many times and of a type that an assignment would cast to the column's. Where a value is NULL and
 * must not be, the hash is NULL if the column takes NULLs. */
char *rw_hash_sql(const rw_table *table, const char *const *values, pgw_arena *arena);
/* The expression as rw_hash_sql() makes it, but NULL, and no error, where a key is too long. */
char *rw_hash_sql_or_null(const rw_table *table, const char *const *values, pgw_arena *arena);
/* Appends an expression of the hash type that always fails, with `words` in the message, when it is
 * evaluated and not before. It has no cast where the database has casts of its own. */
void rw_sql_fail(const rw_table *table, const char *words, rw_hash_type type, pgw_buf *out);

#endif
