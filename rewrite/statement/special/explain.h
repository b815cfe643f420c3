/*
 * explain: what keyspread would do with each statement of a text, as `key: value` lines for people
 * and scripts.
 */
#ifndef RW_EXPLAIN_H
#define RW_EXPLAIN_H

#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/statement.h"

/* Appends for each statement the lines original, rewritten, table, hash, partition, reads, help,
 * batchable, transaction as far as it has them (or original, error, hint if it is refused) and a
 * line `---`. Hash and partition list one value a row, or a key that is asked for, with a semicolon
 * between tables; `-` stands for nothing, `per parameter` for what a parameter decides. In values a
 * backslash is written `\\` and a line break
 * `\n`. Needs stack as rw_script_parse() does. */
void rw_explain(pgw_slice text, const rw_catalog *catalog, const pgw_env *env, pgw_buf *out);

#endif
