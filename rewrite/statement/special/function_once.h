/*
 * function_once: a Query that makes a plpgsql function of an INSERT, calls it and drops it again,
 * as Sequelize's findOrCreate does: the INSERT gets its hash. A function that lives on is left as
 * it is, for it may outlive what is known of the table.
 */
#ifndef RW_FUNCTION_ONCE_H
#define RW_FUNCTION_ONCE_H

#include "rewrite/statement/script/script.h"

/* `script` has been read of `text` by the same `catalog` and `env`. Nothing is changed if it is not
 * certainly such a Query: then the table takes no row that has no hash. */
void rw_function_once(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                      pgw_arena *arena, rw_script *script);

#endif
