#include "proxy/backend/base/identity.h"

#include "proxy/backend/base/timeouts.h"

#include <ctype.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

px_identity *px_identity_take(px_identity *identity)
{
    atomic_fetch_add(&identity->references, 1);
    return identity;
}

static void free_secret(char *text)
{
    if (text != NULL)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
}

static void free_identity(px_identity *identity)
{
    free(identity->user);
    free(identity->database);
    free(identity->options);
    free(identity->shared);
    free(identity->application);
    free(identity->replication);
    free(identity->zone);
    free(identity->dates);
    free(identity->intervals);
    free_secret(identity->password);
    free_secret(identity->key); /* the key contains the password */
    free_secret((char *)identity->entry.name.ptr);
    free(identity);
}

/* All identities of the process. Each has a reference at least: the last is given up under the
 * lock. */
static struct {
    pthread_mutex_t lock;
    px_table table;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void px_identity_drop(px_identity *identity)
{
    unsigned references = identity != NULL ? atomic_load(&identity->references) : 0;
    while (references > 1)
        if (atomic_compare_exchange_weak(&identity->references, &references, references - 1))
            return;
    if (identity == NULL)
        return;
    pthread_mutex_lock(&known.lock);
    bool last = atomic_fetch_sub(&identity->references, 1) == 1;
    if (last)
        px_table_remove(&known.table, identity->entry.name);
    pthread_mutex_unlock(&known.lock);
    if (last)
        free_identity(identity);
}

static char *copy(const char *text)
{
    return text ? pgw_strndup(text, strlen(text)) : NULL;
}

/* A length stands before each part, so that no two identities have one key. */
static void add_part(pgw_buf *key, char mark, const char *part)
{
    pgw_slice text = pgw_slice_str(part);
    if (part == NULL)
        return;
    pgw_buf_add_byte(key, mark);
    pgw_buf_add_unsigned(key, text.len);
    pgw_buf_add_byte(key, ':');
    pgw_buf_add_slice(key, text);
}

static px_identity *make(const px_identity *from)
{
    px_identity *identity = pgw_calloc(1, sizeof *identity);
    identity->user = copy(from->user);
    identity->database = copy(from->database);
    identity->options = copy(from->options);
    identity->application = copy(from->application);
    identity->replication = copy(from->replication);
    identity->password = copy(from->password);
    identity->zone = copy(from->zone);
    identity->dates = copy(from->dates);
    identity->intervals = copy(from->intervals);
    identity->env = from->env;
    identity->ascii = from->ascii;
    identity->settings = from->settings;
    identity->start_timeout = from->start_timeout;
    if (!px_timeouts_statement(from->options, &identity->statement_timeout))
        identity->statement_timeout = from->start_timeout;
    pgw_buf shared = {0};
    px_timeouts_cut(from->options, &shared);
    pgw_buf_add_byte(&shared, '\0');
    identity->shared = copy(shared.ptr);
    pgw_buf_free(&shared);
    atomic_init(&identity->references, 1);
    pgw_buf key = {0};
    add_part(&key, 'u', from->user);
    add_part(&key, 'd', from->database);
    add_part(&key, 'r', from->replication);
    add_part(&key, 'p', from->password);
    add_part(&key, 'o', identity->shared);
    if (from->settings != 0)
        pgw_buf_addf(&key, "s%" PRIx64, from->settings);
    pgw_buf_add_byte(&key, '\0');
    identity->key = key.ptr;
    return identity;
}

/* All fields in which two identities may differ, as one text. */
static pgw_slice all_of(const px_identity *identity)
{
    const pgw_env *env = &identity->env;
    pgw_buf all = {0};
    add_part(&all, 'k', identity->key);
    add_part(&all, 'o', identity->options);
    add_part(&all, 'a', identity->application);
    add_part(&all, 'z', identity->zone);
    add_part(&all, 'd', identity->dates);
    add_part(&all, 'i', identity->intervals);
    pgw_buf_addf(&all, "e%d%d%d%d%" PRId32 "v%dm%" PRIu64, env->utf8, identity->ascii,
                 env->conforming, env->zone_known, env->zone_seconds, env->server,
                 identity->start_timeout);
    pgw_buf_add_byte(&all, '\0');
    return (pgw_slice){all.ptr, all.len - 1};
}

px_identity px_identity_like(const px_identity *identity)
{
    return (px_identity){.user = identity->user,
                         .database = identity->database,
                         .options = identity->options,
                         .application = identity->application,
                         .replication = identity->replication,
                         .password = identity->password,
                         .zone = identity->zone,
                         .dates = identity->dates,
                         .intervals = identity->intervals,
                         .settings = identity->settings,
                         .start_timeout = identity->start_timeout,
                         .env = identity->env,
                         .ascii = identity->ascii};
}

px_identity *px_identity_of(const px_identity *from)
{
    px_identity *identity = make(from);
    pgw_slice name = all_of(identity);
    pthread_mutex_lock(&known.lock);
    px_identity *same = (px_identity *)px_table_find(&known.table, name);
    if (same != NULL)
        px_identity_take(same);
    else
        px_table_add(&known.table, &identity->entry, name);
    pthread_mutex_unlock(&known.lock);
    if (same == NULL)
        return identity;
    identity->entry.name = name; /* free_identity() frees the name, too */
    free_identity(identity);
    return same;
}

/* The value that the options set last for `name`; empty if they do not set it. */
static pgw_slice option_of(const char *options, const char *name)
{
    char word[32];
    int len = snprintf(word, sizeof word, "-c %s=", name);
    const char *value = NULL;
    for (const char *at = options; (at = strstr(at, word)) != NULL;)
        value = at += len;
    if (value == NULL)
        return (pgw_slice){NULL, 0};
    size_t end = 0;
    while (value[end] != '\0' && value[end] != ' ')
        end += value[end] == '\\' && value[end + 1] != '\0' ? 2 : 1;
    return (pgw_slice){value, end};
}

static bool same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool were_told_the_same(const px_identity *a, const px_identity *b)
{
    return same(a->zone, b->zone) && same(a->dates, b->dates) && same(a->intervals, b->intervals);
}

bool px_identity_shares(const px_identity *a, const px_identity *b)
{
    return a == b || (strcmp(a->key, b->key) == 0 && were_told_the_same(a, b));
}

bool px_identity_reads_alike(const px_identity *a, const px_identity *b)
{
    static const char *const names[] = {"datestyle", "intervalstyle"};
    bool alike = were_told_the_same(a, b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        alike =
            alike && pgw_slice_eq(option_of(a->options, names[i]), option_of(b->options, names[i]));
    return alike;
}

/* "UTC", "GMT", "Etc/UTC" and the form SET TIME ZONE with an offset reports ("<+03>-03": POSIX, so
 * the sign is turned round). */
static bool zone_offset(const char *zone, int32_t *seconds)
{
    static const char *const utc[] = {"UTC",  "GMT",       "Etc/UTC", "Etc/GMT",
                                      "Zulu", "Universal", "UCT"};
    *seconds = 0;
    for (size_t i = 0; i < sizeof utc / sizeof *utc; i++)
        if (strcmp(zone, utc[i]) == 0)
            return true;
    int sign = 0, hours = 0, used = 0;
    char mark = 0;
    if (sscanf(zone, "<%c%2d>%n", &mark, &hours, &used) == 2 && used == 5)
        sign = mark == '+' ? 1 : mark == '-' ? -1 : 0;
    char expected[32];
    snprintf(expected, sizeof expected, "<%c%02d>%c%02d", mark, hours, mark == '+' ? '-' : '+',
             hours);
    *seconds = sign * hours * 3600;
    return sign != 0 && strcmp(zone, expected) == 0;
}

/* As PostgreSQL reads names of encodings: letters and digits count, their case does not. UNICODE is
 * told back as it was written; all others are reported by their one name. */
static bool is_utf8(const char *encoding)
{
    char name[16];
    size_t len = 0;
    for (; *encoding != '\0' && len + 1 < sizeof name; encoding++)
        if (isalnum((unsigned char)*encoding))
            name[len++] = (char)tolower((unsigned char)*encoding);
    name[len] = '\0';
    return strcmp(name, "utf8") == 0 || strcmp(name, "unicode") == 0;
}

pgw_env px_identity_env(const char *client_encoding, const char *zone, const char *conforming)
{
    pgw_env env = {0};
    env.utf8 = client_encoding != NULL && is_utf8(client_encoding);
    env.conforming = conforming == NULL || strcmp(conforming, "on") == 0;
    env.zone_known = zone != NULL && zone_offset(zone, &env.zone_seconds);
    return env;
}
