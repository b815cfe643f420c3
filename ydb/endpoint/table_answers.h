/*
 * table_answers: answers pgjdbc's questions to the catalog about configured tables, which YDB
 * cannot answer (ydb/plain/table_question.h).
 */
#ifndef PX_YDB_TABLE_ANSWERS_H
#define PX_YDB_TABLE_ANSWERS_H

#include "ydb/endpoint/half.h"

/* Answer ANALYZE and RUN. False: the statement is no such question, and nothing is done. */
PGW_MUST_CHECK bool px_ydb_tables_analyze(px_ydb_session *session, const pgw_statement *statement);
PGW_MUST_CHECK bool px_ydb_tables_run(px_ydb_session *session, pgw_portal *portal);

#endif
