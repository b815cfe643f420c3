/*
 * values: the rows of INSERT … VALUES cell by cell, and the columns that they are for, with all
 * that a program needs of them when its catalog may be gone.
 */
#ifndef RW_VALUES_H
#define RW_VALUES_H

#include "ydb/plain/clauses.h"
#include "ydb/plain/step.h"
#include "ydb/plain/weave.h"

#include "rewrite/hash/table.h"

/* A statement that is planned. */
typedef struct rw_subject {
    pgw_slice text;
    const rw_clauses *clauses;
    const rw_table *table;   /* NULL: none of the catalog. Not beyond planning */
    const rw_table *learned; /* … of one that is none, its columns; NULL: not known */
    const rw_program_options *options;
    const pgw_reading *reading;
} rw_subject;

#define RW_NO_CELL SIZE_MAX

typedef struct rw_field {
    const char *name;
    const char *type; /* as a cast names it; NULL: not known */
    const char *loose; /* … without the length of characters or bits, at which a cast would cut what
                          an assignment refuses */
    int32_t limit;     /* that length; -1: there is none */
    bool defaults_to_null;
    const char *by_default; /* what is stored where nothing is given, if asking for it a second time
                               is certain to give the same; NULL: not known, or not so */
    const char *default_text; /* … whether it is or not; NULL: not known, or NULL */
    size_t cell;              /* its number in a row; RW_NO_CELL: it is not listed */
} rw_field;

typedef struct rw_values {
    rw_field *fields; /* of the table, and what else is listed */
    size_t field_count;
    rw_part *rows;  /* with their brackets */
    rw_part *cells; /* row by row, `width` each */
    size_t row_count, width;
    bool listed; /* the statement lists its columns */
} rw_values;

/* The columns of the table, if it is known, all without a cell. */
void rw_fields_of_table(const rw_subject *subject, rw_values *out);
/* False: the error. Memory from the reading's arena. */
PGW_MUST_CHECK bool rw_values_read(const rw_subject *subject, rw_values *out);

/* The field of this name, as stored; NULL: there is none. */
const rw_field *rw_field_named(const rw_values *values, pgw_slice name);
/* A row's cell for the field; empty: it is not listed. */
rw_part rw_values_cell(const rw_values *values, size_t row, const rw_field *field);
/* Whether the part is the word DEFAULT, or empty. */
bool rw_is_default(pgw_slice text, rw_part cell);
/* Whether what the field has of this cell is certain, as far as a cast can tell: not what a default
 * gives that is another each time, nor what may be too long for it. */
bool rw_cell_is_certain(pgw_slice text, const rw_field *field, rw_part cell);

/* 0A000 with a position and a hint; returns false. */
bool rw_refuse(const rw_subject *subject, size_t at, const char *what, const char *hint);
/* False: a query of WITH writes, which YDB takes nowhere. */
PGW_MUST_CHECK bool rw_check_with(rw_subject subject);
/* Adds "name". */
void rw_weave_name(rw_weave *weave, const char *name);
/* Adds a cell as it is written, and what is known of the default where it says DEFAULT. The field
 * may be NULL if it does not. */
void rw_weave_given(rw_weave *weave, const rw_field *field, rw_part cell);
/* … of the default that may be another each time, too: where it is asked for this once. */
void rw_weave_assigned(rw_weave *weave, const rw_field *field, rw_part cell);
/* Whether DEFAULT can be assigned so. */
bool rw_default_is_known(const rw_field *field);
/* Adds the value that the field has of a cell: CAST(… AS type); what may be too long for it stays
 * as long as it is. */
void rw_weave_cell(rw_weave *weave, const rw_field *field, rw_part cell);
/* Adds what is stored of it, if it is not refused. */
void rw_weave_stored(rw_weave *weave, const rw_field *field, rw_part cell);

#endif
