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
 * operators, casts, domains, indexes and row security; else 'f'. Errs on the side of 'f': for
 * languages that cannot be read here, and where there is too much to look through. */
void px_quiet_expression(pgw_buf *sql);

/* … true if a default or check of relation `c`, or of a domain in it, may read a setting: it calls
 * current_setting() or a function of the database's own. */
void px_reads_settings_condition(pgw_buf *sql);

/* … true if a check or an index of relation `c`, or a domain in it, or one of `tree`'s that is below
 * it, may call a function of the database's own, or of PostgreSQL's that changes a session. */
void px_runs_own_condition(pgw_buf *sql);

#endif
