/*
 * document: the file as YAML nodes, so that a mistake found at any later step can name its line;
 * and the report that collects the mistakes and prints them in the order of the file.
 */
#ifndef CFG_DOCUMENT_H
#define CFG_DOCUMENT_H

#include "config/must_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <yaml.h>

typedef struct cfg_note {
    unsigned line;
    char *text;
} cfg_note;

/* A document that is all zero but for `path` and the bytes is unread; cfg_document_free() frees the
 * rest. */
typedef struct cfg_document {
    const char *path;
    char *bytes;
    size_t len;
    bool parsed;
    yaml_document_t yaml;
    cfg_note *notes;
    size_t note_count;
    size_t mistakes; /* notes that are not warnings */
    size_t unknown;  /* mistakes that are unknown keys: the rest can be checked still */
} cfg_document;

/* Reads and parses the file. False (with a mistake noted) if it cannot be read or is not one YAML
 * document. */
CFG_MUST_CHECK bool cfg_document_read(cfg_document *document, const char *path);
void cfg_document_free(cfg_document *document);

/* The line of what stands at `where` ("tables[1].batch.rows"), or of the nearest thing around it.
 */
unsigned cfg_document_line(cfg_document *document, const char *where);
/* The single value at `where`; NULL if there is none. */
const char *cfg_document_word(cfg_document *document, const char *where);

/* Notes a mistake, or a warning, at a line (0: of the file as a whole). */
void cfg_note_line(cfg_document *document, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Note a mistake or a warning at the line of `where`. */
void cfg_mistake(cfg_document *document, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cfg_warning(cfg_document *document, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints all notes as `path:line: text`, by line. */
void cfg_document_print(cfg_document *document, FILE *out);

/* malloc, realloc and copies that end the process instead of returning NULL. */
void *cfg_alloc(size_t size);
void *cfg_grow(void *ptr, size_t size);
char *cfg_copy(const char *text); /* NULL stays NULL */
char *cfg_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
