#include "proxy/client/credentials.h"

#include "config/tls_files.h"
#include "proxy/backend/dsn.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The same password, and the same salt, for the key is: the same secret. */
static bool copy_secret(const px_door *previous, const cfg_user *user, pgw_scram_secret *secret)
{
    const cfg_user *same = previous == NULL || previous->users == NULL
                               ? NULL
                               : cfg_users_find(previous->users, user->name, strlen(user->name));
    if (same == NULL || strcmp(same->secret, user->secret) != 0)
        return false;
    *secret = previous->secrets[same - previous->users->list];
    return true;
}

static bool derive_secret(const px_door *door, const cfg_user *user, pgw_scram_secret *secret)
{
    pgw_slice text = pgw_slice_str(user->secret);
    pgw_scram_secret mock;
    if (user->verifier)
        return pgw_scram_secret_parse(text, secret);
    pgw_scram_secret_mock(pgw_slice_str(user->name), door->salt_key, &mock);
    return pgw_scram_secret_make(text, mock.salt, mock.salt_len, PGW_SCRAM_ITERATIONS, secret);
}

static bool make_secret(px_door *door, size_t at, const px_door *previous, FILE *errors)
{
    const cfg_user *user = &door->users->list[at];
    pgw_scram_secret *secret = &door->secrets[at];
    if (copy_secret(previous, user, secret) || derive_secret(door, user, secret))
        return true;
    fprintf(errors,
            "%s:%u: the secret of \"%s\" cannot be used: write a password, or a verifier as "
            "PostgreSQL's pg_authid has it\n",
            door->users->path, user->line, user->name);
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

/* Of a verifier nobody can make the password that the backend asks for. */
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

static bool load_users(px_door *door, const cfg_config *config, const px_door *previous,
                       FILE *errors)
{
    if (config->auth.mode != CFG_AUTH_SCRAM)
        return true;
    door->users = cfg_users_load(config->auth.users_file, errors);
    if (door->users == NULL) {
        fprintf(errors, "%s:%u: auth.users_file cannot be used: correct its mistakes\n",
                config->path, config->auth.users_file_line);
        return false;
    }
    if (!has_own_means(config) && !check_verifiers(door->users, errors))
        return false;
    door->secrets = pgw_calloc(door->users->count + 1, sizeof *door->secrets);
    bool good = true;
    for (size_t i = 0; i < door->users->count; i++)
        good = make_secret(door, i, previous, errors) && good;
    return good;
}

static void make_salt_key(px_door *door, const px_door *previous)
{
    if (previous != NULL)
        memcpy(door->salt_key, previous->salt_key, sizeof door->salt_key);
    else if (getrandom(door->salt_key, sizeof door->salt_key, 0) != sizeof door->salt_key)
        abort(); /* a key that can be guessed is worse than none */
}

static void free_door(px_door *door)
{
    if (door->secrets != NULL)
        OPENSSL_cleanse(door->secrets, door->users->count * sizeof *door->secrets);
    free(door->secrets);
    cfg_users_free(door->users);
    px_tls_free(door->tls);
    free(door);
}

px_door *px_door_load(const cfg_config *config, const px_door *previous, FILE *errors)
{
    px_door *door = pgw_calloc(1, sizeof *door);
    atomic_init(&door->references, 1);
    make_salt_key(door, previous);
    bool good = load_users(door, config, previous, errors);
    if (!cfg_check_files(config, errors)) {
        good = false;
    } else if (config->client_tls.mode != CFG_TLS_DISABLE) {
        door->tls = px_tls_load(config, errors);
        good = good && door->tls != NULL;
    }
    if (good)
        return door;
    free_door(door);
    return NULL;
}

px_door *px_door_take(px_door *door)
{
    atomic_fetch_add(&door->references, 1);
    return door;
}

void px_door_drop(px_door *door)
{
    if (door != NULL && atomic_fetch_sub(&door->references, 1) == 1)
        free_door(door);
}

bool px_door_secret(const px_door *door, pgw_slice name, pgw_scram_secret *secret)
{
    pgw_scram_secret_mock(name, door->salt_key, secret); /* always: it takes time */
    const cfg_user *user = cfg_users_find(door->users, name.ptr, name.len);
    if (user != NULL)
        *secret = door->secrets[user - door->users->list];
    return user != NULL;
}

const char *px_door_password(const px_door *door, pgw_slice name)
{
    const cfg_user *user = cfg_users_find(door->users, name.ptr, name.len);
    return user == NULL || user->verifier ? NULL : user->secret;
}
