/*
 * settings: the tracked settings of a session as they are now, and the identity that they make.
 */
#ifndef PX_SETTINGS_H
#define PX_SETTINGS_H

#include "proxy/backend/base/greeting.h"
#include "proxy/backend/state/state.h"

struct px_session;

/* The setting of this name; RW_TRACKED if it is none that is tracked. */
rw_tracked_setting px_setting_of(pgw_slice name);
/* A setting was changed (value NULL = default). */
void px_settings_set(struct px_session *session, rw_tracked_setting setting, pgw_slice value);
/* Takes over the values that the own link was found to have: of settings below RW_REPORTED the
 * value itself; of the others NULL if it is the one that the session began with. */
void px_settings_follow(struct px_session *session, const char *const values[RW_TRACKED]);
/* To be called at ReadyForQuery: puts back each reported setting that px_settings_follow() changed
 * since the last one and that no ParameterStatus confirmed, for its transaction was rolled back. */
void px_settings_reported(struct px_session *session);
void px_settings_free(struct px_session *session);
/* The session is `identity` from now on, which is given away. */
void px_settings_be(struct px_session *session, px_identity *identity);
/* The client is greeted with `greeting`, which is given away. */
void px_settings_greet(struct px_session *session, px_greeting *greeting);
/* Judges whether the session's rows go over its own link; `differs`: its user, role or settings are
 * not those of batch links. */
void px_settings_judge(struct px_session *session, bool differs);
/* `changed`: values may be written as text otherwise than on batch links. */
void px_settings_output(struct px_session *session, bool changed);
/* A reported setting as the client knows it; NULL: it was not told. */
const char *px_settings_now(const struct px_session *session, rw_tracked_setting setting);
/* What the settings mean for values now: TimeZone is not known while a change of it is under way.
 */
pgw_env px_settings_env(const struct px_session *session);
/* To be called when the session has been greeted: makes its identity of what the greeting tells,
 * and sets the kernel's limit for a client that takes nothing. */
void px_settings_begin(struct px_session *session);
/* To be called when a link was opened after the client was greeted: takes over what the link has
 * inherited, and sends the client a ParameterStatus for each parameter that it reports otherwise.
 */
void px_settings_of_link(struct px_session *session);

#endif
