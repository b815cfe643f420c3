/*
 * cost: what a statement costs where time is charged: compiling of texts that are new, and the time
 * of the partitions that it touches.
 */
#ifndef YE_COST_H
#define YE_COST_H

#include "tests/ydb_endpoint/session.h"

/* Waits as long as it takes to compile a text, if it was not met before. */
void ye_cost_compile(ye_endpoint *endpoint, pgw_slice text);
/* What the statement (or, NULL, the COMMIT) will touch. False: a partition is away. */
PGW_MUST_CHECK bool ye_cost_begin(ye_session *session, const PgQuery__Node *statement,
                                  const pgw_buf *bind, ye_failure *failure);
/* Waits until the partitions are through with it. `written`: it changed something that a COMMIT
 * will have to do with. */
void ye_cost_end(ye_session *session, const PgQuery__Node *statement, bool written);
void ye_sleep_until(int64_t ns);

#endif
