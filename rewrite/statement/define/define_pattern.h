/*
 * define_pattern: a table that is made by a name that only a pattern of the configuration covers:
 * what it is by its own CREATE TABLE. One that the hash cannot be made for is an ordinary table.
 */
#ifndef RW_DEFINE_PATTERN_H
#define RW_DEFINE_PATTERN_H

#include "rewrite/statement/define/define_key.h"

/* The table that the statement makes by the pattern that covers its name, in the arena: the
 * pattern's settings and the names of key and hash columns, no oid and no types; NULL: it is not
 * spread, and if a pattern has its name, `it->out->unspread` says why. `written` is the key of the
 * statement. */
const rw_table *rw_define_by_pattern(const rw_definer *it, const rw_catalog *catalog,
                                     const PgQuery__CreateStmt *create,
                                     const rw_written_key *written);
/* The table of a pattern that was made without a key and gets this one; its types are not known.
 * NULL: it cannot be spread. */
const rw_table *rw_define_by_late_key(const rw_definer *it, const rw_catalog *catalog,
                                      const PgQuery__RangeVar *name, const rw_written_key *written);
/* Whether the statement makes a table as a copy of another one of its pattern, key and hash
 * included. */
bool rw_copies_pattern(const rw_catalog *catalog, const PgQuery__CreateStmt *create,
                       const rw_written_key *written);

/* Why a table of a pattern was made without a hash, by the number of its `warning`, from 1. */
const char *rw_define_warning(unsigned number);

#endif
