/*
 * identity: who a session is for the backend: user, database, startup parameters and the tracked
 * settings. Sessions with equal identities may share batches; a link is opened as one.
 */
#ifndef PX_IDENTITY_H
#define PX_IDENTITY_H

#include "protocol/value.h"
#include "proxy/base/table.h"

/* Immutable and counted; the count is atomic, for write groups travel between workers. There are no
 * two equal ones: thousands of clients of one kind share theirs. */
typedef struct px_identity {
    px_entry entry; /* entry of the process's table of identities; its name has all fields in which
                       two may differ */
    char *user, *database;
    char *options;     /* "-c name=value …", escaped, as libpq's `options` takes them */
    char *shared;      /* `options` without the timeouts, for links that serve many sessions */
    char *application; /* application_name, no part of `key`; NULL if not set */
    char *replication; /* a walsender's startup parameter, "true" or "database"; else NULL */
    char *password;    /* password for links, if backend.dsn names no user; else NULL */
    char *zone;        /* the TimeZone that `env` was made of; NULL: unknown */
    char *dates, *intervals; /* DateStyle and IntervalStyle as reported; NULL: unknown */
    uint64_t settings; /* a hash of settings inherited from role and database; 0: not known yet */
    char *key; /* user, database, replication, password, `shared` and `settings` as one text */
    uint64_t start_timeout;     /* statement_timeout at the session's start, ms; 0: none known */
    uint64_t statement_timeout; /* statement_timeout of the session now, ms; 0: none known */
    pgw_env env;                /* what the settings mean for the reading of values */
    bool ascii; /* ASCII passes a batch link as it passes the own link: no encoding converts it */
    _Atomic unsigned references;
} px_identity;

/* The identity equal to `from`, with one more reference; made if there is none. `from` must have
 * user, database and options. Any thread. */
px_identity *px_identity_of(const px_identity *from);
/* The fields of `identity` that px_identity_of() reads, for the caller to change some of them; not
 * the count, which other threads change. The texts stay those of `identity`. */
px_identity px_identity_like(const px_identity *identity);
/* Whether rows of both may share batches: the keys are equal, and the sessions were told the same
 * TimeZone, DateStyle and IntervalStyle, which the server's default may have changed between. */
bool px_identity_shares(const px_identity *a, const px_identity *b);
/* Whether dates, times and intervals are read alike under the settings of both. */
bool px_identity_reads_alike(const px_identity *a, const px_identity *b);
/* What reported settings mean for the reading of values; NULL: not reported. */
pgw_env px_identity_env(const char *client_encoding, const char *zone, const char *conforming);
px_identity *px_identity_take(px_identity *identity); /* takes one more reference */
void px_identity_drop(px_identity *identity);         /* NULL is fine */

#endif
