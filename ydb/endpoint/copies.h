/*
 * copies: COPY at YDB, which has none: the rows of COPY FROM STDIN are kept until its data ends,
 * and written as INSERTs then, together or not at all. A load of many rows is many such COPYs,
 * which the rooms above send (ingest/load.h).
 */
#ifndef PX_YDB_COPIES_H
#define PX_YDB_COPIES_H

#include "ydb/endpoint/half.h"

/* RUN of a COPY FROM: its client is asked for data, or it is refused, or its table is asked for
 * first. False: it is something else. */
PGW_MUST_CHECK bool px_ydb_copies_run(px_ydb_session *session, const pgw_portal *portal);
/* PUT and STORE. */
void px_ydb_copies_put(px_ydb_session *session, pgw_slice bytes);
void px_ydb_copies_store(px_ydb_session *session, pgw_portal *portal);
/* RUN of a COPY TO: `text` becomes the query whose rows it gives, and the run knows it. Anything
 * else is as it was. False: it is refused. */
PGW_MUST_CHECK bool px_ydb_copies_out(px_ydb_run *run, const pgw_reading *reading, pgw_slice *text);
/* The client has cancelled what it is asked data for. False: it is asked for none. */
PGW_MUST_CHECK bool px_ydb_copies_cancel(px_ydb_session *session);
/* Frees what is left of one that has failed. */
void px_ydb_copies_tidy(px_ydb_session *session);

#endif
