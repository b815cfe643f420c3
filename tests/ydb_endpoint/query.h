/*
 * query: the simple protocol: a text of any number of statements (1.5).
 */
#ifndef YE_QUERY_H
#define YE_QUERY_H

#include "tests/ydb_endpoint/session.h"

/* Answers a Query: one piece after the other, whether or not one fails. */
void ye_query(ye_session *session, pgw_slice text);

#endif
