#include "ydb/command/advice.h"

#include <stdarg.h>
#include <string.h>

#include "proxy/backend/schema/schema.h"
#include "ydb/command/yql.h"
#include "ydb/command/yql_column.h"

enum { MANY = 128 }; /* number of partitions that most tables need at most, as YDB documents */

typedef struct advice {
    const cfg_config *config;
    const cfg_table *written;
    const rw_table *table;
    FILE *errors;
} advice;

__attribute__((format(printf, 2, 3))) static void warn(const advice *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(a->errors, "%s:%u: warning: table %s: ", a->config->path, a->written->line,
            cfg_table_label(a->written));
    vfprintf(a->errors, format, arguments);
    fputc('\n', a->errors);
    va_end(arguments);
}

static const rw_column *find_column(const advice *a, const char *name)
{
    size_t i = rw_table_column(a->table, pgw_slice_str(name));
    return i < a->table->column_count ? &a->table->columns[i] : NULL;
}

static bool is_time(const rw_column *column)
{
    return column->type == PGW_DATE || column->type == PGW_TIMESTAMP ||
           column->type == PGW_TIMESTAMPTZ;
}

static bool grows(const rw_column *column)
{
    return is_time(column) || column->sequence;
}

/* -- what is hashed -- */

static bool hashes_only(const advice *a, bool (*is)(const rw_column *column))
{
    const rw_table *table = a->table;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!is(&table->columns[table->hash_key[i]]))
            return false;
    return true;
}

static bool is_boolean(const rw_column *column)
{
    return column->type == PGW_BOOL;
}

static void judge_hash_key(const advice *a)
{
    const rw_table *table = a->table;
    const char *first = table->columns[table->hash_key[0]].name;
    if (hashes_only(a, is_time))
        warn(a,
             "hash_key is of time alone (%s): all rows of one moment go to one partition, as all "
             "rows of a growing key do; hash a column with many values at any moment, such as "
             "whose event it is",
             first);
    else if (hashes_only(a, is_boolean))
        warn(a,
             "hash_key %s has two values, so that all rows go to two places; hash a column with "
             "many values",
             first);
    else if (table->hash_key_count > 1 && table->hash_key_count == table->primary_key_count)
        warn(a,
             "hash_key is the whole primary key: rows that are read together (of one %s) are "
             "spread over all partitions, and a request should touch as few as possible; hash the "
             "columns that reads ask for",
             table->columns[table->primary_key[0]].name);
    if (a->written->null_key == CFG_NULL_KEY_ALLOW)
        warn(a, "null_key is allow: YDB advises against NULL in keys, for comparisons with it miss "
                "rows");
}

/* Warns of a growing key behind a hash, which keeps writes apart, but leaves no order to read by.
 */
static void judge_order(const advice *a)
{
    const rw_column *first = &a->table->columns[a->table->primary_key[0]];
    if (a->table->buckets == 0 && grows(first))
        warn(a,
             "its key begins with %s, which only grows, behind a hash: ORDER BY %s with LIMIT, "
             "ranges of it and max() read the whole table; with hash_buckets: 16 each bucket is in "
             "the order of the key, and such a read has 16 places to look into",
             first->name, first->name);
}

/* -- types -- */

static void judge_type(const advice *a, const rw_column *column)
{
    bool own = a->table->hash_type == RW_HASH_UINT64;
    if (!own && column->type == PGW_UUID && !a->config->backend.capabilities.can[CFG_CAN_UUID_KEYS])
        warn(a,
             "column %s is a uuid, which YDB did not take as a key over its PostgreSQL endpoint; "
             "make it text, or say backend.capabilities: { uuid_keys: yes } if your server does",
             column->name);
    if (own && column->type == PGW_FLOAT8)
        warn(a, "column %s would be a Double, which YDB does not take as a key", column->name);
    if (px_yql_type(a->table, column) == NULL)
        warn(a, "column %s is of type %s, which has no match in YDB, and cannot be in a key there",
             column->name, column->type_name);
}

static bool expires_by(const advice *a, const rw_column *column)
{
    bool own = a->table->hash_type == RW_HASH_UINT64;
    bool number = column->type == PGW_INT4 || column->type == PGW_INT8;
    if (number)
        return !own && a->written->ydb.ttl_unit != CFG_TTL_NONE;
    bool date = column->type == PGW_DATE || column->type == PGW_TIMESTAMP ||
                (own && column->type == PGW_TIMESTAMPTZ);
    return date && a->written->ydb.ttl_unit == CFG_TTL_NONE;
}

static void judge_ttl(const advice *a)
{
    const char *name = a->written->ydb.ttl_column;
    const rw_column *column = name != NULL ? find_column(a, name) : NULL;
    if (column != NULL && !expires_by(a, column))
        warn(a, "ydb.ttl cannot go by column %s: YDB takes %s", name,
             a->table->hash_type == RW_HASH_UINT64
                 ? "date and timestamp columns, without a unit"
                 : "date and timestamp columns (without time zone) without a unit, integer and "
                   "bigint columns with one");
}

/* -- partitions and indexes -- */

static void judge_partitions(const advice *a)
{
    uint32_t count = a->written->ydb.min_partitions;
    if (count == 0 && a->table->partitions.kind != RW_PARTITION_BUCKETS)
        count = a->table->partitions.count;
    if (count > MANY)
        warn(a,
             "%u partitions: a large reserve costs resources and slows queries, and small streams "
             "need no more than %d; count on about 1 MB/s a partition, or four a node",
             count, MANY);
}

static void judge_index(const advice *a, const cfg_index *index)
{
    const rw_column *first = find_column(a, index->columns[0]);
    if (index->sync)
        warn(a,
             "index %s is synchronous: each write becomes a distributed transaction over the "
             "partitions of table and index, and batches by partition gain nothing; leave `sync` "
             "out",
             index->name);
    if (first != NULL && grows(first))
        warn(a,
             "index %s begins with %s, which only grows: all its rows go to the index's last "
             "partition, which splitting does not help; put a column with many values first",
             index->name, first->name);
}

static void judge_endpoint(const advice *a)
{
    const cfg_capabilities *capabilities = &a->config->backend.capabilities;
    if (a->config->backend.dialect == CFG_DIALECT_YDB && a->table->hash_type == RW_HASH_UINT64 &&
        !capabilities->can[CFG_CAN_NATIVE_WRITES])
        warn(a, "hash_type uint64 makes a table of YDB's own types, and nobody has confirmed that "
                "they can be written over the PostgreSQL endpoint; take int8, or say "
                "backend.capabilities: { native_writes: yes } if your server does");
}

void px_advice_print(const cfg_config *config, const cfg_table *written, const rw_table *table,
                     FILE *errors)
{
    advice a = {config, written, table, errors};
    judge_hash_key(&a);
    judge_order(&a);
    for (size_t i = 0; i < table->primary_key_count; i++)
        judge_type(&a, &table->columns[table->primary_key[i]]);
    judge_partitions(&a);
    judge_ttl(&a);
    for (size_t i = 0; i < written->ydb.index_count; i++)
        judge_index(&a, &written->ydb.indexes[i]);
    judge_endpoint(&a);
}

static void check_columnar(const cfg_config *config, FILE *errors)
{
    for (size_t i = 0; i < config->columnar_count; i++)
        px_yql_column_advise(config, cfg_columnar_table(config, i), errors);
}

void px_advice_check(const cfg_config *config, FILE *errors)
{
    if (config->backend.dialect != CFG_DIALECT_YDB)
        return;
    check_columnar(config, errors);
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *written = &config->tables[i];
        pgw_error ignored = PGW_ERROR_NONE;
        rw_table *table =
            written->column_count > 0 ? px_schema_build(written, NULL, 0, &ignored) : NULL;
        if (table != NULL)
            px_advice_print(config, written, table, errors);
        rw_table_free(table);
    }
}
