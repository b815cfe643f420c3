/*
 * status: what YDB's endpoint says where a statement failed: its ErrorResponse has no severity and
 * hardly ever a SQLSTATE, but a text that begins "Status: ABORTED". Made into PostgreSQL's error,
 * and into what another attempt is worth.
 */
#ifndef PX_YDB_STATUS_H
#define PX_YDB_STATUS_H

#include "protocol/error.h"

/* What is known of a statement that failed so. */
typedef enum px_ydb_fate {
    PX_YDB_REFUSED,     /* it has done nothing, and would fail again */
    PX_YDB_AGAIN,       /* … and may do better at once: ABORTED, UNAVAILABLE */
    PX_YDB_SLOWLY,      /* … when there is less to do: OVERLOADED */
    PX_YDB_ELSEWHERE,   /* … on another link: its session was gone before, or is busy */
    PX_YDB_UNDETERMINED /* it may have been committed */
} px_ydb_fate;

/* Of the body of an ErrorResponse. `drops`: the endpoint closes the connection behind it, or has no
 * session for it any more. The whole
 * text becomes the error's detail. */
px_ydb_fate px_ydb_status_read(pgw_slice body, pgw_error *error, bool *drops);

#endif
