/*
 * variables: one session's settings, kept where the database behind knows none. What a transaction
 * sets lasts if it commits, SET LOCAL never longer than it; savepoints are not heeded.
 */
#ifndef RW_VARIABLES_H
#define RW_VARIABLES_H

#include "ydb/plain/variable.h"

typedef struct rw_variables rw_variables;

/* Values and names that are not PostgreSQL's take at most `limit` bytes. Ended by
 * rw_variables_free(). */
rw_variables *rw_variables_new(size_t limit);
void rw_variables_free(rw_variables *variables); /* NULL is fine */

/* What the client's StartupMessage says, and its `options`: what RESET goes back to. A TimeZone
 * that cannot be had is left alone, for drivers send that of their machine; ParameterStatus tells
 * UTC. */
PGW_MUST_CHECK bool rw_variables_start(rw_variables *variables, pgw_slice name, pgw_slice value,
                                       pgw_error *error);
/* What nobody can change: server_version, session_authorization … */
void rw_variables_define(rw_variables *variables, const char *name, pgw_slice value);

/* The value as SHOW tells it, until the next call that changes one. False: there is none. */
PGW_MUST_CHECK bool rw_variables_get(const rw_variables *variables, pgw_slice name,
                                     pgw_slice *value);
/* Whether it is another than it was at the start. */
bool rw_variables_differs(const rw_variables *variables, pgw_slice name);
/* SET, or SET LOCAL; {NULL, 0} is DEFAULT. False: refused. */
PGW_MUST_CHECK bool rw_variables_set(rw_variables *variables, pgw_slice name, pgw_slice value,
                                     bool local, pgw_error *error);
void rw_variables_reset_all(rw_variables *variables);

/* A transaction begins behind another, in a chain: with the modes that this had at its end. */
void rw_variables_chain(rw_variables *variables);
/* A statement of the transaction has seen the tables: its modes are settled. */
void rw_variables_queried(rw_variables *variables);
/* The transaction, or a group without one, is over: so is a COMMIT that has failed, by rollback.
 * What is set outside of both waits for the next of these. */
void rw_variables_commit(rw_variables *variables);
void rw_variables_rollback(rw_variables *variables);

/* The next that ParameterStatus has to tell, because it is another than was told last; at first
 * all. Asked before each ReadyForQuery, until it says false. */
PGW_MUST_CHECK bool rw_variables_report(rw_variables *variables, pgw_slice *name, pgw_slice *value);

int64_t rw_variables_statement_timeout(const rw_variables *variables); /* milliseconds; 0: none */
/* Whether a write is to be refused (25006). */
bool rw_variables_read_only(const rw_variables *variables);

#endif
