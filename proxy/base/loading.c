#include "proxy/base/loading.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct px_loading_copy {
    px_loading_copy *next;
    uint32_t pid;
    char *database, *table;
    const char *mode;
    uint64_t began; /* ms of the monotonic clock */
    _Atomic uint64_t bytes, rows;
};

struct px_loading {
    pthread_mutex_t lock; /* Held while the list is read or changed; counts are atomic. */
    px_loading_copy *first;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A copy of a name that stays in its field and its line. */
static char *name_of(const char *name)
{
    char *copy = pgw_strndup(name, strlen(name));
    for (char *at = copy; *at != '\0'; at++)
        *at = (unsigned char)*at < ' ' ? '?' : *at;
    return copy;
}

px_loading *px_loading_new(void)
{
    px_loading *loading = pgw_calloc(1, sizeof *loading);
    pthread_mutex_init(&loading->lock, NULL);
    return loading;
}

void px_loading_free(px_loading *loading)
{
    if (loading == NULL)
        return;
    pthread_mutex_destroy(&loading->lock);
    free(loading);
}

px_loading_copy *px_loading_begin(px_loading *loading, uint32_t pid, const char *database,
                                  const char *table, const char *mode)
{
    if (loading == NULL)
        return NULL;
    px_loading_copy *copy = pgw_calloc(1, sizeof *copy), **place = &loading->first;
    copy->pid = pid;
    copy->database = name_of(database);
    copy->table = name_of(table);
    copy->mode = mode;
    copy->began = now_ms();
    pthread_mutex_lock(&loading->lock);
    while (*place != NULL)
        place = &(*place)->next;
    *place = copy;
    pthread_mutex_unlock(&loading->lock);
    return copy;
}

void px_loading_more(px_loading_copy *copy, uint64_t bytes, uint64_t rows)
{
    if (copy == NULL)
        return;
    atomic_fetch_add_explicit(&copy->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&copy->rows, rows, memory_order_relaxed);
}

void px_loading_end(px_loading *loading, px_loading_copy *copy)
{
    if (copy == NULL)
        return;
    pthread_mutex_lock(&loading->lock);
    px_loading_copy **place = &loading->first;
    while (*place != copy)
        place = &(*place)->next;
    *place = copy->next;
    pthread_mutex_unlock(&loading->lock);
    free(copy->database);
    free(copy->table);
    free(copy);
}

void px_loading_write(px_loading *loading, pgw_buf *out)
{
    pgw_buf_add_str(out, "pid\tdatname\trelname\tmode\tbytes_processed\ttuples_processed\tseconds\t"
                         "tuples_per_second\n");
    uint64_t now = now_ms();
    pthread_mutex_lock(&loading->lock);
    for (px_loading_copy *copy = loading->first; copy != NULL; copy = copy->next) {
        double seconds = now > copy->began ? (double)(now - copy->began) / 1000 : 0;
        uint64_t rows = atomic_load_explicit(&copy->rows, memory_order_relaxed);
        pgw_buf_addf(out, "%" PRIu32 "\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%.0f\n",
                     copy->pid, copy->database, copy->table, copy->mode,
                     atomic_load_explicit(&copy->bytes, memory_order_relaxed), rows, seconds,
                     seconds > 0 ? (double)rows / seconds : 0);
    }
    pthread_mutex_unlock(&loading->lock);
}
