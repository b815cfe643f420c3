/*
 * clauses: where the clauses of an INSERT, UPDATE or DELETE stand in its text. Found by its tokens,
 * in one pass, so that a statement may be of any length.
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
    bool with_writes;       /* a query of WITH may write */
    rw_part with;           /* up to the verb */
    size_t verb_at;         /* where it stands */
    rw_part target;         /* ONLY, names, *: all but an alias */
    pgw_slice schema, name; /* as stored; empty: no schema is written. Arena-owned */
    rw_part named;          /* the last of the names */
    rw_part alias;          /* with AS */
    pgw_slice alias_name;   /* as stored */
    rw_part columns;        /* INSERT: the list, with its brackets */
    rw_source source_kind;
    rw_part source;   /* VALUES and its rows, the query, or DEFAULT VALUES */
    size_t row_count; /* of VALUES */
    size_t rows;      /* where its first '(' stands */
    bool defaults;    /* a cell of a row is DEFAULT */
    rw_part set;      /* this and the others: behind their first words */
    rw_part from;     /* FROM or USING */
    rw_part where;
    rw_part current;  /* its first word, if that is CURRENT OF */
    rw_part conflict; /* behind ON CONFLICT */
    rw_part returning;
    size_t body_end; /* behind the last token before RETURNING */
    size_t end;      /* behind the last token */
} rw_clauses;

/* Reads one statement. False: it is none of PostgreSQL's grammar, of which not all is looked at;
 * the error is filled. */
PGW_MUST_CHECK bool rw_clauses_read(pgw_slice text, const pgw_reading *reading, rw_clauses *out);

#endif
