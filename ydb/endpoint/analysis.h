/*
 * analysis: the types of a statement's parameters and its columns, as Parse is to tell them.
 */
#ifndef PX_YDB_ANALYSIS_H
#define PX_YDB_ANALYSIS_H

#include "ydb/endpoint/half.h"

/* Answers ANALYZE for the statement, perhaps after asking YDB. */
void px_ydb_analyze(px_ydb_session *session, const pgw_statement *statement);
/* YDB has described what ANALYZE asked for: session->columns has its columns. */
void px_ydb_described(px_ydb_session *session);
/* RUN: the columns of a write with RETURNING, into a table that is not configured, are asked for
 * first. False: they need not be. */
PGW_MUST_CHECK bool px_ydb_learns_target(px_ydb_session *session, const pgw_portal *portal);
/* ANALYZE and RUN: asks YDB for the columns of the relation, which lives in the session's arena;
 * the action is begun again once they are known. */
void px_ydb_learn(px_ydb_session *session, const rw_relation *relation);
/* YDB has told the columns of session->learning: keeps them. */
void px_ydb_learned_told(px_ydb_session *session);

#endif
