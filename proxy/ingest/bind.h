/*
 * bind: a client's Bind to an INSERT into a configured table: the keys its parameters make, and the
 * Bind with our hashes behind its own parameters.
 */
#ifndef PX_BIND_H
#define PX_BIND_H

#include "protocol/frontend.h"
#include "proxy/backend/unit.h"
#include "proxy/ingest/plan.h"
#include "rewrite/insert/key.h"

typedef struct px_bound {
    rw_key *keys;    /* one a row of the statement */
    int64_t *hashes; /* of each */
    size_t known;    /* how many could be told: the error is about the next */
} px_bound;

/* What the server would say of a Bind that is malformed (`whole` false) or has too few or too many
 * parameters. */
bool px_bind_check(const px_plan *plan, const pgw_bind *bind, bool whole, pgw_error *error);
/* Computes the keys; memory from `arena`. False: the error for the client. */
bool px_bind_keys(px_worker *worker, const px_plan *plan, const pgw_bind *bind, const pgw_env *env,
                  pgw_arena *arena, px_bound *bound, pgw_error *error);
/* Writes the Bind for the backend. False: too many parameters. */
bool px_bind_write(const px_plan *plan, const pgw_bind *bind, pgw_slice portal, pgw_slice statement,
                   const px_bound *bound, pgw_buf *out, pgw_error *error);
/* Rows and keys above limits.row_bytes and key_bytes (YDB's advice) are counted and warned of, and
 * with limits.enforce refused: false, 54000. */
bool px_bind_limit(px_worker *worker, const rw_table *table, size_t row_bytes, const rw_key *key,
                   pgw_error *error);
/* What the batcher needs to know of a row's key. */
px_unit_key px_unit_key_of(const rw_table *table, const rw_key *key);

#endif
