/*
 * clauses: where the clauses of an INSERT, UPDATE or DELETE stand in its text. They are found by
 * the tokens, in one pass, so that a statement may be of any length.
 */
#ifndef RW_CLAUSES_H
#define RW_CLAUSES_H

#include "protocol/value.h"
#include "ydb/plain/cursor.h"

typedef enum rw_dml {
    RW_DML_NONE, /* another statement */
    RW_DML_INSERT,
    RW_DML_UPSERT,
    RW_DML_REPLACE,
    RW_DML_UPDATE,
    RW_DML_DELETE,
    RW_DML_MERGE
} rw_dml;

typedef enum rw_source { RW_SOURCE_VALUES, RW_SOURCE_QUERY, RW_SOURCE_DEFAULTS } rw_source;

typedef struct rw_clauses {
    rw_dml verb;
    bool with_writes;       /* a query in WITH may write */
    rw_part with;           /* WITH and its queries, up to the verb */
    size_t verb_at;         /* where the verb stands */
    rw_part target;         /* ONLY, the table's names and *, but no alias */
    pgw_slice schema, name; /* names as stored, arena-owned; empty: no schema is written */
    rw_part named;          /* the table's own name, without its schema */
    rw_part alias;          /* the alias, with AS if it is written */
    pgw_slice alias_name;   /* the alias as stored */
    rw_part columns;        /* INSERT's list of columns, with its brackets */
    rw_source source_kind;
    rw_part source;    /* VALUES and its rows, the query, or DEFAULT VALUES */
    size_t row_count;  /* rows in VALUES; 1 for DEFAULT VALUES */
    size_t rows;       /* where the first row's '(' stands */
    bool defaults;     /* a cell of a row is DEFAULT */
    rw_part set;       /* what stands behind SET */
    rw_part from;      /* what stands behind FROM or USING */
    rw_part where;     /* what stands behind WHERE */
    rw_part current;   /* the word CURRENT of WHERE CURRENT OF */
    rw_part conflict;  /* what stands behind ON CONFLICT */
    rw_part returning; /* what stands behind RETURNING */
    size_t body_end;   /* the end of the last token before RETURNING */
    size_t end;        /* the end of the statement's last token */
} rw_clauses;

/* Reads one statement. False: PostgreSQL's grammar refuses it, and the error is filled; not all of
 * the grammar is checked. */
PGW_MUST_CHECK bool rw_clauses_read(pgw_slice text, const pgw_reading *reading, rw_clauses *out);

#endif
