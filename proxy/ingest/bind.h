/*
 * bind: a client's Bind to an INSERT into a configured table: the keys that its parameters make,
 * and the Bind with hashes behind the client's parameters.
 */
#ifndef PX_BIND_H
#define PX_BIND_H

#include "protocol/frontend.h"
#include "proxy/backend/base/write_group.h"
#include "proxy/ingest/plan.h"
#include "rewrite/insert/key.h"

typedef struct px_bound {
    rw_key *keys;    /* a key for each row of the statement; NULL: none can be computed */
    int64_t *hashes; /* the hash of each row; NULL as `keys` */
    size_t known;    /* how many rows' keys could be told, from the first */
    pgw_error error; /* why the next row's key could not be told, if not all could */
} px_bound;

/* Whether a Bind is good; else what the server would say of one that is malformed (`whole` false)
 * or has too few or too many parameters. */
bool px_bind_check(const px_plan *plan, const pgw_bind *bind, bool whole, pgw_error *error);
/* Whether a Bind has `wanted` parameters; if not, what the server would say. */
bool px_bind_count(const pgw_bind *bind, size_t wanted, pgw_error *error);
/* How many of the client's parameters, from the first, must be known to tell the keys. */
size_t px_bind_reach(const px_plan *plan);
/* The parameters of a Bind, each with its type; in `arena`. */
rw_param *px_bind_parameters(const uint32_t *types, const pgw_bind *bind, pgw_arena *arena);
/* Computes the keys; memory from `arena`. False: bound->error is for the client. */
bool px_bind_keys(px_worker *worker, const px_plan *plan, const pgw_bind *bind, const pgw_env *env,
                  pgw_arena *arena, px_bound *bound);
/* The Bind as it goes over the own link, on which TimeZone may be another than `env` says: texts of
 * timestamptz for which there is a flag in `heeded` have their zone. In `arena`, where it is not
 * `bind` as it is. */
pgw_bind px_bind_spell(const uint32_t *types, const bool *heeded, const pgw_bind *bind,
                       const pgw_env *env, pgw_arena *arena);
/* A flag for each parameter, in `arena`: it is a cell of the plan's key that TimeZone may
 * decide. */
bool *px_bind_feeding(const px_plan *plan, pgw_arena *arena);
/* The portal and the statement of a Bind on the backend, where its client named others. */
typedef struct px_bind_names {
    pgw_slice portal, statement;
} px_bind_names;

/* Writes the Bind for the backend. False: too many parameters. */
bool px_bind_write(const px_plan *plan, const pgw_bind *bind, px_bind_names names,
                   const px_bound *bound, pgw_buf *out, pgw_error *error);
/* Rows of fewer bytes are within limits.row_bytes, and keys that are all in them certainly within
 * limits.key_bytes. */
size_t px_bind_small(const px_worker *worker, const rw_table *table);
PGW_MUST_CHECK static inline bool px_bind_is_small(const px_worker *worker, const rw_table *table,
                                                   size_t row_bytes)
{
    return row_bytes < px_bind_small(worker, table);
}
/* Whether a row of so many bytes, and its key, are within limits.row_bytes and key_bytes. */
PGW_MUST_CHECK bool px_bind_within(const px_worker *worker, const rw_table *table, size_t row_bytes,
                                   const rw_key *key);
/* Rows and keys above limits.row_bytes and key_bytes (YDB's advice) are counted and warned of, and
 * with limits.enforce refused: false, 54000. */
bool px_bind_limit(px_worker *worker, const rw_table *table, size_t row_bytes, const rw_key *key,
                   pgw_error *error);
/* Adds a value to a mixture of a key's values: integers and timestamps are numbers themselves. The
 * factor is odd: no two values of a column become one. */
static inline uint64_t px_bind_mix(uint64_t mixed, uint64_t number)
{
    mixed = (mixed ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 32;
}

/* What the batcher needs to know of a row's key. */
px_write_group_key px_write_group_key_of(const rw_table *table, const rw_key *key);
/* The same of a key that is all known, and `mixed`. A hash of the whole key is a fingerprint: equal
 * keys have equal ones. */
static inline px_write_group_key px_write_group_key_mixed(const rw_table *table, const rw_key *key,
                                                          uint64_t mixed)
{
    bool whole = table->hash_key_count == table->primary_key_count;
    return (px_write_group_key){.hash = key->whole,
                                .fingerprint = whole ? key->whole : mixed,
                                .constant = true,
                                .partition = key->partition};
}

#endif
