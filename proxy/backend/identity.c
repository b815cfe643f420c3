#include "proxy/backend/identity.h"

#include "proxy/backend/timeouts.h"

#include <ctype.h>
#include <inttypes.h>
#include <openssl/crypto.h>
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

void px_identity_drop(px_identity *identity)
{
    if (identity == NULL || atomic_fetch_sub(&identity->references, 1) > 1)
        return;
    free(identity->user);
    free(identity->database);
    free(identity->options);
    free(identity->shared);
    free(identity->application);
    free(identity->replication);
    free(identity->zone);
    free_secret(identity->password);
    free_secret(identity->key); /* the password is in it */
    free(identity);
}

static char *copy(const char *text)
{
    return text ? pgw_strndup(text, strlen(text)) : NULL;
}

/* A length stands before each part, so that no two identities have one key. */
static void add_part(pgw_buf *key, char mark, const char *part)
{
    if (part != NULL)
        pgw_buf_addf(key, "%c%zu:%s", mark, strlen(part), part);
}

px_identity *px_identity_new(const px_identity *from)
{
    px_identity *identity = pgw_calloc(1, sizeof *identity);
    identity->user = copy(from->user);
    identity->database = copy(from->database);
    identity->options = copy(from->options);
    identity->application = copy(from->application);
    identity->replication = copy(from->replication);
    identity->password = copy(from->password);
    identity->zone = copy(from->zone);
    identity->env = from->env;
    identity->settings = from->settings;
    identity->statement_timeout = px_timeouts_statement(from->options);
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
    identity->key = copy(key.ptr);
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
