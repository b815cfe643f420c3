/*
 * explain_query: EXPLAIN (PROXY) …, by which a session asks what `keyspread explain` prints: it
 * goes to the server as a SELECT of these lines.
 */
#ifndef RW_EXPLAIN_QUERY_H
#define RW_EXPLAIN_QUERY_H

#include "rewrite/statement/script/script.h"

enum { RW_EXPLAINED_MAX = 1 << 20 }; /* bytes of a statement; longer ones are left as they are */

/* `script` has been read of `text` by the same `catalog` and `env`. Nothing is changed if it is
 * more than one statement, or another one: then PostgreSQL says what is wrong with it. Needs stack
 * as rw_script_parse() does. */
void rw_explain_query(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                      pgw_arena *arena, rw_script *script);

#endif
