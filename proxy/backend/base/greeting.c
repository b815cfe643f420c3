#include "proxy/backend/base/greeting.h"

#include "protocol/backend.h"
#include "protocol/value_text.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 1024, /* KINDS: when more kinds come, all are forgotten */
    BELIEVED_MS = 60 * 1000,
    ESCAPING_VERSION = 16 /* older PostgreSQL writes ? for what is not ASCII */
};

/* The names of reported parameters. Parameters of newer servers are added; none is ever removed. */
static _Atomic(const char *) names[PX_GREETING_VALUES + 1] = {
    "server_version",
    "server_encoding",
    "client_encoding",
    "application_name",
    "is_superuser",
    "session_authorization",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "integer_datetimes",
    "standard_conforming_strings",
    "default_transaction_read_only",
    "in_hot_standby",
    "scram_iterations", /* since PostgreSQL 16 */
    "search_path",      /* since PostgreSQL 18 */
};
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER; /* held to add a name */

struct px_greeting {
    px_greeting *next; /* under px_greetings.lock */
    char *key, *user, *database;
    char *values[PX_GREETING_VALUES];
    uint64_t settings, statement_timeout, user_timeout, since, era;
    _Atomic unsigned references;
};

struct px_greetings {
    pthread_mutex_t lock;
    px_greeting *first;
    _Atomic uint64_t era; /* one more each time that kept greetings may be wrong */
    char *server;         /* version and standby state that the last link reported */
    _Atomic bool learned; /* `names` has all parameters that this server reports */
};

/* ---- names ---- */

const char *px_greeting_name(size_t i)
{
    return atomic_load_explicit(&names[i], memory_order_acquire);
}

bool px_greeting_is_learned(px_worker *worker)
{
    return atomic_load(&worker->server->greetings->learned);
}

void px_greeting_learned(px_worker *worker)
{
    atomic_store(&worker->server->greetings->learned, true);
}

void px_greeting_learn(pgw_slice name)
{
    size_t i = 0;
    pthread_mutex_lock(&names_lock);
    while (names[i] != NULL && !pgw_slice_eq_str(name, names[i]))
        i++;
    if (i < PX_GREETING_VALUES && names[i] == NULL)
        names[i] = pgw_strndup(name.ptr, name.len);
    pthread_mutex_unlock(&names_lock);
}

/* ---- life ---- */

px_greetings *px_greetings_new(void)
{
    px_greetings *greetings = pgw_calloc(1, sizeof *greetings);
    pthread_mutex_init(&greetings->lock, NULL);
    return greetings;
}

void px_greeting_drop(px_greeting *greeting)
{
    if (greeting == NULL || atomic_fetch_sub(&greeting->references, 1) > 1)
        return;
    for (size_t i = 0; i < PX_GREETING_VALUES; i++)
        free(greeting->values[i]);
    free(greeting->key);
    free(greeting->user);
    free(greeting->database);
    free(greeting);
}

static void forget(px_greeting **at)
{
    px_greeting *greeting = *at;
    *at = greeting->next;
    px_greeting_drop(greeting);
}

static void forget_all(px_greetings *greetings)
{
    while (greetings->first != NULL)
        forget(&greetings->first);
}

void px_greetings_free(px_greetings *greetings)
{
    forget_all(greetings);
    free(greetings->server);
    pthread_mutex_destroy(&greetings->lock);
    free(greetings);
}

/* ---- keeping ---- */

static char *copy(const char *text)
{
    return text != NULL ? pgw_strndup(text, strlen(text)) : NULL;
}

/* application_name is no part of the kind: clients that send it in the startup packet get it back.
 */
static bool is_application(const char *parameter)
{
    return strcmp(parameter, "application_name") == 0;
}

static px_greeting *make(px_worker *worker, const px_identity *identity, px_reported reported)
{
    px_greeting *greeting = pgw_calloc(1, sizeof *greeting);
    greeting->key = copy(identity->key);
    greeting->user = copy(identity->user);
    greeting->database = copy(identity->database);
    greeting->settings = reported.settings;
    greeting->statement_timeout = reported.statement_timeout;
    greeting->user_timeout = reported.user_timeout;
    greeting->since = px_worker_now(worker);
    greeting->era = atomic_load(&worker->server->greetings->era);
    atomic_init(&greeting->references, 1);
    for (size_t i = 0; px_greeting_name(i) != NULL; i++)
        if (identity->application == NULL || !is_application(px_greeting_name(i)))
            greeting->values[i] = copy(reported.values[i]);
    return greeting;
}

static px_greeting **find_kind(px_greetings *greetings, const char *key, size_t *kinds)
{
    px_greeting **at = &greetings->first;
    for (*kinds = 0; *at != NULL && strcmp((*at)->key, key) != 0; at = &(*at)->next)
        (*kinds)++;
    return at;
}

px_greeting *px_greeting_keep(px_worker *worker, const px_identity *identity, px_reported reported)
{
    px_greetings *greetings = worker->server->greetings;
    px_greeting *greeting = make(worker, identity, reported);
    pthread_mutex_lock(&greetings->lock);
    size_t kinds;
    px_greeting **at = find_kind(greetings, greeting->key, &kinds);
    if (*at != NULL)
        forget(at);
    else if (kinds >= KINDS)
        forget_all(greetings);
    greeting->next = greetings->first;
    greetings->first = greeting;
    atomic_fetch_add(&greeting->references, 1);
    pthread_mutex_unlock(&greetings->lock);
    return greeting;
}

void px_greeting_renew(px_worker *worker)
{
    atomic_fetch_add(&worker->server->greetings->era, 1);
}

/* ---- what other links say ---- */

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const char *value_of(const char *const *values, const char *name)
{
    for (size_t i = 0; px_greeting_name(i) != NULL; i++)
        if (strcmp(px_greeting_name(i), name) == 0)
            return values[i];
    return NULL;
}

static void compare_server(px_greetings *greetings, const char *const *values)
{
    const char *version = value_of(values, "server_version");
    const char *standby = value_of(values, "in_hot_standby");
    pgw_buf server = {0};
    pgw_buf_addf(&server, "%s %s", version ? version : "", standby ? standby : "");
    pgw_buf_add_byte(&server, '\0');
    if (greetings->server != NULL && strcmp(greetings->server, server.ptr) != 0) {
        atomic_fetch_add(&greetings->era, 1);
        atomic_store(&greetings->learned, false);
    }
    free(greetings->server);
    greetings->server = copy(server.ptr);
    pgw_buf_free(&server);
}

static const char *read_only(const px_greeting *greeting)
{
    return px_greeting_value(greeting, "default_transaction_read_only");
}

void px_greeting_compare(px_worker *worker, const px_identity *identity, px_reported reported)
{
    px_greetings *greetings = worker->server->greetings;
    const char *now = value_of(reported.values, "default_transaction_read_only");
    pthread_mutex_lock(&greetings->lock);
    compare_server(greetings, reported.values);
    for (px_greeting **at = &greetings->first; *at != NULL;) {
        bool kin = strcmp((*at)->user, identity->user) == 0 &&
                   strcmp((*at)->database, identity->database) == 0;
        if (kin && now != NULL && !same(read_only(*at), now))
            forget(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&greetings->lock);
}

/* ---- use ---- */

px_greeting *px_greeting_find(px_worker *worker, const px_identity *identity)
{
    px_greetings *greetings = worker->server->greetings;
    uint64_t now = px_worker_now(worker);
    size_t kinds;
    pthread_mutex_lock(&greetings->lock);
    px_greeting *greeting = *find_kind(greetings, identity->key, &kinds);
    /* `since` may be later than `now`: another worker's clock may be a little ahead. */
    bool good = greeting != NULL && greeting->era == atomic_load(&greetings->era) &&
                now < greeting->since + BELIEVED_MS;
    if (good)
        atomic_fetch_add(&greeting->references, 1);
    pthread_mutex_unlock(&greetings->lock);
    return good ? greeting : NULL;
}

void px_greeting_clean(pgw_slice application, const char *version, pgw_buf *out)
{
    bool spells = version != NULL && strtoul(version, NULL, 10) >= ESCAPING_VERSION;
    pgw_slice name = pgw_name_cut(application);
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] >= ' ' && name.ptr[i] <= '~')
            pgw_buf_add_byte(out, name.ptr[i]);
        else if (spells)
            pgw_buf_addf(out, "\\x%02x", (unsigned char)name.ptr[i]);
        else
            pgw_buf_add_byte(out, '?');
    }
}

static void write_application(const px_greeting *greeting, const char *application, pgw_buf *out)
{
    pgw_buf clean = {0};
    px_greeting_clean(pgw_slice_str(application), px_greeting_value(greeting, "server_version"),
                      &clean);
    pgw_write_parameter_status(PGW_LITERAL("application_name"), pgw_slice_buf(&clean), out);
    pgw_buf_free(&clean);
}

void px_greeting_write(const px_greeting *greeting, const px_identity *identity, pgw_buf *out)
{
    pgw_write_authentication_ok(out);
    for (size_t i = 0; px_greeting_name(i) != NULL; i++) {
        bool application = is_application(px_greeting_name(i));
        if (application && identity->application != NULL)
            write_application(greeting, identity->application, out);
        else if (application || greeting->values[i] != NULL)
            pgw_write_parameter_status(pgw_slice_str(px_greeting_name(i)),
                                       pgw_slice_str(greeting->values[i]), out);
    }
}

const char *px_greeting_value(const px_greeting *greeting, const char *name)
{
    return greeting != NULL ? value_of((const char *const *)greeting->values, name) : NULL;
}

uint64_t px_greeting_settings(const px_greeting *greeting)
{
    return greeting != NULL ? greeting->settings : 0;
}

uint64_t px_greeting_timeout(const px_greeting *greeting)
{
    return greeting != NULL ? greeting->statement_timeout : 0;
}

uint64_t px_greeting_user_timeout(const px_greeting *greeting)
{
    return greeting != NULL ? greeting->user_timeout : 0;
}
