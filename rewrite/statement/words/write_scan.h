/*
 * write_scan: what tree.h asks of PostgreSQL's grammar, answered by the lexer alone. A table that
 * is written stands right behind a reserved pair of words, so that a miss is impossible and a false
 * alarm is rare.
 */
#ifndef RW_WRITE_SCAN_H
#define RW_WRITE_SCAN_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/splitter.h"

/* Scans a text that libpg_query cannot be given: false if it certainly has no INSERT, MERGE or COPY
 * … FROM into a configured table, and no UPDATE of one that names a hash_key column or the hash
 * column in its SET. */
PGW_MUST_CHECK bool rw_scan_may_write(pgw_slice text, const rw_piece *piece,
                                      const rw_catalog *catalog, const pgw_env *env,
                                      pgw_arena *arena);

/* Scans a text that libpg_query cannot read: false if it certainly neither makes nor alters a table
 * of `planned`, nor makes anything out of a query or of another table. */
PGW_MUST_CHECK bool rw_scan_may_define(pgw_slice text, const rw_catalog *planned,
                                       const pgw_env *env, pgw_arena *arena);
/* The configured table that MERGE INTO names, if the text begins so, and the byte where its name
 * stands; NULL: it is something else. */
const rw_table *rw_scan_merges(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                               pgw_arena *arena, size_t *at);

#endif
