/*
 * bind: a client's Bind to an INSERT into a configured table: the keys its parameters make, and the
 * Bind with our hashes behind its own parameters.
 */
#ifndef PX_BIND_H
#define PX_BIND_H

#include "protocol/frontend.h"
#include "proxy/backend/base/unit.h"
#include "proxy/ingest/plan.h"
#include "rewrite/insert/key.h"

typedef struct px_bound {
    rw_key *keys;    /* one a row of the statement */
    int64_t *hashes; /* of each */
    size_t known;    /* how many could be told */
    pgw_error error; /* … about the next, if not all could */
} px_bound;

/* What the server would say of a Bind that is malformed (`whole` false) or has too few or too many
 * parameters. */
bool px_bind_check(const px_plan *plan, const pgw_bind *bind, bool whole, pgw_error *error);
/* … of one whose statement has this many. */
bool px_bind_count(const pgw_bind *bind, size_t wanted, pgw_error *error);
/* Its parameters, each of its type. */
rw_param *px_bind_parameters(const uint32_t *types, const pgw_bind *bind, pgw_arena *arena);
/* Computes the keys; memory from `arena`. False: bound->error is for the client. */
bool px_bind_keys(px_worker *worker, const px_plan *plan, const pgw_bind *bind, const pgw_env *env,
                  pgw_arena *arena, px_bound *bound);
/* The Bind as it goes over the own link, on which TimeZone may be another than `env` says: texts of
 * timestamptz for which there is a flag in `heeded` have their zone. In `arena`, where it is not
 * `bind` as it is. */
pgw_bind px_bind_spell(const uint32_t *types, const bool *heeded, const pgw_bind *bind,
                       const pgw_env *env, pgw_arena *arena);
/* … the parameters that are cells of a plan's key and whose moment matters: a flag each, in
 * `arena`. */
bool *px_bind_feeding(const px_plan *plan, pgw_arena *arena);
/* To whom a Bind goes, where its client named others. */
typedef struct px_bind_names {
    pgw_slice portal, statement;
} px_bind_names;

/* Writes the Bind for the backend. False: too many parameters. */
bool px_bind_write(const px_plan *plan, const pgw_bind *bind, px_bind_names names,
                   const px_bound *bound, pgw_buf *out, pgw_error *error);
/* Whether a row of so many bytes, and its key, are within limits.row_bytes and key_bytes. */
PGW_MUST_CHECK bool px_bind_within(const px_worker *worker, const rw_table *table, size_t row_bytes,
                                   const rw_key *key);
/* Rows and keys above limits.row_bytes and key_bytes (YDB's advice) are counted and warned of, and
 * with limits.enforce refused: false, 54000. */
bool px_bind_limit(px_worker *worker, const rw_table *table, size_t row_bytes, const rw_key *key,
                   pgw_error *error);
/* What the batcher needs to know of a row's key. */
px_unit_key px_unit_key_of(const rw_table *table, const rw_key *key);

#endif
