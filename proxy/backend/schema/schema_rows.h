/*
 * schema_rows: what the backend's catalog says of the configured tables, as it came: a row for each
 * column of each of them.
 */
#ifndef PX_SCHEMA_ROWS_H
#define PX_SCHEMA_ROWS_H

#include "protocol/bytes.h"

/* The columns of the query's result, all text. */
typedef enum px_schema_cell {
    PX_SCHEMA_SCHEMA,
    PX_SCHEMA_TABLE,
    PX_SCHEMA_OID,     /* of pg_class */
    PX_SCHEMA_RELKIND, /* r, p, v, … Behind it +: `keyspread migrate` copies the table's rows to
                          one that has the hash */
    PX_SCHEMA_TRIGGER_COUNT, /* its own, but for the internal ones */
    PX_SCHEMA_TRIGGERS, /* t: INSERT fires triggers, here or in a partition, or runs other code of
                            the database's, which may change its session */
    PX_SCHEMA_RULES,    /* t: there are rules on INSERT */
    PX_SCHEMA_UPDATES,  /* t: there are triggers or rules on UPDATE; d: but deferred ones, or
                            other rows may be changed with it; f */
    PX_SCHEMA_ROW_SECURITY, /* t */
    PX_SCHEMA_CHANGES,      /* t: BEFORE triggers may make other rows of an INSERT's; u: but of an
                               UPDATE's, with other keys; f */
    PX_SCHEMA_COLUMN,
    PX_SCHEMA_NUMBER, /* attnum */
    PX_SCHEMA_TYPE,   /* oid; a domain's own */
    PX_SCHEMA_TYPMOD,
    PX_SCHEMA_TYPE_NAME, /* as format_type() prints it */
    PX_SCHEMA_DOMAIN,    /* t: the type is a domain */
    PX_SCHEMA_NOT_NULL,  /* t */
    PX_SCHEMA_DEFAULT,   /* t: any default, generated and identity included */
    PX_SCHEMA_SEQUENCE,  /* t: the default draws from a sequence */
    PX_SCHEMA_GENERATED, /* t: GENERATED ALWAYS AS (…) STORED */
    PX_SCHEMA_EQUALITY, /* f: by a nondeterministic collation; o: an = of somebody's own may decide;
                           g: neither, but rights on the table are granted by column;
                           c: none of these, but a foreign key writes it; t. Behind a blank, if
                           somebody made casts: i: some into the type; e: elsewhere. Behind that
                           +: a type's name may mean another one; ~: … of a table's rows, which is
                           none for this column; and -: a sign may be somebody's own operator */
    PX_SCHEMA_COMPUTED, /* t: the default may look at the session */
    PX_SCHEMA_KEY,      /* position in the primary key, from 1, a blank, and what that is called;
                           0: not in it */
    PX_SCHEMA_IDENTITY, /* a: GENERATED ALWAYS AS IDENTITY; d: BY DEFAULT; empty. Behind it +: a
                           btree index of all rows begins with the column */
    PX_SCHEMA_EXPRESSION, /* the default as SQL; empty: none, or none that means one thing */
    PX_SCHEMA_EXPRESSED,  /* … a number that changes with it, however it was written */
    PX_SCHEMA_QUIET,      /* t, r, b, f: see quiet.h; of the database, so the same in each row.
                             Behind it +: expressions may run what changes a session; ~: casts to
                             its own types may; and a blank, and a number that changes with those */
    PX_SCHEMA_READS,      /* t: a default or check of the table may read a setting */
    PX_SCHEMA_PARTS,      /* the table's part_names, in its first row */
    PX_SCHEMA_SYSTEM,     /* … the table's `last`, a blank, its `system_columns` */
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
/* Copies a row; one that has not PX_SCHEMA_CELLS cells is left out. NULLs are kept as empty text.
 */
void px_schema_rows_add(px_schema_rows *rows, const pgw_slice *cells, const bool *nulls, size_t n);

/* The rows of one table, which stand together. */
typedef struct px_schema_part {
    const char *schema, *table;
    size_t from, to;
} px_schema_part;
/* The one behind `part`, or with a `part` of all zero the first; false: there is none. */
bool px_schema_rows_next(const px_schema_rows *rows, px_schema_part *part);
const char *px_schema_rows_cell(const px_schema_rows *rows, size_t row, px_schema_cell cell);
/* These rows alone, for as long as `rows` is there; it owns nothing. */
px_schema_rows px_schema_rows_of(const px_schema_rows *rows, px_schema_part part);
/* Whether a row is of this table. */
bool px_schema_row_is_of(char *const *row, const char *schema, const char *table);

#endif
