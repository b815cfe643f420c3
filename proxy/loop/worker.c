#include "proxy/loop/worker.h"

#include "proxy/base/shared.h"

#include <malloc.h>
#include <stdlib.h>
#include <xxhash.h>

enum { TICK_MS = 100, LET_GO = 1024 * 1024, TRIM_TICKS = 20 };

/* Calls a hook of each tenant that has it. */
#define FOR_TENANTS(worker, hook)                                                                  \
    for (const px_tenant *const *tenant = (worker)->tenants; *tenant != NULL; tenant++)            \
        if ((*tenant)->hook != NULL)                                                               \
    (*tenant)->hook(worker)

/* ---- messages ---- */

static _Thread_local px_worker *current; /* the worker whose thread this is */

void px_worker_send(px_worker *worker, px_message *message)
{
    message->next = NULL;
    if (worker == current) {
        *worker->own_tail = message;
        worker->own_tail = &message->next;
        return;
    }
    pthread_mutex_lock(&worker->inbox_lock);
    *worker->inbox_tail = message;
    worker->inbox_tail = &message->next;
    uv_async_send(&worker->wake); /* under the lock: the worker cannot have ended yet */
    pthread_mutex_unlock(&worker->inbox_lock);
}

static px_message *take_inbox(px_worker *worker)
{
    pthread_mutex_lock(&worker->inbox_lock);
    px_message *first = worker->inbox;
    worker->inbox = NULL;
    worker->inbox_tail = &worker->inbox;
    pthread_mutex_unlock(&worker->inbox_lock);
    return first;
}

static void run_all(px_worker *worker, px_message *message)
{
    while (message != NULL) {
        px_message *next = message->next; /* `run` owns the message */
        message->run(worker, message);
        message = next;
    }
}

static void run_own(px_worker *worker)
{
    while (worker->own != NULL) {
        px_message *first = worker->own;
        worker->own = NULL;
        worker->own_tail = &worker->own;
        run_all(worker, first);
    }
}

static void on_wake(uv_async_t *async)
{
    px_worker *worker = async->data;
    run_all(worker, take_inbox(worker));
}

/* ---- the turn ---- */

static void end_turn(px_worker *worker)
{
    do {
        run_own(worker);
        FOR_TENANTS(worker, turn); /* may send messages to itself */
    } while (worker->own != NULL);
    worker->clock = 0;
}

static void on_before_poll(uv_prepare_t *handle)
{
    end_turn(handle->data);
}

/* Messages run before handles that were closed in this turn are gone, with what they are part of.
 */
static void on_after_poll(uv_check_t *handle)
{
    run_own(handle->data);
}

static void close_handles(px_worker *worker)
{
    uv_close((uv_handle_t *)&worker->wake, NULL);
    uv_close((uv_handle_t *)&worker->before_poll, NULL);
    uv_close((uv_handle_t *)&worker->after_poll, NULL);
    uv_close((uv_handle_t *)&worker->tick, NULL);
}

unsigned px_workers_load(const px_server *server)
{
    unsigned load = 0;
    for (unsigned i = 0; i < server->worker_count; i++)
        load += atomic_load(&server->workers[i].load);
    return load;
}

/* Whether the process has no sessions left, nor work that one of them began: sessions of other
 * workers may have write groups here. */
static bool is_quiet(px_worker *worker)
{
    if (px_workers_load(worker->server) > 0 || atomic_load(&worker->server->errands) > 0)
        return false;
    for (const px_tenant *const *tenant = worker->tenants; *tenant != NULL; tenant++)
        if ((*tenant)->idle != NULL && !(*tenant)->idle(worker))
            return false;
    return true;
}

static void end_if_drained(px_worker *worker)
{
    bool late = px_worker_now(worker) - worker->drain_since > PX_DRAIN_MS;
    if (!worker->draining || (worker->cancels > 0 && !late) ||
        uv_is_closing((uv_handle_t *)&worker->tick) || !is_quiet(worker) ||
        worker->own != NULL) /* messages of this turn run first */
        return;
    FOR_TENANTS(worker, end);
    close_handles(worker);
}

void px_worker_let_go(px_worker *worker, size_t bytes)
{
    worker->let_go += bytes;
}

/* Gives freed pages back to the system: they lie between used ones, so malloc_trim() must be
 * called. `let_go` tells when bytes were freed, not how many, and not all are freed at once: so a
 * trim comes when no more are noted for a tick, if that were many, and another one TRIM_TICKS later
 * in any case. */
static void give_back(px_worker *worker)
{
    bool quiet = worker->let_go == worker->let_go_before;
    if (worker->trim_in > 0) {
        if (--worker->trim_in == 0)
            malloc_trim(0);
    } else if (quiet && worker->let_go > 0) {
        if (worker->let_go >= LET_GO)
            malloc_trim(0);
        worker->let_go = 0;
        worker->trim_in = TRIM_TICKS;
    }
    worker->let_go_before = worker->let_go;
}

static void on_tick(uv_timer_t *timer)
{
    px_worker *worker = timer->data;
    FOR_TENANTS(worker, tick);
    give_back(worker);
    end_if_drained(worker);
}

uint64_t px_worker_now(const px_worker *worker)
{
    return uv_now(&worker->loop);
}

uint64_t px_worker_clock(px_worker *worker)
{
    if (worker->clock == 0)
        worker->clock = uv_hrtime();
    return worker->clock;
}

px_worker *px_worker_owner(px_worker *worker, const char *table, uint32_t partition)
{
    pgw_slice name = pgw_slice_str(table);
    uint64_t hash = XXH3_64bits_withSeed(name.ptr, name.len, partition);
    return &worker->server->workers[hash % worker->server->worker_count];
}

void px_worker_init(px_worker *worker, px_server *server, unsigned index,
                    const px_tenant *const *tenants)
{
    *worker = (px_worker){.index = index, .server = server, .tenants = tenants};
    worker->inbox_tail = &worker->inbox;
    worker->own_tail = &worker->own;
    worker->metrics = px_metrics_new(server->metrics);
    pthread_mutex_init(&worker->inbox_lock, NULL);
    uv_loop_init(&worker->loop);
    uv_async_init(&worker->loop, &worker->wake, on_wake);
    uv_prepare_init(&worker->loop, &worker->before_poll);
    uv_check_init(&worker->loop, &worker->after_poll);
    uv_timer_init(&worker->loop, &worker->tick);
    worker->wake.data = worker->before_poll.data = worker->after_poll.data = worker->tick.data =
        worker;
    uv_prepare_start(&worker->before_poll, on_before_poll);
    uv_check_start(&worker->after_poll, on_after_poll);
    uv_timer_start(&worker->tick, on_tick, TICK_MS, TICK_MS);
    /* Under another allocator, such as a sanitizer's, the first malloc_trim() sets up the C
     * library's own, and crashes if two threads do that at once: so it is called before any worker
     * runs. */
    malloc_trim(0);
}

void px_worker_run(px_worker *worker)
{
    current = worker;
    uv_run(&worker->loop, UV_RUN_DEFAULT);
}

void px_worker_drain(px_worker *worker)
{
    worker->draining = true;
    worker->drain_since = px_worker_now(worker);
    FOR_TENANTS(worker, drain);
    end_if_drained(worker);
}

void px_worker_free(px_worker *worker)
{
    uv_loop_close(&worker->loop);
    FOR_TENANTS(worker, free);
    pthread_mutex_destroy(&worker->inbox_lock);
}
