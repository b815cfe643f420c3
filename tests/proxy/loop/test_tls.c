/* The server's side of TLS: what it loads, whom it lets in, and whose certificate it is. */
#include "proxy/loop/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* A certificate with its key. */
typedef struct pair {
    EVP_PKEY *key;
    X509 *certificate;
} pair;

static char folder[32];
static pair authority, stranger, server;
static cfg_config config;

/* ---- certificates ---- */

/* Signed by itself if `by` is NULL. */
static pair issue_by(const EVP_MD *digest, const char *name, int name_len, const pair *by)
{
    static long serial;
    pair made = {EVP_EC_gen("P-256"), X509_new()};
    X509_NAME *subject = X509_get_subject_name(made.certificate);
    X509_set_version(made.certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), ++serial);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, name_len,
                               -1, 0);
    X509_set_issuer_name(made.certificate,
                         X509_get_subject_name(by != NULL ? by->certificate : made.certificate));
    X509_gmtime_adj(X509_getm_notBefore(made.certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(made.certificate), 24 * 3600);
    X509_set_pubkey(made.certificate, made.key);
    X509_EXTENSION *signs = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "CA:TRUE");
    assert_true(by != NULL || X509_add_ext(made.certificate, signs, -1));
    X509_EXTENSION_free(signs);
    assert_true(X509_sign(made.certificate, by != NULL ? by->key : made.key, digest) > 0);
    return made;
}

static pair issue(const char *name, int name_len, const pair *by)
{
    return issue_by(EVP_sha256(), name, name_len, by);
}

static void forget(pair *it)
{
    X509_free(it->certificate);
    EVP_PKEY_free(it->key);
}

static char *path_of(const char *name)
{
    char *path = malloc(64);
    snprintf(path, 64, "%s/%s", folder, name);
    return path;
}

static void write_pair(const char *certificate, const char *key, const pair *it)
{
    char *path = path_of(certificate);
    FILE *file = fopen(path, "w");
    assert_int_equal(PEM_write_X509(file, it->certificate), 1);
    fclose(file);
    free(path);
    path = path_of(key);
    file = fopen(path, "w");
    assert_int_equal(PEM_write_PrivateKey(file, it->key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    free(path);
}

static const char *const files[] = {"crt", "key", "ca", "cakey", "other", "otherkey", "nothing"};

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/keyspread-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    authority = issue("authority", -1, NULL);
    stranger = issue("authority", -1, NULL);
    server = issue("server", -1, NULL);
    write_pair("crt", "key", &server);
    write_pair("ca", "cakey", &authority);
    write_pair("other", "otherkey", &stranger);
    char *nothing = path_of("nothing");
    FILE *file = fopen(nothing, "w");
    fputs("no PEM\n", file);
    fclose(file);
    free(nothing);
    config = (cfg_config){.path = (char *)"x.yaml",
                          .client_tls = {.cert = path_of("crt"),
                                         .cert_line = 5,
                                         .key = path_of("key"),
                                         .key_line = 6,
                                         .ca = path_of("ca"),
                                         .ca_line = 7}};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = path_of(files[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    forget(&authority);
    forget(&stranger);
    forget(&server);
    free(config.client_tls.cert);
    free(config.client_tls.key);
    free(config.client_tls.ca);
    return 0;
}

/* ---- loading ---- */

static void expect_refused(char **what, const char *file, const char *expected)
{
    char *before = *what, *said = NULL, whole[256];
    size_t size;
    FILE *errors = open_memstream(&said, &size);
    *what = path_of(file);
    assert_null(px_tls_load(&config, errors));
    fclose(errors);
    snprintf(whole, sizeof whole, expected, *what);
    assert_string_equal(said, whole);
    free(said);
    free(*what);
    *what = before;
}

static void mistakes_are_told_by_file_and_line(void **state)
{
    (void)state;
    expect_refused(&config.client_tls.cert, "nothing",
                   "x.yaml:5: client_tls.cert: %s cannot be used: it takes certificates in PEM\n");
    expect_refused(&config.client_tls.key, "nothing",
                   "x.yaml:6: client_tls.key: %s cannot be used: it takes a key in PEM, without a "
                   "passphrase\n");
    expect_refused(&config.client_tls.key, "otherkey",
                   "x.yaml:6: client_tls.key: %s cannot be used: it is not the key of "
                   "client_tls.cert\n");
    expect_refused(&config.client_tls.ca, "nothing",
                   "x.yaml:7: client_tls.ca: %s cannot be used: it takes certificates in PEM\n");
}

/* RFC 5929: by the digest that signed it, but nothing weaker than SHA-256. */
static void a_channel_is_bound_to_the_certificate(void **state)
{
    (void)state;
    const EVP_MD *const digests[][2] = {
        {EVP_sha256(), EVP_sha256()}, {EVP_sha384(), EVP_sha384()}, {EVP_sha1(), EVP_sha256()}};
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned len = 0;
        pair signed_so = issue_by(digests[i][0], "server", -1, NULL);
        write_pair("crt", "key", &signed_so);
        px_tls *tls = px_tls_load(&config, stderr);
        assert_non_null(tls);
        assert_int_equal(X509_digest(signed_so.certificate, digests[i][1], digest, &len), 1);
        assert_true(pgw_slice_eq(px_tls_binding(tls), (pgw_slice){(const char *)digest, len}));
        px_tls_free(tls);
        forget(&signed_so);
    }
    px_tls_free(NULL);
}

/* ---- handshakes ---- */

typedef struct meeting {
    px_tls *tls;
    SSL_CTX *context;
    SSL *ours, *client;
    int fds[2];
} meeting;

static void begin(meeting *m, const pair *shown)
{
    m->tls = px_tls_load(&config, stderr);
    assert_non_null(m->tls);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, m->fds), 0);
    m->ours = px_tls_accept(m->tls, m->fds[0]);
    m->context = SSL_CTX_new(TLS_client_method());
    if (shown != NULL) {
        assert_int_equal(SSL_CTX_use_certificate(m->context, shown->certificate), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey(m->context, shown->key), 1);
    }
    m->client = SSL_new(m->context);
    SSL_set_fd(m->client, m->fds[1]);
    SSL_set_connect_state(m->client);
}

/* Whether we let the client in. */
static bool meet(meeting *m)
{
    assert_false(px_tls_is_up(m->ours));
    for (int i = 0; i < 20; i++) {
        int theirs = SSL_do_handshake(m->client), mine = SSL_do_handshake(m->ours);
        bool failed = mine != 1 && SSL_get_error(m->ours, mine) != SSL_ERROR_WANT_READ;
        ERR_clear_error();
        if (failed)
            return false;
        if (mine == 1 && theirs == 1)
            return px_tls_is_up(m->ours);
    }
    return false;
}

static void end(meeting *m)
{
    px_tls_end(m->ours);
    SSL_free(m->client);
    SSL_CTX_free(m->context);
    px_tls_free(m->tls);
    close(m->fds[0]);
    close(m->fds[1]);
}

static void whoever_shows_no_certificate_is_nobody(void **state)
{
    (void)state;
    meeting m;
    begin(&m, NULL);
    assert_true(meet(&m)); /* it is told at login if it needs one */
    assert_false(px_tls_has_certificate(m.ours));
    assert_false(px_tls_certificate_is(m.ours, "app"));
    assert_false(px_tls_certificate_is(m.ours, ""));
    end(&m);
}

static void a_certificate_is_its_common_names(void **state)
{
    (void)state;
    meeting m;
    pair app = issue("app", -1, &authority);
    begin(&m, &app);
    assert_true(meet(&m));
    assert_true(px_tls_has_certificate(m.ours));
    assert_true(px_tls_certificate_is(m.ours, "app"));
    assert_false(px_tls_certificate_is(m.ours, "apple"));
    assert_false(px_tls_certificate_is(m.ours, "ap"));
    assert_false(px_tls_certificate_is(m.ours, "App"));
    end(&m);
    forget(&app);
}

/* Another name to whoever signed it. */
static void a_name_does_not_end_at_a_nul(void **state)
{
    (void)state;
    meeting m;
    pair app = issue("app\0.example", 12, &authority);
    begin(&m, &app);
    assert_true(meet(&m));
    assert_true(px_tls_has_certificate(m.ours));
    assert_false(px_tls_certificate_is(m.ours, "app"));
    end(&m);
    forget(&app);
}

static void a_strangers_certificate_is_refused(void **state)
{
    (void)state;
    meeting m;
    pair app = issue("app", -1, &stranger);
    begin(&m, &app);
    assert_false(meet(&m));
    end(&m);
    forget(&app);
}

/* Without client_tls.ca none is asked for. */
static void a_certificate_that_was_not_asked_for_is_not_shown(void **state)
{
    (void)state;
    meeting m;
    char *ca = config.client_tls.ca;
    pair app = issue("app", -1, &stranger);
    config.client_tls.ca = NULL;
    begin(&m, &app);
    assert_true(meet(&m));
    assert_false(px_tls_has_certificate(m.ours));
    end(&m);
    config.client_tls.ca = ca;
    forget(&app);
}

static void only_postgresql_is_spoken(void **state)
{
    (void)state;
    static const struct {
        const char *offered;
        unsigned len;
        bool comes, chosen;
    } cases[] = {{"\012postgresql", 11, true, true},
                 {"\010http/1.1\012postgresql", 20, true, true},
                 {"\010http/1.1", 9, false, false},
                 {NULL, 0, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        meeting m;
        begin(&m, NULL);
        if (cases[i].offered != NULL)
            SSL_set_alpn_protos(m.client, (const unsigned char *)cases[i].offered, cases[i].len);
        assert_int_equal(meet(&m), cases[i].comes);
        if (cases[i].comes)
            assert_int_equal(px_tls_is_postgresql(m.ours), cases[i].chosen);
        end(&m);
    }
}

/* Sessions that are resumed would skip the client's certificate. */
static void old_versions_and_tickets_are_not_taken(void **state)
{
    (void)state;
    meeting m;
    begin(&m, NULL);
    SSL_set_security_level(m.client, 0);
    SSL_set_min_proto_version(m.client, TLS1_VERSION);
    SSL_set_max_proto_version(m.client, TLS1_1_VERSION);
    assert_false(meet(&m));
    end(&m);
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        begin(&m, NULL);
        SSL_set_max_proto_version(m.client, version);
        assert_true(meet(&m));
        char byte;
        SSL_read(m.client, &byte, 1); /* takes tickets, if there are any */
        assert_false(SSL_SESSION_has_ticket(SSL_get0_session(m.client)));
        end(&m);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mistakes_are_told_by_file_and_line),
        TEST(a_channel_is_bound_to_the_certificate),
        TEST(whoever_shows_no_certificate_is_nobody),
        TEST(a_certificate_is_its_common_names),
        TEST(a_name_does_not_end_at_a_nul),
        TEST(a_strangers_certificate_is_refused),
        TEST(a_certificate_that_was_not_asked_for_is_not_shown),
        TEST(only_postgresql_is_spoken),
        TEST(old_versions_and_tickets_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
