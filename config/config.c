#include "config/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

static void free_ydb(cfg_ydb *ydb)
{
    free(ydb->ttl_column);
    free(ydb->ttl_after);
    for (size_t i = 0; i < ydb->index_count; i++) {
        free(ydb->indexes[i].name);
        free_list(ydb->indexes[i].columns, ydb->indexes[i].column_count);
    }
    free(ydb->indexes);
}

static void free_table(cfg_table *table)
{
    free(table->schema);
    free(table->name);
    free(table->label);
    for (size_t i = 0; i < table->exception_count; i++) {
        free(table->exceptions[i].schema);
        free(table->exceptions[i].name);
    }
    free(table->exceptions);
    free_list(table->primary_key, table->primary_key_count);
    free_list(table->hash_key, table->hash_key_count);
    free(table->hash_column);
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].by_default);
        free(table->columns[i].type);
    }
    free(table->columns);
    free(table->partitions.at);
    free_list(table->partition_key, table->partition_key_count);
    free_ydb(&table->ydb);
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
    size_t count = config->table_count + config->pattern_count + config->columnar_count;
    for (size_t i = 0; i < count; i++)
        free_table(&config->tables[i]);
    free(config->tables);
    free(config->backend.dsn);
    free(config->backend.monitoring);
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
    const cfg_table *public =
        strncmp(name, "public.", 7) == 0 ? cfg_find_table(config, name + 7) : NULL;
    if (public != NULL && is_public(public))
        name += 7;
    assert(config->tables != NULL || config->table_count == 0);
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        if (strcmp(name, cfg_table_label(table)) == 0)
            return table;
        if (strcmp(name, table->name) == 0 && (bare == NULL || is_public(table)))
            bare = table;
    }
    return bare;
}

static const char *schema_of(const cfg_table *table)
{
    return table->schema != NULL ? table->schema : "public";
}

const cfg_table *cfg_find_columnar(const cfg_config *config, const char *name)
{
    const cfg_table *tables = config->tables + config->table_count + config->pattern_count;
    for (size_t i = 0; i < config->columnar_count; i++)
        if (strcmp(name, cfg_table_label(&tables[i])) == 0 || strcmp(name, tables[i].name) == 0)
            return &tables[i];
    return NULL;
}

/* Tables of PostgreSQL's own, keyspread's own, and those that a migration keeps beside the ones it
 * is about. */
static const cfg_exception reserved[] = {
    {.schema = "pg_", .schemas = true, .name = "", .pattern = true},
    {.schema = "information_schema", .name = "", .pattern = true},
    {.schema = "keyspread", .name = "", .pattern = true},
    {.schema = "keyspread_new_", .schemas = true, .name = "", .pattern = true},
    {.schema = "keyspread_old_", .schemas = true, .name = "", .pattern = true},
};

const cfg_exception *cfg_reserved(size_t i)
{
    return i < sizeof reserved / sizeof *reserved ? &reserved[i] : NULL;
}

/* Whether a name is `own`, or begins with that. */
static bool fits(const char *own, bool beginning, const char *name)
{
    return beginning ? strncmp(own, name, strlen(own)) == 0 : strcmp(own, name) == 0;
}

bool cfg_is_reserved(const char *schema)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (fits(reserved[i].schema, reserved[i].schemas, schema))
            return true;
    return false;
}

/* Whether one of the pattern's `except` has the table. */
static bool is_exception(const cfg_table *pattern, const char *schema, const char *name)
{
    for (size_t i = 0; i < pattern->exception_count; i++) {
        const cfg_exception *one = &pattern->exceptions[i];
        if (fits(one->name, one->pattern, name) &&
            (one->schema == NULL || fits(one->schema, one->schemas, schema)))
            return true;
    }
    return false;
}

/* Whether the first pattern counts before the other, where both cover a table. */
static bool is_closer(const cfg_table *one, const cfg_table *other)
{
    size_t len = strlen(schema_of(one)), other_len = strlen(schema_of(other));
    if (one->schemas != other->schemas)
        return other->schemas;
    return len != other_len ? len > other_len : strlen(one->name) > strlen(other->name);
}

const cfg_table *cfg_find_pattern(const cfg_config *config, const char *schema, const char *name)
{
    const cfg_table *found = NULL;
    for (size_t i = 0; i < config->pattern_count; i++) {
        const cfg_table *pattern = &config->tables[config->table_count + i];
        if (fits(pattern->name, true, name) && fits(schema_of(pattern), pattern->schemas, schema) &&
            !is_exception(pattern, schema, name) && (found == NULL || is_closer(pattern, found)))
            found = pattern;
    }
    return found;
}
