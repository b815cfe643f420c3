/*
 * parse: INSERT, UPSERT and REPLACE … VALUES read in a single pass. This file has the head of the
 * statement, up to VALUES; rows.h and tail.h have the rest.
 */
#ifndef RW_PARSE_H
#define RW_PARSE_H

#include "rewrite/insert/insert.h"

/* Parses one statement that begins with INSERT, UPSERT or REPLACE (or WITH before INSERT). True
 * with `*out` NULL: the statement goes on as it is, for it writes no configured table, or the
 * backend certainly rejects it. False: it must be refused; the error says why (0A000, 23502, 42P10
 * …) with position. Memory from `arena`; `text` must live as long. */
PGW_MUST_CHECK bool rw_insert_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                                    pgw_arena *arena, rw_insert **out, pgw_error *error);
/* The configured table that such a statement names as the one it writes, whatever becomes of the
 * rest of the text. NULL: none. */
const rw_table *rw_insert_target(pgw_slice text, const rw_catalog *catalog, const pgw_env *env);

#endif
