/*
 * key_change: an UPDATE that gives columns of a table's hash key new values: what is to be changed
 * in its text so that the server computes the hash of the new key, with it and of what it stores.
 */
#ifndef RW_KEY_CHANGE_H
#define RW_KEY_CHANGE_H

#include "rewrite/hash/table.h"
#include "rewrite/statement/edit/token_edits.h"

#include <pg_query/pg_query.pb-c.h>

/* A column of the hash key, and its new value. */
typedef struct rw_new_value {
    const rw_column *column;
    size_t at;       /* byte of the statement at which the value begins */
    uint32_t shared; /* the parameter that the value is, if it is used elsewhere, too, and so needs
                        a declared type; 0: none */
} rw_new_value;

/* A change of a key; all of it is in the arena, or in the client's text. */
typedef struct rw_key_change {
    const rw_table *table; /* the table whose key changes; NULL: none does */
    const rw_change *list; /* changes in the order of the text */
    size_t count;
    const rw_new_value *values; /* new values in the order of the hash key */
    size_t value_count;
    bool otherwise;   /* made unless the parameters leave the key as it is (rw_equal_parameters) */
    const char *hint; /* what to do where it is refused */
} rw_key_change;

/* Finds the change. False, with the hint: the hash cannot be computed, or the table would not keep
 * it; the statement is to be refused. `text` is what the tree was made of. */
PGW_MUST_CHECK bool rw_key_change_find(const PgQuery__UpdateStmt *update, const rw_table *table,
                                       pgw_slice text, bool conforming, pgw_arena *arena,
                                       rw_key_change *out);

#endif
