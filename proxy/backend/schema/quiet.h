/*
 * quiet: whether the code that a database stores (functions, views, defaults, checks) can change
 * the state of the session that runs it: its settings, its role, what its names mean. Text alone
 * does not show what a trigger does.
 */
#ifndef PX_QUIET_H
#define PX_QUIET_H

#include "protocol/bytes.h"

/* Appends an expression of type text that refers to no table around it: 't' if nothing stored there
 * can; 'r' if at least nothing can that a SELECT runs which names no function: the code of views,
 * operators, casts, domains, indexes and row security; 'b' if at least nothing can that is called
 * by the names and operators that PostgreSQL itself has; else 'f'. Errs on the side of 'f': for
 * languages that cannot be read here, and where there is too much to look through. */
void px_quiet_expression(pgw_buf *sql);

/* … true if a default or check of relation `c`, or of a domain in it, may read a setting: it calls
 * current_setting() or a function of the database's own. */
void px_reads_settings_condition(pgw_buf *sql);

/* Appends a condition that is true if an expression that names no function may run code of the
 * database's own: a cast to a domain, an operator, a range or a row of such types. `met(type,
 * holds)` has the types of somebody's own that values have without being cast to one by name;
 * `holds`: others may be in it. */
void px_expressions_run_condition(pgw_buf *sql);
/* … if it may where it casts to a type of somebody's own by name. */
void px_casts_run_condition(pgw_buf *sql);

/* Appends a condition that holds if the database has a function or an operator of its own with a name that
 * merged rows may call (rewrite/insert/merged_call.h), wherever search_path would find it. */
void px_own_calls_condition(pgw_buf *sql);

/* … true if an INSERT of constants and parameters into relation `c`, or into one of `tree`'s that
 * is below it, may call a function of the database's own, or of PostgreSQL's that changes a
 * session: by a check, an index, a domain, a partition's key. `code(expressions)` says what the
 * condition above does; `own_casts` and `own_names` have the database's own. */
void px_runs_own_condition(pgw_buf *sql);

#endif
