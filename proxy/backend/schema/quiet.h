/*
 * quiet: whether code that a database stores (functions, views, defaults, checks) can change the
 * session that runs it: its settings, its role, what names mean in it. A statement's text does not
 * show what a trigger does.
 */
#ifndef PX_QUIET_H
#define PX_QUIET_H

#include "protocol/bytes.h"

/* Appends an entry of WITH, own_functions, which all the rest refers to. */
void px_own_functions(pgw_buf *sql);

/* Appends an expression of type text, which refers to no table around it but own_functions: 't': no
 * stored code can change a session; 'r': at least none can that a SELECT runs which names no
 * function, the code of views, operators, casts, domains, indexes and row security; 'b': at least
 * none can that is called by PostgreSQL's own names and operators; 'f': any may. Says 'f' in doubt:
 * for languages that cannot be read here, and if there is too much code. */
void px_quiet_expression(pgw_buf *sql);

/* Appends a condition that is true if a default or check of relation `c`, or of a domain in it, may
 * read a setting: it calls current_setting() or a function of the database's own. */
void px_reads_settings_condition(pgw_buf *sql);

/* Appends a condition that is true if an expression that names no function may run code of the
 * database's own: by a cast to a domain, an operator, a range or a row of its own types. The
 * query's `met(type, holds)` has the database's own types of values that no cast names; `holds`:
 * values of the type contain others. */
void px_expressions_run_condition(pgw_buf *sql);
/* Appends a condition that is true if a cast to a type of the database's own, by name, may run code
 * of the database's own. */
void px_casts_run_condition(pgw_buf *sql);

/* Appends a condition that is true if the database has, in any schema, a function or operator of
 * its own with a name that merged rows may call (rewrite/insert/merged_call.h). */
void px_own_calls_condition(pgw_buf *sql);

/* Appends a condition that is true if an INSERT of constants and parameters into relation `c`, or a
 * relation below it in the query's `tree`, may call a function of the database's own, or one of
 * PostgreSQL's that changes a session: by a check, an index, a domain, a partition's key. The
 * query's `code(expressions)` has what px_expressions_run_condition() says; `own_casts` and
 * `own_names` have the database's own. */
void px_runs_own_condition(pgw_buf *sql);

#endif
