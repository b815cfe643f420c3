/* The files that the configuration names: where they are looked for, and what their permissions
 * may be. Made at run time, in a folder of the test's own, for a repository keeps no permissions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/load.h"
#include "config/tls_files.h"

typedef struct place {
    char path[64];
    char config[128]; /* the file in it */
} place;

static void write_file(const place *folder, const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* To an owner who is not root; only root can. */
static void give_away(const place *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    assert_int_equal(chown(path, 65534, 65534), 0);
}

static int set_up(void **state)
{
    place *folder = calloc(1, sizeof *folder);
    strcpy(folder->path, "/tmp/keyspread-door-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(folder->config, sizeof folder->config, "%s/keyspread.yaml", folder->path);
    write_file(folder, "server.crt", "", 0644);
    write_file(folder, "server.key", "", 0600);
    write_file(folder, "ca.crt", "", 0644);
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    place *folder = *state;
    static const char *const names[] = {"server.crt", "server.key", "ca.crt", "keyspread.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder->path, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder->path), 0);
    free(folder);
    return 0;
}

/* Loads `lines` and what no file can be without; `*printed` is to be freed. */
static cfg_config *load(const place *folder, const char *path, const char *lines, char **printed)
{
    char text[512];
    size_t size = 0;
    snprintf(text, sizeof text, "%s\nbackend: { dsn: \"host=127.0.0.1\" }\n", lines);
    write_file(folder, "keyspread.yaml", text, 0644);
    FILE *errors = open_memstream(printed, &size);
    cfg_config *config = cfg_load(path, errors);
    if (config != NULL && !cfg_check_files(config, errors)) {
        cfg_free(config);
        config = NULL;
    }
    fclose(errors);
    return config;
}

static cfg_config *load_good(const place *folder, const char *lines)
{
    char *printed;
    cfg_config *config = load(folder, folder->config, lines, &printed);
    if (config == NULL)
        fail_msg("%s", printed);
    free(printed);
    return config;
}

static void refuse(const place *folder, const char *lines, const char *said)
{
    char *printed;
    cfg_config *config = load(folder, folder->config, lines, &printed);
    if (config != NULL || strstr(printed, said) == NULL)
        fail_msg("%s: not said: %s, but: %s", lines, said, printed);
    free(printed);
}

#define TLS "client_tls: { cert: server.crt, key: server.key }"

static void assert_in(const place *folder, const char *name, const char *path)
{
    char expected[256];
    snprintf(expected, sizeof expected, "%s/%s", folder->path, name);
    assert_string_equal(path, expected);
}

static void test_paths(void **state)
{
    const place *folder = *state;
    cfg_config *config = load_good(
        folder, "client_tls: { mode: require, cert: server.crt, key: ./server.key, ca: ca.crt, "
                "verify: verify-full }\nauth: { mode: scram, users_file: /etc/users.txt }");
    assert_in(folder, "server.crt", config->client_tls.cert);
    assert_in(folder, "./server.key", config->client_tls.key);
    assert_in(folder, "ca.crt", config->client_tls.ca);
    assert_int_equal(config->client_tls.mode, CFG_TLS_REQUIRE);
    assert_int_equal(config->client_tls.verify, CFG_TLS_VERIFY_FULL);
    assert_int_equal(config->auth.mode, CFG_AUTH_SCRAM);
    assert_string_equal(config->auth.users_file, "/etc/users.txt");
    assert_int_equal(config->auth.users_file_line, 2);
    cfg_free(config);
}

/* Absolute also where the configuration file was named without its folder. */
static void test_paths_here(void **state)
{
    const place *folder = *state;
    char before[4096], *printed;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder->path), 0);
    cfg_config *config = load(folder, "keyspread.yaml", TLS, &printed);
    assert_int_equal(chdir(before), 0);
    assert_non_null(config);
    assert_in(folder, "server.crt", config->client_tls.cert);
    cfg_free(config);
    free(printed);
}

static void test_tls_defaults(void **state)
{
    const place *folder = *state;
    cfg_config *config = load_good(folder, TLS);
    assert_int_equal(config->client_tls.mode, CFG_TLS_PREFER);
    assert_int_equal(config->client_tls.verify, CFG_TLS_VERIFY_OPTIONAL);
    cfg_free(config);
    config = load_good(folder, TLS "\nauth: { mode: forward }");
    assert_int_equal(config->auth.mode, CFG_AUTH_FORWARD);
    cfg_free(config);
    config = load_good(folder, "client_tls: { mode: disable, cert: no.crt, key: no.key }");
    assert_int_equal(config->client_tls.mode, CFG_TLS_DISABLE);
    cfg_free(config);
}

static void test_tls_files(void **state)
{
    const place *folder = *state;
    refuse(folder, "client_tls: { cert: no.crt, key: server.key }",
           "keyspread.yaml:1: client_tls.cert: ");
    refuse(folder, "client_tls: { cert: no.crt, key: server.key }",
           "/no.crt cannot be read (No such file or directory): it takes a PEM file");
    refuse(folder, "client_tls: { cert: server.crt, key: . }",
           "/. is not a regular file: it takes a PEM file");
    refuse(folder, "client_tls: { cert: server.crt, key: server.key, ca: no.crt }",
           "keyspread.yaml:1: client_tls.ca: ");
}

/* The next file that is opened is number 0. */
static void test_files_without_a_standard_input(void **state)
{
    const place *folder = *state;
    int input = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    cfg_config *config = load_good(folder, TLS);
    assert_int_equal(dup2(input, STDIN_FILENO), input < 0 ? -1 : STDIN_FILENO);
    close(input);
    cfg_free(config);
}

static void test_key_permissions(void **state)
{
    const place *folder = *state;
    static const mode_t wrong[] = {0644, 0604, 0660, 0620, 0610, 0602, 0601};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char said[64];
        write_file(folder, "server.key", "", wrong[i]);
        snprintf(said, sizeof said, "has permissions %04o, so that others", (unsigned)wrong[i]);
        refuse(folder, TLS, said);
    }
    write_file(folder, "server.key", "", 0640);
    if (geteuid() == 0) {
        cfg_free(load_good(folder, TLS));
        give_away(folder, "server.key");
    }
    refuse(folder, TLS, "has permissions 0640, so that others could use the key: chmod 0600");
    write_file(folder, "server.key", "", 0600);
    cfg_free(load_good(folder, TLS));
    write_file(folder, "server.key", "", 0400);
    cfg_free(load_good(folder, TLS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths_here, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tls_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tls_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_without_a_standard_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_permissions, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
