#include "proxy/backend/state/kinds.h"

#include "proxy/loop/worker.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MS = 60000, KINDS = 1024 }; /* KINDS: the oldest of more kinds is forgotten */

static bool is(const px_kind *kind, const px_identity *base)
{
    return strcmp(kind->key, base->key) == 0;
}

static void free_kind(px_kind *kind)
{
    px_answer_free(&kind->answer);
    free(kind->key);
    free(kind);
}

void px_kinds_free(px_worker *worker)
{
    while (worker->kinds != NULL) {
        px_kind *kind = worker->kinds;
        worker->kinds = kind->next;
        free_kind(kind);
    }
}

const px_kind *px_kind_find(px_worker *worker, const px_identity *base)
{
    for (const px_kind *kind = worker->kinds; kind != NULL; kind = kind->next)
        if (is(kind, base))
            return px_worker_now(worker) - kind->at < KEPT_MS ? kind : NULL;
    return NULL;
}

static void remove_kind(px_worker *worker, const px_identity *base)
{
    size_t count = 0;
    for (px_kind **at = &worker->kinds; *at != NULL;) {
        px_kind *kind = *at;
        if (is(kind, base) || ++count >= KINDS) {
            *at = kind->next;
            free_kind(kind);
        } else {
            at = &kind->next;
        }
    }
}

void px_kind_keep(px_worker *worker, const px_identity *base, const px_answer *answer,
                  uint64_t epoch)
{
    remove_kind(worker, base);
    px_kind *kind = pgw_calloc(1, sizeof *kind);
    kind->key = pgw_strndup(base->key, strlen(base->key));
    px_answer_copy(answer, &kind->answer);
    kind->epoch = epoch;
    kind->config = worker->config;
    kind->at = px_worker_now(worker);
    kind->next = worker->kinds;
    worker->kinds = kind;
}
