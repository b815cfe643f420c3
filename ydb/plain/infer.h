/*
 * infer: the types of a statement's parameters, as PostgreSQL's Parse would tell them; and where a
 * parameter is a column of a result, which would have another name if it were a constant.
 */
#ifndef RW_INFER_H
#define RW_INFER_H

#include "rewrite/statement/script/names.h"
#include "rewrite/statement/lookup/lookup.h"

typedef struct rw_inferred {
    uint32_t *types; /* types of $1, $2 and so on; arena-owned */
    size_t count;    /* the highest parameter, or as many as were declared; 0: there is none, or the
                        statement is of a kind that has none: SET, PREPARE … (its $n are its own) */
    size_t *unnamed; /* where parameters that are columns of a result begin in the text, in order */
    size_t unnamed_count;
    const rw_relation *missing; /* the statement's tables that no catalog has; arena-owned */
} rw_inferred;

/* Finds each parameter's type: the declared one (PGW_UNSPECIFIED and PGW_UNKNOWN say nothing);
 * else what the first place says that says one: a cast, the column that it is inserted into,
 * assigned to or compared with, an operator's or a function's other side, LIMIT and its like;
 * else text. False: PostgreSQL's grammar refuses the statement, or it has more parameters than
 * Bind can carry; the error is filled. Texts that are too large for libpg_query
 * (rw_tree_can_read()), also without their long lists (long_list.h), have the declared types,
 * and text; but for INSERT … VALUES into a table of the catalog, whose columns decide. `text` is
 * one statement. Needs up to 64 MiB of stack. */
PGW_MUST_CHECK bool rw_infer(pgw_slice text, const rw_catalog *catalog, rw_declared declared,
                             const pgw_reading *reading, rw_inferred *out);

#endif
