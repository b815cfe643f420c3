#include "proxy/client/door/credentials.h"

#include "config/tls_files.h"
#include "proxy/backend/base/dsn.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Copies the secret of a user whose password is as before: the salt is, too, for its key is. */
static bool copy_secret(const px_credentials *previous, const cfg_user *user,
                        pgw_scram_secret *secret)
{
    const cfg_user *same = previous == NULL || previous->users == NULL
                               ? NULL
                               : cfg_users_find(previous->users, user->name, strlen(user->name));
    if (same == NULL || strcmp(same->secret, user->secret) != 0)
        return false;
    *secret = previous->secrets[same - previous->users->list];
    return true;
}

static bool derive_secret(const px_credentials *credentials, const cfg_user *user,
                          pgw_scram_secret *secret)
{
    pgw_slice text = pgw_slice_str(user->secret);
    pgw_scram_secret mock;
    if (user->verifier)
        return pgw_scram_secret_parse(text, secret);
    pgw_scram_secret_mock(pgw_slice_str(user->name), credentials->salt_key, &mock);
    return pgw_scram_secret_make(text, mock.salt, mock.salt_len, PGW_SCRAM_ITERATIONS, secret);
}

static bool make_secret(px_credentials *credentials, size_t at, const px_credentials *previous,
                        FILE *errors)
{
    const cfg_user *user = &credentials->users->list[at];
    pgw_scram_secret *secret = &credentials->secrets[at];
    if (copy_secret(previous, user, secret) || derive_secret(credentials, user, secret))
        return true;
    fprintf(errors,
            "%s:%u: the secret of \"%s\" cannot be used: write a password, or a verifier as "
            "PostgreSQL's pg_authid has it\n",
            credentials->users->path, user->line, user->name);
    return false;
}

/* Whether libpq may find another way into the backend than the password of a user. */
static bool has_own_means(const cfg_config *config)
{
    static const char *const means[] = {"user", "password", "passfile", "service", "sslcert"};
    bool found = false;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        found = found || px_dsn_names(config->backend.dsn, means[i]);
    return found;
}

/* Whether no user has a verifier alone: nobody can make of it the password that the backend asks
 * for. */
static bool check_verifiers(const cfg_users *users, FILE *errors)
{
    const cfg_user *first = NULL;
    size_t count = 0;
    for (const cfg_user *user = users->list; user < users->list + users->count; user++) {
        if (!user->verifier)
            continue;
        first = first == NULL || user->line < first->line ? user : first;
        count++;
    }
    if (count > 0)
        fprintf(errors,
                "%s:%u: user \"%s\" has a verifier alone (%zu of %zu users have), and backend.dsn "
                "names no user: keyspread could not log in to the backend as that user; write the "
                "password, or a user in backend.dsn\n",
                users->path, first->line, first->name, count, users->count);
    return count == 0;
}

static bool load_users(px_credentials *credentials, const cfg_config *config,
                       const px_credentials *previous, FILE *errors)
{
    if (config->auth.mode != CFG_AUTH_SCRAM)
        return true;
    credentials->users = cfg_users_load(config->auth.users_file, errors);
    if (credentials->users == NULL) {
        fprintf(errors, "%s:%u: auth.users_file cannot be used: correct its mistakes\n",
                config->path, config->auth.users_file_line);
        return false;
    }
    if (!has_own_means(config) && !check_verifiers(credentials->users, errors))
        return false;
    credentials->secrets = pgw_calloc(credentials->users->count + 1, sizeof *credentials->secrets);
    bool good = true;
    for (size_t i = 0; i < credentials->users->count; i++)
        good = make_secret(credentials, i, previous, errors) && good;
    return good;
}

static void make_salt_key(px_credentials *credentials, const px_credentials *previous)
{
    if (previous != NULL)
        memcpy(credentials->salt_key, previous->salt_key, sizeof credentials->salt_key);
    else if (getrandom(credentials->salt_key, sizeof credentials->salt_key, 0) !=
             sizeof credentials->salt_key)
        abort(); /* a key that can be guessed is worse than none */
}

static void free_credentials(px_credentials *credentials)
{
    if (credentials->secrets != NULL)
        OPENSSL_cleanse(credentials->secrets,
                        credentials->users->count * sizeof *credentials->secrets);
    free(credentials->secrets);
    cfg_users_free(credentials->users);
    px_tls_free(credentials->tls);
    free(credentials);
}

px_credentials *px_credentials_load(const cfg_config *config, const px_credentials *previous,
                                    FILE *errors)
{
    px_credentials *credentials = pgw_calloc(1, sizeof *credentials);
    atomic_init(&credentials->references, 1);
    make_salt_key(credentials, previous);
    bool good = load_users(credentials, config, previous, errors);
    if (!cfg_check_files(config, errors)) {
        good = false;
    } else if (config->client_tls.mode != CFG_TLS_DISABLE) {
        credentials->tls = px_tls_load(config, errors);
        good = good && credentials->tls != NULL;
    }
    if (good)
        return credentials;
    free_credentials(credentials);
    return NULL;
}

px_credentials *px_credentials_take(px_credentials *credentials)
{
    atomic_fetch_add(&credentials->references, 1);
    return credentials;
}

void px_credentials_drop(px_credentials *credentials)
{
    if (credentials != NULL && atomic_fetch_sub(&credentials->references, 1) == 1)
        free_credentials(credentials);
}

bool px_credentials_secret(const px_credentials *credentials, pgw_slice name,
                           pgw_scram_secret *secret)
{
    pgw_scram_secret_mock(name, credentials->salt_key, secret); /* always: it takes time */
    const cfg_user *user = cfg_users_find(credentials->users, name.ptr, name.len);
    if (user != NULL)
        *secret = credentials->secrets[user - credentials->users->list];
    return user != NULL;
}

const char *px_credentials_password(const px_credentials *credentials, pgw_slice name)
{
    const cfg_user *user = cfg_users_find(credentials->users, name.ptr, name.len);
    return user == NULL || user->verifier ? NULL : user->secret;
}
