/*
 * kinds: what sessions that come with the same startup parameters mean at their start, as the first
 * of them was answered: the others need not ask. Believed for a minute.
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
    uint64_t epoch, at;              /* of the catalog, 0: of none; px_worker_now() scale */
    const struct cfg_config *config; /* whose tables were asked for */
} px_kind;

/* Of sessions that began as `base`. NULL if nothing is known, or not any more. Valid until the next
 * px_kind_keep(). */
const px_kind *px_kind_find(struct px_worker *worker, const px_identity *base);
/* `answer` is copied, in place of what was kept before. */
void px_kind_keep(struct px_worker *worker, const px_identity *base, const px_answer *answer,
                  uint64_t epoch);
void px_kinds_free(struct px_worker *worker);

#endif
