/*
 * reach: whether a statement that changes the schema may change what is known of a configured
 * table. False is certain, so that temporary tables and indexes elsewhere cost nothing.
 */
#ifndef RW_REACH_H
#define RW_REACH_H

#include "rewrite/hash/table.h"

/* `text` is one statement, as the client wrote it. `names` are all configured tables, whether they
 * exist or not. */
PGW_MUST_CHECK bool rw_reaches_tables(pgw_slice text, const rw_catalog *names, bool conforming);
/* Whether all statements of `text` leave tables, and what is known of them, alone, and take no
 * snapshot: BEGIN, SET, LOCK and their like. False where it cannot be told. */
PGW_MUST_CHECK bool rw_stands_by(pgw_slice text, bool conforming);
/* Whether `text` is one statement that defines something and is sent alike whatever tables there
 * are: CREATE TABLE that names no other table, CREATE INDEX, DROP, COMMENT, GRANT and their like.
 * False where it cannot be told. What it makes does depend on `names`, all configured tables. */
PGW_MUST_CHECK bool rw_defines_alone(pgw_slice text, const rw_catalog *names, bool conforming);
/* Whether `text` is one statement that makes a foreign key, or a table that may have some, and so
 * is read by the names, columns and primary keys alone of the tables that it mentions. False where
 * it cannot be told. */
PGW_MUST_CHECK bool rw_refers_alone(pgw_slice text, bool conforming);
/* Whether `text` is one statement that leaves alone the names, columns and primary keys of all
 * tables that are there: rw_refers_alone(), or it makes an index, a function, a trigger. `made`
 * gets the name of the relation that it makes; empty: none. False where it cannot be told. */
PGW_MUST_CHECK bool rw_leaves_keys(pgw_slice text, bool conforming, pgw_slice *made);
/* Whether a statement may change the columns of `table` for those that stand behind it in a text.
 */
PGW_MUST_CHECK bool rw_moves_columns(pgw_slice text, const rw_table *table, bool conforming);

#endif
