/* Configurations with a byte or a word left out, or twice: each is refused, with lines that say
 * where and why, or is one whose tables have what a table must have. */
#define _GNU_SOURCE
#include "tests/protocol/word_deleted.h"

#include <stdbool.h>
#include <unistd.h>

#include "config/load.h"
#include "tests/config/dump.h"

/* Configurations of which each byte is left out. */
static const char *const by_byte[] = {"good_full",     "good_columnar", "good_patterns",
                                      "good_discover", "good_remote",   "good_capabilities"};
/* Configurations of which each word is left out. */
static const char *const by_word[] = {
    "good_auth_scram",    "good_warnings",       "wrong_together",     "wrong_table",
    "wrong_ydb",          "wrong_ranges",        "wrong_partitions",   "wrong_names",
    "wrong_keys",         "wrong_column",        "wrong_types",        "wrong_sizes",
    "wrong_patterns",     "wrong_list",          "wrong_listen",       "wrong_hide",
    "wrong_door",         "wrong_discover",      "wrong_auth_users",   "wrong_tls_mode",
    "wrong_capabilities", "wrong_not_available", "wrong_ydb_together", "wrong_patterns_ydb",
};

static char path[64]; /* of the file that is loaded */

/* Every line that is printed says of which file, and mostly which line of it: `file:line: what`. */
static size_t holds_of_lines(const char *told, size_t lines)
{
    size_t count = 0, head = strlen(path);
    for (const char *line = told; *line != '\0'; line = strchr(line, '\n') + 1, count++) {
        char *end = NULL;
        word_deleted_holds(strchr(line, '\n') != NULL, "what is told of a file is whole lines");
        bool placed = strncmp(line, path, head) == 0 && line[head] == ':';
        size_t number = placed ? strtoul(line + head + 1, &end, 10) : lines + 1;
        bool whole = placed && line[head + 1] == ' '; /* it is about no line */
        word_deleted_holds(whole || (number > 0 && number <= lines && strncmp(end, ": ", 2) == 0),
                           "what is told of a file says in which line");
    }
    return count;
}

static bool is_listed(const char *name, char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static void holds_of_table(const cfg_table *table)
{
    const cfg_partitions *cut = &table->partitions;
    word_deleted_holds(table->pattern || table->name[0] != '\0', "a table has a name");
    word_deleted_holds(table->pattern ||
                           (table->primary_key_count > 0 && table->hash_key_count > 0),
                       "a table has a key, and columns that are hashed");
    for (size_t i = 0; i < table->hash_key_count; i++)
        word_deleted_holds(
            table->primary_key_count == 0 ||
                is_listed(table->hash_key[i], table->primary_key, table->primary_key_count),
            "what is hashed is of the primary key");
    word_deleted_holds(!is_listed(table->hash_column, table->hash_key, table->hash_key_count),
                       "the hash is not hashed");
    word_deleted_holds((cut->uniform > 0) + (cut->buckets > 0) + (cut->at_count > 0) == 1,
                       "a table is cut in one way");
    word_deleted_holds(table->batch.rows > 0 && table->batch.bytes > 0 && table->block > 0,
                       "a batch has room for a row");
}

static size_t lines_of(pgw_slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count + 1;
}

/* The file is in another folder each time. */
static void add_without_path(const char *told, pgw_buf *out)
{
    for (const char *found; (found = strstr(told, path)) != NULL; told = found + strlen(path))
        pgw_buf_add(out, told, (size_t)(found - told));
    pgw_buf_add_str(out, told);
}

static void judge(pgw_slice text, pgw_buf *out)
{
    char *told = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "w"), *lines = open_memstream(&told, &size);
    assert_true(file != NULL && lines != NULL);
    fwrite(text.ptr, 1, text.len, file);
    fclose(file);
    cfg_config *config = cfg_load(path, lines);
    fflush(lines);
    size_t count = holds_of_lines(told, lines_of(text));
    word_deleted_holds(config != NULL || count > 0, "a file that is refused is told why");
    if (config != NULL) {
        for (size_t i = 0; i < config->table_count + config->pattern_count; i++)
            holds_of_table(&config->tables[i]);
        dump_config(lines, config);
    }
    cfg_free(config);
    fclose(lines);
    add_without_path(told, out);
    free(told);
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

static void vary_file(const char *name, bool words)
{
    char *text = read_file(name);
    pgw_slice whole = pgw_slice_str(text);
    for (size_t at = 0, end; words && text[at] != '\0'; at = end) {
        end = at + strcspn(text + at, " \n");
        for (int twice = 0; twice < 2 && end > at; twice++)
            word_deleted_variant(whole, (word_deleted_span){at, end}, twice, "", judge);
        end += end == at;
    }
    if (!words)
        word_deleted_bytes(whole, judge);
    free(text);
}

static void every_text_holds(void **state)
{
    (void)state;
    char folder[] = "/tmp/word-deleted-XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    for (size_t i = 0; i < sizeof by_byte / sizeof *by_byte; i++)
        vary_file(by_byte[i], false);
    for (size_t i = 0; i < sizeof by_word / sizeof *by_word; i++)
        vary_file(by_word[i], true);
    unlink(path);
    rmdir(folder);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
