#include "config/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 };

static void *or_die(void *ptr)
{
    if (ptr == NULL) {
        fputs("keyspread: out of memory\n", stderr);
        abort();
    }
    return ptr;
}

void *cfg_alloc(size_t size)
{
    return or_die(calloc(1, size ? size : 1));
}

void *cfg_grow(void *ptr, size_t size)
{
    return or_die(realloc(ptr, size ? size : 1));
}

char *cfg_copy(const char *text)
{
    return text == NULL ? NULL : or_die(strdup(text));
}

static char *format_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = cfg_alloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *cfg_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    return text;
}

static void add_note(cfg_document *document, unsigned line, char *text)
{
    size_t size = (document->note_count + 1) * sizeof *document->notes;
    document->notes = cfg_grow(document->notes, size);
    document->notes[document->note_count++] = (cfg_note){line, text};
}

void cfg_note_line(cfg_document *document, unsigned line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(document, line, format_text(format, args));
    va_end(args);
    document->mistakes++;
}

void cfg_mistake(cfg_document *document, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(document, cfg_document_line(document, where), format_text(format, args));
    va_end(args);
    document->mistakes++;
}

void cfg_warning(cfg_document *document, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    add_note(document, cfg_document_line(document, where), cfg_printf("warning: %s", text));
    free(text);
}

/* Notes come in the order of the checks; people read the file from its top. */
void cfg_document_print(cfg_document *document, FILE *out)
{
    for (size_t i = 1; i < document->note_count; i++) {
        cfg_note note = document->notes[i];
        size_t at = i;
        for (; at > 0 && document->notes[at - 1].line > note.line; at--)
            document->notes[at] = document->notes[at - 1];
        document->notes[at] = note;
    }
    for (size_t i = 0; i < document->note_count; i++) {
        const cfg_note *note = &document->notes[i];
        if (note->line > 0)
            fprintf(out, "%s:%u: %s\n", document->path, note->line, note->text);
        else
            fprintf(out, "%s: %s\n", document->path, note->text);
    }
}

static bool read_file(cfg_document *document)
{
    FILE *file = fopen(document->path, "rb");
    if (file == NULL) {
        cfg_note_line(document, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    size_t cap = 0, got;
    do {
        cap = cap ? cap * 2 : 4096;
        document->bytes = cfg_grow(document->bytes, cap);
        got = fread(document->bytes + document->len, 1, cap - document->len, file);
        document->len += got;
    } while (got > 0 && document->len <= MAX_FILE);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        cfg_note_line(document, 0, "cannot be read: %s", strerror(errno));
    else if (document->len > MAX_FILE)
        cfg_note_line(document, 0, "is larger than 16 MiB: not a configuration file");
    return document->mistakes == 0;
}

static void note_syntax(cfg_document *document, const yaml_parser_t *parser)
{
    unsigned line = (unsigned)parser->problem_mark.line + 1;
    const char *problem = parser->problem ? parser->problem : "unknown problem";
    if (parser->context != NULL)
        cfg_note_line(document, line, "is not YAML: %s (%s, line %zu)", problem, parser->context,
                      parser->context_mark.line + 1);
    else
        cfg_note_line(document, line, "is not YAML: %s", problem);
}

/* Refuses a second document, which would silently have no effect. */
static void refuse_second(cfg_document *document, yaml_parser_t *parser)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second)) {
        note_syntax(document, parser);
        return;
    }
    if (yaml_document_get_root_node(&second) != NULL)
        cfg_note_line(document, (unsigned)second.start_mark.line + 1,
                      "a second YAML document begins here: the file must be one; remove the `---`");
    yaml_document_delete(&second);
}

static bool parse(cfg_document *document)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        or_die(NULL);
    yaml_parser_set_input_string(&parser, (const unsigned char *)document->bytes, document->len);
    document->parsed = yaml_parser_load(&parser, &document->yaml);
    if (!document->parsed)
        note_syntax(document, &parser);
    else if (yaml_document_get_root_node(&document->yaml) == NULL)
        cfg_note_line(document, 0,
                      "is empty: at least `backend: { dsn: … }` is needed; see keyspread.yaml");
    else
        refuse_second(document, &parser);
    yaml_parser_delete(&parser);
    return document->mistakes == 0;
}

bool cfg_document_read(cfg_document *document, const char *path)
{
    *document = (cfg_document){.path = path};
    return read_file(document) && parse(document);
}

void cfg_document_free(cfg_document *document)
{
    if (document->parsed)
        yaml_document_delete(&document->yaml);
    for (size_t i = 0; i < document->note_count; i++)
        free(document->notes[i].text);
    free(document->notes);
    free(document->bytes);
}

/* The value of `key` in a mapping; `*line` becomes the key's line. */
static yaml_node_t *member(yaml_document_t *yaml, const yaml_node_t *node, const char *key,
                           size_t len, unsigned *line)
{
    if (node->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *name = yaml_document_get_node(yaml, pair->key);
        if (name->type == YAML_SCALAR_NODE && name->data.scalar.length == len &&
            memcmp(name->data.scalar.value, key, len) == 0) {
            *line = (unsigned)name->start_mark.line + 1;
            return yaml_document_get_node(yaml, pair->value);
        }
    }
    return NULL;
}

static yaml_node_t *element(yaml_document_t *yaml, const yaml_node_t *node, size_t index,
                            unsigned *line)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return NULL;
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (index >= count)
        return NULL;
    yaml_node_t *item = yaml_document_get_node(yaml, node->data.sequence.items.start[index]);
    *line = (unsigned)item->start_mark.line + 1;
    return item;
}

/* What stands at `where`, or NULL; `*line` becomes its line, or that of the nearest thing around.
 */
static yaml_node_t *find(cfg_document *document, const char *where, unsigned *line)
{
    yaml_node_t *node = yaml_document_get_root_node(&document->yaml);
    *line = node ? (unsigned)node->start_mark.line + 1 : 0;
    while (node != NULL && *where != '\0') {
        if (*where == '[') {
            char *end;
            node = element(&document->yaml, node, strtoul(where + 1, &end, 10), line);
            where = end + 1;
        } else {
            where += *where == '.';
            size_t len = strcspn(where, ".[");
            node = member(&document->yaml, node, where, len, line);
            where += len;
        }
    }
    return node;
}

unsigned cfg_document_line(cfg_document *document, const char *where)
{
    unsigned line;
    find(document, where, &line);
    return line;
}

const char *cfg_document_word(cfg_document *document, const char *where)
{
    unsigned line;
    const yaml_node_t *node = find(document, where, &line);
    bool single = node != NULL && node->type == YAML_SCALAR_NODE;
    return single ? (const char *)node->data.scalar.value : NULL;
}
