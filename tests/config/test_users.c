/* The files of vectors/users: what the right one holds, and what is wrong with the other, as its
 * `; expect: LINE: TEXT` comments say. Copied first: a file of users is not for everybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/users.h"

typedef struct text {
    char *bytes;
    size_t len;
} text;

static text read_vector(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, VECTORS "/users/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text read = {calloc(1, 65536), 0};
    read.len = fread(read.bytes, 1, 65535, file);
    fclose(file);
    return read;
}

/* Loads a file of these bytes and permissions. What was printed, each line without the path, is to
 * be freed. */
static cfg_users *load(const char *bytes, size_t len, mode_t mode, char **printed)
{
    char path[] = "/tmp/keyspread-users-XXXXXX";
    size_t size = 0;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, len), len);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    FILE *errors = open_memstream(printed, &size);
    cfg_users *users = cfg_users_load(path, errors);
    fclose(errors);
    unlink(path);
    char *to = *printed;
    for (char *line = *printed; *line != '\0'; line++) {
        assert_memory_equal(line, path, strlen(path));
        for (line += strlen(path); *line != '\n'; line++)
            *to++ = *line;
        *to++ = '\n';
    }
    *to = '\0';
    return users;
}

static void refuse(const char *bytes, size_t len, mode_t mode, const char *said)
{
    char *printed;
    cfg_users *users = load(bytes, len, mode, &printed);
    assert_null(users);
    if (strncmp(printed, said, strlen(said)) != 0)
        fail_msg("not said: %s, but: %s", said, printed);
    free(printed);
}

static cfg_users *load_good(const char *bytes, size_t len)
{
    char *printed;
    cfg_users *users = load(bytes, len, 0640, &printed);
    if (users == NULL || *printed != '\0')
        fail_msg("%s", printed);
    free(printed);
    return users;
}

static const cfg_user *find(const cfg_users *users, const char *name)
{
    return cfg_users_find(users, name, strlen(name));
}

static void test_good(void **state)
{
    (void)state;
    static const struct {
        const char *name, *secret;
        unsigned line;
    } plain[] = {{"bob", "secret", 2},
                 {"quo\"ted", "se\"cret", 5},
                 {"o'brien", "  blanks, ; and # inside  ", 6},
                 {"old", "form", 7},
                 {"noted", "secret", 8},
                 {"al", "prefix of alice", 9},
                 {"md5", "md5 is no hash here", 11},
                 {"Zürich", "пароль", 12},
                 {"rolled", "SCRAM-SHA-256", 13}};
    text good = read_vector("good.txt");
    cfg_users *users = load_good(good.bytes, good.len);
    assert_int_equal(users->count, 13);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        const cfg_user *user = find(users, plain[i].name);
        assert_non_null(user);
        assert_string_equal(user->name, plain[i].name);
        assert_string_equal(user->secret, plain[i].secret);
        assert_false(user->verifier);
        assert_int_equal(user->line, plain[i].line);
    }
    const cfg_user *alice = find(users, "alice");
    assert_true(alice->verifier);
    assert_memory_equal(alice->secret, "SCRAM-SHA-256$4096:AAEC", 23);
    assert_int_equal(strlen(alice->secret), 133);
    assert_true(find(users, "one")->verifier);
    cfg_users_free(users);
    free(good.bytes);
}

static void test_find(void **state)
{
    (void)state;
    static const char lines[] = "\"b\" \"1\"\r\n\"ab\" \"2\"\n\"abc\" \"3\"\n\"\xff\" \"4\"";
    cfg_users *users = load_good(lines, sizeof lines - 1);
    assert_string_equal(find(users, "ab")->secret, "2");
    assert_string_equal(cfg_users_find(users, "abcd", 3)->secret, "3");
    assert_string_equal(cfg_users_find(users, "abcd", 2)->secret, "2");
    assert_string_equal(find(users, "\xff")->secret, "4");
    assert_string_equal(find(users, "b")->secret, "1");
    static const char *const nobody[] = {"", "a", "abcd", "B", "\xfe", "ba"};
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++)
        assert_null(find(users, nobody[i]));
    assert_null(cfg_users_find(users, "ab\0c", 4));
    assert_null(cfg_users_find(users, "ab", 3));
    cfg_users_free(users);
}

static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    char *lines = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&lines, &size);
    for (int i = 0; i < COUNT; i++)
        fprintf(file, "\"user %d\" \"%d\"\n", i, i);
    fclose(file);
    cfg_users *users = load_good(lines, size);
    assert_int_equal(users->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "user %d", i);
        assert_string_equal(find(users, name)->secret, name + 5);
    }
    cfg_users_free(users);
    free(lines);
}

static void test_none(void **state)
{
    (void)state;
    cfg_users *users = load_good("; nobody\n", 9);
    assert_int_equal(users->count, 0);
    assert_null(find(users, "bob"));
    cfg_users_free(users);
    cfg_users_free(load_good("", 0));
    static const char blank[] = "  ; nobody\r\n\t \r\n \t; \"bob\" \"x\"\n   ";
    cfg_users_free(load_good(blank, sizeof blank - 1));
    cfg_users_free(NULL);
}

/* Every expected line, in the order of the file, and no other. */
static void test_wrong(void **state)
{
    (void)state;
    static const char mark[] = "; expect";
    text wrong = read_vector("wrong.txt");
    char *printed, *at;
    assert_null(load(wrong.bytes, wrong.len, 0600, &printed));
    at = printed;
    for (char *line = strstr(wrong.bytes, mark); line != NULL; line = strstr(line + 1, mark)) {
        const char *said = line + strlen(mark) + 2; /* ":LINE: TEXT" after ": " */
        size_t len = strcspn(said, "\n");
        if (*at != ':' || strncmp(at + 1, said, len) != 0)
            fail_msg("not said: %.*s; left: %s", (int)len, said, at);
        at += strcspn(at, "\n") + 1;
    }
    assert_string_equal(at, "");
    assert_null(strstr(printed, "hunt")); /* never a secret */
    free(printed);
    free(wrong.bytes);
}

static void test_bytes(void **state)
{
    (void)state;
    refuse("\"a\" \"b\0c\"\n", 10, 0600, ":1: holds a zero byte: it takes text\n");
    refuse("\"a\" \"b\"\n\"c\" \"d\n\"", 16, 0600, ":2: is not \"name\" \"secret\"");
    char lines[4096] = {0};
    for (size_t i = 0; i < 1000; i++)
        strcat(lines, "x\n");
    char *printed;
    assert_null(load(lines, 2000, 0600, &printed));
    assert_non_null(strstr(printed, "\n:100: too many mistakes: the rest was not read\n"));
    free(printed);
}

static void test_permissions(void **state)
{
    (void)state;
    static const char line[] = "\"a\" \"b\"\n";
    refuse(line, 8, 0604, ": has permissions 0604: ");
    refuse(line, 8, 0602, ": has permissions 0602: ");
    refuse(line, 8, 0644,
           ": has permissions 0644: secrets that everybody may read or write are "
           "none; chmod o-rwx /tmp/");
    cfg_users_free(load_good(line, 8));
}

/* Opened and looked at, not read. */
static void test_no_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *said;
    } cases[] = {
        {"/tmp/keyspread no such file", ": cannot be read: No such file or directory\n"},
        {"/tmp", ": is not a regular file: it takes lines of \"name\" \"secret\"\n"},
        {"/dev/null", ": is not a regular file: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *printed;
        size_t size;
        FILE *errors = open_memstream(&printed, &size);
        assert_null(cfg_users_load(cases[i].path, errors));
        fclose(errors);
        const char *said = printed + strlen(cases[i].path);
        assert_memory_equal(printed, cases[i].path, strlen(cases[i].path));
        assert_memory_equal(said, cases[i].said, strlen(cases[i].said));
        free(printed);
    }
}

static void test_large(void **state)
{
    (void)state;
    char path[] = "/tmp/keyspread-users-XXXXXX", *printed;
    size_t size;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (64 << 20) + 1), 0);
    close(file);
    FILE *errors = open_memstream(&printed, &size);
    cfg_users *users = cfg_users_load(path, errors);
    fclose(errors);
    unlink(path);
    assert_null(users);
    assert_non_null(strstr(printed, ": is larger than 64 MiB: not a file of users\n"));
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_find),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_none),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_no_file), cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
