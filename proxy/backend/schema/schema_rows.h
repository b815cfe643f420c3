/*
 * schema_rows: what the backend's catalog says of the configured tables, as it came: one row for
 * each column of each table.
 */
#ifndef PX_SCHEMA_ROWS_H
#define PX_SCHEMA_ROWS_H

#include "protocol/bytes.h"

/* The columns of the query's result, all text. Types, functions, operators and casts are called own
 * if the database's users made them, not PostgreSQL. */
typedef enum px_schema_cell {
    PX_SCHEMA_SCHEMA,
    PX_SCHEMA_TABLE,
    PX_SCHEMA_OID,     /* pg_class.oid */
    PX_SCHEMA_RELKIND, /* pg_class.relkind. Behind it +: `keyspread migrate` copies the table's rows
                          to one with the hash */
    PX_SCHEMA_TRIGGER_COUNT, /* the table's triggers that are not internal, a blank, and the
                                function of keyspread's own trigger (pg_proc.oid; empty: none) */
    PX_SCHEMA_TRIGGERS, /* t: INSERT fires triggers of the table or a partition, or runs other own
                           code, which may change the session */
    PX_SCHEMA_RULES,    /* t: the table has rules on INSERT */
    PX_SCHEMA_UPDATES, /* t: triggers or rules on UPDATE; d: only deferred triggers, or foreign keys
                          by which other rows change; f: none */
    PX_SCHEMA_ROW_SECURITY, /* t: row security is on */
    PX_SCHEMA_CHANGES, /* t: BEFORE triggers may change an INSERT's rows; u: only an UPDATE's, with
                          their keys; f: none */
    PX_SCHEMA_COLUMN,
    PX_SCHEMA_NUMBER, /* pg_attribute.attnum */
    PX_SCHEMA_TYPE,   /* oid of the column's type; for a domain the domain's own */
    PX_SCHEMA_TYPMOD,
    PX_SCHEMA_TYPE_NAME, /* the type as format_type() prints it */
    PX_SCHEMA_DOMAIN,    /* t: the type is a domain */
    PX_SCHEMA_NOT_NULL,  /* t: the column, or its domain, is NOT NULL */
    PX_SCHEMA_DEFAULT,   /* t: the column has a default, or is generated, or an identity column */
    PX_SCHEMA_SEQUENCE,  /* t: the default draws from a sequence */
    PX_SCHEMA_GENERATED, /* t: GENERATED ALWAYS AS (…) STORED */
    PX_SCHEMA_EQUALITY,  /* The first that holds of f: the collation is nondeterministic; o: an own
                            operator = may decide; g: rights are granted on single columns of the
                            table; c: a foreign key writes the column; t: none of these. Behind it a
                            blank and i: own casts into the type, or e: elsewhere; +: a type's name
                            may mean an own type, or ~: a row type, harmless here; and -: a sign may
                            be an own operator */
    PX_SCHEMA_COMPUTED,  /* t: the default may look at the session */
    PX_SCHEMA_KEY,       /* place in the primary key, from 1, a blank, and the key's name; 0: no key
                            column */
    PX_SCHEMA_IDENTITY, /* a: GENERATED ALWAYS AS IDENTITY; d: BY DEFAULT; empty: neither. Behind it
                           +: a btree index of all rows begins with the column */
    PX_SCHEMA_EXPRESSION, /* the default as SQL; empty: none, or its text may mean several things */
    PX_SCHEMA_EXPRESSED,  /* a number that changes with the default, also if PX_SCHEMA_EXPRESSION is
                             empty */
    PX_SCHEMA_QUIET,  /* t, r, b or f for the database (quiet.h), the same in each row. Behind it +:
                         expressions may run own functions, or ~: only casts to own types may; =:
                         names that merged rows call may mean own functions or operators; a blank,
                         and a number that changes with the own types */
    PX_SCHEMA_READS,  /* t: a default or check of the table may read a setting */
    PX_SCHEMA_PARTS,  /* `part_names` of rw_table, in each table's first row */
    PX_SCHEMA_SYSTEM, /* `last`, a blank, `system_columns` of rw_table, in each table's first row */
    PX_SCHEMA_CELLS
} px_schema_cell;

/* What the backend answered: one row for each column of each configured table that exists. */
typedef struct px_schema_rows {
    char *(*rows)[PX_SCHEMA_CELLS];
    size_t count, cap;
    pgw_arena arena;
} px_schema_rows;
px_schema_rows *px_schema_rows_new(void);
void px_schema_rows_free(px_schema_rows *rows); /* NULL is fine */
/* Adds a copy of a row; a row without PX_SCHEMA_CELLS cells is left out. NULLs become empty text.
 */
void px_schema_rows_add(px_schema_rows *rows, const pgw_slice *cells, const bool *nulls, size_t n);

/* The rows of one table, which stand together. */
typedef struct px_schema_part {
    const char *schema, *table;
    size_t from, to;
} px_schema_part;
/* Makes `part` the next table's rows, or the first table's if it is all zero; false: there is none.
 */
bool px_schema_rows_next(const px_schema_rows *rows, px_schema_part *part);
const char *px_schema_rows_cell(const px_schema_rows *rows, size_t row, px_schema_cell cell);
/* The rows of `part` alone, valid as long as `rows`; the result owns nothing. */
px_schema_rows px_schema_rows_of(const px_schema_rows *rows, px_schema_part part);
/* Whether a row belongs to this table. */
bool px_schema_row_is_of(char *const *row, const char *schema, const char *table);

#endif
