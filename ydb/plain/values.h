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

/* A statement that is being planned. */
typedef struct rw_subject {
    pgw_slice text;
    const rw_clauses *clauses;
    const rw_table *table;   /* the catalog's table; NULL: it has none. Not beyond planning */
    const rw_table *learned; /* the table as it was learned, if `table` is NULL; may be NULL */
    const rw_program_options *options;
    const pgw_reading *reading;
} rw_subject;

#define RW_NO_CELL SIZE_MAX

typedef struct rw_field {
    const char *name;
    const char *type;  /* the type as a cast names it; NULL: not known */
    const char *loose; /* the type without the length of characters or bits, at which a cast would
                          cut what an assignment refuses */
    int32_t limit;     /* the length of characters or bits; -1: there is none */
    bool defaults_to_null;
    const char *by_default;   /* the default, if asking for it a second time is certain to give the
                                 same; NULL: not known, or not so */
    const char *default_text; /* the default, even if it may be another each time; NULL: not known,
                                 or NULL */
    size_t cell; /* the number of the field's cell in a row; RW_NO_CELL: it is not listed */
} rw_field;

typedef struct rw_values {
    rw_field *fields; /* fields of the table, and others that are listed */
    size_t field_count;
    rw_part *rows;  /* the rows, with their brackets */
    rw_part *cells; /* the cells row by row, `width` each */
    size_t row_count, width;
    bool listed; /* the statement lists its columns */
} rw_values;

/* Makes fields of the table's columns, if it is known, all without a cell. */
void rw_fields_of_table(const rw_subject *subject, rw_values *out);
/* Reads the columns and the rows. False: the error is filled. Memory is the reading's arena's. */
PGW_MUST_CHECK bool rw_values_read(const rw_subject *subject, rw_values *out);

/* The field of this name, as stored; NULL: there is none. */
const rw_field *rw_field_named(const rw_values *values, pgw_slice name);
/* A row's cell for the field; empty: the field is not listed. */
rw_part rw_values_cell(const rw_values *values, size_t row, const rw_field *field);
/* Whether a cell is the word DEFAULT, or empty. */
bool rw_is_default(pgw_slice text, rw_part cell);
/* Whether the value that a field gets from a cell is certain, as far as a cast can tell: no default
 * that is another each time, and nothing that may be too long. */
bool rw_cell_is_certain(pgw_slice text, const rw_field *field, rw_part cell);

/* Fills the error, 0A000 with a position and a hint; returns false. */
bool rw_refuse(const rw_subject *subject, size_t at, const char *what, const char *hint);
/* Whether no query of WITH writes, which YDB takes nowhere; else the error is filled (0A000). */
PGW_MUST_CHECK bool rw_check_with(rw_subject subject);
/* Adds a name as an identifier. */
void rw_weave_name(rw_weave *weave, const char *name);
/* Adds a cell as it is written, or the default that is certain where it says DEFAULT. The field may
 * be NULL if it does not. */
void rw_weave_given(rw_weave *weave, const rw_field *field, rw_part cell);
/* Adds a cell as rw_weave_given() does, also a default that may be another each time: where it is
 * asked for this once. */
void rw_weave_assigned(rw_weave *weave, const rw_field *field, rw_part cell);
/* Whether rw_weave_assigned() knows the field's default. */
bool rw_default_is_known(const rw_field *field);
/* Adds the value that a field gets from a cell: CAST(… AS type). What may be too long for the field
 * stays as long as it is. */
void rw_weave_cell(rw_weave *weave, const rw_field *field, rw_part cell);
/* Adds the value that a field stores of a cell, if it is not refused: CAST(… AS type). */
void rw_weave_stored(rw_weave *weave, const rw_field *field, rw_part cell);

#endif
