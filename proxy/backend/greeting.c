#include "proxy/backend/greeting.h"

#include "protocol/backend.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 13, KINDS = 1024 /* more are not kept */, BELIEVED_MS = 60 * 1000 };

struct px_welcome {
    px_welcome *next; /* under the lock */
    char *key, *user, *database;
    char *values[PARAMETERS];
    uint64_t settings, since, era;
    _Atomic unsigned references;
};

struct px_welcomes {
    pthread_mutex_t lock;
    px_welcome *first;
    _Atomic uint64_t era; /* grows when what was kept may not be right any more */
    char *server;         /* what the last link said of its server */
};

px_welcomes *px_welcomes_new(void)
{
    px_welcomes *welcomes = pgw_calloc(1, sizeof *welcomes);
    pthread_mutex_init(&welcomes->lock, NULL);
    return welcomes;
}

void px_welcome_drop(px_welcome *welcome)
{
    if (welcome == NULL || atomic_fetch_sub(&welcome->references, 1) > 1)
        return;
    for (size_t i = 0; i < PARAMETERS; i++)
        free(welcome->values[i]);
    free(welcome->key);
    free(welcome->user);
    free(welcome->database);
    free(welcome);
}

static void forget(px_welcome **at)
{
    px_welcome *welcome = *at;
    *at = welcome->next;
    px_welcome_drop(welcome);
}

static void forget_all(px_welcomes *welcomes)
{
    while (welcomes->first != NULL)
        forget(&welcomes->first);
}

void px_welcomes_free(px_welcomes *welcomes)
{
    forget_all(welcomes);
    free(welcomes->server);
    pthread_mutex_destroy(&welcomes->lock);
    free(welcomes);
}

/* ---- keeping ---- */

static char *copy(const char *text)
{
    return text != NULL ? pgw_strndup(text, strlen(text)) : NULL;
}

/* Not a part of the kind: who sends it in its startup packet has its own. */
static bool is_application(const char *parameter)
{
    return strcmp(parameter, "application_name") == 0;
}

static px_welcome *make(px_worker *worker, px_link *link)
{
    const px_identity *identity = px_link_identity(link);
    px_welcome *welcome = pgw_calloc(1, sizeof *welcome);
    welcome->key = copy(identity->key);
    welcome->user = copy(identity->user);
    welcome->database = copy(identity->database);
    welcome->settings = px_link_settings(link);
    welcome->since = px_worker_now(worker);
    welcome->era = atomic_load(&worker->server->welcomes->era);
    atomic_init(&welcome->references, 1);
    for (size_t i = 0; i < PARAMETERS && px_link_parameters[i] != NULL; i++)
        if (identity->application == NULL || !is_application(px_link_parameters[i]))
            welcome->values[i] = copy(px_link_parameter(link, px_link_parameters[i]));
    return welcome;
}

static px_welcome **find(px_welcomes *welcomes, const char *key, size_t *kinds)
{
    px_welcome **at = &welcomes->first;
    for (*kinds = 0; *at != NULL && strcmp((*at)->key, key) != 0; at = &(*at)->next)
        (*kinds)++;
    return at;
}

px_welcome *px_welcome_keep(px_worker *worker, px_link *link)
{
    px_welcomes *welcomes = worker->server->welcomes;
    px_welcome *welcome = make(worker, link);
    pthread_mutex_lock(&welcomes->lock);
    size_t kinds;
    px_welcome **at = find(welcomes, welcome->key, &kinds);
    if (*at != NULL)
        forget(at);
    else if (kinds >= KINDS)
        forget_all(welcomes);
    welcome->next = welcomes->first;
    welcomes->first = welcome;
    atomic_fetch_add(&welcome->references, 1);
    pthread_mutex_unlock(&welcomes->lock);
    return welcome;
}

void px_welcome_renew(px_worker *worker)
{
    atomic_fetch_add(&worker->server->welcomes->era, 1);
}

/* ---- what other links say ---- */

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void compare_server(px_welcomes *welcomes, px_link *link)
{
    const char *version = px_link_parameter(link, "server_version");
    const char *standby = px_link_parameter(link, "in_hot_standby");
    pgw_buf server = {0};
    pgw_buf_addf(&server, "%s %s", version ? version : "", standby ? standby : "");
    pgw_buf_add_byte(&server, '\0');
    if (welcomes->server != NULL && strcmp(welcomes->server, server.ptr) != 0)
        atomic_fetch_add(&welcomes->era, 1);
    free(welcomes->server);
    welcomes->server = copy(server.ptr);
    pgw_buf_free(&server);
}

static const char *read_only(const px_welcome *welcome)
{
    return px_welcome_value(welcome, "default_transaction_read_only");
}

void px_welcome_compare(px_worker *worker, px_link *link)
{
    px_welcomes *welcomes = worker->server->welcomes;
    const px_identity *identity = px_link_identity(link);
    const char *now = px_link_parameter(link, "default_transaction_read_only");
    pthread_mutex_lock(&welcomes->lock);
    compare_server(welcomes, link);
    for (px_welcome **at = &welcomes->first; *at != NULL;) {
        bool kin = strcmp((*at)->user, identity->user) == 0 &&
                   strcmp((*at)->database, identity->database) == 0;
        if (kin && !same(read_only(*at), now))
            forget(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&welcomes->lock);
}

/* ---- use ---- */

px_welcome *px_welcome_find(px_worker *worker, const px_identity *identity)
{
    px_welcomes *welcomes = worker->server->welcomes;
    uint64_t now = px_worker_now(worker);
    size_t kinds;
    pthread_mutex_lock(&welcomes->lock);
    px_welcome *welcome = *find(welcomes, identity->key, &kinds);
    /* Workers' clocks are of different turns: one may be a little behind. */
    bool good = welcome != NULL && welcome->era == atomic_load(&welcomes->era) &&
                now < welcome->since + BELIEVED_MS;
    if (good)
        atomic_fetch_add(&welcome->references, 1);
    pthread_mutex_unlock(&welcomes->lock);
    return good ? welcome : NULL;
}

void px_welcome_write(const px_welcome *welcome, const px_identity *identity, pgw_buf *out)
{
    pgw_write_authentication_ok(out);
    for (size_t i = 0; i < PARAMETERS && px_link_parameters[i] != NULL; i++) {
        pgw_slice name = pgw_slice_str(px_link_parameters[i]);
        pgw_slice value = pgw_slice_str(welcome->values[i]);
        if (is_application(px_link_parameters[i]) && identity->application != NULL)
            value = pgw_slice_str(identity->application);
        else if (welcome->values[i] == NULL && !is_application(px_link_parameters[i]))
            continue;
        pgw_write_parameter_status(name, value, out);
    }
}

const char *px_welcome_value(const px_welcome *welcome, const char *name)
{
    for (size_t i = 0; welcome != NULL && i < PARAMETERS && px_link_parameters[i] != NULL; i++)
        if (strcmp(px_link_parameters[i], name) == 0)
            return welcome->values[i];
    return NULL;
}

uint64_t px_welcome_settings(const px_welcome *welcome)
{
    return welcome != NULL ? welcome->settings : 0;
}
