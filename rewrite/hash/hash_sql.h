/*
 * hash_sql: the hash of a key that only the backend sees, as an expression of its own functions.
 */
#ifndef RW_HASH_SQL_H
#define RW_HASH_SQL_H

#include "rewrite/hash/table.h"

/* In the error by which a statement fails whose key is too long for the expression. */
#define RW_KEY_TOO_LONG "keyspread cannot hash so long a key in INSERT ... SELECT"

/* Whether there is such an expression for the table's rule. */
bool rw_hash_has_sql(const rw_table *table);
/* … and the table keeps a hash that is computed with its new key: nothing changes the key behind
 * it.
 */
bool rw_key_may_change(const rw_table *table);
/* A key column's type as a cast names it, whatever search_path is: without its length or precision.
 */
const char *rw_hash_sql_type(uint32_t type);
/* The expression, of the type of the hash column, or an int8 where that holds buckets. `values`:
 * one expression for each column of the hash_key, in its order, to be used many times, each of a
 * type that an assignment would cast to the column's. Where one is NULL and must not be, the hash
 * is NULL if the column takes it. */
char *rw_hash_sql(const rw_table *table, const char *const *values, pgw_arena *arena);
/* The same, but NULL, and no error, where a key is too long. */
char *rw_hash_sql_or_null(const rw_table *table, const char *const *values, pgw_arena *arena);
/* Appends what is of such a type, a keyword, and always fails, with these words in the message,
 * when it is evaluated and not before; what is cast is for the database to say, so it may not be a
 * cast.
 */
void rw_sql_fail(const rw_table *table, const char *words, rw_hash_type type, pgw_buf *out);

#endif
