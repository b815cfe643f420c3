#include "proxy/share.h"

#include "protocol/bytes.h"
#include "proxy/claim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static px_share *shares; /* of the process */

px_share *px_share_take(const char *key)
{
    pthread_mutex_lock(&lock);
    px_share *share = shares;
    while (share != NULL && strcmp(share->key, key) != 0)
        share = share->next;
    if (share == NULL) {
        share = pgw_calloc(1, sizeof *share);
        share->key = pgw_strndup(key, strlen(key));
        share->next = shares;
        shares = share;
    }
    share->references++;
    pthread_mutex_unlock(&lock);
    return share;
}

void px_share_drop(px_share *share)
{
    pthread_mutex_lock(&lock);
    if (--share->references == 0) {
        px_share **at = &shares;
        while (*at != share)
            at = &(*at)->next;
        *at = share->next;
        free(share->key);
        free(share);
    }
    pthread_mutex_unlock(&lock);
}

bool px_share_claim(px_share *share, unsigned most)
{
    return px_claim(&share->common, most);
}

void px_share_release(px_share *share)
{
    atomic_fetch_sub(&share->common, 1);
}
