/*
 * write_scan: what tree.h asks of PostgreSQL's grammar, answered by the lexer alone. A table that
 * is written stands right behind a reserved pair of words, so that a miss is impossible and a false
 * alarm is rare.
 */
#ifndef RW_WRITE_SCAN_H
#define RW_WRITE_SCAN_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/splitter.h"

/* For what libpg_query cannot be given: false if the text certainly has no INSERT, MERGE, COPY …
 * FROM into a configured table and no UPDATE of one that names a hash_key column or the hash column
 * in its SET. */
PGW_MUST_CHECK bool rw_scan_may_write(pgw_slice text, const rw_piece *piece,
                                      const rw_catalog *catalog, const pgw_env *env,
                                      pgw_arena *arena);

#endif
