/*
 * evaluated: what an INSERT … VALUES into a configured table itself evaluates, in its rows, in SET
 * and WHERE and in RETURNING: whether code of the database's own may be among it.
 */
#ifndef RW_EVALUATED_H
#define RW_EVALUATED_H

#include "rewrite/statement/words/statement.h"

/* What an INSERT into a configured table does to its session (rw_effect), its table's triggers and
 * defaults considered. Of any other statement its effects as they are. */
unsigned rw_insert_effects(const rw_statement *statement, bool conforming);

#endif
