/*
 * greeting: what the server reports when a session of a kind (user, database, startup parameters)
 * begins; kept for all workers from the last link of that kind, so that later sessions can be
 * greeted without one. It is believed for a minute, and while nothing says otherwise.
 */
#ifndef PX_GREETING_H
#define PX_GREETING_H

#include "proxy/backend/base/identity.h"

struct px_worker;

typedef struct px_greeting px_greeting; /* immutable and counted; any thread */
typedef struct px_greetings px_greetings;

px_greetings *px_greetings_new(void);
void px_greetings_free(px_greetings *greetings);

/* The most parameters reported at the start of a session that clients are told. */
enum { PX_GREETING_VALUES = 64 };
/* The i-th known name of a reported parameter; NULL behind the last. It lives as long as the
 * process. Any thread. */
const char *px_greeting_name(size_t i);
/* Whether the names of all parameters that the server reports are known. If not, whoever opens a
 * link calls learn() for each reported name, and learned() behind the last. */
bool px_greeting_is_learned(struct px_worker *worker);
void px_greeting_learn(pgw_slice name);
void px_greeting_learned(struct px_worker *worker);

/* What a link has reported: a value for each name, NULL where it did not, and the settings it has
 * inherited (0: not known). */
typedef struct px_reported {
    const char *values[PX_GREETING_VALUES];
    uint64_t settings;
    uint64_t statement_timeout; /* ms; 0: none, or not known */
    uint64_t user_timeout;      /* tcp_user_timeout, ms; 0: none, or not known */
} px_reported;

/* Keeps what a link reported for its identity's key, in place of what was kept before; counted. */
px_greeting *px_greeting_keep(struct px_worker *worker, const px_identity *identity,
                              px_reported reported);
/* A link of any kind has opened: kept greetings that its report contradicts, about the server or
 * about the user in the database, are not used any more. */
void px_greeting_compare(struct px_worker *worker, const px_identity *identity,
                         px_reported reported);
/* All kept greetings may be wrong: none is used any more. */
void px_greeting_renew(struct px_worker *worker);

/* The kept greeting of the identity's kind, counted; NULL: there is none, or it may be wrong. */
px_greeting *px_greeting_find(struct px_worker *worker, const px_identity *identity);
void px_greeting_drop(px_greeting *greeting); /* NULL is fine, here and below */
/* Appends a startup packet's application_name as a server of this version reports it: cut to the
 * length of a name, and in visible ASCII alone. */
void px_greeting_clean(pgw_slice application, const char *version, pgw_buf *out);
/* Writes AuthenticationOk and the ParameterStatus messages, application_name as the identity's. */
void px_greeting_write(const px_greeting *greeting, const px_identity *identity, pgw_buf *out);
/* The value that was reported for `name`; NULL if there is none. */
const char *px_greeting_value(const px_greeting *greeting, const char *name);
/* The settings that the greeting's link had inherited (px_link_settings()). */
uint64_t px_greeting_settings(const px_greeting *greeting);
/* The statement_timeout that the greeting's link began with, ms; 0: none, or not known. */
uint64_t px_greeting_timeout(const px_greeting *greeting);
/* The tcp_user_timeout of the greeting's link, ms; 0: none, or not known. */
uint64_t px_greeting_user_timeout(const px_greeting *greeting);

#endif
