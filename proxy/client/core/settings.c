#include "proxy/client/core/settings.h"

#include "protocol/backend.h"
#include "protocol/options.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/client/core/session.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

rw_tracked_setting px_setting_of(pgw_slice name)
{
    rw_tracked_setting i = 0;
    while (i < RW_TRACKED && !pgw_slice_ieq_str(name, rw_tracked[i]))
        i++;
    return i;
}

/* What the client's greeting said of the setting; NULL: nothing. */
static const char *greeted_with(const px_session *session, rw_tracked_setting setting)
{
    for (size_t i = 0; px_greeting_name(i) != NULL; i++)
        if (pgw_slice_ieq_str(pgw_slice_str(px_greeting_name(i)), rw_tracked[setting]))
            return px_greeting_value(session->who.greeting, px_greeting_name(i));
    return NULL;
}

const char *px_settings_now(const px_session *session, rw_tracked_setting setting)
{
    return session->who.settings[setting] != NULL ? session->who.settings[setting]
                                                  : greeted_with(session, setting);
}

/* The server takes bytes for its own if the client says SQL_ASCII; letters of names it folds only
 * where each is a byte. */
static rw_script_encoding written_in(const char *client, const char *server)
{
    bool serves_utf8 = server != NULL && strcmp(server, "UTF8") == 0;
    rw_script_encoding how = {.encoding = rw_encoding_of(client != NULL ? client : "")};
    bool as_it_is = serves_utf8 && client != NULL && strcmp(client, "SQL_ASCII") == 0;
    if (as_it_is)
        how.encoding = RW_ENCODING_UTF8;
    how.recoded = how.encoding != RW_ENCODING_UTF8;
    how.folded = !serves_utf8;
    return how;
}

/* Lengths are the server's. A client in SQL_ASCII sends what its server stores, byte for byte. */
static void read_bytes(px_identity *from, const char *client, const char *server)
{
    bool unconverted = client != NULL && strcmp(client, "SQL_ASCII") == 0;
    bool serves_utf8 = server != NULL && strcmp(server, "UTF8") == 0;
    from->env.utf8 = serves_utf8 && (from->env.utf8 || unconverted);
    from->ascii = unconverted && server != NULL && strcmp(server, "SQL_ASCII") == 0;
}

/* `timeout`: the statement_timeout that the session began with, ms. */
static px_identity *identity_with_settings(px_session *session, uint64_t timeout)
{
    pgw_buf options = {0};
    pgw_buf_add_str(&options, session->who.base->options);
    for (size_t i = 0; i < RW_TRACKED; i++)
        if (session->who.settings[i] != NULL)
            pgw_options_set(pgw_slice_str(rw_tracked[i]), pgw_slice_str(session->who.settings[i]),
                            &options);
    pgw_buf_add_byte(&options, '\0');
    px_identity from = px_identity_like(session->who.identity);
    const char *encoding = px_settings_now(session, RW_CLIENT_ENCODING);
    const char *zone = px_settings_now(session, RW_TIMEZONE);
    from.env = px_identity_env(encoding, zone, px_settings_now(session, RW_CONFORMING_STRINGS));
    const char *version = px_greeting_value(session->who.greeting, "server_version");
    from.env.server = version != NULL ? atoi(version) : 0;
    from.env.settled = session->who.settings[RW_CONFORMING_STRINGS] != NULL;
    const char *server = px_greeting_value(session->who.greeting, "server_encoding");
    session->who.written = written_in(encoding, server);
    read_bytes(&from, encoding, server);
    from.options = options.ptr;
    from.zone = (char *)zone;
    from.dates = (char *)px_settings_now(session, RW_DATESTYLE);
    from.intervals = (char *)px_settings_now(session, RW_INTERVALSTYLE);
    from.settings = session->who.inherited;
    from.start_timeout = timeout;
    px_identity *identity = px_identity_of(&from);
    pgw_buf_free(&options);
    return identity;
}

static void keep_setting(px_session *session, rw_tracked_setting setting, pgw_slice value)
{
    char *copy = value.ptr != NULL ? pgw_strndup(value.ptr, value.len) : NULL;
    free(session->who.settings[setting]);
    session->who.settings[setting] = copy;
}

void px_settings_be(px_session *session, px_identity *identity)
{
    px_identity_drop(session->who.identity);
    session->who.identity = identity;
}

static void renew_identity_from(px_session *session, uint64_t timeout)
{
    px_settings_be(session, identity_with_settings(session, timeout));
}

static void renew_identity(px_session *session)
{
    renew_identity_from(session, session->who.identity->start_timeout);
}

/* ---- what was asked for before it is reported ---- */

/* Reported settings of which an answer said otherwise, and what they were. */
struct px_unreported {
    bool moved[RW_REPORTED];
    char *settings[RW_REPORTED];
};

static void keep_unreported(px_session *session, size_t setting)
{
    if (session->who.unreported == NULL)
        session->who.unreported = pgw_calloc(1, sizeof *session->who.unreported);
    struct px_unreported *unreported = session->who.unreported;
    if (unreported->moved[setting])
        return;
    unreported->moved[setting] = true;
    free(unreported->settings[setting]); /* This value is left from before a report. */
    unreported->settings[setting] = session->who.settings[setting];
    session->who.settings[setting] = NULL;
}

static void free_unreported(px_session *session)
{
    for (size_t i = 0; session->who.unreported != NULL && i < RW_REPORTED; i++)
        free(session->who.unreported->settings[i]);
    free(session->who.unreported);
    session->who.unreported = NULL;
}

void px_settings_reported(px_session *session)
{
    struct px_unreported *unreported = session->who.unreported;
    if (unreported == NULL)
        return;
    for (size_t i = 0; i < RW_REPORTED; i++) {
        if (!unreported->moved[i])
            continue;
        free(session->who.settings[i]);
        session->who.settings[i] = unreported->settings[i];
        unreported->settings[i] = NULL;
    }
    free_unreported(session);
    renew_identity(session);
}

void px_settings_free(px_session *session)
{
    free_unreported(session);
    for (size_t i = 0; i < RW_TRACKED; i++)
        free(session->who.settings[i]);
    px_greeting_drop(session->who.greeting);
    px_identity_drop(session->who.identity);
    px_identity_drop(session->who.base);
}

void px_settings_greet(px_session *session, px_greeting *greeting)
{
    session->who.greeting = greeting;
}

void px_settings_judge(px_session *session, bool differs)
{
    session->who.is_private = differs || session->who.identity->replication != NULL;
}

void px_settings_output(px_session *session, bool changed)
{
    session->who.output_changed = changed;
}

void px_settings_set(px_session *session, rw_tracked_setting setting, pgw_slice value)
{
    if (setting < RW_REPORTED && session->who.unreported != NULL)
        session->who.unreported->moved[setting] = false;
    keep_setting(session, setting, value);
    renew_identity(session);
}

static bool same_value(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

void px_settings_follow(px_session *session, const char *const values[RW_TRACKED])
{
    bool changed = false;
    for (size_t i = 0; i < RW_TRACKED; i++) {
        const char *now = i < RW_REPORTED ? px_settings_now(session, i) : session->who.settings[i];
        if (same_value(now, values[i]))
            continue;
        if (i < RW_REPORTED)
            keep_unreported(session, i);
        char *value = values[i] != NULL ? pgw_strndup(values[i], strlen(values[i])) : NULL;
        keep_setting(session, i, value != NULL ? pgw_slice_str(value) : (pgw_slice){NULL, 0});
        free(value);
        changed = true;
    }
    if (changed)
        renew_identity(session);
}

pgw_env px_settings_env(const px_session *session)
{
    pgw_env env = session->who.identity->env;
    if (session->pending.zone_moving)
        env.zone_known = env.utf8 = false;
    return env;
}

/* The kernel ends a connection whose client takes nothing for so long, as the server would have it.
 */
static void limit_silence(const px_session *session, uint64_t ms)
{
    unsigned limit = ms <= INT32_MAX ? (unsigned)ms : INT32_MAX;
    if (session->peer.address != NULL)
        (void)setsockopt(session->peer.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

void px_settings_begin(px_session *session)
{
    limit_silence(session, px_greeting_user_timeout(session->who.greeting));
    session->who.inherited = px_greeting_settings(session->who.greeting);
    session->who.base = px_identity_take(session->who.identity);
    renew_identity_from(session, px_greeting_timeout(session->who.greeting));
}

/* ---- a link that was opened later ---- */

/* What the client takes a reported parameter to be; NULL: it was not told. */
static const char *told(const px_session *session, const char *name)
{
    rw_tracked_setting setting = px_setting_of(pgw_slice_str(name));
    return setting < RW_TRACKED ? px_settings_now(session, setting)
                                : px_greeting_value(session->who.greeting, name);
}

/* What a link opened later reports otherwise than the client was told. */
static void tell_differences(px_session *session, px_link *link)
{
    pgw_buf out = {0};
    for (size_t i = 0; px_greeting_name(i) != NULL; i++) {
        const char *name = px_greeting_name(i), *now = px_link_parameter(link, name);
        const char *before = told(session, name);
        bool own = strcmp(name, "application_name") == 0;
        if (now == NULL || before == NULL || own || strcmp(now, before) == 0)
            continue;
        rw_tracked_setting setting = px_setting_of(pgw_slice_str(name));
        pgw_write_parameter_status(pgw_slice_str(name), pgw_slice_str(now), &out);
        if (setting < RW_TRACKED)
            keep_setting(session, setting, pgw_slice_str(now));
    }
    if (out.len > 0) {
        renew_identity(session);
        px_stream_put_buf(session->peer.stream, &out);
    }
    pgw_buf_free(&out);
}

/* Makes the session's rows travel over links that have inherited the same as its own link. */
static void inherit(px_session *session, const px_link *link)
{
    uint64_t settings = px_link_settings(link), timeout = px_link_timeout(link);
    if (session->who.inherited == settings && session->who.identity->start_timeout == timeout)
        return;
    session->who.inherited = settings;
    renew_identity_from(session, timeout);
}

void px_settings_of_link(px_session *session)
{
    limit_silence(session, px_link_user_timeout(session->own.link));
    inherit(session, session->own.link);
    tell_differences(session, session->own.link);
}
