/*
 * analysis: the types of a statement's parameters and its columns, as Parse is to tell them.
 */
#ifndef PX_YDB_ANALYSIS_H
#define PX_YDB_ANALYSIS_H

#include "ydb/endpoint/half.h"

/* ANALYZE. */
void px_ydb_analyze(px_ydb_session *session, const pgw_statement *statement);
/* … what YDB was asked for it is in session->columns. */
void px_ydb_described(px_ydb_session *session);
/* RUN: the columns of a write with RETURNING, into a table that is not configured, are asked for
 * first. False: they need not be. */
PGW_MUST_CHECK bool px_ydb_learns_target(px_ydb_session *session, const pgw_portal *portal);
/* RUN: the relation's columns are asked for, which lives in the session's arena; then the portal is
 * run again. */
void px_ydb_learn(px_ydb_session *session, const rw_relation *relation);
/* … and have been told. */
void px_ydb_learned_told(px_ydb_session *session);

#endif
