/*
 * database: what all workers know of one database: the newest snapshot of the configured tables
 * there, and whether something has happened since after which it may be wrong. Its reader, on the
 * worker that owns the database, publishes; the others look.
 */
#ifndef PX_DATABASE_H
#define PX_DATABASE_H

#include "proxy/backend/schema/snapshot.h"

#include <pthread.h>

/* A snapshot, and what is known of its age. */
typedef struct px_seen {
    px_catalog *catalog;                /* counted; NULL: none yet */
    uint64_t marks;                     /* what was marked later may not be in it */
    px_fingerprint fingerprint, places; /* as of a px_sight */
    uint64_t checked_at; /* when the backend was asked whether it is right: px_worker_now() */
} px_seen;

typedef struct px_database {
    struct px_database *next;
    char *name;
    unsigned references;      /* under the list's lock */
    _Atomic uint64_t marks;   /* one more each time that something may have changed */
    _Atomic uint64_t resets;  /* … a sequence may have been made to go on from elsewhere */
    _Atomic uint64_t used_at; /* when a statement needed the snapshot last, nearly */
    pthread_mutex_t lock;     /* of the next */
    px_seen newest;
} px_database;

/* Any thread. Made if it is not there; freed with its last reference. */
px_database *px_database_take(const char *name);
px_database *px_database_again(px_database *database); /* one more reference */
void px_database_drop(px_database *database);          /* NULL is fine */
/* Something may have changed in the database `name`; nothing if nobody has asked for it yet. */
void px_database_mark(const char *name);
/* Likewise, where a sequence of it goes on from. */
void px_database_reset(const char *name);

/* Any thread. `seen` is given away; nothing comes of it if what is there was looked at later. */
void px_database_publish(px_database *database, px_seen seen);
/* Puts the newest into `seen` in place of an older one, and counts it. */
void px_database_look(px_database *database, px_seen *seen);

#endif
