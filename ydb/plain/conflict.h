/*
 * conflict: INSERT … VALUES … ON CONFLICT as it was understood: by which columns rows meet, and
 * what becomes of those that do.
 */
#ifndef RW_CONFLICT_H
#define RW_CONFLICT_H

#include "ydb/plain/given.h"
#include "ydb/plain/set_items.h"
#include "ydb/plain/shown.h"

typedef struct rw_conflict {
    pgw_slice text;
    const rw_clauses *clauses;
    const rw_program_options *options;
    rw_values values;
    rw_given given;        /* the cells that are written without DEFAULT, if clauses->defaults */
    const bool *unsure;    /* each cell, row by row: only evaluating tells whether it fits */
    const bool *reused;    /* each cell of a row: whether the UPDATE evaluates it */
    const rw_field **keys; /* the columns by which rows meet; partitions go by the first */
    size_t key_count;
    bool updates; /* the statement has DO UPDATE */
    rw_part set, where;
    rw_set_items items;      /* the assignments of SET, without those of a key to itself */
    const rw_field **others; /* what SET and WHERE take from EXCLUDED, without the keys */
    size_t other_count;
    bool defaults; /* SET assigns a DEFAULT, or takes a column of unknown type from EXCLUDED */
    bool same;  /* DO UPDATE has the same effect when it is done twice: there is no WHERE, SET takes
                   all from EXCLUDED, and the rows are constant */
    bool shows; /* the statement has RETURNING */
    rw_shown shown;
} rw_conflict;

/* Reads INSERT … VALUES … ON CONFLICT. Memory is the reading's arena's; the subject's text, clauses
 * and options must live as long as `out`. False: the statement cannot be done, and the error is
 * filled. */
PGW_MUST_CHECK bool rw_conflict_read(const rw_subject *subject, rw_conflict *out);

/* If EXCLUDED.name comes next: leaves the cursor at the name, returns its field, and sets `whole`
 * to the bytes of EXCLUDED.name. NULL: something else comes next, and the cursor has not moved; or
 * the name is no field's, and it is past the dot. */
const rw_field *rw_take_excluded(const rw_conflict *conflict, rw_cursor *cursor, pgw_arena *arena,
                                 rw_part *whole);

#endif
