/*
 * identity: who a session is for the backend: user, database, startup parameters and the tracked
 * settings. Sessions with equal identities may share batches; a link is opened as one.
 */
#ifndef PX_IDENTITY_H
#define PX_IDENTITY_H

#include "protocol/value.h"
#include "proxy/base/table.h"

/* Immutable and counted; the count is atomic, for units travel between workers. There are no two
 * equal ones: thousands of clients of one kind share theirs. */
typedef struct px_identity {
    px_entry entry; /* by all that it is */
    char *user, *database;
    char *options;     /* "-c name=value …", escaped, as libpq's `options` takes them */
    char *shared;      /* … without the timeouts, for links that serve many sessions */
    char *application; /* application_name, not part of the key; NULL if not set */
    char *replication; /* of a walsender: "true" or "database"; NULL of all others */
    char *password;    /* what links log in with, if the DSN names no user; NULL: its own or none */
    char *zone;        /* TimeZone that `env` was made of, for batch links; NULL: unknown */
    char *dates, *intervals; /* DateStyle and IntervalStyle, as it was told; NULL: unknown */
    uint64_t settings;       /* inherited from role and database; 0: not known yet */
    char *key; /* all of the above but application, timeouts, what was told: what a client asked for
                */
    uint64_t start_timeout; /* statement_timeout of its role, its database or its server, ms; 0 =
                               none that is known */
    uint64_t statement_timeout; /* as it is now, ms; 0 = none that is known */
    pgw_env env;                /* what the settings mean for the reading of values */
    bool ascii; /* what is ASCII, a link of batches takes and tells as its own does: nothing is
                   converted */
    _Atomic unsigned references;
} px_identity;

/* The one that is like `from`, whose user, database and options are there; one more reference. Any
 * thread. */
px_identity *px_identity_of(const px_identity *from);
/* What px_identity_of() looks at of one that there is, to be changed: all but what is counted,
 * which other threads change. Its texts stay those of `identity`. */
px_identity px_identity_like(const px_identity *identity);
/* Whether their rows may share batches, whose links have one TimeZone and DateStyle: the server's
 * own may have been another when one of their sessions began. */
bool px_identity_shares(const px_identity *a, const px_identity *b);
/* Whether what is set says the same of how dates, times and intervals are read. */
bool px_identity_reads_alike(const px_identity *a, const px_identity *b);
/* What reported settings mean for the reading of values; NULL = not reported. */
pgw_env px_identity_env(const char *client_encoding, const char *zone, const char *conforming);
px_identity *px_identity_take(px_identity *identity); /* one more reference */
void px_identity_drop(px_identity *identity);         /* NULL is fine */

#endif
