#include "tests/ydb_endpoint/cost.h"

#include "tests/ydb_endpoint/ranges.h"

#include <time.h>

void ye_sleep_until(int64_t ns)
{
    const struct timespec end = {ns / 1000000000, ns % 1000000000};
    while (ns > ye_now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
        ;
}

/* FNV-1a; what two texts have in common by chance is compiled once. */
static uint64_t hash(pgw_slice text)
{
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < text.len; i++)
        value = (value ^ (unsigned char)text.ptr[i]) * 0x100000001b3;
    return value | 1;
}

/* "So every distinct INSERT text is compiled anew (cache key = text)" (2 VALUES handling). The
 * cache forgets what its places are needed for. */
static bool is_new(ye_texts *texts, uint64_t text)
{
    pthread_mutex_lock(&texts->lock);
    uint64_t *place = &texts->met[text / 2 % YE_TEXTS];
    const bool met = *place == text;
    *place = text;
    pthread_mutex_unlock(&texts->lock);
    return !met;
}

void ye_cost_compile(ye_session *session, pgw_slice text)
{
    ye_endpoint *endpoint = session->endpoint;
    if (!is_new(&endpoint->texts, hash(text)))
        return;
    const int64_t us = endpoint->options.compile_us_per_kb * (int64_t)text.len / 1024;
    atomic_fetch_add(&endpoint->counters.compiled, 1);
    session->begun += us * 1000;
    if (us > 0)
        ye_sleep_until(session->begun);
}

static const ye_range *ranges_of(const pgw_buf *ranges, size_t *count)
{
    *count = ranges->len / sizeof(ye_range);
    return (const ye_range *)ranges->ptr;
}

bool ye_cost_begin(ye_session *session, const PgQuery__Node *statement, const pgw_buf *bind,
                   ye_failure *failure)
{
    ye_map *map = &session->endpoint->map;
    size_t count;
    session->until = 0;
    pgw_buf_clear(&session->ranges);
    if (statement != NULL)
        ye_ranges_of(map, statement, bind, &session->ranges);
    else
        pgw_buf_add_slice(&session->ranges, pgw_slice_buf(&session->written));
    const ye_range *ranges = ranges_of(&session->ranges, &count);
    return ye_map_admit(map, ranges, count, failure);
}

void ye_cost_written(ye_session *session)
{
    pgw_buf_add_slice(&session->written, pgw_slice_buf(&session->ranges));
}

void ye_cost_charge(ye_session *session, const PgQuery__Node *statement)
{
    ye_endpoint *endpoint = session->endpoint;
    const ye_price price = {endpoint->options.request_us, endpoint->options.row_us,
                            endpoint->options.factor, session->begun};
    size_t count, touched;
    const ye_range *ranges = ranges_of(&session->ranges, &count);
    uint64_t rows = statement == NULL ? 0 : ye_rows_of(statement);
    if (count == 0)
        return;
    if (rows == 0 && statement != NULL)
        rows = session->rows;
    const int64_t end = ye_map_request(&endpoint->map, ranges, count, rows, &price, &touched);
    ye_counters_request(&endpoint->counters, touched);
    if (price.request_us > 0 || price.row_us > 0)
        session->until = end;
}
