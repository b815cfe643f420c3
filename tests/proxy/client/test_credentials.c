/* What clients must know, and what keyspread knows of them. */
#include "proxy/client/door/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define VERIFIER                                                                                   \
    "SCRAM-SHA-256$4096:QQ==$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=:"                        \
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

/* Of a file of users with this text; `previous` is dropped. */
static px_credentials *load(const char *users, px_credentials *previous)
{
    char path[] = "/tmp/keyspread-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, users, strlen(users)), strlen(users));
    close(fd);
    const cfg_config config = {.path = (char *)"x.yaml",
                               .auth = {.mode = CFG_AUTH_SCRAM, .users_file = path},
                               .client_tls.mode = CFG_TLS_DISABLE,
                               .backend.dsn = (char *)"host=h user=app"};
    px_credentials *credentials = px_credentials_load(&config, previous, stderr);
    unlink(path);
    px_credentials_drop(previous);
    assert_non_null(credentials);
    return credentials;
}

static void only_plain_passwords_are_known(void **state)
{
    (void)state;
    px_credentials *credentials = load("\"plain\" \"sesame\"\n\"kept\" \"" VERIFIER "\"\n", NULL);
    assert_string_equal(px_credentials_password(credentials, PGW_LITERAL("plain")), "sesame");
    assert_null(px_credentials_password(credentials, PGW_LITERAL("kept")));
    assert_null(px_credentials_password(credentials, PGW_LITERAL("nobody")));
    assert_null(px_credentials_password(credentials, PGW_LITERAL("plai")));
    px_credentials_drop(credentials);
}

/* Nobody is told by a reload, or by asking twice, who is a user and who is none. */
static void secrets_outlive_a_reload(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", "kept", "nobody"};
    static const char users[] = "\"plain\" \"sesame\"\n\"kept\" \"" VERIFIER "\"\n";
    px_credentials *credentials = load(users, NULL);
    for (size_t i = 0; i < 3; i++) {
        pgw_scram_secret before = {0}, again = {0}, after = {0};
        pgw_slice name = pgw_slice_str(names[i]);
        assert_int_equal(px_credentials_secret(credentials, name, &before), i < 2);
        assert_int_equal(px_credentials_secret(credentials, name, &again), i < 2);
        assert_memory_equal(&before, &again, sizeof before);
        credentials = load(users, credentials);
        assert_int_equal(px_credentials_secret(credentials, name, &after), i < 2);
        assert_memory_equal(&before, &after, sizeof before);
    }
    pgw_scram_secret old = {0}, new = {0};
    px_credentials_secret(credentials, PGW_LITERAL("plain"), &old);
    credentials = load("\"plain\" \"another\"\n", credentials);
    assert_true(px_credentials_secret(credentials, PGW_LITERAL("plain"), &new));
    assert_memory_not_equal(&old, &new, sizeof old);
    assert_false(px_credentials_secret(credentials, PGW_LITERAL("kept"), &new));
    px_credentials_drop(credentials);
}

/* Whoever was answered by one process learns nothing of another. */
static void salts_are_each_process_s_own(void **state)
{
    (void)state;
    px_credentials *one = load("\"plain\" \"sesame\"\n", NULL);
    px_credentials *two = load("\"plain\" \"sesame\"\n", NULL);
    pgw_scram_secret first = {0}, second = {0};
    px_credentials_secret(one, PGW_LITERAL("nobody"), &first);
    px_credentials_secret(two, PGW_LITERAL("nobody"), &second);
    assert_memory_not_equal(&first, &second, sizeof first);
    assert_ptr_equal(px_credentials_take(one), one);
    px_credentials_drop(one); /* one reference is left */
    assert_non_null(px_credentials_password(one, PGW_LITERAL("plain")));
    px_credentials_drop(one);
    px_credentials_drop(two);
    px_credentials_drop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_plain_passwords_are_known),
        cmocka_unit_test(secrets_outlive_a_reload),
        cmocka_unit_test(salts_are_each_process_s_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
