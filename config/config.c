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
    for (size_t i = 0; i < table->exception_count; i++)
        free(table->exceptions[i].name);
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

/* Whether one of the pattern's `except` has the name. */
static bool is_exception(const cfg_table *pattern, const char *name)
{
    for (size_t i = 0; i < pattern->exception_count; i++) {
        const cfg_exception *one = &pattern->exceptions[i];
        if (one->pattern ? strncmp(one->name, name, strlen(one->name)) == 0
                         : strcmp(one->name, name) == 0)
            return true;
    }
    return false;
}

const cfg_table *cfg_find_pattern(const cfg_config *config, const char *schema, const char *name)
{
    const cfg_table *found = NULL;
    for (size_t i = 0; i < config->pattern_count; i++) {
        const cfg_table *pattern = &config->tables[config->table_count + i];
        size_t len = strlen(pattern->name);
        if (strncmp(pattern->name, name, len) == 0 && strcmp(schema_of(pattern), schema) == 0 &&
            !is_exception(pattern, name) && (found == NULL || len > strlen(found->name)))
            found = pattern;
    }
    return found;
}
