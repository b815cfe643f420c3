/*
 * answers: answers that need no YDB: statements about settings, and the questions of the rooms
 * above about a session's state.
 */
#ifndef PX_YDB_ANSWERS_H
#define PX_YDB_ANSWERS_H

#include "ydb/endpoint/half.h"
#include "ydb/plain/infer.h"

/* A setting's value; NULL: there is none of the name. Valid until it is set. */
const char *px_ydb_setting(const px_ydb_session *session, const char *name);
/* Keeps or undoes what a transaction or group has set; ParameterStatus tells it later. */
void px_ydb_settle(px_ydb_session *session, bool keep);

/* ANALYZE and RUN of statements about settings, such as SET, SHOW and DISCARD. */
bool px_ydb_is_about_settings(pgw_command command);
void px_ydb_settings_analyze(px_ydb_session *session, const pgw_statement *statement,
                             const rw_inferred *inferred, const pgw_reading *reading);
void px_ydb_settings_run(px_ydb_session *session, pgw_portal *portal);
/* ANALYZE and RUN of a text that px_state_question() made. */
void px_ydb_state_analyze(px_ydb_session *session, pgw_slice question);
void px_ydb_state_run(px_ydb_session *session, pgw_portal *portal);

#endif
