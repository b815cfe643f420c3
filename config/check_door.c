#include "config/check_door.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"

static const char *const auth_modes[] = {
    [CFG_AUTH_TRUST] = "trust", [CFG_AUTH_SCRAM] = "scram", [CFG_AUTH_FORWARD] = "forward"};
static const char *const tls_modes[] = {
    [CFG_TLS_DISABLE] = "disable", [CFG_TLS_PREFER] = "prefer", [CFG_TLS_REQUIRE] = "require"};
static const char *const tls_verifies[] = {[CFG_TLS_VERIFY_OPTIONAL] = "optional",
                                           [CFG_TLS_VERIFY_CA] = "verify-ca",
                                           [CFG_TLS_VERIFY_FULL] = "verify-full"};

/* -- addresses -- */

static bool same_address(const cfg_listen *a, const cfg_listen *b)
{
    if (a->path != NULL || b->path != NULL)
        return a->path != NULL && b->path != NULL && strcmp(a->path, b->path) == 0;
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static void check_listen(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        const cfg_listen *listen = &config->listen[i];
        char *where = cfg_printf("listen[%zu]", i);
        bool local = cfg_is_local(listen);
        assert(local || raw->listen != NULL); /* The default of `listen` is local. */
        if (!local && config->auth.mode == CFG_AUTH_TRUST && !config->auth.allow_remote_trust)
            cfg_mistake(document, where,
                        "%s is \"%s\", which other machines reach, and auth.mode trust asks nobody "
                        "for a password: listen on 127.0.0.1, [::1] or a Unix socket, take another "
                        "auth.mode, or set auth.allow_remote_trust: true",
                        where, raw->listen[i]);
        for (size_t j = 0; j < i; j++)
            if (same_address(listen, &config->listen[j]))
                cfg_mistake(document, where, "%s is the same address as listen[%zu]: keep one",
                            where, j);
        free(where);
    }
}

static void check_admin(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    const cfg_listen *admin = config->admin.listen;
    if (!cfg_is_local(admin) && !config->admin.allow_remote)
        cfg_mistake(document, "admin.listen",
                    "admin.listen is \"%s\", which other machines reach, and nobody is asked for a "
                    "password there: listen on 127.0.0.1, [::1] or a Unix socket, or set "
                    "admin.allow_remote: true",
                    raw->admin.listen);
    for (size_t i = 0; i < config->listen_count; i++)
        if (same_address(admin, &config->listen[i]))
            cfg_mistake(
                document, "admin.listen",
                "admin.listen is the same address as listen[%zu]: take another port or path", i);
}

/* -- TLS -- */

/* Certificates can be relied on only if all clients must use TLS: else there is a way around them.
 */
static void check_verify(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    if (raw->client_tls.verify != NULL && config->client_tls.ca == NULL)
        cfg_mistake(document, "client_tls.verify",
                    "client_tls.verify needs client_tls.ca, the PEM file of the authorities that "
                    "clients' certificates come from: write it, or remove the key");
    if (config->client_tls.verify != CFG_TLS_VERIFY_OPTIONAL &&
        config->client_tls.mode != CFG_TLS_REQUIRE)
        cfg_mistake(document, "client_tls.verify",
                    "client_tls.verify %s asks clients for a certificate, and with mode %s they "
                    "come in without TLS and without one: write `mode: require`",
                    tls_verifies[config->client_tls.verify], tls_modes[config->client_tls.mode]);
}

static void check_client_tls(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    bool cert = config->client_tls.cert != NULL, key = config->client_tls.key != NULL;
    if (cert != key)
        cfg_mistake(document, cert ? "client_tls.cert" : "client_tls.key",
                    "client_tls.%s stands without client_tls.%s: TLS takes both, write the other, "
                    "too",
                    cert ? "cert" : "key", cert ? "key" : "cert");
    else if (!cert && config->client_tls.mode != CFG_TLS_DISABLE)
        cfg_mistake(document, "client_tls.mode",
                    "client_tls.mode %s needs client_tls.cert and client_tls.key: write them, or "
                    "`mode: disable`",
                    tls_modes[config->client_tls.mode]);
    else if (!cert && config->client_tls.ca != NULL)
        cfg_mistake(document, "client_tls.ca",
                    "client_tls.ca stands without client_tls.cert and client_tls.key: clients show "
                    "certificates over TLS only, write them, too");
    check_verify(document, raw, config);
}

/* -- passwords -- */

static void check_auth(cfg_document *document, const cfg_config *config)
{
    const char *mode = auth_modes[config->auth.mode];
    if (config->auth.mode == CFG_AUTH_SCRAM && config->auth.users_file == NULL)
        cfg_mistake(document, "auth.mode",
                    "auth.mode scram needs auth.users_file, which holds a line \"name\" \"secret\" "
                    "for each user: write it");
    if (config->auth.mode != CFG_AUTH_SCRAM && config->auth.users_file != NULL)
        cfg_mistake(document, "auth.users_file",
                    "auth.users_file belongs to auth.mode scram, and the mode is %s: write `mode: "
                    "scram`, or remove the key",
                    mode);
    if (config->auth.mode != CFG_AUTH_TRUST && config->auth.allow_remote_trust)
        cfg_mistake(document, "auth.allow_remote_trust",
                    "auth.allow_remote_trust belongs to auth.mode trust, and the mode is %s: "
                    "remove the key",
                    mode);
}

/* In mode forward the client sends its password itself, which must not be readable on the way. */
static void check_forward(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        if (config->listen[i].path != NULL)
            continue;
        cfg_mistake(document, "auth.mode",
                    "auth.mode forward asks for passwords over TLS or a Unix socket only, and "
                    "clients of %s%s have neither: write client_tls.cert and client_tls.key, or "
                    "listen on Unix sockets only",
                    raw->listen ? raw->listen[i] : "127.0.0.1:6432",
                    raw->listen ? "" : " (the default of listen)");
        return;
    }
}

void cfg_check_door(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    /* The indexes are those of the file only if every address was understood. */
    bool understood = raw->listen == NULL || raw->listen_count == config->listen_count;
    if (understood)
        check_listen(document, raw, config);
    if (understood && config->admin.listen != NULL)
        check_admin(document, raw, config);
    check_client_tls(document, raw, config);
    check_auth(document, config);
    if (understood && config->auth.mode == CFG_AUTH_FORWARD &&
        config->client_tls.mode == CFG_TLS_DISABLE)
        check_forward(document, raw, config);
}
