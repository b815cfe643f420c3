#include "proxy/backend/schema/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 32 }; /* the most columns of an index in PostgreSQL */

/* Whether the configuration has an entry for the table itself. */
static bool has_entry(const cfg_config *config, px_schema_part part)
{
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        const char *schema = table->schema != NULL ? table->schema : "public";
        if (strcmp(table->name, part.table) == 0 && strcmp(schema, part.schema) == 0)
            return true;
    }
    return false;
}

static bool next_of_patterns(const cfg_config *config, const px_schema_rows *rows,
                             px_schema_part *part)
{
    while (config->pattern_count > 0 && px_schema_rows_next(rows, part))
        if (!has_entry(config, *part))
            return true;
    return false;
}

size_t px_pattern_most(const cfg_config *config, const px_schema_rows *rows)
{
    size_t count = 0;
    px_schema_part part = {0};
    while (next_of_patterns(config, rows, &part))
        count++;
    return count;
}

/* Puts the columns of the table's primary key into `key`, in order; returns how many there are. */
static size_t key_of(const px_schema_rows *rows, px_schema_part part, char **key)
{
    size_t count = 0;
    for (size_t row = part.from; row < part.to; row++) {
        unsigned long at = strtoul(px_schema_rows_cell(rows, row, PX_SCHEMA_KEY), NULL, 10);
        if (at == 0 || at > MOST_KEYS)
            continue;
        key[at - 1] = (char *)px_schema_rows_cell(rows, row, PX_SCHEMA_COLUMN);
        count++;
    }
    return count;
}

static bool has_column(const px_schema_rows *rows, px_schema_part part, const char *name)
{
    for (size_t row = part.from; row < part.to; row++)
        if (strcmp(px_schema_rows_cell(rows, row, PX_SCHEMA_COLUMN), name) == 0)
            return true;
    return false;
}

static bool holds(char *const *key, size_t count, const char *column)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key[i], column) == 0)
            return true;
    return false;
}

/* Takes the hash column out of the key, wherever it stands; false if it is not in the key. */
static bool take_hash(char **key, size_t *count, const char *hash)
{
    size_t at = 0;
    while (at < *count && (key[at] == NULL || strcmp(key[at], hash) != 0))
        at++;
    if (at == *count)
        return false;
    memmove(key + at, key + at + 1, (--*count - at) * sizeof *key);
    return true;
}

/* Sets the primary key, unless the pattern names one, to the key columns beside the hash. False:
 * the hash cannot be made of that key. */
static bool take_key(cfg_table *table, char **key, size_t count)
{
    if (table->primary_key_count > 0)
        return true;
    if (count == 0)
        return false;
    table->primary_key = key;
    table->primary_key_count = count;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!holds(table->primary_key, table->primary_key_count, table->hash_key[i]))
            return false;
    if (table->hash_key_count == 0) {
        table->hash_key = table->primary_key;
        table->hash_key_count = 1;
    }
    return true;
}

/* Whether a name is ASCII: others may come in another encoding, and would not be found. */
static bool is_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name == '\0';
}

static bool are_ascii(const cfg_table *table)
{
    bool ascii = is_ascii(table->schema) && is_ascii(table->name) && is_ascii(table->hash_column);
    for (size_t i = 0; ascii && i < table->primary_key_count; i++)
        ascii = is_ascii(table->primary_key[i]);
    return ascii;
}

/* The table as an entry of its own would give it; NULL: the pattern does not cover it. */
static rw_table *build(const cfg_table *pattern, const px_schema_rows *rows, px_schema_part part,
                       uint64_t epoch)
{
    char *key[MOST_KEYS] = {NULL};
    size_t count = key_of(rows, part, key);
    cfg_table table = *pattern;
    table.schema = (char *)part.schema;
    table.name = table.label = (char *)part.table;
    table.pattern = table.schemas = false;
    bool spread = count == 0 || take_hash(key, &count, table.hash_column);
    if (!spread || !has_column(rows, part, table.hash_column) || !take_key(&table, key, count) ||
        !are_ascii(&table))
        return NULL;
    rw_table *built = px_schema_build_part(&table, rows, part, epoch);
    if (built != NULL) {
        built->by_pattern = true;
        built->own_key = pattern->hash_key_count == 0;
    }
    return built;
}

typedef struct found {
    rw_table *table;
    const cfg_table *pattern;
} found;

static int by_oid(const void *a, const void *b)
{
    uint32_t one = ((const found *)a)->table->oid, other = ((const found *)b)->table->oid;
    return (one > other) - (one < other);
}

size_t px_pattern_tables(const cfg_config *config, const px_schema_rows *rows, uint64_t epoch,
                         rw_table **tables, const cfg_table **patterns)
{
    size_t count = 0;
    px_schema_part part = {0};
    found *list = pgw_calloc(px_pattern_most(config, rows) + 1, sizeof *list);
    while (next_of_patterns(config, rows, &part)) {
        const cfg_table *pattern = cfg_find_pattern(config, part.schema, part.table);
        rw_table *table = pattern != NULL ? build(pattern, rows, part, epoch) : NULL;
        if (table != NULL)
            list[count++] = (found){table, pattern};
    }
    qsort(list, count, sizeof *list, by_oid);
    for (size_t i = 0; i < count; i++) {
        tables[i] = list[i].table;
        patterns[i] = list[i].pattern;
    }
    free(list);
    return count;
}
