/*
 * step: one of the texts that a statement of PostgreSQL takes on YDB, and what is known of the
 * endpoint that gets it.
 */
#ifndef RW_STEP_H
#define RW_STEP_H

#include "protocol/value.h"

/* What becomes of a step's rows. */
typedef enum rw_step_rows {
    RW_ROWS_NONE,   /* the step gives no rows */
    RW_ROWS_CLIENT, /* the rows go to the client */
    RW_ROWS_OURS    /* the rows go to rw_program_row() */
} rw_step_rows;

typedef struct rw_step {
    pgw_slice text;
    rw_step_rows rows;
    bool writes;
} rw_step;

typedef struct rw_program_options {
    const pgw_env *env; /* how texts are read */
    bool exact;         /* UPDATE, DELETE and INSERT … SELECT are counted (update_counts) */
    bool insert_first;  /* ON CONFLICT: a plain INSERT is tried first (upsert_first) */
    bool update_from;   /* the endpoint takes UPDATE … FROM (VALUES …) */
    bool drops_typmods; /* the endpoint stores in a varchar(2) what is longer */
    bool changes;       /* the statement is DDL: it writes, so a lost answer leaves a doubt */
    size_t most;        /* bytes that a text may have */
} rw_program_options;

#endif
