#include "proxy/base/scans.h"

#include "protocol/bytes.h"
#include "proxy/base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct scan {
    uint64_t hash; /* hash of the table's label and the shape */
    unsigned long long times;
    char *table, *shape;
} scan;

struct px_scans {
    pthread_mutex_t lock;
    scan list[PX_SCANS_KEPT];
    size_t count;
};

px_scans *px_scans_new(void)
{
    px_scans *scans = pgw_calloc(1, sizeof *scans);
    pthread_mutex_init(&scans->lock, NULL);
    return scans;
}

static void forget(scan *it)
{
    free(it->table);
    free(it->shape);
    *it = (scan){0};
}

static void forget_all(px_scans *scans)
{
    for (size_t i = 0; i < scans->count; i++)
        forget(&scans->list[i]);
    scans->count = 0;
}

void px_scans_free(px_scans *scans)
{
    if (scans == NULL)
        return;
    forget_all(scans);
    pthread_mutex_destroy(&scans->lock);
    free(scans);
}

static uint64_t hash_of(const char *table, const char *shape)
{
    return XXH3_64bits_withSeed(shape, strlen(shape), XXH3_64bits(table, strlen(table)));
}

/* The place for a new statement: a free one, or that of the statement met least, whose count the
 * new one goes on with. So what is met often is never lost. */
static scan *place_of(px_scans *scans)
{
    if (scans->count < PX_SCANS_KEPT)
        return &scans->list[scans->count++];
    scan *least = &scans->list[0];
    for (size_t i = 1; i < scans->count; i++)
        if (scans->list[i].times < least->times)
            least = &scans->list[i];
    unsigned long long times = least->times;
    forget(least);
    least->times = times;
    return least;
}

static scan *find(px_scans *scans, uint64_t hash)
{
    for (size_t i = 0; i < scans->count; i++)
        if (scans->list[i].hash == hash)
            return &scans->list[i];
    return NULL;
}

void px_scans_note(px_scans *scans, const char *table, const char *shape)
{
    uint64_t hash = hash_of(table, shape);
    pthread_mutex_lock(&scans->lock);
    scan *it = find(scans, hash);
    if (it == NULL) {
        it = place_of(scans);
        it->hash = hash;
        it->table = pgw_strndup(table, strlen(table));
        it->shape = pgw_strndup(shape, strlen(shape));
    }
    it->times++;
    pthread_mutex_unlock(&scans->lock);
}

static int compare(const void *a, const void *b)
{
    const scan *left = a, *right = b;
    return (left->times < right->times) - (left->times > right->times);
}

void px_scans_log(px_scans *scans)
{
    pthread_mutex_lock(&scans->lock);
    qsort(scans->list, scans->count, sizeof *scans->list, compare);
    for (size_t i = 0; i < scans->count && i < PX_SCANS_TOLD; i++)
        px_log(CFG_LOG_INFO, "table_scanned", "table=%s times=%llu shape=%s", scans->list[i].table,
               scans->list[i].times, scans->list[i].shape);
    forget_all(scans);
    pthread_mutex_unlock(&scans->lock);
}
