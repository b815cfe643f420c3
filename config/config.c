#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "config/build.h"
#include "config/check.h"
#include "config/document.h"
#include "config/schema.h"
#include "config/walk.h"

/* The first error that libcyaml logs says what; a later line of its backtrace says where. */
typedef struct cyaml_words {
    char what[256];
    unsigned line;
} cyaml_words;

static void keep_words(cyaml_log_t level, void *context, const char *format, va_list args)
{
    cyaml_words *words = context;
    char text[256];
    if (level < CYAML_LOG_ERROR)
        return;
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    if (words->what[0] == '\0') {
        const char *start = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
        snprintf(words->what, sizeof words->what, "%s", start);
    }
    const char *line = strstr(text, "line: ");
    if (words->line == 0 && line != NULL)
        words->line = (unsigned)strtoul(line + 6, NULL, 10);
}

static cyaml_config_t cyaml_settings(cyaml_words *words)
{
    return (cyaml_config_t){.log_fn = keep_words,
                            .log_ctx = words,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_WARNING,
                            .flags = CYAML_CFG_IGNORE_UNKNOWN_KEYS}; /* the walk tells them */
}

/* The file's form is right already; what libcyaml still refuses is told in its own words. */
static cfg_raw *load_raw(cfg_document *document)
{
    cyaml_words words = {0};
    cyaml_config_t settings = cyaml_settings(&words);
    cyaml_data_t *data = NULL;
    cyaml_err_t result = cyaml_load_data((const uint8_t *)document->bytes, document->len, &settings,
                                         &cfg_schema, &data, NULL);
    if (result == CYAML_OK)
        return data;
    cfg_note_line(document, words.line, "%s: %s", cyaml_strerror(result),
                  words.what[0] ? words.what : "see keyspread.yaml for what is right");
    return NULL;
}

static void free_raw(cfg_raw *raw)
{
    cyaml_words words = {0};
    cyaml_config_t settings = cyaml_settings(&words);
    cyaml_free(&settings, &cfg_schema, raw, 0);
}

static cfg_config *load_document(cfg_document *document)
{
    if (!cfg_walk(document, &cfg_schema))
        return NULL;
    cfg_raw *raw = load_raw(document);
    if (raw == NULL)
        return NULL;
    cfg_check_available(document, raw);
    cfg_config *config = cfg_build(document, raw);
    cfg_check(document, raw, config);
    free_raw(raw);
    return config;
}

cfg_config *cfg_load(const char *path, FILE *errors)
{
    cfg_document document;
    cfg_config *config = NULL;
    if (cfg_document_read(&document, path))
        config = load_document(&document);
    cfg_document_print(&document, errors);
    if (document.mistakes > 0) {
        cfg_free(config);
        config = NULL;
    }
    if (config != NULL) {
        config->text = document.bytes;
        config->text_len = document.len;
        document.bytes = NULL;
    }
    cfg_document_free(&document);
    return config;
}

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

static void free_table(cfg_table *table)
{
    free(table->schema);
    free(table->name);
    free(table->label);
    free_list(table->primary_key, table->primary_key_count);
    free_list(table->hash_key, table->hash_key_count);
    free(table->hash_column);
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].type);
    }
    free(table->columns);
    free(table->partitions.at);
}

static void free_listen(cfg_listen *listen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(listen[i].host);
        free(listen[i].path);
    }
    free(listen);
}

void cfg_free(cfg_config *config)
{
    if (config == NULL)
        return;
    free_listen(config->listen, config->listen_count);
    free_listen(config->admin.listen, config->admin.listen ? 1 : 0);
    free(config->client_tls.cert);
    free(config->client_tls.key);
    free(config->client_tls.ca);
    free(config->auth.users_file);
    for (size_t i = 0; i < config->table_count; i++)
        free_table(&config->tables[i]);
    free(config->tables);
    free(config->backend.dsn);
    free(config->path);
    free(config->text);
    free(config);
}

bool cfg_same_text(const cfg_config *a, const cfg_config *b)
{
    return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
}

const char *cfg_table_label(const cfg_table *table)
{
    return table->label ? table->label : table->name;
}

static bool is_public(const cfg_table *table)
{
    return table->schema == NULL || strcmp(table->schema, "public") == 0;
}

const cfg_table *cfg_find_table(const cfg_config *config, const char *name)
{
    const cfg_table *bare = NULL;
    if (strncmp(name, "public.", 7) == 0 && cfg_find_table(config, name + 7) != NULL &&
        is_public(cfg_find_table(config, name + 7)))
        name += 7;
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        if (strcmp(name, cfg_table_label(table)) == 0)
            return table;
        if (strcmp(name, table->name) == 0 && (bare == NULL || is_public(table)))
            bare = table;
    }
    return bare;
}
