#include "ydb/places/discovery.h"

#include "proxy/backend/base/dsn.h"
#include "proxy/backend/places/maps.h"
#include "ydb/places/viewer.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { DOUBT_MS = 1000 }; /* shortest time between two questions about a table */

/* A table whose partitions are looked for. */
typedef struct target {
    const cfg_table *table;
    uint64_t due, asked_at; /* ms of a clock that only goes forward */
    px_map *map;            /* the map that was sent last; NULL: none */
    bool known;             /* unused */
    bool told;              /* the failure of the last question was logged */
} target;

typedef struct px_discovery {
    px_server *server;
    uv_thread_t thread;
    uv_mutex_t lock; /* guards the fields below; not held while YDB is asked */
    uv_cond_t changed;
    const cfg_config *config;
    bool renewed;
    _Atomic bool stopping;
    target *targets;
    size_t count;
    px_viewer *viewer; /* used by the thread only */
} px_discovery;

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

/* ---- tables ---- */

static const char *schema_of(const cfg_table *table)
{
    return table->schema != NULL ? table->schema : "public";
}

static void forget_targets(px_discovery *discovery)
{
    for (size_t i = 0; i < discovery->count; i++)
        px_map_drop(discovery->targets[i].map);
    free(discovery->targets);
    discovery->targets = NULL;
    discovery->count = 0;
}

static void take_targets(px_discovery *discovery)
{
    const cfg_config *config = discovery->config;
    forget_targets(discovery);
    discovery->renewed = false;
    px_viewer_free(discovery->viewer);
    discovery->viewer = NULL;
    if (config->backend.monitoring == NULL)
        return;
    char *database = px_dsn_value(config->backend.dsn, "dbname");
    discovery->viewer =
        px_viewer_new(config->backend.monitoring, database ? database : "", &discovery->stopping);
    free(database);
    discovery->targets = pgw_calloc(config->table_count, sizeof *discovery->targets);
    for (size_t i = 0; i < config->table_count; i++)
        if (config->tables[i].partitions.discover)
            discovery->targets[discovery->count++] = (target){.table = &config->tables[i]};
}

static target *next_target(const px_discovery *discovery)
{
    target *next = NULL;
    for (size_t i = 0; i < discovery->count; i++)
        if (next == NULL || discovery->targets[i].due < next->due)
            next = &discovery->targets[i];
    return next;
}

void px_discovery_doubt(px_discovery *discovery, const char *label)
{
    if (discovery == NULL)
        return;
    uv_mutex_lock(&discovery->lock);
    for (size_t i = 0; i < discovery->count; i++) {
        target *t = &discovery->targets[i];
        const char *schema = schema_of(t->table);
        size_t len = strlen(schema);
        if (strncmp(label, schema, len) != 0 || label[len] != '.' ||
            strcmp(label + len + 1, t->table->name) != 0 || t->due <= t->asked_at + DOUBT_MS)
            continue;
        t->due = t->asked_at + DOUBT_MS;
        uv_cond_signal(&discovery->changed);
    }
    uv_mutex_unlock(&discovery->lock);
}

/* ---- answers ---- */

static bool same_map(const rw_partitions *a, const rw_partitions *b)
{
    return a->count == b->count &&
           (a->count < 2 || memcmp(a->at, b->at, (a->count - 1) * sizeof *a->at) == 0);
}

static void publish(px_discovery *discovery, target *t, rw_partitions partitions)
{
    const cfg_table *table = t->table;
    rw_hash_type type = table->hash_type == CFG_HASH_INT8 ? RW_HASH_INT8 : RW_HASH_UINT64;
    px_map_drop(t->map);
    t->map = px_map_new(schema_of(table), table->name, type, partitions);
    px_map_send(discovery->server, t->map);
}

static void adopt(px_discovery *discovery, target *t, const px_viewed *seen)
{
    const char *label = cfg_table_label(t->table);
    if (seen->reason[0] == '\0') {
        bool same = t->map != NULL && same_map(&t->map->partitions, &seen->partitions);
        t->told = false;
        if (same) {
            free(seen->partitions.at);
            return;
        }
        publish(discovery, t, seen->partitions);
        px_log(CFG_LOG_INFO, "partitions_discovered", "table=%s partitions=%u", label,
               seen->partitions.count);
        return;
    }
    if (!t->told)
        px_log(CFG_LOG_WARN, "partitions_unknown", "table=%s reason=%s", label, seen->reason);
    t->told = true;
    if (seen->answered && t->map != NULL && t->map->partitions.count > 0)
        publish(discovery, t, (rw_partitions){.count = 0});
}

/* ---- the thread ---- */

/* Asks YDB about a table without holding the lock. The target stays where it is meanwhile, for only
 * this thread moves it. */
static void ask(px_discovery *discovery, target *t)
{
    const cfg_table *table = t->table;
    t->asked_at = now_ms();
    t->due = t->asked_at + (uint64_t)discovery->config->backend.monitoring_s * 1000;
    uv_mutex_unlock(&discovery->lock);
    px_viewed seen;
    px_viewer_ask(discovery->viewer, table, &seen);
    uv_mutex_lock(&discovery->lock);
    if (discovery->stopping)
        free(seen.partitions.at);
    else
        adopt(discovery, t, &seen);
}

static void run(void *argument)
{
    px_discovery *discovery = argument;
    uv_mutex_lock(&discovery->lock);
    while (!discovery->stopping) {
        if (discovery->renewed)
            take_targets(discovery);
        target *t = next_target(discovery);
        uint64_t now = now_ms();
        if (t == NULL)
            uv_cond_wait(&discovery->changed, &discovery->lock);
        else if (t->due > now)
            uv_cond_timedwait(&discovery->changed, &discovery->lock, (t->due - now) * 1000000);
        else
            ask(discovery, t);
    }
    uv_mutex_unlock(&discovery->lock);
}

static px_discovery *start(px_server *server)
{
    px_discovery *discovery = pgw_calloc(1, sizeof *discovery);
    discovery->server = server;
    discovery->config = server->config;
    discovery->renewed = true;
    uv_mutex_init(&discovery->lock);
    uv_cond_init(&discovery->changed);
    px_viewer_global();
    if (uv_thread_create(&discovery->thread, run, discovery) != 0)
        abort(); /* only at the start of the process */
    return discovery;
}

static void renew(px_discovery *discovery, const cfg_config *config)
{
    uv_mutex_lock(&discovery->lock);
    discovery->config = config;
    discovery->renewed = true;
    uv_cond_signal(&discovery->changed);
    uv_mutex_unlock(&discovery->lock);
}

static void refuse(px_discovery *discovery)
{
    uv_mutex_lock(&discovery->lock);
    discovery->stopping = true;
    uv_cond_signal(&discovery->changed);
    uv_mutex_unlock(&discovery->lock);
}

static void stop(px_discovery *discovery)
{
    uv_thread_join(&discovery->thread);
    forget_targets(discovery);
    px_viewer_free(discovery->viewer);
    uv_cond_destroy(&discovery->changed);
    uv_mutex_destroy(&discovery->lock);
    free(discovery);
}

const px_discovery_kind px_ydb_discovery = {
    .start = start,
    .renew = renew,
    .refuse = refuse,
    .stop = stop,
    .doubt = px_discovery_doubt,
};
