/*
 * table_answers: what pgjdbc asks of the catalog about configured tables is answered here, for YDB
 * could not: see ydb/plain/table_question.h.
 */
#ifndef PX_YDB_TABLE_ANSWERS_H
#define PX_YDB_TABLE_ANSWERS_H

#include "ydb/endpoint/half.h"

/* ANALYZE and RUN. False: it is no such question, and nothing is done. */
PGW_MUST_CHECK bool px_ydb_tables_analyze(px_ydb_session *session, const pgw_statement *statement);
PGW_MUST_CHECK bool px_ydb_tables_run(px_ydb_session *session, pgw_portal *portal);

#endif
