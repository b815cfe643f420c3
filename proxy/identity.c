#include "proxy/identity.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

px_identity *px_identity_take(px_identity *identity)
{
    atomic_fetch_add(&identity->references, 1);
    return identity;
}

void px_identity_drop(px_identity *identity)
{
    if (identity == NULL || atomic_fetch_sub(&identity->references, 1) > 1)
        return;
    free(identity->user);
    free(identity->database);
    free(identity->options);
    free(identity->application);
    free(identity->replication);
    free(identity->zone);
    free(identity->key);
    free(identity);
}

/* An option's value, as the server's pg_split_opts() takes it apart again. */
static void add_escaped(pgw_buf *out, pgw_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(" \t\n\r\f\v\\", text.ptr[i]) != NULL)
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, text.ptr[i]);
    }
}

void px_identity_add_option(pgw_buf *options, pgw_slice name, pgw_slice value)
{
    pgw_buf_add_str(options, options->len > 0 ? " -c " : "-c ");
    add_escaped(options, name);
    pgw_buf_add_byte(options, '=');
    add_escaped(options, value);
}

static char *copy(const char *text)
{
    return text ? pgw_strndup(text, strlen(text)) : NULL;
}

px_identity *px_identity_new(const char *user, const char *database, const char *options,
                             const char *application, const char *replication, const pgw_env *env)
{
    px_identity *identity = pgw_calloc(1, sizeof *identity);
    identity->user = copy(user);
    identity->database = copy(database);
    identity->options = copy(options);
    identity->application = copy(application);
    identity->replication = copy(replication);
    identity->env = *env;
    atomic_init(&identity->references, 1);
    pgw_buf key = {0};
    pgw_buf_addf(&key, "%zu:%s%zu:%s%s%s", strlen(user), user, strlen(database), database,
                 replication ? "r" : "", options);
    identity->key = copy((pgw_buf_add_byte(&key, '\0'), key.ptr));
    pgw_buf_free(&key);
    return identity;
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

pgw_env px_identity_env(const char *client_encoding, const char *zone, const char *conforming)
{
    pgw_env env = {0};
    env.utf8 = client_encoding != NULL && strcmp(client_encoding, "UTF8") == 0;
    env.conforming = conforming == NULL || strcmp(conforming, "on") == 0;
    env.zone_known = zone != NULL && zone_offset(zone, &env.zone_seconds);
    return env;
}
