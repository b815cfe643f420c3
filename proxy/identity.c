#include "proxy/identity.h"

#include <stdatomic.h>
#include <stdlib.h>

px_identity *px_identity_take(px_identity *identity)
{
    atomic_fetch_add(&identity->references, 1);
    return identity;
}

void px_identity_drop(px_identity *identity)
{
    if (identity == NULL || atomic_fetch_sub(&identity->references, 1) > 1)
        return;
    free(identity->user);
    free(identity->database);
    free(identity->options);
    free(identity->application);
    free(identity->replication);
    free(identity->key);
    free(identity);
}
