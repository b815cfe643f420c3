/*
 * classify: what an error means for its statement, and for statements that travel with it. A
 * function may raise an ERROR with any SQLSTATE (RAISE … USING ERRCODE), so severity comes first:
 * only FATAL and PANIC concern all.
 */
#ifndef PX_CLASSIFY_H
#define PX_CLASSIFY_H

#include "protocol/error.h"

typedef enum px_error_kind {
    PX_ERROR_OWN,    /* the statement's own error: the client is told */
    PX_ERROR_REPEAT, /* the statement lost against another transaction: another attempt may do */
    PX_ERROR_LOCK,   /* the statement waited too long for a lock */
    PX_ERROR_CANCEL, /* a timeout, or a cancel request */
    PX_ERROR_SIZE,   /* the batch was too large */
    PX_ERROR_STALE,  /* a table or column is not what it was thought to be */
    PX_ERROR_STALE_PLAN, /* a prepared statement is gone, or no longer fits the schema */
    PX_ERROR_EVERYBODYS  /* the backend ends: the outcome of all that was under way is unknown */
} px_error_kind;

/* Classifies the body of an ErrorResponse to a statement. */
px_error_kind px_classify(pgw_slice body);

/* Whether a statement's own check says that the table has other columns than it was made for
 * (guard.h). */
bool px_error_is_changed(pgw_slice body);
/* Fills the body of an ErrorResponse as the server gives it where a prepared statement returns
 * other columns by now. */
void px_error_cached_plan(pgw_buf *body);
/* FATAL or PANIC: nothing comes behind the error. */
bool px_error_is_fatal(pgw_slice body);
/* The partition of a row is not there for the moment, or has too much to do: it may have been split
 * or moved. */
bool px_error_is_moved(pgw_slice body);
/* A link could not be opened because the server, the user or the database may have no more
 * connections. */
bool px_error_is_full(const pgw_error *error);
/* An error of the server, the network or keyspread: any client would be told the same. */
bool px_error_is_servers(const pgw_error *error);
/* A link could not be opened because the user is not let in, or has no more connections: other
 * users may be let in, and open links serve on. */
bool px_error_is_personal(const pgw_error *error);
/* A link could not be opened because no server answers, or it is about to start or stop. */
bool px_error_is_absence(const pgw_error *error);

#endif
