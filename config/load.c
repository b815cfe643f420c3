#include "config/load.h"

#include <stdlib.h>
#include <string.h>

#include "config/build.h"
#include "config/check.h"
#include "config/document.h"
#include "config/schema.h"
#include "config/walk.h"

/* Keys that it does not know are told by the walk. */
static const cyaml_config_t settings = {.mem_fn = cyaml_mem,
                                        .flags = CYAML_CFG_IGNORE_UNKNOWN_KEYS};

/* The file's form is right already: nothing is known that libcyaml still refuses. */
static cfg_raw *load_raw(cfg_document *document)
{
    cyaml_data_t *data = NULL;
    cyaml_err_t result = cyaml_load_data((const uint8_t *)document->bytes, document->len, &settings,
                                         &cfg_schema, &data, NULL);
    if (result == CYAML_OK)
        return data;
    cfg_note_line(document, 0, "%s: see keyspread.yaml for what is right", cyaml_strerror(result));
    return NULL;
}

static void free_raw(cfg_raw *raw)
{
    cyaml_free(&settings, &cfg_schema, raw, 0);
}

static cfg_config *load_document(cfg_document *document)
{
    if (!cfg_walk(document, &cfg_schema))
        return NULL;
    cfg_raw *raw = load_raw(document);
    if (raw == NULL)
        return NULL;
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
