#include "proxy/backend/schema/database.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static px_database *databases; /* all databases of the process */

static px_database *find_database(const char *name)
{
    px_database *database = databases;
    while (database != NULL && strcmp(database->name, name) != 0)
        database = database->next;
    return database;
}

px_database *px_database_take(const char *name)
{
    pthread_mutex_lock(&lock);
    px_database *database = find_database(name);
    if (database == NULL) {
        database = pgw_calloc(1, sizeof *database);
        database->name = pgw_strndup(name, strlen(name));
        pthread_mutex_init(&database->lock, NULL);
        database->next = databases;
        databases = database;
    }
    database->references++;
    pthread_mutex_unlock(&lock);
    return database;
}

px_database *px_database_again(px_database *database)
{
    pthread_mutex_lock(&lock);
    database->references++;
    pthread_mutex_unlock(&lock);
    return database;
}

static void free_database(px_database *database)
{
    pthread_mutex_destroy(&database->lock);
    px_catalog_drop(database->newest.catalog);
    free(database->name);
    free(database);
}

void px_database_drop(px_database *database)
{
    if (database == NULL)
        return;
    pthread_mutex_lock(&lock);
    bool last = --database->references == 0;
    if (last) {
        px_database **at = &databases;
        while (*at != database)
            at = &(*at)->next;
        *at = database->next;
    }
    pthread_mutex_unlock(&lock);
    if (last)
        free_database(database);
}

static void count(const char *name, size_t member, uint64_t more)
{
    pthread_mutex_lock(&lock);
    px_database *database = find_database(name);
    if (database != NULL)
        atomic_fetch_add((_Atomic uint64_t *)((char *)database + member), more);
    pthread_mutex_unlock(&lock);
}

void px_database_mark(const char *name, uint64_t changes)
{
    count(name, offsetof(px_database, keys), changes);
    count(name, offsetof(px_database, marks), changes);
}

void px_database_mark_kept(const char *name, uint64_t changes)
{
    count(name, offsetof(px_database, marks), changes);
}

void px_database_reset(const char *name)
{
    count(name, offsetof(px_database, resets), 1);
}

/* Whether `seen` is older than the newest snapshot: a look that took longer may have begun earlier.
 */
static bool is_older(const px_seen *seen, const px_seen *newest)
{
    if (newest->catalog == NULL || newest->catalog->config != seen->catalog->config)
        return false;
    return seen->marks != newest->marks ? seen->marks < newest->marks
                                        : seen->checked_at < newest->checked_at;
}

void px_database_publish(px_database *database, px_seen seen)
{
    pthread_mutex_lock(&database->lock);
    px_seen left = seen;
    if (!is_older(&seen, &database->newest)) {
        left = database->newest;
        database->newest = seen;
        if (left.catalog != NULL)
            atomic_store(&left.catalog->current, false);
        atomic_store(&seen.catalog->current, true);
    }
    pthread_mutex_unlock(&database->lock);
    px_catalog_drop(left.catalog);
}

void px_database_look(px_database *database, px_seen *seen)
{
    px_catalog *old = seen->catalog;
    pthread_mutex_lock(&database->lock);
    *seen = database->newest;
    if (seen->catalog != NULL)
        px_catalog_take(seen->catalog);
    pthread_mutex_unlock(&database->lock);
    px_catalog_drop(old);
}
