/*
 * referable: SQL that makes a foreign key of other tables able to refer to the key that an
 * application knows: UNIQUE on it, which a table with its hash first in the primary key has not.
 */
#ifndef RW_REFERABLE_H
#define RW_REFERABLE_H

#include "rewrite/hash/table.h"

/* What the name of such a UNIQUE begins with; PostgreSQL's catalog is answered without it. */
#define RW_REFERABLE_PREFIX "keyspread_key_of_"

/* The column that stands there in the table's primary key, from 0, the hash not counted; NULL: that
 * is not known. */
const char *rw_referable_column(const rw_table *table, size_t i);
/* `CONSTRAINT … UNIQUE (…)`, of CREATE TABLE and ALTER TABLE … ADD, in the order of the primary
 * key: of the table's, or of `key`, if it is not NULL. */
void rw_referable_constraint(const rw_table *table, const char *const *key, pgw_buf *out);
/* The table's oid, as SQL finds it by its name. */
void rw_referable_oid(const rw_table *table, pgw_buf *out);
/* `declare t …; `, the oid of the table, or NULL, of a block of PL/pgSQL. */
void rw_referable_declare(const rw_table *table, pgw_buf *out);
/* A block of PL/pgSQL that adds the constraint to a table that is there and has no UNIQUE of these
 * columns, and does nothing for a role that may not, which PostgreSQL tells then; for a partitioned
 * table it fails with 0A000.
 */
void rw_referable_block(const rw_table *table, pgw_buf *out);

#endif
