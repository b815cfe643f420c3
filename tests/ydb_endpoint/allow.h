/*
 * allow: whether the endpoint takes a statement: every node of its tree and every field that is set
 * must be in the tables of rules.h, and what depends on more than a field is in order, too.
 */
#ifndef YE_ALLOW_H
#define YE_ALLOW_H

#include "tests/ydb_endpoint/options.h"
#include "tests/ydb_endpoint/status.h"

#include <pg_query/pg_query.pb-c.h>

/* False: `failure` has YDB's words for it. From any thread. */
PGW_MUST_CHECK bool ye_allow(const PgQuery__Node *statement, const ye_options *options,
                             ye_failure *failure);

#endif
