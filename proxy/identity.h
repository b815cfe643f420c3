/*
 * identity: who a session is for the backend: user, database, startup parameters and the tracked
 * settings. Sessions with equal identities may share batches; a link is opened as one.
 */
#ifndef PX_IDENTITY_H
#define PX_IDENTITY_H

#include "protocol/value.h"

/* Immutable and counted; the count is atomic, for units travel between workers. */
typedef struct px_identity {
    char *user, *database;
    char *options;     /* "-c name=value …", escaped, as libpq's `options` takes them */
    char *application; /* application_name, not part of the key; NULL if not set */
    char *replication; /* the startup parameter, NULL if not sent */
    char *key;         /* user, database, options in one: equal keys are equal identities */
    pgw_env env;       /* what the settings mean for the reading of values */
    _Atomic unsigned references;
} px_identity;

px_identity *px_identity_take(px_identity *identity); /* one more reference */
void px_identity_drop(px_identity *identity);         /* NULL is fine */

#endif
