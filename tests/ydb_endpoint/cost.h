/*
 * cost: what a statement costs where time is charged: compiling of texts that are new, and the time
 * of the partitions that it touches.
 */
#ifndef YE_COST_H
#define YE_COST_H

#include "tests/ydb_endpoint/session.h"

/* Waits as long as it takes to compile a text, if it was not met before. */
void ye_cost_compile(ye_session *session, pgw_slice text);
/* What the statement (or, NULL, the COMMIT) will touch. False: a partition is away. */
PGW_MUST_CHECK bool ye_cost_begin(ye_session *session, const PgQuery__Node *statement,
                                  const pgw_buf *bind, ye_failure *failure);
/* … and it is charged to them: session->until is when they are through with it. */
void ye_cost_charge(ye_session *session, const PgQuery__Node *statement);
/* It changed something that a COMMIT will have to do with. */
void ye_cost_written(ye_session *session);
void ye_sleep_until(int64_t ns);

#endif
