#include "config/load.h"

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
