/*
 * copies: COPY for YDB, which has none. The rows of COPY FROM STDIN are kept until its data ends,
 * and then written as INSERTs, together or not at all. A load of many rows is many such COPYs
 * (ingest/load.h).
 */
#ifndef PX_YDB_COPIES_H
#define PX_YDB_COPIES_H

#include "ydb/endpoint/half.h"

/* Answers RUN of a COPY FROM: asks the client for data, refuses, or asks YDB for the table first.
 * False: the portal is something else, and nothing is done. */
PGW_MUST_CHECK bool px_ydb_copies_run(px_ydb_session *session, const pgw_portal *portal);
/* Answer PUT and STORE. */
void px_ydb_copies_put(px_ydb_session *session, pgw_slice bytes);
void px_ydb_copies_store(px_ydb_session *session, pgw_portal *portal);
/* RUN of a COPY TO: `text` becomes the query whose rows it gives, and run->out is set. Any other
 * text stays as it was. False: refused. */
PGW_MUST_CHECK bool px_ydb_copies_out(px_ydb_run *run, const pgw_reading *reading, pgw_slice *text);
/* Fails the COPY whose data is awaited, because the client cancelled it. False: none is awaited. */
PGW_MUST_CHECK bool px_ydb_copies_cancel(px_ydb_session *session);
/* Frees the rows of a COPY FROM STDIN that has failed. */
void px_ydb_copies_tidy(px_ydb_session *session);

#endif
