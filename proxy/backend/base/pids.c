#include "proxy/backend/base/pids.h"

#include "protocol/bytes.h"

#include <pthread.h>
#include <stdlib.h>

enum { FIRST_VIRTUAL = (1 << 22) + 1, LAST_VIRTUAL = INT32_MAX };

typedef struct entry {
    struct entry *next; /* the next entry in the same slot */
    uint32_t pid;
    px_place place;
} entry;

struct px_pids {
    pthread_mutex_t lock;
    entry **slots; /* a power of two of them */
    size_t slot_count, count;
    uint32_t next_virtual;
};

px_pids *px_pids_new(void)
{
    px_pids *pids = pgw_calloc(1, sizeof *pids);
    pthread_mutex_init(&pids->lock, NULL);
    pids->slot_count = 64;
    pids->slots = pgw_calloc(pids->slot_count, sizeof(entry *));
    pids->next_virtual = FIRST_VIRTUAL;
    return pids;
}

void px_pids_free(px_pids *pids)
{
    for (size_t i = 0; i < pids->slot_count; i++)
        for (entry *e = pids->slots[i], *next; e != NULL; e = next) {
            next = e->next;
            free(e);
        }
    free(pids->slots);
    pthread_mutex_destroy(&pids->lock);
    free(pids);
}

/* ---- under the lock ---- */

static entry **slot_of(px_pids *pids, uint32_t pid)
{
    return &pids->slots[pid & (pids->slot_count - 1)]; /* process ids are given in sequence */
}

static entry **find_entry(px_pids *pids, uint32_t pid)
{
    entry **at = slot_of(pids, pid);
    while (*at != NULL && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

static void grow(px_pids *pids)
{
    entry **old = pids->slots;
    size_t old_count = pids->slot_count;
    pids->slot_count *= 2;
    pids->slots = pgw_calloc(pids->slot_count, sizeof(entry *));
    for (size_t i = 0; i < old_count; i++)
        for (entry *e = old[i], *next; e != NULL; e = next) {
            next = e->next;
            e->next = *slot_of(pids, e->pid);
            *slot_of(pids, e->pid) = e;
        }
    free(old);
}

static bool add(px_pids *pids, uint32_t pid, px_place place)
{
    if (pid == 0 || pid > LAST_VIRTUAL || *find_entry(pids, pid) != NULL)
        return false;
    if (pids->count++ >= pids->slot_count)
        grow(pids);
    entry *e = pgw_alloc(sizeof *e);
    *e = (entry){.next = *slot_of(pids, pid), .pid = pid, .place = place};
    *slot_of(pids, pid) = e;
    return true;
}

/* ---- any thread ---- */

bool px_pids_take(px_pids *pids, uint32_t pid, px_place place)
{
    pthread_mutex_lock(&pids->lock);
    bool taken = add(pids, pid, place);
    pthread_mutex_unlock(&pids->lock);
    return taken;
}

uint32_t px_pids_take_virtual(px_pids *pids, px_place place)
{
    uint32_t pid;
    pthread_mutex_lock(&pids->lock);
    do {
        pid = pids->next_virtual;
        pids->next_virtual = pid == LAST_VIRTUAL ? FIRST_VIRTUAL : pid + 1;
    } while (!add(pids, pid, place));
    pthread_mutex_unlock(&pids->lock);
    return pid;
}

void px_pids_drop(px_pids *pids, uint32_t pid)
{
    pthread_mutex_lock(&pids->lock);
    entry **at = find_entry(pids, pid), *e = *at;
    if (e != NULL) {
        *at = e->next;
        pids->count--;
    }
    pthread_mutex_unlock(&pids->lock);
    free(e);
}

bool px_pids_find(px_pids *pids, uint32_t pid, px_place *place)
{
    pthread_mutex_lock(&pids->lock);
    const entry *e = *find_entry(pids, pid);
    if (e != NULL)
        *place = e->place;
    pthread_mutex_unlock(&pids->lock);
    return e != NULL;
}
