/*
 * referable: SQL that makes a foreign key of other tables able to refer to the key that an
 * application knows: UNIQUE on it, which a table with its hash first in the primary key has not.
 */
#ifndef RW_REFERABLE_H
#define RW_REFERABLE_H

#include "rewrite/hash/table.h"

/* What the name of such a UNIQUE begins with; PostgreSQL's catalog is answered without it. */
#define RW_REFERABLE_PREFIX "keyspread_key_of_"

/* `("a", "b")`, the key as the application knows it. */
void rw_referable_key(const rw_table *table, pgw_buf *out);
/* `CONSTRAINT … UNIQUE (…)`, of CREATE TABLE and ALTER TABLE … ADD. */
void rw_referable_constraint(const rw_table *table, pgw_buf *out);
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
