#include "tests/ydb_endpoint/counters.h"

static const struct {
    const char *name;
    size_t at;
} rows[] = {
    {"statements", offsetof(ye_counters, statements)}, {"commits", offsetof(ye_counters, commits)},
    {"failures", offsetof(ye_counters, failures)},     {"severed", offsetof(ye_counters, severed)},
    {"compiled", offsetof(ye_counters, compiled)},     {"cancels", offsetof(ye_counters, cancels)},
    {"rows_read", offsetof(ye_counters, rows_read)},
};

static atomic_ulong *counter(ye_counters *counters, size_t i)
{
    return (atomic_ulong *)((char *)counters + rows[i].at);
}

void ye_counters_request(ye_counters *counters, size_t touched)
{
    const size_t most = YE_TOUCHED_MAX;
    atomic_fetch_add(&counters->requests[(touched < most ? touched : most) - 1], 1);
}

static void write_requests(ye_counters *counters, pgw_buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < YE_TOUCHED_MAX; i++) {
        const unsigned long count = atomic_load(&counters->requests[i]);
        if (count == 0)
            continue;
        pgw_buf_addf(out, "%s\"%zu\": %lu", comma, i + 1, count);
        comma = ", ";
    }
}

void ye_counters_write(ye_counters *counters, pgw_buf *out)
{
    pgw_buf_add_byte(out, '{');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        pgw_buf_addf(out, "%s\"%s\": %lu", i == 0 ? "" : ", ", rows[i].name,
                     atomic_load(counter(counters, i)));
    pgw_buf_add_str(out, ", \"requests\": {");
    write_requests(counters, out);
    pgw_buf_add_str(out, "}}\n");
}

void ye_counters_reset(ye_counters *counters)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        atomic_store(counter(counters, i), 0);
    for (size_t i = 0; i < YE_TOUCHED_MAX; i++)
        atomic_store(&counters->requests[i], 0);
}
