/*
 * variables: one session's settings, kept where the database behind knows none. What a transaction
 * sets lasts if it commits, SET LOCAL never longer than it; savepoints are not heeded.
 */
#ifndef RW_VARIABLES_H
#define RW_VARIABLES_H

#include "ydb/plain/variable.h"

typedef struct rw_variables rw_variables;

/* Makes the settings of a session. Values, and names that are not PostgreSQL's, take at most
 * `limit` bytes. Ended by rw_variables_free(). */
rw_variables *rw_variables_new(size_t limit);
void rw_variables_free(rw_variables *variables); /* NULL is fine */

/* Takes a setting of the client's StartupMessage, or of its `options`: RESET goes back to it. A
 * TimeZone that cannot be had is left alone, for drivers send that of their machine;
 * ParameterStatus tells UTC. */
PGW_MUST_CHECK bool rw_variables_start(rw_variables *variables, pgw_slice name, pgw_slice value,
                                       pgw_error *error);
/* Defines a setting that clients cannot change: server_version, session_authorization and
 * others. */
void rw_variables_define(rw_variables *variables, const char *name, pgw_slice value);

/* The value as SHOW tells it, until the next call that changes one. False: there is none. */
PGW_MUST_CHECK bool rw_variables_get(const rw_variables *variables, pgw_slice name,
                                     pgw_slice *value);
/* Whether the value is another than at the start. */
bool rw_variables_differs(const rw_variables *variables, pgw_slice name);
/* Runs SET, or SET LOCAL; {NULL, 0} is DEFAULT. False: the value is refused. */
PGW_MUST_CHECK bool rw_variables_set(rw_variables *variables, pgw_slice name, pgw_slice value,
                                     bool local, pgw_error *error);
void rw_variables_reset_all(rw_variables *variables);

/* Begins a transaction by AND CHAIN: with the modes that the last one had at its end. */
void rw_variables_chain(rw_variables *variables);
/* A statement of the transaction has seen the tables: its modes are settled. */
void rw_variables_queried(rw_variables *variables);
/* Ends the transaction, or a group without one; a COMMIT that has failed is a rollback. What is set
 * outside of both waits for the next of these calls. */
void rw_variables_commit(rw_variables *variables);
void rw_variables_rollback(rw_variables *variables);

/* The next setting that ParameterStatus has to tell, because the value is another than was told
 * last; at first all. Asked before each ReadyForQuery, until it says false. */
PGW_MUST_CHECK bool rw_variables_report(rw_variables *variables, pgw_slice *name, pgw_slice *value);

int64_t rw_variables_statement_timeout(const rw_variables *variables); /* milliseconds; 0: none */
/* Whether a write is to be refused (25006). */
bool rw_variables_read_only(const rw_variables *variables);

#endif
