#include "proxy/base/quota.h"

#include "proxy/base/claim.h"

unsigned px_quota_most(const cfg_config *config, unsigned workers)
{
    unsigned most = config->backend.batch_links > workers ? config->backend.batch_links : workers;
    unsigned half = config->backend.max_links > 1 ? config->backend.max_links / 2 : 1;
    return most < half ? most : half;
}

unsigned px_quota_part(const px_quota *quota, unsigned most)
{
    unsigned pools = atomic_load(&quota->pools);
    return pools > 0 && most > pools ? most / pools : 1;
}

bool px_quota_claim(px_quota *quota, unsigned most, size_t count)
{
    if (count > 0 && atomic_load(&quota->starving) > 0)
        return false;
    if (count >= px_quota_part(quota, most) && atomic_load(&quota->wanting) > 0)
        return false;
    return px_claim(&quota->links, most);
}

void px_quota_release(px_quota *quota)
{
    atomic_fetch_sub(&quota->links, 1);
}

void px_quota_count(_Atomic unsigned *counter, bool *is, bool now)
{
    if (now && !*is)
        atomic_fetch_add(counter, 1);
    if (!now && *is)
        atomic_fetch_sub(counter, 1);
    *is = now;
}

void px_quota_fly(px_quota *quota)
{
    atomic_fetch_add_explicit(&quota->flying, 1, memory_order_relaxed);
}

void px_quota_land(px_quota *quota, uint64_t now)
{
    unsigned landing = atomic_fetch_add_explicit(&quota->landings, 1, memory_order_relaxed);
    atomic_store_explicit(&quota->landed[landing % PX_QUOTA_FEW], now, memory_order_relaxed);
    atomic_fetch_sub_explicit(&quota->flying, 1, memory_order_relaxed);
}

bool px_quota_is_busy(const px_quota *quota, uint64_t now)
{
    enum { BUSY_MS = 1000 };
    unsigned oldest = atomic_load_explicit(&quota->landings, memory_order_relaxed) % PX_QUOTA_FEW;
    uint64_t landed = atomic_load_explicit(&quota->landed[oldest], memory_order_relaxed);
    return atomic_load_explicit(&quota->flying, memory_order_relaxed) > 0 ||
           (landed > 0 && now < landed + BUSY_MS);
}
