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
/* Follows the values that the settings have now: the reported ones as they are, the others NULL
 * where they are as at the start. */
void px_settings_follow(struct px_session *session, const char *const values[RW_TRACKED]);
/* ReadyForQuery: by now the server has reported all that is not as it was. What was only asked for
 * since the last one, and not reported, has been undone with its transaction. */
void px_settings_told(struct px_session *session);
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
/* The session has been greeted: its settings are known. */
void px_settings_begin(struct px_session *session);
/* A link was opened later than the client was greeted: what it has inherited, and what it reports
 * otherwise, of which the client is told. */
void px_settings_of_link(struct px_session *session);

#endif
