#include "proxy/server/server.h"

#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/base/databases.h"
#include "proxy/base/loading.h"
#include "proxy/base/scans.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/state/kinds.h"
#include "proxy/backend/places/maps.h"
#include "proxy/backend/base/pids.h"
#include "proxy/backend/postgres/postgres.h"
#include "proxy/backend/schema/rule.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/batch/batcher.h"
#include "proxy/batch/keylocks.h"
#include "proxy/batch/register.h"
#include "proxy/client/door/credentials.h"
#include "proxy/client/door/preauth.h"
#include "proxy/client/door/session_timeouts.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/template.h"
#include "proxy/loop/stream.h"
#include "proxy/server/admin.h"
#include "proxy/server/config.h"
#include "proxy/server/listener.h"
#include "proxy/server/notify.h"
#include "proxy/server/signals.h"
#include "ydb/ydb.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WORKER_STACK = 64 * 1024 * 1024 }; /* bytes; libpg_query recurses deeply */

typedef struct setup { /* a configuration file, and the files that it names */
    cfg_config *config;
    px_credentials *credentials;
} setup;

/* What the main thread owns: it accepts connections and handles signals. */
typedef struct process {
    px_server server;
    uv_loop_t loop;
    px_signals *signals;
    px_listener **listeners;
    size_t listener_count;
    px_admin *admin;
    setup *setups; /* all setups that were ever in force, for workers may still read old ones; only
                      the last has credentials */
    size_t setup_count;
    px_watchdog *watchdog;
    uv_timer_t hour;   /* hourly, to log which statements read whole tables */
    setup judged;      /* the setup of a reload, while its hash rules are checked */
    bool reloading;    /* a reload is under way */
    bool reload_again; /* another SIGHUP came while `reloading` */
    bool stopping;
} process;

/* ---- workers ---- */

/* The batcher comes before the streams, so that batches leave with the bytes of their turn. */
const px_tenant *const px_server_tenants[] = {&px_batcher_tenant, &px_sessions_tenant,
                                              &px_catalogs_tenant, &px_stream_tenant, NULL};

static void *worker_main(void *argument)
{
    px_worker_run(argument);
    return NULL;
}

static void start_worker(process *p, unsigned index)
{
    px_worker *worker = &p->server.workers[index];
    px_worker_init(worker, &p->server, index, px_server_tenants);
    worker->config = p->setups[0].config;
    worker->credentials = px_credentials_take(p->setups[0].credentials);
    worker->plans = pgw_calloc(1, sizeof *worker->plans);
    worker->catalogs = px_catalogs_new(worker);
    worker->batcher = px_batcher_new(worker);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    if (pthread_create(&worker->thread, &attributes, worker_main, worker) != 0)
        abort(); /* no thread can be made, as the process starts */
    pthread_attr_destroy(&attributes);
}

static void free_worker(px_worker *worker)
{
    px_credentials_drop(worker->credentials);
    px_templates_free(worker);
    px_plan_cache_clear(worker->plans);
    free(worker->plans);
    px_kinds_free(worker);
    px_maps_free(worker);
    px_worker_free(worker);
    px_metrics_free(worker->metrics);
}

/* ---- signals ---- */

typedef struct order { /* an order of the main thread to a worker */
    px_message message;
    setup setup;
} order;

static void give_order(process *p, void (*run)(px_worker *, px_message *), setup fresh)
{
    for (unsigned i = 0; i < p->server.worker_count; i++) {
        order *o = pgw_alloc(sizeof *o);
        *o = (order){.message.run = run, .setup = fresh};
        if (fresh.credentials != NULL)
            px_credentials_take(fresh.credentials);
        px_worker_send(&p->server.workers[i], &o->message);
    }
}

static void on_drain(px_worker *worker, px_message *message)
{
    free(message);
    px_worker_drain(worker);
}

static void on_new_setup(px_worker *worker, px_message *message)
{
    const order *o = (order *)message;
    px_credentials_drop(worker->credentials);
    px_greeting_renew(worker); /* the new configuration may name another server */
    worker->config = o->setup.config;
    worker->credentials = o->setup.credentials; /* the worker takes over the order's reference */
    free(message);
}

/* Stops the process for a signal; `signal_number` 0: because it could not listen. */
static void stop(process *p, int signal_number)
{
    if (p->stopping)
        return;
    p->stopping = true;
    atomic_store(&p->server.stopping, true);
    px_notify_stopping();
    if (signal_number > 0)
        px_log(CFG_LOG_INFO, "stopping", "signal=%d clients=%u", signal_number,
               atomic_load(&p->server.clients));
    for (size_t i = 0; i < p->listener_count; i++)
        px_listener_close(p->listeners[i]);
    px_signals_close(p->signals);
    px_watchdog_stop(p->watchdog);
    uv_close((uv_handle_t *)&p->hour, NULL);
    if (p->server.discovery != NULL)
        p->server.places->refuse(p->server.discovery);
    give_order(p, on_drain, (setup){0});
}

static bool same_address(const cfg_listen *a, const cfg_listen *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    const char *p = a->path ? a->path : a->host, *q = b->path ? b->path : b->host;
    return a->port == b->port && !a->path == !b->path && strcmp(p, q) == 0;
}

static bool same_listen(const cfg_config *a, const cfg_config *b)
{
    if (a->listen_count != b->listen_count)
        return false;
    for (size_t i = 0; i < a->listen_count; i++)
        if (!same_address(&a->listen[i], &b->listen[i]))
            return false;
    return true;
}

/* Logs the keys whose new values take effect only at the next start of the process. */
static void log_kept(const cfg_config *started, const cfg_config *fresh)
{
    const struct {
        const char *name;
        bool same;
    } keys[] = {{"listen", same_listen(started, fresh)},
                {"unix_socket_mode", started->unix_socket_mode == fresh->unix_socket_mode},
                {"workers", started->workers == fresh->workers},
                {"backend.dialect", started->backend.dialect == fresh->backend.dialect},
                {"admin.listen", same_address(started->admin.listen, fresh->admin.listen)}};
    pgw_buf changed = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!keys[i].same)
            pgw_buf_addf(&changed, "%s%s", changed.len > 0 ? "," : "", keys[i].name);
    pgw_buf_add_byte(&changed, '\0');
    if (changed.len > 1)
        px_log(CFG_LOG_WARN, "restart_needed", "keys=%s", changed.ptr);
    pgw_buf_free(&changed);
}

static void reload(process *p);

static void put_in_force(process *p, setup fresh)
{
    setup *last = p->setup_count > 0 ? &p->setups[p->setup_count - 1] : NULL;
    if (last != NULL)
        px_credentials_drop(last->credentials);
    if (last != NULL && last->config == fresh.config) {
        *last = fresh;
        return;
    }
    if (last != NULL)
        last->credentials = NULL;
    p->setups = pgw_realloc(p->setups, (p->setup_count + 1) * sizeof *p->setups);
    p->setups[p->setup_count++] = fresh;
    p->server.config = fresh.config;
    px_log_level(fresh.config->log_level);
    px_config_log_unconfirmed(fresh.config);
}

/* Frees a setup that never came into force, or is not in force any more. */
static void free_setup(const process *p, setup old)
{
    px_credentials_drop(old.credentials);
    if (old.config != p->server.config)
        cfg_free(old.config);
}

/* Loads the file as it is now. If its text is the same, returns the configuration in force itself,
 * so that reloads for new keys and passwords leave nothing behind. */
static cfg_config *load_again(process *p)
{
    cfg_config *old = p->setups[p->setup_count - 1].config;
    cfg_config *fresh = px_config_load(old->path, stderr);
    if (fresh == NULL || !cfg_same_text(old, fresh))
        return fresh;
    cfg_free(fresh);
    return old;
}

static void adopt(process *p, setup fresh)
{
    log_kept(p->setups[0].config, fresh.config);
    put_in_force(p, fresh);
    give_order(p, on_new_setup, fresh);
    if (p->server.discovery != NULL)
        p->server.places->renew(p->server.discovery, fresh.config);
    px_log(CFG_LOG_INFO, "reloaded", "file=%s tables=%zu", fresh.config->path,
           fresh.config->table_count);
}

/* Ends a reload; `good` false: the old configuration stays in force. */
static void end_reload(process *p, bool good)
{
    bool again = p->reload_again;
    p->reloading = p->reload_again = false;
    if (p->stopping)
        return;
    px_notify_ready(good ? "clients are served"
                         : "clients are served; the last reload failed, its reason is logged");
    if (again)
        reload(p);
}

static void on_judged(void *owner, const cfg_table *refused, const char *reason)
{
    process *p = owner;
    setup fresh = p->judged;
    if (refused != NULL)
        px_log(CFG_LOG_ERROR, "reload_failed",
               "file=%s table=%s kept=old changed=hash_rule reason=%s", fresh.config->path,
               cfg_table_label(refused), reason);
    bool good = refused == NULL && !p->stopping;
    if (good)
        adopt(p, fresh);
    else
        free_setup(p, fresh);
    end_reload(p, good);
}

static void reload(process *p)
{
    if (p->reloading) {
        p->reload_again = true;
        return;
    }
    p->reloading = true;
    px_notify_reloading();
    const cfg_config *old = p->server.config;
    p->judged = (setup){.config = load_again(p)};
    const cfg_config *fresh = p->judged.config;
    if (fresh != NULL)
        p->judged.credentials =
            px_credentials_load(fresh, p->setups[p->setup_count - 1].credentials, stderr);
    if (p->judged.credentials != NULL) {
        px_rule_judge(&p->loop, old, fresh, on_judged, p);
        return;
    }
    px_log(CFG_LOG_ERROR, "reload_failed", "file=%s kept=old", old->path);
    free_setup(p, p->judged);
    end_reload(p, false);
}

static void on_signal(void *owner, int number)
{
    process *p = owner;
    if (number == SIGHUP)
        reload(p);
    else
        stop(p, number);
}

/* ---- the process ---- */

/* Removes PG* variables, which libpq would use for links. */
static void clear_environment(void)
{
    extern char **environ;
    for (size_t i = 0; environ[i] != NULL;) {
        char name[64];
        size_t len = strcspn(environ[i], "=");
        if (strncmp(environ[i], "PG", 2) != 0 || len >= sizeof name) {
            i++;
            continue;
        }
        memcpy(name, environ[i], len);
        name[len] = '\0';
        unsetenv(name);
    }
}

/* Raises the limit of descriptors as far as the system allows: each client and each link takes one.
 */
static void raise_descriptors(const cfg_config *config)
{
    enum { OTHERS = 64 }; /* listeners, pipes, loops */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    rlim_t wanted = (rlim_t)config->limits.clients + config->limits.unauthenticated +
                    config->backend.max_links + OTHERS;
    if (limit.rlim_max < wanted)
        px_log(CFG_LOG_WARN, "few_descriptors", "limit=%llu wanted=%llu",
               (unsigned long long)limit.rlim_max, (unsigned long long)wanted);
}

static bool open_listeners(process *p)
{
    const cfg_config *config = p->setups[0].config;
    p->listeners = pgw_calloc(config->listen_count, sizeof *p->listeners);
    for (size_t i = 0; i < config->listen_count; i++) {
        char message[512];
        px_listener *listener =
            px_listener_open(&p->server, &p->loop, &config->listen[i], message, sizeof message);
        if (listener == NULL) {
            px_log(CFG_LOG_ERROR, "listen_failed", "reason=%s", message);
            return false;
        }
        p->listeners[p->listener_count++] = listener;
    }
    return true;
}

static bool open_admin(process *p)
{
    const cfg_listen *where = p->server.config->admin.listen;
    char message[512];
    if (where == NULL)
        return true;
    p->admin = px_admin_start(&p->server, where, message, sizeof message);
    if (p->admin == NULL)
        px_log(CFG_LOG_ERROR, "listen_failed", "key=admin.listen reason=%s", message);
    return p->admin != NULL;
}

static void log_ready(const process *p)
{
    const cfg_config *config = p->setups[0].config;
    pgw_buf where = {0};
    for (size_t i = 0; i < config->listen_count; i++) {
        const cfg_listen *listen = &config->listen[i];
        if (listen->path != NULL)
            pgw_buf_addf(&where, "%s%s", i ? "," : "", listen->path);
        else
            pgw_buf_addf(&where, "%s%s:%u", i ? "," : "", listen->host, listen->port);
    }
    pgw_buf_add_byte(&where, '\0');
    px_log(CFG_LOG_INFO, "ready", "listen=%s workers=%u tables=%zu pid=%ld", where.ptr,
           p->server.worker_count, config->table_count, (long)getpid());
    pgw_buf_free(&where);
    px_notify_ready("clients are served");
}

static bool is_cancelling(const px_server *server)
{
    for (unsigned i = 0; i < server->worker_count; i++)
        if (server->workers[i].cancels > 0)
            return true;
    return false;
}

static void free_process(process *p)
{
    uv_loop_close(&p->loop);
    free(p->listeners);
    for (unsigned i = 0; i < p->server.worker_count; i++)
        free_worker(&p->server.workers[i]);
    free(p->server.workers);
    px_metrics_free(p->server.metrics);
    p->server.config = NULL;
    for (size_t i = 0; i < p->setup_count; i++)
        free_setup(p, p->setups[i]);
    free(p->setups);
    px_addresses_free(p->server.addresses);
    px_preauth_free(p->server.preauth);
    px_pids_free(p->server.pids);
    px_keylocks_free();
    px_databases_free(p->server.databases);
    px_greetings_free(p->server.greetings);
    px_loading_free(p->server.loading);
    px_scans_free(p->server.scans);
}

static void start_workers(process *p)
{
    uint32_t wanted = p->server.config->workers;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    p->server.worker_count = wanted > 0 ? wanted : (unsigned)(cores > 0 ? cores : 1);
    p->server.workers = pgw_calloc(p->server.worker_count, sizeof *p->server.workers);
    for (unsigned i = 0; i < p->server.worker_count; i++)
        start_worker(p, i);
}

static void on_hour(uv_timer_t *timer)
{
    px_scans_log(timer->data);
}

static void start_hours(process *p)
{
    uv_timer_init(&p->loop, &p->hour);
    p->hour.data = p->server.scans;
    uv_timer_start(&p->hour, on_hour, PX_SCANS_HOUR_MS, PX_SCANS_HOUR_MS);
}

/* Runs from the start of the first worker to the end of the last. True if the process could listen.
 */
static bool serve(process *p)
{
    uv_loop_init(&p->loop);
    start_hours(p);
    start_workers(p);
    if (p->server.places != NULL)
        p->server.discovery = p->server.places->start(&p->server);
    p->signals = px_signals_watch(&p->loop, on_signal, p);
    bool up = open_listeners(p) && open_admin(p);
    if (up) {
        log_ready(p);
        p->watchdog = px_watchdog_start(&p->server, &p->loop);
    } else {
        stop(p, 0);
    }
    uv_run(&p->loop, UV_RUN_DEFAULT);
    for (unsigned i = 0; i < p->server.worker_count; i++)
        pthread_join(p->server.workers[i].thread, NULL);
    if (p->server.discovery != NULL)
        p->server.places->stop(p->server.discovery);
    px_watchdog_free(p->watchdog);
    px_admin_stop(p->admin);
    if (up) {
        px_register_log_totals(&p->server);
        px_scans_log(p->server.scans);
        px_log(CFG_LOG_INFO, "stopped", "pid=%ld", (long)getpid());
    }
    return up;
}

int px_run(cfg_config *config, FILE *errors)
{
    process p = {0};
    px_signals_block();
    px_credentials *credentials = px_credentials_load(config, NULL, errors);
    if (credentials == NULL) {
        cfg_free(config);
        return 1;
    }
    p.server.backend =
        config->backend.dialect == CFG_DIALECT_YDB ? px_ydb_backend() : &px_backend_postgres;
    p.server.places = px_ydb_places();
    p.server.metrics = px_metrics_new(NULL);
    p.server.addresses = px_addresses_new();
    p.server.preauth = px_preauth_new();
    p.server.pids = px_pids_new();
    p.server.databases = px_databases_new();
    p.server.greetings = px_greetings_new();
    p.server.loading = px_loading_new();
    p.server.scans = px_scans_new();
    if (getrandom(p.server.cancel_secret, sizeof p.server.cancel_secret, 0) !=
        sizeof p.server.cancel_secret)
        abort(); /* cancel keys that can be guessed are worse than no server */
    put_in_force(&p, (setup){config, credentials});
    clear_environment();
    raise_descriptors(config);
    signal(SIGPIPE, SIG_IGN);
    int code = serve(&p) ? 0 : 1;
    if (is_cancelling(&p.server))
        _exit(code); /* a thread still waits for the answer to a cancel, and refers to what would be
                        freed */
    free_process(&p);
    return code;
}
