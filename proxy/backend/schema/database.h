/*
 * database: what all workers know of one database: the newest snapshot of the configured tables
 * there, and whether something has happened since after which it may be wrong. Its reader, on the
 * worker that owns the database, publishes; the others look.
 */
#ifndef PX_DATABASE_H
#define PX_DATABASE_H

#include "proxy/backend/schema/snapshot.h"

#include <pthread.h>

/* A snapshot, and when it was right. */
typedef struct px_seen {
    px_catalog *catalog; /* a counted reference; NULL: none yet */
    uint64_t marks;      /* px_database.marks when the look began: later changes may be missing */
    px_fingerprint fingerprint, places; /* px_sight.fingerprint and px_sight.places of the look */
    uint64_t checked_at;                /* when the last look began: px_worker_now() */
    uint64_t keys;                      /* px_database.keys when the look began */
} px_seen;

typedef struct px_database {
    struct px_database *next;
    char *name;
    unsigned references;      /* under the lock of the list of databases */
    _Atomic uint64_t marks;   /* one more for each change that tables may have had */
    _Atomic uint64_t keys;    /* one more for those of `marks` that may have changed more than
                                 px_database_mark_kept() says */
    _Atomic uint64_t resets;  /* one more when a sequence may go on from elsewhere */
    _Atomic uint64_t used_at; /* about when a statement last used the snapshot: px_worker_now() */
    pthread_mutex_t lock;     /* guards `newest` */
    px_seen newest;
} px_database;

/* Finds or makes the database `name`, freed with its last reference. Any thread may call all of
 * these. */
px_database *px_database_take(const char *name);
px_database *px_database_again(px_database *database); /* takes one more reference */
void px_database_drop(px_database *database);          /* NULL is fine */
/* Counts in `marks` so many changes that tables of the database `name` may have undergone; nothing
 * if it is not known here. */
void px_database_mark(const char *name, uint64_t changes);
/* Does the same for changes that have left alone the names, columns and primary keys of all tables.
 */
void px_database_mark_kept(const char *name, uint64_t changes);
/* Counts in `resets` that a sequence of the database `name` may go on from elsewhere. */
void px_database_reset(const char *name);

/* Makes `seen` the newest, and takes it over; drops it if a newer one is there. */
void px_database_publish(px_database *database, px_seen seen);
/* Puts the newest into `seen`, with a reference, and drops what was there. */
void px_database_look(px_database *database, px_seen *seen);

#endif
