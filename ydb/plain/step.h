/*
 * step: one of the texts that a statement of PostgreSQL takes on YDB, and what the endpoint that it
 * goes to is known for.
 */
#ifndef RW_STEP_H
#define RW_STEP_H

#include "protocol/value.h"

/* What becomes of its rows. */
typedef enum rw_step_rows {
    RW_ROWS_NONE,   /* it gives none */
    RW_ROWS_CLIENT, /* they are the statement's own */
    RW_ROWS_OURS    /* go to rw_program_row() */
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
    bool update_from;   /* UPDATE … FROM (VALUES …) is taken */
    bool drops_typmods; /* the endpoint stores in a varchar(2) what is longer */
    bool changes;       /* the statement is DDL: who does not hear of it knows nothing of it */
    size_t most;        /* bytes that a text may have */
} rw_program_options;

#endif
