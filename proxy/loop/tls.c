#include "proxy/loop/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

struct px_tls {
    SSL_CTX *context;
    unsigned char binding[EVP_MAX_MD_SIZE];
    unsigned binding_len;
};

/* ---- loading ---- */

/* Why a file cannot be used, in clearer words than OpenSSL's "PEM lib" and "no certificate
 * assigned". */
static const char *why(const char *key)
{
    unsigned long last = ERR_peek_last_error();
    int library = ERR_GET_LIB(last), reason = ERR_GET_REASON(last);
    bool is_key = strcmp(key, "key") == 0;
    if (library == ERR_LIB_PEM || reason == ERR_R_PEM_LIB)
        return is_key ? "it takes a key in PEM, without a passphrase"
                      : "it takes certificates in PEM";
    if (is_key && (library == ERR_LIB_X509 || reason == SSL_R_NO_CERTIFICATE_ASSIGNED))
        return "it is not the key of client_tls.cert";
    const char *text = ERR_reason_error_string(last);
    return text != NULL ? text : "OpenSSL refuses it";
}

static bool fail(const cfg_config *config, unsigned line, const char *key, const char *file,
                 FILE *errors)
{
    fprintf(errors, "%s:%u: client_tls.%s: %s cannot be used: %s\n", config->path, line, key, file,
            why(key));
    ERR_clear_error();
    return false;
}

/* The digest that the certificate is signed with, but SHA-256 for weaker ones (RFC 5929). NULL: the
 * signature has no digest of its own (Ed25519), so there is no binding. */
static const EVP_MD *binding_digest(X509 *certificate)
{
    int digest;
    if (!X509_get_signature_info(certificate, &digest, NULL, NULL, NULL) || digest == NID_undef)
        return NULL;
    bool weak = digest == NID_md5 || digest == NID_sha1;
    return weak ? EVP_sha256() : EVP_get_digestbynid(digest);
}

static bool load_certificate(px_tls *tls, const cfg_config *config, FILE *errors)
{
    SSL_CTX *context = tls->context;
    if (SSL_CTX_use_certificate_chain_file(context, config->client_tls.cert) != 1)
        return fail(config, config->client_tls.cert_line, "cert", config->client_tls.cert, errors);
    if (SSL_CTX_use_PrivateKey_file(context, config->client_tls.key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1)
        return fail(config, config->client_tls.key_line, "key", config->client_tls.key, errors);
    X509 *certificate = SSL_CTX_get0_certificate(context);
    const EVP_MD *digest = binding_digest(certificate);
    if (digest != NULL && X509_digest(certificate, digest, tls->binding, &tls->binding_len) != 1)
        return fail(config, config->client_tls.cert_line, "cert", config->client_tls.cert, errors);
    return true;
}

/* Asks clients for a certificate, which must be good if it is shown. Whether one must be shown is
 * decided at login, where the client gets an error. */
static bool load_authorities(px_tls *tls, const cfg_config *config, FILE *errors)
{
    const char *file = config->client_tls.ca;
    if (file == NULL)
        return true;
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
    if (names == NULL || SSL_CTX_load_verify_locations(tls->context, file, NULL) != 1)
        return fail(config, config->client_tls.ca_line, "ca", file, errors);
    SSL_CTX_set_client_CA_list(tls->context, names);
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, NULL);
    return true;
}

static int no_passphrase(char *buffer, int size, int for_writing, void *data)
{
    (void)buffer, (void)size, (void)for_writing, (void)data;
    return 0; /* no passphrase can be asked for */
}

static int select_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_len,
                           const unsigned char *offered, unsigned offered_len, void *data)
{
    static const unsigned char ours[] = "\012postgresql";
    (void)ssl, (void)data;
    unsigned char *found;
    int result =
        SSL_select_next_proto(&found, chosen_len, ours, sizeof ours - 1, offered, offered_len);
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* TLS sessions are never resumed, by tickets or a cache: a resumed one would skip the client's
 * certificate. */
static void set_options(SSL_CTX *context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
}

px_tls *px_tls_load(const cfg_config *config, FILE *errors)
{
    ERR_clear_error();
    px_tls *tls = pgw_calloc(1, sizeof *tls);
    tls->context = SSL_CTX_new(TLS_server_method());
    if (tls->context == NULL)
        abort(); /* OpenSSL itself is broken */
    set_options(tls->context);
    if (load_certificate(tls, config, errors) && load_authorities(tls, config, errors))
        return tls;
    px_tls_free(tls);
    return NULL;
}

void px_tls_free(px_tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

/* ---- a connection ---- */

SSL *px_tls_accept(const px_tls *tls, int fd)
{
    SSL *ssl = SSL_new(tls->context);
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
        abort(); /* out of memory */
    SSL_set_accept_state(ssl);
    return ssl;
}

void px_tls_end(SSL *ssl)
{
    if (SSL_is_init_finished(ssl))
        SSL_shutdown(ssl);
    ERR_clear_error();
    SSL_free(ssl);
}

pgw_slice px_tls_binding(const px_tls *tls)
{
    return (pgw_slice){(const char *)tls->binding, tls->binding_len};
}

bool px_tls_is_up(const SSL *ssl)
{
    return SSL_is_init_finished(ssl);
}

bool px_tls_is_postgresql(const SSL *ssl)
{
    const unsigned char *chosen;
    unsigned len;
    SSL_get0_alpn_selected(ssl, &chosen, &len);
    return pgw_slice_eq_str((pgw_slice){(const char *)chosen, len}, "postgresql");
}

bool px_tls_has_certificate(const SSL *ssl)
{
    return SSL_get0_peer_certificate(ssl) != NULL;
}

bool px_tls_certificate_is(const SSL *ssl, const char *name)
{
    const X509 *certificate = SSL_get0_peer_certificate(ssl);
    char common[256]; /* a common name has 64 characters at most */
    int len = certificate == NULL
                  ? -1
                  : X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                              common, sizeof common);
    /* A name with a NUL inside was another name to the authority that signed it. */
    return len >= 0 && strlen(common) == (size_t)len && strcmp(common, name) == 0;
}
