#include "proxy/door.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 4096 }; /* RFC 7677's least, and PostgreSQL's */

static bool make_secret(px_door *door, size_t at, FILE *errors)
{
    const cfg_user *user = &door->users->list[at];
    pgw_scram_secret mock, *secret = &door->secrets[at];
    pgw_slice text = pgw_slice_str(user->secret);
    bool good;
    if (user->verifier) {
        good = pgw_scram_secret_parse(text, secret);
    } else {
        pgw_scram_secret_mock(pgw_slice_str(user->name), door->salt_key, &mock);
        good = pgw_scram_secret_make(text, mock.salt, mock.salt_len, ITERATIONS, secret);
    }
    if (!good)
        fprintf(errors,
                "%s:%u: the secret of \"%s\" cannot be used: write a password, or a "
                "verifier as PostgreSQL's pg_authid has it\n",
                door->users->path, user->line, user->name);
    return good;
}

static bool load_users(px_door *door, const cfg_config *config, FILE *errors)
{
    if (config->auth.mode != CFG_AUTH_SCRAM)
        return true;
    door->users = cfg_users_load(config->auth.users_file, errors);
    if (door->users == NULL)
        return false;
    door->secrets = pgw_calloc(door->users->count + 1, sizeof *door->secrets);
    bool good = true;
    for (size_t i = 0; i < door->users->count; i++)
        good = make_secret(door, i, errors) && good;
    return good;
}

px_door *px_door_load(const cfg_config *config, const uint8_t salt_key[PX_SALT_KEY], FILE *errors)
{
    px_door *door = pgw_calloc(1, sizeof *door);
    memcpy(door->salt_key, salt_key, sizeof door->salt_key);
    bool good = load_users(door, config, errors);
    if (config->client_tls.mode != CFG_TLS_DISABLE) {
        door->tls = px_tls_load(config, errors);
        good = good && door->tls != NULL;
    }
    if (good)
        return door;
    px_door_free(door);
    return NULL;
}

void px_door_free(px_door *door)
{
    if (door == NULL)
        return;
    if (door->secrets != NULL)
        OPENSSL_cleanse(door->secrets, door->users->count * sizeof *door->secrets);
    free(door->secrets);
    cfg_users_free(door->users);
    px_tls_free(door->tls);
    free(door);
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
