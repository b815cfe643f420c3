#include "proxy/backend/base/databases.h"

#include "protocol/bytes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    struct entry *next;
    char *name;
    size_t sessions;
    bool written;
} entry;

struct px_databases {
    pthread_mutex_t lock;
    entry *first;
};

px_databases *px_databases_new(void)
{
    px_databases *databases = pgw_calloc(1, sizeof *databases);
    pthread_mutex_init(&databases->lock, NULL);
    return databases;
}

static void free_entry(entry *e)
{
    free(e->name);
    free(e);
}

void px_databases_free(px_databases *databases)
{
    if (databases == NULL)
        return;
    while (databases->first != NULL) {
        entry *e = databases->first;
        databases->first = e->next;
        free_entry(e);
    }
    pthread_mutex_destroy(&databases->lock);
    free(databases);
}

static entry **find_entry(px_databases *databases, const char *name)
{
    entry **at = &databases->first;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static entry *make(px_databases *databases, const char *name)
{
    entry **at = find_entry(databases, name);
    if (*at == NULL) {
        *at = pgw_calloc(1, sizeof **at);
        (*at)->name = pgw_strndup(name, strlen(name));
    }
    return *at;
}

void px_databases_enter(px_databases *databases, const char *name)
{
    pthread_mutex_lock(&databases->lock);
    make(databases, name)->sessions++;
    pthread_mutex_unlock(&databases->lock);
}

void px_databases_leave(px_databases *databases, const char *name)
{
    pthread_mutex_lock(&databases->lock);
    entry **at = find_entry(databases, name), *e = *at;
    if (e != NULL && --e->sessions == 0 && !e->written) {
        *at = e->next;
        free_entry(e);
    }
    pthread_mutex_unlock(&databases->lock);
}

bool px_databases_used(px_databases *databases, const char *name)
{
    pthread_mutex_lock(&databases->lock);
    const entry *e = *find_entry(databases, name);
    bool used = e != NULL && e->sessions > 0;
    pthread_mutex_unlock(&databases->lock);
    return used;
}

void px_databases_write(px_databases *databases, const char *name)
{
    pthread_mutex_lock(&databases->lock);
    make(databases, name)->written = true;
    pthread_mutex_unlock(&databases->lock);
}

bool px_databases_written(px_databases *databases, const char *name)
{
    pthread_mutex_lock(&databases->lock);
    const entry *e = *find_entry(databases, name);
    bool written = e != NULL && e->written;
    pthread_mutex_unlock(&databases->lock);
    return written;
}
