/*
 * copying: COPY's part of the protocol: while data is awaited, the client's messages are data, or
 * end it; and data that goes to the client.
 */
#ifndef PGW_COPYING_H
#define PGW_COPYING_H

#include "ydb/server/machine.h"

/* RUN is a COPY FROM STDIN, as server.h has it. */
PGW_MUST_CHECK bool pgw_copying_begin(pgw_server *server, bool binary, size_t columns);
/* A message has come while data is awaited. */
void pgw_copying_take(pgw_server *server);
/* RUN is a COPY TO STDOUT, as server.h has it. */
void pgw_copying_out(pgw_server *server, bool binary, size_t columns);
void pgw_copying_give(pgw_server *server, pgw_slice bytes);
/* The last row of such a one was given. */
void pgw_copying_out_end(pgw_server *server);

#endif
