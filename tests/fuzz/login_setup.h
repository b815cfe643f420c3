/*
 * login_setup: a worker with no thread of its own, and the rules that clients may meet: each
 * client_tls.mode with each auth.mode, loaded from files that are gone afterwards.
 */
#ifndef TESTS_LOGIN_SETUP_H
#define TESTS_LOGIN_SETUP_H

#include "proxy/backend/catalog.h"
#include "proxy/backend/databases.h"
#include "proxy/backend/greeting.h"
#include "proxy/backend/pids.h"
#include "proxy/backend/postgres/postgres.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/credentials.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/server/config.h"
#include "proxy/server/server.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
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
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
    X509_set_pubkey(certificate, key);
    setup_require(X509_sign(certificate, key, EVP_sha256()) > 0);
    FILE *file = setup_create(s, "crt");
    setup_require(PEM_write_X509(file, certificate) == 1);
    fclose(file);
    file = setup_create(s, "key");
    setup_require(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
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
    s->server = (px_server){.workers = &s->worker,
                            .worker_count = 1,
                            .config = s->rules[0][0].config,
                            .backend = &px_backend_postgres,
                            .addresses = px_addresses_new(),
                            .pids = px_pids_new(),
                            .databases = px_databases_new(),
                            .greetings = px_greetings_new(),
                            .metrics = px_metrics_new(NULL)};
    px_worker_init(&s->worker, &s->server, 0, px_server_tenants);
    s->worker.config = s->rules[0][0].config;
    s->worker.credentials = px_credentials_take(s->rules[0][0].credentials);
    s->worker.plans = pgw_calloc(1, sizeof *s->worker.plans);
    s->worker.catalogs = px_catalogs_new(&s->worker);
    s->worker.batcher = px_batcher_new(&s->worker);
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
