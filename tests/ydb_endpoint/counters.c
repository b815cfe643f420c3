#include "tests/ydb_endpoint/counters.h"

static const struct {
    const char *name;
    size_t at;
} rows[] = {
    {"statements", offsetof(ye_counters, statements)},
    {"commits", offsetof(ye_counters, commits)},
    {"failures", offsetof(ye_counters, failures)},
    {"severed", offsetof(ye_counters, severed)},
};

static atomic_ulong *counter(ye_counters *counters, size_t i)
{
    return (atomic_ulong *)((char *)counters + rows[i].at);
}

void ye_counters_write(ye_counters *counters, pgw_buf *out)
{
    pgw_buf_add_byte(out, '{');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        pgw_buf_addf(out, "%s\"%s\": %lu", i == 0 ? "" : ", ", rows[i].name,
                     atomic_load(counter(counters, i)));
    pgw_buf_add_str(out, "}\n");
}

void ye_counters_reset(ye_counters *counters)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        atomic_store(counter(counters, i), 0);
}
