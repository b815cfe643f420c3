/*
 * given: INSERT … VALUES without the word DEFAULT, which YDB does not take: columns that are
 * DEFAULT in all rows are not listed; elsewhere a default that is certain, or NULL, stands in the
 * word's place.
 */
#ifndef RW_GIVEN_H
#define RW_GIVEN_H

#include "ydb/plain/values.h"

typedef struct rw_given {
    const rw_values *values;
    size_t *cells; /* the cells of a row that are written */
    size_t count;
} rw_given;

/* Reads which cells are written. False: the rows cannot be written without DEFAULT (0A000).
 * `values` must live as long as `out`; memory is the reading's arena's. */
PGW_MUST_CHECK bool rw_given_read(const rw_subject *subject, const rw_values *values,
                                  rw_given *out);
/* Adds what stands in front of the rows, up to VALUES; or DEFAULT VALUES, if no cells are
 * written. */
void rw_weave_given_head(const rw_clauses *clauses, const rw_given *given, rw_weave *out);
void rw_weave_given_row(const rw_given *given, size_t row, rw_weave *out);

#endif
