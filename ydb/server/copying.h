/*
 * copying: COPY's part of the protocol: messages with data from the client, or that end it, while
 * data is awaited, and messages with data for the client.
 */
#ifndef PGW_COPYING_H
#define PGW_COPYING_H

#include "ydb/server/machine.h"

/* pgw_server_copy_in(): the RUN is a COPY FROM STDIN. */
PGW_MUST_CHECK bool pgw_copying_begin(pgw_server *server, bool binary, size_t columns);
/* Takes a message that has come while data is awaited. */
void pgw_copying_take(pgw_server *server);
/* pgw_server_copy_out() and _copy_bytes(): the RUN is a COPY TO STDOUT. */
void pgw_copying_out(pgw_server *server, bool binary, size_t columns);
void pgw_copying_give(pgw_server *server, pgw_slice bytes);
/* Writes CopyDone if the portal that has been run is a COPY TO STDOUT. */
void pgw_copying_out_end(pgw_server *server);

#endif
