/* Configurations with a byte or a word left out, or twice: what is said of each, and what it holds.
 * Two letters stand for that, so that nothing changes unseen; what is right is the other tests'
 * matter. With an argument they are written anew; with --all each text and what is made of it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/load.h"
#include "tests/config/dump.h"

/* Of these each byte … */
static const char *const by_byte[] = {"good_full",     "good_columnar", "good_patterns",
                                      "good_discover", "good_remote",   "good_capabilities"};
/* … and of these each word. */
static const char *const by_word[] = {
    "good_auth_scram",    "good_warnings",       "wrong_together",     "wrong_table",
    "wrong_ydb",          "wrong_ranges",        "wrong_partitions",   "wrong_names",
    "wrong_keys",         "wrong_column",        "wrong_types",        "wrong_sizes",
    "wrong_patterns",     "wrong_list",          "wrong_listen",       "wrong_hide",
    "wrong_door",         "wrong_discover",      "wrong_auth_users",   "wrong_tls_mode",
    "wrong_capabilities", "wrong_not_available", "wrong_ydb_together", "wrong_patterns_ydb",
};

static char path[64]; /* of the file that is loaded */
static bool all_texts;

/* FNV-1a, of which a few letters are told. Where the file is differs each time. */
static void add_letters(const char *told, FILE *out)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t folder = (size_t)(strrchr(path, '/') - path);
    for (const char *at = told; *at != '\0'; at++) {
        if (strncmp(at, path, folder) == 0)
            at += folder;
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    fputs(" ", out);
    for (size_t i = 0; i < 2; i++, hash >>= 5)
        fputc("abcdefghijklmnopqrstuvwxyz234567"[(hash ^ hash >> 32) & 31], out);
}

static void add_text(const char *text, size_t len, FILE *out)
{
    char *said = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "w"), *lines = open_memstream(&said, &size);
    assert_true(file != NULL && lines != NULL);
    fwrite(text, 1, len, file);
    fclose(file);
    cfg_config *config = cfg_load(path, lines);
    if (config != NULL)
        dump_config(lines, config);
    cfg_free(config);
    fclose(lines);
    add_letters(said, out);
    if (all_texts)
        printf("%.*s\n%s===\n", (int)len, text, said);
    free(said);
}

/* With a part of it once more, or without it. */
static void add_variant(const char *text, size_t from, size_t to, bool twice, FILE *out)
{
    size_t len = strlen(text), part = to - from;
    char *variant = malloc(len + part + 1);
    assert_non_null(variant);
    memcpy(variant, text, twice ? to : from);
    memcpy(variant + (twice ? to : from), text + (twice ? from : to),
           len - (twice ? from : to) + 1);
    add_text(variant, twice ? len + part : len - part, out);
    free(variant);
}

/* Without the lines that are comments. To be freed. */
static char *read_file(const char *name)
{
    char file[512], line[1024], *text = NULL;
    size_t size = 0;
    snprintf(file, sizeof file, VECTORS "/config/%s.yaml", name);
    FILE *in = fopen(file, "r"), *out = open_memstream(&text, &size);
    assert_true(in != NULL && out != NULL);
    while (fgets(line, sizeof line, in) != NULL)
        if (line[0] != '#')
            fputs(line, out);
    fclose(in);
    fclose(out);
    return text;
}

static void add_file(const char *name, bool words, FILE *out)
{
    char *text = read_file(name);
    fprintf(out, "%s", name);
    add_text(text, strlen(text), out);
    for (size_t at = 0, end; text[at] != '\0'; at = end) {
        end = words ? at + strcspn(text + at, " \n") : at + 1;
        for (int twice = 0; twice < 2 && end > at; twice++)
            add_variant(text, at, end, twice, out);
        end += end == at;
    }
    fputs("\n", out);
    free(text);
}

static char *all(void)
{
    char *letters = NULL, folder[] = "/tmp/left-out-XXXXXX";
    size_t size = 0;
    FILE *out = open_memstream(&letters, &size);
    assert_true(out != NULL && mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    for (size_t i = 0; i < sizeof by_byte / sizeof *by_byte; i++)
        add_file(by_byte[i], false, out);
    for (size_t i = 0; i < sizeof by_word / sizeof *by_word; i++)
        add_file(by_word[i], true, out);
    fclose(out);
    unlink(path);
    rmdir(folder);
    return letters;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    char wanted[1 << 16], *letters = all(), *at = letters;
    FILE *file = fopen(VECTORS "/left_out_config.txt", "r");
    assert_non_null(file);
    for (; fgets(wanted, sizeof wanted, file) != NULL; at += strlen(wanted))
        if (strncmp(at, wanted, strlen(wanted)) != 0)
            fail_msg("%.*s", (int)strcspn(wanted, " "), wanted);
    assert_true(at > letters && *at == '\0');
    fclose(file);
    free(letters);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    if (argc < 2)
        return cmocka_run_group_tests(tests, NULL, NULL);
    all_texts = strcmp(argv[1], "--all") == 0;
    char *letters = all();
    if (!all_texts)
        fputs(letters, stdout);
    free(letters);
    return 0;
}
