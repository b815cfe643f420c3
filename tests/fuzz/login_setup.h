/*
 * login_setup: a worker with no thread of its own, and the rules that clients may meet: each
 * client_tls.mode with each auth.mode, loaded from files that are gone afterwards.
 */
#ifndef TESTS_LOGIN_SETUP_H
#define TESTS_LOGIN_SETUP_H

#include "proxy/backend/base/databases.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/base/pids.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/postgres/postgres.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/door/credentials.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/server/config.h"
#include "proxy/server/server.h"
#include "tests/proxy/certificate.h"
#include "tests/proxy/one_worker.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SETUP_USER "alice"
#define SETUP_PASSWORD "a secret"

enum { MODES = 3 };

typedef struct setup_rules {
    cfg_config *config;
    px_credentials *credentials;
} setup_rules;

typedef struct setup {
    px_server server;
    px_worker worker;
    setup_rules rules[MODES][MODES]; /* by cfg_tls_mode and cfg_auth_mode */
    char folder[32];
} setup;

static inline void setup_require(bool holds)
{
    if (!holds)
        abort();
}

static inline void setup_path(const setup *s, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", s->folder, name);
}

static inline FILE *setup_create(const setup *s, const char *name)
{
    char path[64];
    setup_path(s, name, path, sizeof path);
    FILE *file = fopen(path, "w");
    setup_require(file != NULL);
    return file;
}

static inline void setup_certificate(const setup *s)
{
    FILE *certificate = setup_create(s, "crt"), *key = setup_create(s, "key");
    setup_require(certificate_write(certificate, key));
    fclose(certificate);
    fclose(key);
}

/* The backend is a Unix socket that is not there. */
static inline setup_rules setup_load(const setup *s, cfg_tls_mode tls, cfg_auth_mode auth,
                                     const px_credentials *previous)
{
    static const char *const modes[] = {"disable", "prefer", "require"};
    static const char *const auths[] = {"trust", "scram, users_file: users", "forward"};
    bool unsafe = tls == CFG_TLS_DISABLE && auth == CFG_AUTH_FORWARD;
    FILE *file = setup_create(s, "yaml");
    fprintf(file, "listen: [\"%s%s\"]\n", unsafe ? s->folder : "127.0.0.1:6432",
            unsafe ? "/socket" : "");
    fprintf(file, "client_tls: { mode: %s, cert: crt, key: key }\nauth: { mode: %s }\n", modes[tls],
            auths[auth]);
    fprintf(file,
            "backend: { dsn: \"host=%s\" }\nlimits: { startup_ms: 3600000 }\n"
            "tables: [{ name: t, primary_key: [a], hash_function: xxh3 }]\n",
            s->folder);
    fclose(file);
    char path[64];
    setup_path(s, "yaml", path, sizeof path);
    setup_rules rules = {.config = px_config_load(path, stderr)};
    setup_require(rules.config != NULL);
    rules.credentials = px_credentials_load(rules.config, previous, stderr);
    setup_require(rules.credentials != NULL);
    return rules;
}

static inline void setup_remove(const setup *s)
{
    static const char *const names[] = {"crt", "key", "users", "yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        setup_path(s, names[i], path, sizeof path);
        unlink(path);
    }
    rmdir(s->folder);
}

static inline void setup_worker(setup *s)
{
    const setup_rules *rules = &s->rules[0][0];
    one_worker_begin(&s->server, &s->worker, rules->config, &px_backend_postgres,
                     px_credentials_take(rules->credentials));
    s->server.addresses = px_addresses_new();
}

static inline void setup_make(setup *s)
{
    strcpy(s->folder, "/tmp/keyspread-fuzz-XXXXXX");
    setup_require(mkdtemp(s->folder) != NULL);
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    px_log_level(CFG_LOG_ERROR);
    setup_certificate(s);
    FILE *file = setup_create(s, "users");
    fprintf(file, "\"" SETUP_USER "\" \"" SETUP_PASSWORD "\"\n");
    fclose(file);
    for (int tls = 0; tls < MODES; tls++)
        for (int auth = 0; auth < MODES; auth++)
            s->rules[tls][auth] = setup_load(s, (cfg_tls_mode)tls, (cfg_auth_mode)auth,
                                             s->rules[0][CFG_AUTH_TRUST].credentials);
    setup_remove(s);
    setup_worker(s);
}

#endif
