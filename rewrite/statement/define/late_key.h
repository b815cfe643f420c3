/*
 * late_key: a table of a pattern that has been made without a primary key, and gets it by ALTER
 * TABLE: it is spread then, if it has no rows yet.
 */
#ifndef RW_LATE_KEY_H
#define RW_LATE_KEY_H

#include "rewrite/statement/define/define_key.h"

/* Adds a DO that puts the hash into a table to which the statement gives a key that a pattern can
 * be hashed by. A table that `catalog` knows is not changed. */
void rw_late_key_define(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog);

#endif
