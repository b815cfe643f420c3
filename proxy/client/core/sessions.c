#include "proxy/client/core/sessions.h"

#include "proxy/client/core/session.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64 };

typedef struct px_sessions {
    size_t count;       /* allocated slots */
    size_t used;        /* one more than the highest slot that is taken */
    size_t first_free;  /* no slot below this one is free */
    px_session **slots; /* NULL where the slot is free */
} px_sessions;

static void grow(px_sessions *sessions)
{
    size_t count = sessions->count > 0 ? sessions->count * 2 : SLOTS;
    sessions->slots = pgw_realloc(sessions->slots, count * sizeof *sessions->slots);
    memset(sessions->slots + sessions->count, 0,
           (count - sessions->count) * sizeof *sessions->slots);
    sessions->count = count;
}

void px_sessions_enter(px_session *session)
{
    px_worker *worker = session->worker;
    if (worker->sessions == NULL)
        worker->sessions = pgw_calloc(1, sizeof *worker->sessions);
    px_sessions *sessions = worker->sessions;
    size_t slot = sessions->first_free;
    while (slot < sessions->count && sessions->slots[slot] != NULL)
        slot++;
    if (slot == sessions->count)
        grow(sessions);
    sessions->first_free = slot + 1;
    sessions->slots[slot] = session;
    session->slot = slot;
    if (slot >= sessions->used)
        sessions->used = slot + 1;
}

void px_sessions_leave(px_session *session)
{
    px_sessions *sessions = session->worker->sessions;
    sessions->slots[session->slot] = NULL;
    if (session->slot < sessions->first_free)
        sessions->first_free = session->slot;
    while (sessions->used > 0 && sessions->slots[sessions->used - 1] == NULL)
        sessions->used--;
    atomic_fetch_sub(&session->worker->load, 1);
}

size_t px_sessions_slots(const px_worker *worker)
{
    return worker->sessions != NULL ? worker->sessions->used : 0;
}

px_session *px_sessions_at(const px_worker *worker, size_t slot)
{
    return slot < px_sessions_slots(worker) ? worker->sessions->slots[slot] : NULL;
}

void px_sessions_free(px_worker *worker)
{
    if (worker->sessions != NULL)
        free(worker->sessions->slots);
    free(worker->sessions);
}
