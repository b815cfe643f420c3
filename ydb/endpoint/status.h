/*
 * status: makes PostgreSQL's error of an ErrorResponse of YDB's endpoint, and says what another
 * attempt is worth. The response has no severity and hardly ever a SQLSTATE, but a text that begins
 * with a word of YDB's such as "Status: ABORTED".
 */
#ifndef PX_YDB_STATUS_H
#define PX_YDB_STATUS_H

#include "protocol/error.h"

/* What is known of a statement that failed. */
typedef enum px_ydb_fate {
    PX_YDB_REFUSED,     /* it has done nothing, and would fail again */
    PX_YDB_AGAIN,       /* it has done nothing, and may succeed soon: ABORTED, UNAVAILABLE */
    PX_YDB_SLOWLY,      /* it has done nothing, and may succeed under less load: OVERLOADED */
    PX_YDB_ELSEWHERE,   /* it has done nothing, and may succeed on a new connection: its session was
                           gone before, or is busy */
    PX_YDB_UNDETERMINED /* it may have been committed */
} px_ydb_fate;

/* Reads the body of an ErrorResponse. A text with a status becomes the error's detail as a whole.
 * `drops`: the endpoint closes the connection after it, or has no session for it any more. */
px_ydb_fate px_ydb_status_read(pgw_slice body, pgw_error *error, bool *drops);

#endif
