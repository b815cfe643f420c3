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

/* The parameters that servers report as a session begins: no more are told to clients. */
enum { PX_GREETING_VALUES = 64 };
/* One of those that are known; NULL behind the last. It stays as long as the process. Any thread.
 */
const char *px_greeting_name(size_t i);
/* Whether all that the server reports are among them; else who opens a link listens to it, and
 * says each of their names, and that these were all. */
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
/* A link of any kind has opened: what it reports otherwise of its server, or of its user in its
 * database, is not told to new sessions any more. */
void px_greeting_compare(struct px_worker *worker, const px_identity *identity,
                         px_reported reported);
/* What new sessions begin with was changed. */
void px_greeting_renew(struct px_worker *worker);

/* What is known of the identity's kind, counted; NULL: nothing, or it may have changed. */
px_greeting *px_greeting_find(struct px_worker *worker, const px_identity *identity);
void px_greeting_drop(px_greeting *greeting); /* NULL is fine, here and below */
/* Appends an application_name of a startup packet as a server of this version has it: no longer
 * than a name, and of visible ASCII alone. */
void px_greeting_clean(pgw_slice application, const char *version, pgw_buf *out);
/* Writes AuthenticationOk and the ParameterStatus messages, application_name as the identity's. */
void px_greeting_write(const px_greeting *greeting, const px_identity *identity, pgw_buf *out);
/* A reported value; NULL if there is none. */
const char *px_greeting_value(const px_greeting *greeting, const char *name);
/* What its link had inherited. */
uint64_t px_greeting_settings(const px_greeting *greeting);
/* The statement_timeout that its link began with, ms; 0: none, or not known. */
uint64_t px_greeting_timeout(const px_greeting *greeting);
/* Its tcp_user_timeout, ms; 0: none, or not known. */
uint64_t px_greeting_user_timeout(const px_greeting *greeting);

#endif
