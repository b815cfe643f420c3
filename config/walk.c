#include "config/walk.h"

#include <stdlib.h>
#include <string.h>

/* `where` is the node's path with indexes, for messages; `mapping` the same without. */
typedef struct place {
    const char *where, *mapping;
    unsigned line;
} place;

static void walk(cfg_document *document, const cyaml_schema_value_t *schema, int index,
                 const place *at);

static const char *label(const place *at)
{
    return *at->where ? at->where : "the file";
}

static const char *kind_name(const yaml_node_t *node)
{
    switch (node->type) {
    case YAML_MAPPING_NODE:
        return "a mapping";
    case YAML_SEQUENCE_NODE:
        return "a list";
    default:
        return "a single value";
    }
}

static const char *scalar(const yaml_node_t *node)
{
    return (char *)node->data.scalar.value;
}

static bool is_plain(const yaml_node_t *node)
{
    return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_null(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE || !is_plain(node))
        return false;
    const char *text = scalar(node);
    return *text == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

/* Joins words for a message: "a, b or c", where `last` is " or ". */
static char *join(const char *const *words, size_t count, const char *last)
{
    char *text = cfg_copy("");
    for (size_t i = 0; i < count; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? last : ", ";
        char *longer = cfg_printf("%s%s%s", text, between, words[i]);
        free(text);
        text = longer;
    }
    return text;
}

static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[64];
    if (la >= 64 || lb >= 64)
        return 64;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

static void unknown_key(cfg_document *document, const cyaml_schema_field_t *fields, const place *at,
                        const char *key, unsigned line)
{
    document->unknown++;
    const char *later = cfg_schema_later(at->mapping, key);
    if (later != NULL) {
        cfg_note_line(document, line, "%s%s%s: %s", at->where, *at->where ? "." : "", key, later);
        return;
    }
    const char *near = NULL, *words[32] = {0};
    size_t count = 0, nearest = 3;
    for (const cyaml_schema_field_t *field = fields; field->key && count < 32; field++) {
        words[count++] = field->key;
        if (distance(field->key, key) < nearest) {
            nearest = distance(field->key, key);
            near = field->key;
        }
    }
    char *all = join(words, count, " and ");
    if (near != NULL)
        cfg_note_line(document, line, "unknown key \"%s\" in %s: did you mean \"%s\"?", key,
                      label(at), near);
    else
        cfg_note_line(document, line, "unknown key \"%s\" in %s: the keys here are %s", key,
                      label(at), all);
    free(all);
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key)
{
    for (; fields->key != NULL; fields++)
        if (strcmp(fields->key, key) == 0)
            return fields;
    return NULL;
}

/* The earlier pair with the same key, if any. */
static const yaml_node_t *twin(cfg_document *document, const yaml_node_t *node,
                               const yaml_node_pair_t *until, const char *key)
{
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < until; pair++) {
        yaml_node_t *name = yaml_document_get_node(&document->yaml, pair->key);
        if (name->type == YAML_SCALAR_NODE && strcmp(scalar(name), key) == 0)
            return name;
    }
    return NULL;
}

static void walk_pair(cfg_document *document, const cyaml_schema_field_t *fields,
                      const yaml_node_t *node, const yaml_node_pair_t *pair, const place *at)
{
    const yaml_node_t *name = yaml_document_get_node(&document->yaml, pair->key);
    unsigned line = (unsigned)name->start_mark.line + 1;
    if (name->type != YAML_SCALAR_NODE) {
        cfg_note_line(document, line, "a key of %s is %s: keys are words", label(at),
                      kind_name(name));
        return;
    }
    const char *key = scalar(name);
    const cyaml_schema_field_t *field = find_field(fields, key);
    const yaml_node_t *first = twin(document, node, pair, key);
    if (field == NULL)
        unknown_key(document, fields, at, key, line);
    else if (first != NULL)
        cfg_note_line(document, line,
                      "the key \"%s\" is written twice in %s (first in line %zu): "
                      "keep one",
                      key, label(at), first->start_mark.line + 1);
    if (field == NULL || first != NULL)
        return;
    const char *dot = *at->where ? "." : "";
    char *where = cfg_printf("%s%s%s", at->where, dot, key);
    char *mapping = cfg_printf("%s%s%s", at->mapping, dot, key);
    walk(document, &field->value, pair->value, &(place){where, mapping, line});
    free(where);
    free(mapping);
}

static bool says(const cfg_document *document, const yaml_node_t *node, const char *key,
                 const char *word)
{
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name =
            yaml_document_get_node((yaml_document_t *)&document->yaml, pair->key);
        const yaml_node_t *value =
            yaml_document_get_node((yaml_document_t *)&document->yaml, pair->value);
        if (name->type == YAML_SCALAR_NODE && value->type == YAML_SCALAR_NODE &&
            strcmp(scalar(name), key) == 0 && strcmp(scalar(value), word) == 0)
            return true;
    }
    return false;
}

/* Whether a key is required: hash_function is, but for YDB's column-oriented tables, which get no
 * hash. */
static bool is_required(const cfg_document *document, const yaml_node_t *node,
                        const cyaml_schema_field_t *field)
{
    if (strcmp(field->key, "hash_function") == 0)
        return !says(document, node, "store", "column");
    return !(field->value.flags & CYAML_FLAG_OPTIONAL);
}

static void walk_mapping(cfg_document *document, const cyaml_schema_value_t *schema,
                         const yaml_node_t *node, const place *at)
{
    const cyaml_schema_field_t *fields = schema->mapping.fields;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++)
        walk_pair(document, fields, node, pair, at);
    for (; fields->key != NULL; fields++)
        if (is_required(document, node, fields) &&
            !twin(document, node, node->data.mapping.pairs.top, fields->key))
            cfg_note_line(document, at->line, "%s has no \"%s\": the key is required%s", label(at),
                          fields->key,
                          strcmp(fields->key, "hash_function") == 0
                              ? " (xxh3, numeric_hash, cityhash64 or pg_hash; it cannot be changed "
                                "once the table has rows)"
                              : "");
}

static void walk_sequence(cfg_document *document, const cyaml_schema_value_t *schema,
                          const yaml_node_t *node, const place *at)
{
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count < schema->sequence.min)
        cfg_note_line(document, at->line, "%s is an empty list: give at least %u", label(at),
                      schema->sequence.min);
    for (size_t i = 0; i < count; i++) {
        int item = node->data.sequence.items.start[i];
        const yaml_node_t *entry = yaml_document_get_node(&document->yaml, item);
        unsigned line = (unsigned)entry->start_mark.line + 1;
        char *where = cfg_printf("%s[%zu]", at->where, i);
        walk(document, schema->sequence.entry, item, &(place){where, at->mapping, line});
        free(where);
    }
}

static void walk_number(cfg_document *document, const yaml_node_t *node, const place *at)
{
    const char *text = scalar(node);
    size_t digits = strspn(text, "0123456789");
    if (!is_plain(node))
        cfg_note_line(document, at->line, "%s is text: write the number without quotes", at->where);
    else if (digits == 0 || text[digits] != '\0')
        cfg_note_line(document, at->line, "%s is \"%s\": it takes a whole number, such as 100",
                      at->where, text);
    else if (digits > 1 && text[0] == '0')
        cfg_note_line(document, at->line, "%s is \"%s\": write the number without zeros in front",
                      at->where, text);
    else if (digits > 10 || strtoull(text, NULL, 10) > UINT32_MAX)
        cfg_note_line(document, at->line, "%s is %s: it must be at most 4294967295", at->where,
                      text);
}

/* libcyaml takes every word that it does not know for a true. */
static void walk_bool(cfg_document *document, const yaml_node_t *node, const place *at)
{
    const char *text = scalar(node);
    if (!is_plain(node) || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        cfg_note_line(document, at->line, "%s is \"%s\": it takes true or false", at->where, text);
}

static void walk_enum(cfg_document *document, const cyaml_schema_value_t *schema,
                      const yaml_node_t *node, const place *at)
{
    const char *words[16];
    size_t count = schema->enumeration.count;
    for (size_t i = 0; i < count; i++) {
        words[i] = schema->enumeration.strings[i].str;
        if (strcmp(words[i], scalar(node)) == 0)
            return;
    }
    char *all = join(words, count, " or ");
    cfg_note_line(document, at->line, "%s is \"%s\": it takes %s", at->where, scalar(node), all);
    free(all);
}

static void walk_string(cfg_document *document, const yaml_node_t *node, const place *at)
{
    if (node->data.scalar.length == 0)
        cfg_note_line(document, at->line, "%s is empty: give a value or remove the key", at->where);
    else if (strlen(scalar(node)) != node->data.scalar.length)
        cfg_note_line(document, at->line, "%s holds a zero byte: remove it", at->where);
}

static void walk_scalar(cfg_document *document, const cyaml_schema_value_t *schema,
                        const yaml_node_t *node, const place *at)
{
    switch (schema->type) {
    case CYAML_UINT:
        walk_number(document, node, at);
        return;
    case CYAML_BOOL:
        walk_bool(document, node, at);
        return;
    case CYAML_ENUM:
        walk_enum(document, schema, node, at);
        return;
    default:
        walk_string(document, node, at);
    }
}

/* The schema of a key with two forms, by the form that is written. */
static const cyaml_schema_value_t *one_of_two(const yaml_node_t *node, const place *at)
{
    if (strcmp(at->mapping, "tables.primary_key") != 0)
        return node->type == YAML_MAPPING_NODE ? &cfg_sequences_mapping : &cfg_sequences_word;
    bool word = node->type == YAML_SCALAR_NODE && strcmp(scalar(node), "auto") == 0;
    return word ? &cfg_key_word : &cfg_key_list;
}

static void walk(cfg_document *document, const cyaml_schema_value_t *schema, int index,
                 const place *at)
{
    const yaml_node_t *node = yaml_document_get_node(&document->yaml, index);
    if (schema->type == CYAML_IGNORE)
        schema = one_of_two(node, at);
    yaml_node_type_t wanted = schema->type == CYAML_MAPPING    ? YAML_MAPPING_NODE
                              : schema->type == CYAML_SEQUENCE ? YAML_SEQUENCE_NODE
                                                               : YAML_SCALAR_NODE;
    if (is_null(node))
        cfg_note_line(document, at->line, "%s is empty: give a value or remove the key", label(at));
    else if (node->type != wanted)
        cfg_note_line(document, at->line, "%s is %s: it must be %s", label(at), kind_name(node),
                      wanted == YAML_MAPPING_NODE    ? "a mapping, `key: value` lines"
                      : wanted == YAML_SEQUENCE_NODE ? "a list, such as [a, b]"
                                                     : "a single value");
    else if (wanted == YAML_MAPPING_NODE)
        walk_mapping(document, schema, node, at);
    else if (wanted == YAML_SEQUENCE_NODE)
        walk_sequence(document, schema, node, at);
    else
        walk_scalar(document, schema, node, at);
}

bool cfg_walk(cfg_document *document, const cyaml_schema_value_t *schema)
{
    const yaml_node_t *root = yaml_document_get_root_node(&document->yaml);
    place at = {"", "", (unsigned)root->start_mark.line + 1};
    walk(document, schema, 1, &at); /* the root is the first node */
    return document->mistakes == document->unknown;
}
