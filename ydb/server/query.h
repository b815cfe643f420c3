/*
 * query: the simple protocol: the statements of a Query, one after the other, as one transaction.
 */
#ifndef PGW_QUERY_H
#define PGW_QUERY_H

#include "ydb/server/machine.h"

/* Takes a Query from server->body. */
void pgw_query(pgw_server *server);

#endif
