#include "config/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/check_door.h"
#include "config/scalar.h"

enum { MAX_KEY = 31 }; /* an index of PostgreSQL has 32 columns, one of them is the hash */

/* What the checks of one table need; `prefix` finds the lines. */
typedef struct table_check {
    cfg_document *document;
    const cfg_raw_table *raw;
    const cfg_table *table;
    char *prefix; /* "tables[3]." */
} table_check;

#define WRONG(check, key, ...)                                                                     \
    do {                                                                                           \
        char *where_ = cfg_printf("%s%s", (check)->prefix, key);                                   \
        cfg_mistake((check)->document, where_, __VA_ARGS__);                                       \
        free(where_);                                                                              \
    } while (0)

/* -- the whole -- */

static bool says_capabilities(const cfg_capabilities *capabilities)
{
    bool says = capabilities->max_message_written;
    for (size_t i = 0; i < CFG_CAPABILITIES; i++)
        says = says || capabilities->written[i];
    return says;
}

/* The URL of the monitoring endpoint ends with its host and port; keyspread adds the path. */
static void check_monitoring(cfg_document *document, const char *url)
{
    if (url == NULL)
        return;
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : "";
    size_t len = strcspn(host, "/?#@ \t\r\n");
    if (len == 0 || (host[len] != '\0' && strcmp(host + len, "/") != 0))
        cfg_mistake(document, "backend.monitoring",
                    "backend.monitoring is \"%s\": it takes http://host:port or "
                    "https://host:port, such as http://127.0.0.1:8765",
                    url);
}

static void check_dialect(cfg_document *document, const cfg_config *config)
{
#ifndef KEYSPREAD_YDB
    if (config->backend.dialect == CFG_DIALECT_YDB)
        cfg_mistake(document, "backend.dialect",
                    "backend.dialect is ydb, and this keyspread was built without YDB");
#endif
    check_monitoring(document, config->backend.monitoring);
    if (config->backend.dialect != CFG_DIALECT_YDB && config->backend.monitoring != NULL)
        cfg_warning(document, "backend.monitoring",
                    "backend.monitoring is asked, and the dialect is not ydb: what it says of "
                    "partitions is nothing to PostgreSQL");
    if (config->backend.dialect != CFG_DIALECT_YDB &&
        says_capabilities(&config->backend.capabilities))
        cfg_warning(document, "backend.capabilities",
                    "backend.capabilities has no effect: it is for dialect ydb, and PostgreSQL is "
                    "known");
}

static void check_clients(cfg_document *document, const char *where, uint32_t some,
                          const cfg_config *config)
{
    if (some > config->limits.clients)
        cfg_mistake(document, where, "%s is %u and limits.clients is %u: it must be at most that",
                    where, some, config->limits.clients);
}

static void check_numbers(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    if (config->backend.max_links < config->backend.batch_links)
        cfg_mistake(document,
                    raw->backend.batch_links ? "backend.batch_links" : "backend.max_links",
                    "backend.max_links is %u and backend.batch_links is %u: the links for batches "
                    "are some of all links, so max_links must be at least batch_links",
                    config->backend.max_links, config->backend.batch_links);
    else if (config->backend.max_links == config->backend.batch_links)
        cfg_warning(document,
                    raw->backend.batch_links ? "backend.batch_links" : "backend.max_links",
                    "backend.max_links equals backend.batch_links (%u): batches can take all links "
                    "and leave none to sessions; make max_links greater",
                    config->backend.max_links);
    if (config->limits.key_bytes > config->limits.row_bytes)
        cfg_mistake(
            document, raw->limits.key_bytes ? "limits.key_bytes" : "limits.row_bytes",
            "limits.key_bytes is greater than limits.row_bytes: a key is a part of its row, "
            "so it must be at most that");
    if (raw->limits.unauthenticated != NULL)
        check_clients(document, "limits.unauthenticated", config->limits.unauthenticated, config);
    check_clients(document, "limits.clients_per_address", config->limits.clients_per_address,
                  config);
}

/* -- one table -- */

static bool in_list(const char *name, char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static void check_names(const table_check *check, const char *key, char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *item = cfg_printf("%s[%zu]", key, i);
        if (strlen(names[i]) > CFG_MAX_NAME)
            WRONG(check, item, "%s of %s is longer than 63 bytes: PostgreSQL has no such name",
                  item, check->table->label);
        if (in_list(names[i], names, i))
            WRONG(check, item, "%s names column %s twice in %s: keep one", key, names[i],
                  check->table->label);
        free(item);
    }
}

static void check_key(const table_check *check)
{
    const cfg_table *table = check->table;
    check_names(check, "primary_key", table->primary_key, table->primary_key_count);
    if (table->primary_key_count > MAX_KEY)
        WRONG(check, "primary_key", "primary_key of %s has %zu columns: at most 31 are possible",
              table->label, table->primary_key_count);
    if (check->raw->hash_key_count > 0)
        check_names(check, "hash_key", table->hash_key, table->hash_key_count);
    for (size_t i = 0; i < check->raw->hash_key_count; i++)
        if (table->primary_key_count > 0 &&
            !in_list(table->hash_key[i], table->primary_key, table->primary_key_count)) {
            char *item = cfg_printf("hash_key[%zu]", i);
            WRONG(check, item,
                  "hash_key of %s names %s, which is not in its primary_key: the hash must follow "
                  "from the key, so name columns of primary_key only",
                  table->label, table->hash_key[i]);
            free(item);
        }
}

static void check_hash(const table_check *check)
{
    const cfg_table *table = check->table;
    const char *where = check->raw->hash_column ? "hash_column" : "hash_key";
    if (strlen(table->hash_column) > CFG_MAX_NAME)
        WRONG(check, where,
              "hash_column %s of %s is longer than 63 bytes: write a shorter hash_column",
              table->hash_column, table->label);
    if (in_list(table->hash_column, table->primary_key, table->primary_key_count))
        WRONG(check, where,
              "hash_column of %s is %s, which is in its primary_key: primary_key is the key as the "
              "application knows it, without the hash; name another column or take it out",
              table->label, table->hash_column);
    if (table->hash_function == CFG_NUMERIC_HASH && table->hash_key_count > 1)
        WRONG(check, "hash_function",
              "hash_function numeric_hash of %s takes exactly one hash_key column, and there are "
              "%zu: name one integer column, or take xxh3",
              table->label, table->hash_key_count);
    if (table->hash_function == CFG_PG_HASH && table->hash_type == CFG_HASH_UINT64)
        WRONG(
            check, "hash_type",
            "hash_function pg_hash of %s gives PostgreSQL's signed 64-bit numbers: take hash_type "
            "int8, or xxh3 for uint64",
            table->label);
}

static void check_hash_buckets(const table_check *check)
{
    const cfg_table *table = check->table;
    const cfg_partitions *partitions = &table->partitions;
    if (table->hash_buckets == 0)
        return;
    if (check->raw->hash_type != NULL)
        WRONG(
            check, "hash_type",
            "hash_type of %s is for the whole hash: with hash_buckets the column is a smallint or "
            "an integer; remove one of both keys",
            table->label);
    if (partitions->uniform > table->hash_buckets || partitions->buckets > table->hash_buckets)
        WRONG(check, "partitions",
              "partitions of %s are %" PRIu32 " and hash_buckets is %" PRIu32
              ": a bucket is never cut in two, so there can be at most that many",
              table->label, partitions->uniform > 0 ? partitions->uniform : partitions->buckets,
              table->hash_buckets);
}

static bool has_column(const cfg_table *table, const char *name, size_t until)
{
    for (size_t i = 0; i < until; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return true;
    return false;
}

static void check_columns(const table_check *check)
{
    const cfg_table *table = check->table;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *name = table->columns[i].name;
        char *item = cfg_printf("columns[%zu]", i);
        if (strlen(name) > CFG_MAX_NAME)
            WRONG(check, item,
                  "the name of %s of %s is longer than 63 bytes: PostgreSQL has no "
                  "such name",
                  item, table->label);
        if (has_column(table, name, i))
            WRONG(check, item, "columns of %s name %s twice: keep one", table->label, name);
        free(item);
    }
    for (size_t i = 0; table->column_count > 0 && i < table->primary_key_count; i++)
        if (!has_column(table, table->primary_key[i], table->column_count))
            WRONG(check, "columns",
                  "columns of %s lack %s, which is in its primary_key: list every column of the "
                  "table, or remove `columns` so that the backend is asked",
                  table->label, table->primary_key[i]);
}

/* With `discover` the table has buckets until its partitions are known. */
static void check_discover(const table_check *check, const cfg_config *config)
{
    const cfg_raw_partitions *raw = check->raw->partitions;
    if (raw->uniform != NULL || raw->at_count > 0)
        WRONG(check, "partitions",
              "partitions of %s has discover and %s: only buckets may stand beside it, for as long "
              "as the partitions are not known",
              check->table->label, raw->uniform != NULL ? "uniform" : "at");
    if (config->backend.monitoring == NULL)
        WRONG(check, "partitions.discover",
              "partitions.discover of %s needs backend.monitoring, the URL of YDB's monitoring, "
              "such as http://127.0.0.1:8765",
              check->table->label);
}

static void check_partitions(const table_check *check, const cfg_config *config)
{
    const cfg_raw_partitions *raw = check->raw->partitions;
    if (raw == NULL)
        return;
    if (check->table->partitions.discover) {
        check_discover(check, config);
        return;
    }
    int kinds = (raw->uniform != NULL) + (raw->buckets != NULL) + (raw->at_count > 0);
    if (kinds != 1)
        WRONG(check, "partitions",
              "partitions of %s has %s of uniform, at and buckets: write exactly one, such as "
              "{ uniform: 16 }",
              check->table->label, kinds == 0 ? "none" : "more than one");
}

static void check_ydb_columns(const table_check *check, const char *key, char *const *names,
                              size_t count)
{
    const cfg_table *table = check->table;
    for (size_t i = 0; table->column_count > 0 && i < count; i++)
        if (!has_column(table, names[i], table->column_count) &&
            strcmp(names[i], table->hash_column) != 0)
            WRONG(check, key, "%s of %s names %s, which `columns` do not list", key, table->label,
                  names[i]);
}

static void check_ydb(const table_check *check)
{
    const cfg_ydb *ydb = &check->table->ydb;
    if (ydb->max_partitions > 0 && ydb->min_partitions > ydb->max_partitions)
        WRONG(check, "ydb.min_partitions",
              "ydb.min_partitions of %s is %u and max_partitions is %u: it must be at most that",
              check->table->label, ydb->min_partitions, ydb->max_partitions);
    if (ydb->ttl_column != NULL)
        check_ydb_columns(check, "ydb.ttl.column", &ydb->ttl_column, 1);
    for (size_t i = 0; i < ydb->index_count; i++) {
        char *key = cfg_printf("ydb.indexes[%zu].columns", i);
        check_ydb_columns(check, key, ydb->indexes[i].columns, ydb->indexes[i].column_count);
        free(key);
    }
}

static void check_batch(const table_check *check, const cfg_config *config)
{
    const cfg_batch *batch = &check->table->batch;
    if (batch->wait_ms > batch->max_wait_ms)
        WRONG(check, "batch.wait_ms",
              "batch.wait_ms of %s is %u and max_wait_ms is %u: a row would be given up before its "
              "batch leaves; make max_wait_ms greater",
              check->table->label, batch->wait_ms, batch->max_wait_ms);
    if (batch->bytes > config->limits.queue_bytes)
        WRONG(check, "batch.bytes",
              "batch.bytes of %s is greater than limits.queue_bytes: no batch could grow so large; "
              "make it at most that",
              check->table->label);
}

static const char *schema_of(const cfg_table *table)
{
    return table->schema ? table->schema : "public";
}

static void check_twin(const table_check *check, const cfg_config *config)
{
    const cfg_table *table = check->table;
    for (const cfg_table *other = config->tables; other < table; other++)
        if (strcmp(table->name, other->name) == 0 && table->pattern == other->pattern &&
            table->schemas == other->schemas && strcmp(schema_of(table), schema_of(other)) == 0) {
            WRONG(check, "name", "table %s is configured twice (first in line %u): keep one",
                  table->label, other->line);
            return;
        }
}

static void check_case(const table_check *check)
{
    for (const char *at = check->table->name; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z') {
            char *where = cfg_printf("%sname", check->prefix);
            cfg_warning(check->document, where,
                        "table %s has capital letters: only statements that write it in double "
                        "quotes mean it; PostgreSQL folds all others to small letters",
                        check->table->label);
            free(where);
            return;
        }
}

static bool is_beyond_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name != '\0';
}

/* Checks what an entry says of tables that are not known yet. */
static void check_pattern(const table_check *check, const cfg_config *config)
{
    const cfg_table *table = check->table;
    if (!table->pattern) {
        if (table->primary_key_count == 0)
            WRONG(check, "primary_key",
                  "primary_key: auto of %s is for patterns, such as events_*: list the columns",
                  table->label);
        if (table->exception_count > 0)
            WRONG(check, "except", "except of %s is for patterns, such as events_*: remove it",
                  table->label);
        return;
    }
    if (cfg_is_reserved(schema_of(table)))
        WRONG(
            check, "name",
            "%s is a pattern of a schema that is PostgreSQL's own or keyspread's own: name another "
            "schema",
            table->label);
    if (config->backend.dialect == CFG_DIALECT_YDB)
        WRONG(check, "name",
              "%s is a pattern: YDB cannot be asked which tables there are; give each an entry of "
              "its own",
              table->label);
    if (is_beyond_ascii(table->name) || (table->schemas && is_beyond_ascii(table->schema)))
        WRONG(check, "name",
              "%s is a pattern with letters beyond ASCII: give its tables entries of their own",
              table->label);
    if (table->column_count > 0)
        WRONG(check, "columns",
              "%s is a pattern: its tables have the columns that the backend tells; remove "
              "`columns`",
              table->label);
}

/* YDB refuses the first of two attempts if the second was done before it. */
static void check_repeat(const table_check *check, const cfg_config *config)
{
    if (check->table->repeat_upserts && config->backend.dialect != CFG_DIALECT_YDB)
        WRONG(check, "repeat",
              "repeat: upserts of %s is for dialect ydb: PostgreSQL may do the first of two "
              "attempts last; remove the key",
              check->table->label);
}

/* copy_on_conflict takes temporary tables. */
static void check_copy(const table_check *check, const cfg_config *config)
{
    if (check->table->copy_on_conflict != CFG_COPY_CONFLICT_ERROR &&
        config->backend.dialect == CFG_DIALECT_YDB)
        WRONG(check, "copy_on_conflict",
              "copy_on_conflict of %s is for dialect postgres in this version; remove the key",
              check->table->label);
}

/* YDB cuts a table by the first column of its key; PostgreSQL by the hash, wherever that stands. */
static void check_key_order(const table_check *check, const cfg_config *config)
{
    bool ydb = config->backend.dialect == CFG_DIALECT_YDB;
    cfg_key_order order = check->table->key_order;
    if (ydb && order == CFG_HASH_LAST)
        WRONG(check, "key_order",
              "key_order: hash_last of %s is for dialect postgres: YDB cuts a table by the first "
              "column of its key, and growing keys would all be in one partition; remove the key",
              check->table->label);
    if (ydb || order == CFG_HASH_LAST)
        return;
    char *where = cfg_printf("%skey_order", check->prefix);
    cfg_warning(check->document, where,
                "key_order: hash_first of %s: reads in the order of the key or by a range of it "
                "(ORDER BY, max(), BETWEEN) read the whole table; remove the key, for hash_last "
                "has them read by the index, and see docs/migrate.md for a table that stands",
                check->table->label);
    free(where);
}

static void check_row(const table_check *check)
{
    if (check->raw->partition_key_count > 0)
        WRONG(check, "partition_key",
              "partition_key of %s is for store: column: of other tables it is hash_key that "
              "decides where rows belong",
              check->table->label);
}

static void check_table(cfg_document *document, const cfg_raw *raw, const cfg_config *config,
                        size_t index)
{
    size_t place = config->tables[index].place;
    table_check check = {document, &raw->tables[place], &config->tables[index],
                         cfg_printf("tables[%zu].", place)};
    check_row(&check);
    if (check.table->hide == CFG_HIDE_STRICT && !check.table->hide_in_catalog)
        WRONG(&check, "hide_in_catalog",
              "hide_in_catalog: false of %s tells of a column that is not there with "
              "`hide: strict`: keep one of both",
              check.table->label);
    check_repeat(&check, config);
    check_copy(&check, config);
    check_key_order(&check, config);
    check_key(&check);
    check_pattern(&check, config);
    check_hash(&check);
    check_hash_buckets(&check);
    check_columns(&check);
    check_partitions(&check, config);
    check_batch(&check, config);
    check_ydb(&check);
    check_twin(&check, config);
    check_case(&check);
    free(check.prefix);
}

/* -- one that is column-oriented -- */

/* The key that is about a hash column, which a column-oriented table has none of; NULL if there is
 * none. */
static const char *beside_column(const cfg_raw_table *raw)
{
    return raw->hash_key_count > 0      ? "hash_key"
           : raw->hash_column != NULL   ? "hash_column"
           : raw->hash_function != NULL ? "hash_function"
           : raw->hash_type != NULL     ? "hash_type"
           : raw->hash_buckets != NULL  ? "hash_buckets"
           : raw->key_order != NULL     ? "key_order"
           : raw->partitions != NULL    ? "partitions"
                                        : NULL;
}

static void check_partition_key(const table_check *check)
{
    const cfg_table *table = check->table;
    check_names(check, "partition_key", table->partition_key, table->partition_key_count);
    if (table->partition_key_count == 0)
        WRONG(check, "store",
              "%s has no partition_key: list those columns of its primary_key whose hash is to "
              "decide where rows belong",
              table->label);
    for (size_t i = 0; i < table->partition_key_count; i++)
        if (!in_list(table->partition_key[i], table->primary_key, table->primary_key_count))
            WRONG(check, "partition_key",
                  "partition_key of %s names %s, which is not in its primary_key", table->label,
                  table->partition_key[i]);
}

static void check_columnar_table(cfg_document *document, const cfg_raw *raw,
                                 const cfg_config *config, size_t index)
{
    size_t place = config->tables[index].place;
    table_check check = {document, &raw->tables[place], &config->tables[index],
                         cfg_printf("tables[%zu].", place)};
    const char *label = check.table->label, *beside = beside_column(check.raw);
    if (config->backend.dialect != CFG_DIALECT_YDB)
        WRONG(&check, "store", "store: column of %s is for dialect ydb", label);
    if (beside != NULL)
        WRONG(&check, beside,
              "%s of %s is for tables that get a hash column; those of store: column get none",
              beside, label);
    if (check.table->pattern || check.table->primary_key_count == 0)
        WRONG(&check, "name", "store: column of %s is for one table, with its primary_key", label);
    if (check.table->column_count == 0)
        WRONG(&check, "store", "%s has no `columns`: list them, for YDB cannot be asked", label);
    if (check.table->ydb.index_count > 0)
        WRONG(&check, "ydb.indexes", "ydb.indexes of %s: column-oriented tables have none", label);
    check_names(&check, "primary_key", check.table->primary_key, check.table->primary_key_count);
    check_partition_key(&check);
    check_columns(&check);
    check_ydb(&check);
    check_twin(&check, config);
    free(check.prefix);
}

void cfg_check(cfg_document *document, const cfg_raw *raw, const cfg_config *config)
{
    cfg_check_door(document, raw, config);
    check_numbers(document, raw, config);
    check_dialect(document, config);
    size_t count = config->table_count + config->pattern_count;
    for (size_t i = 0; i < count; i++)
        check_table(document, raw, config, i);
    for (size_t i = 0; i < config->columnar_count; i++)
        check_columnar_table(document, raw, config, count + i);
    if (count + config->columnar_count == 0)
        cfg_warning(document, "", "no tables are configured: every statement passes untouched");
}
