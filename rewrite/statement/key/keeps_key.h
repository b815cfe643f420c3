/*
 * keeps_key: whether an UPDATE leaves a column what it is, though it sets it: its WHERE asks for
 * the value that SET gives (`SET id = 1, v = 2 WHERE id = 1`), as ORMs write it that set all
 * columns.
 */
#ifndef RW_KEEPS_KEY_H
#define RW_KEEPS_KEY_H

#include "protocol/bytes.h"

#include <pg_query/pg_query.pb-c.h>

/* Why an UPDATE leaves a column what it is. */
typedef enum rw_keeps {
    RW_KEEPS_NOT,      /* nothing says that the column keeps its value */
    RW_KEEPS_ALWAYS,   /* the column is set to itself */
    RW_KEEPS_CONSTANT, /* the column is set to the constant that WHERE compares it with */
    RW_KEEPS_PARAMETER /* the column is set to a parameter, which must equal the one that WHERE
                          compares it with */
} rw_keeps;

/* Looks at one of the update's targets. `set` and `where`: the parameters, from 1, of PARAMETER;
 * one may be both. */
rw_keeps rw_keeps_column(const PgQuery__UpdateStmt *update, const PgQuery__ResTarget *target,
                         int32_t *set, int32_t *where);
/* Whether a target is set to a constant of `type` that TimeZone decides. */
bool rw_sets_by_zone(const PgQuery__ResTarget *target, uint32_t type);

#endif
