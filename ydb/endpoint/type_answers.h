/*
 * type_answers: what drivers ask of pg_type is answered here, for YDB could not: see
 * ydb/plain/type_question.h.
 */
#ifndef PX_YDB_TYPE_ANSWERS_H
#define PX_YDB_TYPE_ANSWERS_H

#include "ydb/endpoint/half.h"

/* ANALYZE and RUN. False: it is no such question, and nothing is done. */
PGW_MUST_CHECK bool px_ydb_types_analyze(px_ydb_session *session, const pgw_statement *statement);
PGW_MUST_CHECK bool px_ydb_types_run(px_ydb_session *session, pgw_portal *portal);

#endif
