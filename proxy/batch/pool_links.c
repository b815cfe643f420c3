#include "proxy/batch/pool_links.h"

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>

void px_pool_links_add(px_pool_link *l)
{
    px_pool *pool = l->pool;
    l->previous = NULL;
    l->next = pool->links;
    if (l->next != NULL)
        l->next->previous = l;
    pool->links = l;
}

static void delist(px_pool_link *l)
{
    if (l->previous != NULL)
        l->previous->next = l->next;
    else
        l->pool->links = l->next;
    if (l->next != NULL)
        l->next->previous = l->previous;
}

void px_pool_links_first(px_pool_link *l)
{
    delist(l);
    px_pool_links_add(l);
}

void px_pool_links_forget(px_pool_link *l)
{
    delist(l);
    l->pool->link_count--;
    px_quota_release(&l->pool->worker->server->quota);
    l->pool->opening -= l->state == PX_POOL_OPENING;
    px_writer_free(l->writer);
    free(l);
}

void px_pool_links_drop(px_pool_link *l)
{
    px_link_close(l->link);
    px_pool_links_forget(l);
}

unsigned px_pool_links_most(const px_pool *pool)
{
    return px_quota_most(pool->worker->config, pool->worker->server->worker_count);
}
