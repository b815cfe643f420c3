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
    rw_given given;        /* if clauses->defaults */
    const bool *unsure;    /* of each cell, whether its column may not take it */
    const bool *reused;    /* of a row's cells, those that the UPDATE evaluates */
    const rw_field **keys; /* by which rows meet; what partitions go by is the first of them */
    size_t key_count;
    bool updates; /* DO UPDATE */
    rw_part set, where;
    rw_set_items items;      /* but for those that set a key to what it is */
    const rw_field **others; /* beside the keys, what SET takes from EXCLUDED */
    size_t other_count;
    bool defaults; /* … which may be a default in one of the rows, or of a type not known here */
    bool same;     /* done twice it comes to the same: SET takes all from EXCLUDED, and the rows are
                      what they are at any time */
    bool shows;    /* RETURNING */
    rw_shown shown;
} rw_conflict;

/* Memory from the reading's arena. The subject's text, clauses and options must live as long.
 * False: it cannot be done; the error. */
PGW_MUST_CHECK bool rw_conflict_read(const rw_subject *subject, rw_conflict *out);

/* Takes EXCLUDED.name, if that comes next: which field it is. */
const rw_field *rw_take_excluded(const rw_conflict *conflict, rw_cursor *cursor, pgw_arena *arena,
                                 rw_part *whole);

#endif
