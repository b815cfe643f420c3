/*
 * reads: how many rows YDB would read for a statement: those in the ranges that the conditions on
 * the first columns of a key make, and no more than ORDER BY the key and LIMIT ask for. Counted in
 * the store, for tables whose keys are known (partitions.h), before the statement is run.
 */
#ifndef YE_READS_H
#define YE_READS_H

#include "tests/ydb_endpoint/session.h"

/* Adds them to the counter. `statement` holds no parameters. */
void ye_reads_count(ye_session *session, const PgQuery__Node *statement);

#endif
