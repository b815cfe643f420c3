/*
 * type_answers: answers drivers' questions to pg_type, which YDB cannot answer
 * (ydb/plain/type_question.h).
 */
#ifndef PX_YDB_TYPE_ANSWERS_H
#define PX_YDB_TYPE_ANSWERS_H

#include "ydb/endpoint/half.h"

/* Answer ANALYZE and RUN. False: the statement is no such question, and nothing is done. */
PGW_MUST_CHECK bool px_ydb_types_analyze(px_ydb_session *session, const pgw_statement *statement);
PGW_MUST_CHECK bool px_ydb_types_run(px_ydb_session *session, pgw_portal *portal);

#endif
