/*
 * connection: the thread of one client: from the first packet to the end of its link.
 */
#ifndef YE_CONNECTION_H
#define YE_CONNECTION_H

#include "tests/ydb_endpoint/session.h"

/* Serves the client on `fd`, which belongs to it, on a thread of its own. */
void ye_connection_start(ye_endpoint *endpoint, int fd);

#endif
