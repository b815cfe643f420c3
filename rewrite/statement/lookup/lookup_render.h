/*
 * lookup_render: the condition on the hash column that is put beside a lookup, with hashes that are
 * known, parameters that will be given them, or expressions by which the server computes them.
 */
#ifndef RW_LOOKUP_RENDER_H
#define RW_LOOKUP_RENDER_H

#include "rewrite/statement/lookup/lookup.h"

/* A statement that SQL's PREPARE keeps. */
typedef struct rw_sql_prepare {
    pgw_slice kept; /* the statement, in the text of that which keeps it */
    rw_declared declared;
    uint32_t parameters; /* how many it has, with those that are but declared */
} rw_sql_prepare;

/* The condition, with an AND behind it, or WHERE before; and the parenthesis that goes on to
 * `until`. Keys that hold a parameter have $first and on, in order; the others their hash. */
void rw_lookup_render(const rw_lookup *lookup, const uint64_t *hashes, uint32_t first,
                      pgw_buf *out);
/* Whether the server can compute the hashes of keys, if they hold parameters of what is prepared,
 * and of a table that it was asked about: no other server has the functions. */
PGW_MUST_CHECK bool rw_lookup_has_sql(const rw_lookup *lookup, const rw_sql_prepare *prepared);
/* The condition for what SQL's PREPARE keeps: keys that hold a parameter have expressions of the
 * server's. No row is lost: if a hash cannot be computed, or the name means another table when the
 * statement is run, or the key's columns have other types by then, all rows are looked at. */
void rw_lookup_render_sql(const rw_lookup *lookup, const uint64_t *hashes,
                          const rw_sql_prepare *prepared, pgw_arena *arena, pgw_buf *out);

#endif
