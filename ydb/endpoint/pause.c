#include "ydb/endpoint/pause.h"

#include <uv.h>
#include <xxhash.h>

enum { FIRST_MS = 5, FIRST_SLOW_MS = 50, LONGEST_MS = 500, LONGEST_SLOW_MS = 5000 };

uint64_t px_ydb_pause_ms(unsigned tries, bool slowly, const void *whose)
{
    uint64_t most = slowly ? LONGEST_SLOW_MS : LONGEST_MS;
    unsigned doublings = tries < 10 ? tries : 10;
    uint64_t pause = (uint64_t)(slowly ? FIRST_SLOW_MS : FIRST_MS) << doublings;
    uint64_t seed[2] = {uv_hrtime(), (uint64_t)(uintptr_t)whose};
    pause = pause < most ? pause : most;
    return pause - XXH3_64bits(seed, sizeof seed) % (pause / 2 + 1);
}
