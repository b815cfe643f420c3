/*
 * status: what goes wrong, as the endpoint tells it (1.7): a status of YDB and issues, in a message
 * of several lines, in an ErrorResponse that has neither severity nor, but in four cases, SQLSTATE.
 */
#ifndef YE_STATUS_H
#define YE_STATUS_H

#include "tests/ydb_endpoint/options.h"

#include "protocol/error.h"

typedef enum ye_status {
    YE_SUCCESS,
    YE_BAD_REQUEST,
    YE_UNAUTHORIZED,
    YE_INTERNAL_ERROR,
    YE_ABORTED,
    YE_UNAVAILABLE,
    YE_OVERLOADED,
    YE_SCHEME_ERROR,
    YE_GENERIC_ERROR,
    YE_TIMEOUT,
    YE_BAD_SESSION,
    YE_PRECONDITION_FAILED,
    YE_NOT_FOUND,
    YE_SESSION_EXPIRED,
    YE_CANCELLED,
    YE_UNDETERMINED,
    YE_SESSION_BUSY,
    YE_STATUSES
} ye_status;

typedef struct ye_failure {
    ye_status status;  /* YE_SUCCESS: none */
    char issues[1024]; /* the lines behind `Issues:` */
} ye_failure;

const char *ye_status_name(ye_status status);
/* The status of that name; YE_SUCCESS if there is none. */
ye_status ye_status_named(const char *name);

/* One issue; `code` 0: without. Returns false. */
bool ye_fail(ye_failure *failure, ye_status status, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What YDB says where PostgreSQL says this. */
void ye_failure_of(const pgw_error *error, const ye_options *options, ye_failure *failure);
/* A failure that was ordered, with the text that YDB is known for. */
void ye_failure_ordered(ye_status status, ye_failure *failure);
/* "answers with the connection dropped" (1.7). */
bool ye_failure_drops(const ye_failure *failure);
void ye_failure_write(const ye_failure *failure, pgw_buf *out);
/* The endpoint's own errors: no status, no issues, no SQLSTATE. */
void ye_error_write(pgw_buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* … and those of a cancelled statement and of a login, which are whole. */
void ye_cancelled_write(pgw_buf *out);
void ye_refused_write(const char *message, pgw_buf *out);
/* NoticeResponse: a WARNING. */
void ye_warning_write(const char *message, pgw_buf *out);

#endif
