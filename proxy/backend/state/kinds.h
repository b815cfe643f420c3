/*
 * kinds: what the first session with some startup parameters was answered about its state
 * (state.h), so that others with the same parameters need not ask. Believed for a minute.
 */
#ifndef PX_KINDS_H
#define PX_KINDS_H

#include "proxy/backend/base/identity.h"
#include "proxy/backend/state/state.h"

struct px_worker;

typedef struct px_kind {
    struct px_kind *next;
    char *key;
    px_answer answer;
    uint64_t epoch, at; /* the catalog's epoch, 0: none; when it was kept, px_worker_now() scale */
    const struct cfg_config *config; /* the configuration whose tables were asked for */
} px_kind;

/* The kept answer for sessions that began as `base`; NULL if there is none, or it is too old. Valid
 * until the next px_kind_keep(). */
const px_kind *px_kind_find(struct px_worker *worker, const px_identity *base);
/* Keeps a copy of `answer`, in place of what was kept for `base` before. */
void px_kind_keep(struct px_worker *worker, const px_identity *base, const px_answer *answer,
                  uint64_t epoch);
void px_kinds_free(struct px_worker *worker);

#endif
