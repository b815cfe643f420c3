/*
 * system_calls: calls of PostgreSQL's functions that tell of tables, and what is put around them.
 */
#ifndef RW_SYSTEM_CALLS_H
#define RW_SYSTEM_CALLS_H

#include "rewrite/statement/catalog/system_marks.h"
#include "rewrite/statement/edit/edit_writer.h"

/* Notes what is put into the call, if it calls such a function. `from`: the table that the call is
 * in a FROM; NULL: it is an expression. */
void rw_system_call(rw_edit_writer *texts, const rw_system_marks *marks,
                    const PgQuery__FuncCall *call, const PgQuery__RangeFunction *from);

#endif
