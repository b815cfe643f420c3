#include "config/build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* The value of an optional word (enum, bool) or its default. */
#define WORD(member, otherwise) ((member) != NULL ? *(member) : (otherwise))

typedef struct range {
    uint64_t otherwise, min, max;
} range;

/* Whole numbers have 32 bits in the file and in memory. */
static uint32_t take_number(cfg_document *document, const char *prefix, const char *key,
                            const uint32_t *written, range allowed)
{
    if (written == NULL)
        return (uint32_t)allowed.otherwise;
    if (*written >= allowed.min && *written <= allowed.max)
        return *written;
    char *where = cfg_printf("%s%s", prefix, key);
    cfg_mistake(document, where, "%s is %" PRIu32 ": it must be from %" PRIu64 " to %" PRIu64,
                where, *written, allowed.min, allowed.max);
    free(where);
    return (uint32_t)allowed.otherwise;
}

static char *size_text(uint64_t bytes)
{
    if (bytes % GIB == 0)
        return cfg_printf("%" PRIu64 "GiB", bytes / GIB);
    if (bytes % MIB == 0)
        return cfg_printf("%" PRIu64 "MiB", bytes / MIB);
    if (bytes % KIB == 0)
        return cfg_printf("%" PRIu64 "KiB", bytes / KIB);
    return cfg_printf("%" PRIu64, bytes);
}

static uint64_t take_size(cfg_document *document, const char *prefix, const char *key,
                          const char *written, range allowed)
{
    if (written == NULL)
        return allowed.otherwise;
    uint64_t bytes;
    char *where = cfg_printf("%s%s", prefix, key);
    const char *right = cfg_parse_size(written, &bytes);
    bool good = right == NULL && bytes >= allowed.min && bytes <= allowed.max;
    if (right != NULL) {
        cfg_mistake(document, where, "%s is \"%s\": %s", where, written, right);
    } else if (!good) {
        char *min = size_text(allowed.min), *max = size_text(allowed.max);
        cfg_mistake(document, where, "%s is %s: it must be from %s to %s", where, written, min,
                    max);
        free(min);
        free(max);
    }
    free(where);
    return good ? bytes : allowed.otherwise;
}

static bool take_listen(cfg_document *document, const char *where, const char *written,
                        cfg_listen *listen)
{
    const char *right = cfg_parse_listen(written, listen);
    if (right != NULL)
        cfg_mistake(document, where, "%s is \"%s\": %s", where, written, right);
    return right == NULL;
}

/* A file's name is relative to the configuration file's folder, wherever the process stands. */
static char *take_file(const cfg_config *config, const char *written)
{
    if (written == NULL || *written == '/')
        return cfg_copy(written);
    const char *slash = strrchr(config->path, '/');
    char *folder =
        slash ? cfg_printf("%.*s/", (int)(slash - config->path), config->path) : cfg_copy(".");
    char *real = realpath(folder, NULL);
    char *path = cfg_printf("%s/%s", real ? real : folder, written);
    free(real);
    free(folder);
    return path;
}

static void build_listen(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    static char *otherwise[] = {"127.0.0.1:6432"};
    char **written = raw->listen ? raw->listen : otherwise;
    size_t count = raw->listen ? raw->listen_count : 1;
    config->listen = cfg_alloc(count * sizeof *config->listen);
    for (size_t i = 0; i < count; i++) {
        char *where = cfg_printf("listen[%zu]", i);
        if (take_listen(document, where, written[i], &config->listen[config->listen_count]))
            config->listen_count++;
        free(where);
    }
}

static void build_unix_socket_mode(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    config->unix_socket_mode = 0700;
    if (raw->unix_socket_mode == NULL)
        return;
    uint32_t mode;
    const char *right = cfg_parse_mode(raw->unix_socket_mode, &mode);
    if (right == NULL)
        config->unix_socket_mode = mode;
    else
        cfg_mistake(document, "unix_socket_mode", "unix_socket_mode is \"%s\": %s",
                    raw->unix_socket_mode, right);
}

static void build_client_tls(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    bool cert = raw->client_tls.cert != NULL;
    config->client_tls.mode = WORD(raw->client_tls.mode, cert ? CFG_TLS_PREFER : CFG_TLS_DISABLE);
    config->client_tls.cert_line = cfg_document_line(document, "client_tls.cert");
    config->client_tls.key_line = cfg_document_line(document, "client_tls.key");
    config->client_tls.ca_line = cfg_document_line(document, "client_tls.ca");
    config->client_tls.cert = take_file(config, raw->client_tls.cert);
    config->client_tls.key = take_file(config, raw->client_tls.key);
    config->client_tls.ca = take_file(config, raw->client_tls.ca);
    config->client_tls.verify = WORD(raw->client_tls.verify, CFG_TLS_VERIFY_OPTIONAL);
}

static void build_auth(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    config->auth.mode = WORD(raw->auth.mode, CFG_AUTH_TRUST);
    config->auth.users_file = take_file(config, raw->auth.users_file);
    config->auth.users_file_line = cfg_document_line(document, "auth.users_file");
    config->auth.allow_remote_trust = WORD(raw->auth.allow_remote_trust, false);
}

static void build_admin(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    config->admin.allow_remote = WORD(raw->admin.allow_remote, false);
    if (raw->admin.listen == NULL)
        return;
    cfg_listen *listen = cfg_alloc(sizeof *listen);
    if (take_listen(document, "admin.listen", raw->admin.listen, listen))
        config->admin.listen = listen;
    else
        free(listen);
}

static void build_capabilities(cfg_document *document, const cfg_raw *raw,
                               cfg_capabilities *capabilities)
{
    for (size_t i = 0; i < CFG_CAPABILITIES; i++) {
        const bool *written = raw->backend.capabilities.can[i];
        capabilities->written[i] = written != NULL;
        capabilities->can[i] = WORD(written, cfg_capability_rows[i].otherwise);
    }
    const char *written = raw->backend.capabilities.max_message;
    capabilities->max_message_written = written != NULL;
    capabilities->max_message = take_size(document, "backend.capabilities.", "max_message", written,
                                          (range){CFG_MAX_MESSAGE, KIB, 2 * MIB - 1});
}

static void build_link(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    const char *in = "backend.";
    config->backend.allow_cleartext = WORD(raw->backend.allow_cleartext, false);
    config->backend.insert_first = WORD(raw->backend.upsert_first, false);
    config->backend.exact_counts = WORD(raw->backend.update_counts, true);
    config->backend.keepalive_s =
        take_number(document, in, "keepalive_s", raw->backend.keepalive_s, (range){300, 1, 590});
    config->backend.retry_ms =
        take_number(document, in, "retry_ms", raw->backend.retry_ms, (range){30000, 0, 3600000});
}

static void build_backend(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    const char *in = "backend.";
    config->backend.dsn = cfg_copy(raw->backend.dsn);
    config->backend.dsn_line = cfg_document_line(document, "backend.dsn");
    config->backend.dialect = WORD(raw->backend.dialect, CFG_DIALECT_POSTGRES);
    build_capabilities(document, raw, &config->backend.capabilities);
    config->backend.monitoring = cfg_copy(raw->backend.monitoring);
    config->backend.monitoring_s =
        take_number(document, in, "monitoring_s", raw->backend.monitoring_s, (range){30, 1, 3600});
    config->backend.links = WORD(raw->backend.links, CFG_LINKS_AUTO);
    config->backend.max_links =
        take_number(document, in, "max_links", raw->backend.max_links, (range){90, 1, 10000});
    config->backend.batch_links =
        take_number(document, in, "batch_links", raw->backend.batch_links, (range){8, 1, 1000});
    config->backend.link_wait_ms = take_number(
        document, in, "link_wait_ms", raw->backend.link_wait_ms, (range){10000, 0, 3600000});
    config->backend.link_age_s =
        take_number(document, in, "link_age_s", raw->backend.link_age_s, (range){600, 1, 86400});
    config->backend.connect_ms = take_number(document, in, "connect_ms", raw->backend.connect_ms,
                                             (range){10000, 1, 3600000});
    config->backend.catalog_s =
        take_number(document, in, "catalog_s", raw->backend.catalog_s, (range){10, 1, 3600});
    build_link(document, raw, config);
}

static void build_limits(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    const char *in = "limits.";
    config->limits.row_bytes =
        take_size(document, in, "row_bytes", raw->limits.row_bytes, (range){8 * MIB, KIB, GIB - 1});
    config->limits.key_bytes =
        take_size(document, in, "key_bytes", raw->limits.key_bytes, (range){2 * KIB, 16, GIB - 1});
    config->limits.queue_bytes = take_size(document, in, "queue_bytes", raw->limits.queue_bytes,
                                           (range){256 * MIB, MIB, 1024 * GIB});
    config->limits.lazy_bytes = take_size(document, in, "lazy_bytes", raw->limits.lazy_bytes,
                                          (range){4 * MIB, KIB, GIB - 1});
    config->limits.incomplete_bytes =
        take_size(document, in, "incomplete_bytes", raw->limits.incomplete_bytes,
                  (range){128 * MIB, MIB, 1024 * GIB});
    config->limits.unread_bytes = take_size(document, in, "unread_bytes", raw->limits.unread_bytes,
                                            (range){128 * MIB, MIB, 1024 * GIB});
    config->limits.prepared_bytes = take_size(
        document, in, "prepared_bytes", raw->limits.prepared_bytes, (range){GIB, MIB, 1024 * GIB});
    config->limits.enforce = WORD(raw->limits.enforce, false);
    config->limits.clients =
        take_number(document, in, "clients", raw->limits.clients, (range){10000, 1, 1000000});
    uint32_t fourth = (config->limits.clients + 3) / 4; /* all clients may come at once */
    config->limits.unauthenticated =
        take_number(document, in, "unauthenticated", raw->limits.unauthenticated,
                    (range){fourth > 100 ? fourth : 100, 1, 1000000});
    config->limits.unauthenticated_per_address = take_number(
        document, in, "unauthenticated_per_address", raw->limits.unauthenticated_per_address,
        (range){(config->limits.unauthenticated + 3) / 4, 1, 1000000});
    config->limits.clients_per_address =
        take_number(document, in, "clients_per_address", raw->limits.clients_per_address,
                    (range){0, 0, 1000000});
    config->limits.startup_ms = take_number(document, in, "startup_ms", raw->limits.startup_ms,
                                            (range){10000, 100, 3600000});
}

static char **copy_list(char *const *list, size_t count)
{
    char **copy = cfg_alloc(count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = cfg_copy(list[i]);
    return copy;
}

static void build_columns(const cfg_raw_table *raw, cfg_table *table)
{
    table->column_count = raw->columns_count;
    table->columns = cfg_alloc(raw->columns_count * sizeof *table->columns);
    for (size_t i = 0; i < raw->columns_count; i++)
        table->columns[i] = (cfg_column){.name = cfg_copy(raw->columns[i].name),
                                         .type = cfg_copy(raw->columns[i].type),
                                         .by_default = cfg_copy(raw->columns[i].by_default),
                                         .not_null = WORD(raw->columns[i].not_null, false)};
}

static bool ascending(uint64_t a, uint64_t b, cfg_hash_type type)
{
    return type == CFG_HASH_INT8 ? (int64_t)a < (int64_t)b : a < b;
}

/* Returns NULL, or what a boundary of the table's partitions must be. */
static const char *parse_boundary(const cfg_table *table, const char *text, uint64_t *at)
{
    if (table->hash_buckets == 0)
        return cfg_parse_hash(text, table->hash_type, at);
    bool right =
        cfg_parse_hash(text, CFG_HASH_UINT64, at) == NULL && *at > 0 && *at < table->hash_buckets;
    return right ? NULL : "with hash_buckets it takes a bucket's number, from 1 to the last one's";
}

static void build_boundaries(cfg_document *document, const char *prefix,
                             const cfg_raw_partitions *raw, cfg_table *table)
{
    cfg_partitions *partitions = &table->partitions;
    partitions->at = cfg_alloc(raw->at_count * sizeof *partitions->at);
    partitions->at_count = raw->at_count;
    for (size_t i = 0; i < raw->at_count; i++) {
        char *where = cfg_printf("%spartitions.at[%zu]", prefix, i);
        const char *right = parse_boundary(table, raw->at[i], &partitions->at[i]);
        if (right != NULL)
            cfg_mistake(document, where, "%s is \"%s\": %s", where, raw->at[i], right);
        else if (i > 0 && !ascending(partitions->at[i - 1], partitions->at[i], table->hash_type))
            cfg_mistake(document, where, "%s is %s: each must be greater than the one before (%s)",
                        where, raw->at[i], raw->at[i - 1]);
        free(where);
    }
    if (raw->at_count > 999999) {
        char *where = cfg_printf("%spartitions.at", prefix);
        cfg_mistake(document, where, "%s has %u boundaries: at most 999999 are possible", where,
                    raw->at_count);
        free(where);
    }
}

/* Buckets for batches while partitions are not known: above the most partitions that YDB makes by
 * itself, but no more than there are values in the hash column. */
static uint32_t few_buckets(const cfg_table *table)
{
    enum { FEW = 64 };
    return table->hash_buckets > 0 && table->hash_buckets < FEW ? table->hash_buckets : FEW;
}

/* The default, one partition, holds only if no key says otherwise. */
static void build_partitions(cfg_document *document, const char *prefix,
                             const cfg_raw_partitions *raw, cfg_table *table)
{
    char *in = cfg_printf("%spartitions.", prefix);
    cfg_partitions *partitions = &table->partitions;
    if (raw != NULL && raw->uniform != NULL)
        partitions->uniform =
            take_number(document, in, "uniform", raw->uniform, (range){1, 1, 1000000});
    partitions->discover = raw != NULL && WORD(raw->discover, false);
    if (partitions->discover)
        partitions->buckets = few_buckets(table);
    if (raw != NULL && raw->buckets != NULL)
        partitions->buckets =
            take_number(document, in, "buckets", raw->buckets, (range){1, 1, 1000000});
    if (raw != NULL && raw->at_count > 0)
        build_boundaries(document, prefix, raw, table);
    if (raw == NULL)
        partitions->uniform = 1;
    free(in);
}

static void build_batch(cfg_document *document, const char *prefix, const cfg_raw_batch *raw,
                        cfg_batch *batch)
{
    char *in = cfg_printf("%sbatch.", prefix);
    batch->rows = take_number(document, in, "rows", raw->rows, (range){500, 1, 100000});
    batch->bytes = take_size(document, in, "bytes", raw->bytes, (range){MIB, KIB, 256 * MIB});
    batch->wait_ms = take_number(document, in, "wait_ms", raw->wait_ms, (range){0, 0, 10000});
    batch->target_ms =
        take_number(document, in, "target_ms", raw->target_ms, (range){50, 1, 60000});
    batch->lock_wait_ms =
        take_number(document, in, "lock_wait_ms", raw->lock_wait_ms, (range){200, 1, 600000});
    batch->max_wait_ms =
        take_number(document, in, "max_wait_ms", raw->max_wait_ms, (range){30000, 1, 3600000});
    free(in);
}

static void build_ttl(cfg_document *document, const char *in, const cfg_raw_ttl *raw, cfg_ydb *ydb)
{
    if (raw == NULL)
        return;
    const char *right = cfg_parse_interval(raw->after);
    char *where = cfg_printf("%sttl.after", in);
    if (right != NULL)
        cfg_mistake(document, where, "%s is \"%s\": %s", where, raw->after, right);
    free(where);
    ydb->ttl_column = cfg_copy(raw->column);
    ydb->ttl_after = cfg_copy(raw->after);
    ydb->ttl_unit = WORD(raw->unit, CFG_TTL_NONE);
}

static void build_ydb(cfg_document *document, const char *prefix, const cfg_raw_ydb *raw,
                      cfg_ydb *ydb)
{
    char *in = cfg_printf("%sydb.", prefix);
    ydb->by_size = WORD(raw->by_size, true);
    ydb->by_load = WORD(raw->by_load, true);
    ydb->partition_size_mb = take_number(document, in, "partition_size_mb", raw->partition_size_mb,
                                         (range){0, 1, 1000000});
    ydb->min_partitions =
        take_number(document, in, "min_partitions", raw->min_partitions, (range){0, 1, 1000000});
    ydb->max_partitions =
        take_number(document, in, "max_partitions", raw->max_partitions, (range){0, 1, 1000000});
    build_ttl(document, in, raw->ttl, ydb);
    ydb->indexes = cfg_alloc(raw->indexes_count * sizeof *ydb->indexes);
    ydb->index_count = raw->indexes_count;
    for (size_t i = 0; i < raw->indexes_count; i++) {
        const cfg_raw_index *index = &raw->indexes[i];
        ydb->indexes[i] =
            (cfg_index){cfg_copy(index->name), copy_list(index->columns, index->columns_count),
                        index->columns_count, WORD(index->sync, false)};
    }
    free(in);
}

/* `sequences` is a word or a mapping. */
static void build_sequences(cfg_document *document, const char *prefix, cfg_table *table)
{
    char *in = cfg_printf("%ssequences.", prefix), *at = cfg_printf("%ssequences", prefix);
    char *block = cfg_printf("%sblock", in);
    const char *word = cfg_document_word(document, at),
               *digits = cfg_document_word(document, block);
    uint32_t number = digits != NULL ? (uint32_t)strtoul(digits, NULL, 10) : 0;
    bool ignored = word != NULL && strcmp(word, "ignore") == 0;
    table->sequences = ignored ? CFG_SEQUENCES_IGNORE : CFG_SEQUENCES_SESSION;
    table->block =
        take_number(document, in, "block", digits != NULL ? &number : NULL, (range){1, 1, 10000});
    free(block);
    free(at);
    free(in);
}

/* `primary_key` is a list, or the word auto, which leaves it empty. */
static void build_primary_key(cfg_document *document, const char *prefix, cfg_table *table)
{
    enum { MOST = 1000 }; /* more columns than a key can have, so that the checks can tell */
    for (size_t i = 0; i < MOST; i++) {
        char *where = cfg_printf("%sprimary_key[%zu]", prefix, i);
        const char *column = cfg_document_word(document, where);
        free(where);
        if (column == NULL)
            return;
        table->primary_key =
            cfg_grow(table->primary_key, (table->primary_key_count + 1) * sizeof(char *));
        table->primary_key[table->primary_key_count++] = cfg_copy(column);
    }
}

static void build_key(cfg_document *document, const char *prefix, const cfg_raw_table *raw,
                      cfg_table *table)
{
    build_primary_key(document, prefix, table);
    bool listed = raw->hash_key_count > 0, known = table->primary_key_count > 0;
    table->hash_key_count = listed ? raw->hash_key_count : known;
    table->hash_key = copy_list(listed ? raw->hash_key : table->primary_key, table->hash_key_count);
    table->hash_column = raw->hash_column ? cfg_copy(raw->hash_column)
                         : known          ? cfg_printf("%s_hash", table->hash_key[0])
                                          : cfg_copy("keyspread_hash");
}

static void add_exception(cfg_table *table, cfg_exception one)
{
    table->exceptions[table->exception_count++] = one;
}

/* What the file says, and, of a pattern of several schemas, those that no pattern covers. */
static void build_exceptions(cfg_document *document, const char *prefix, const cfg_raw_table *raw,
                             cfg_table *table)
{
    size_t most = raw->except_count;
    for (size_t i = 0; cfg_reserved(i) != NULL; i++)
        most++;
    table->exceptions = cfg_alloc(most * sizeof *table->exceptions);
    for (size_t i = 0; i < raw->except_count; i++) {
        cfg_table one = {0};
        char *where = cfg_printf("%sexcept[%zu]", prefix, i);
        const char *right = cfg_parse_table_name(raw->except[i], &one);
        if (right == NULL && one.schema != NULL && !table->schemas)
            cfg_mistake(document, where,
                        "%s is \"%s\": all names are of the pattern's own schema; leave the schema "
                        "out",
                        where, raw->except[i]);
        else if (right != NULL)
            cfg_mistake(document, where, "%s is \"%s\": %s", where, raw->except[i], right);
        free(where);
        free(one.label);
        if (one.name != NULL)
            add_exception(table, (cfg_exception){one.schema, one.schemas, one.name, one.pattern});
    }
    for (size_t i = 0; table->schemas && cfg_reserved(i) != NULL; i++) {
        cfg_exception one = *cfg_reserved(i);
        one.schema = cfg_copy(one.schema);
        one.name = cfg_copy(one.name);
        add_exception(table, one);
    }
}

static void build_table(cfg_document *document, size_t index, const cfg_raw_table *raw,
                        cfg_dialect dialect, cfg_table *table)
{
    char *prefix = cfg_printf("tables[%zu].", index);
    char *where = cfg_printf("tables[%zu]", index);
    table->line = cfg_document_line(document, where);
    const char *right = cfg_parse_table_name(raw->name, table);
    if (right != NULL) {
        char *name = cfg_printf("%sname", prefix);
        cfg_mistake(document, name, "%s is \"%s\": %s", name, raw->name, right);
        free(name);
        table->name = cfg_copy(raw->name);
        table->label = cfg_copy(raw->name);
    }
    build_exceptions(document, prefix, raw, table);
    build_key(document, prefix, raw, table);
    table->hash_function = WORD(raw->hash_function, CFG_XXH3);
    table->partition_key_count = raw->partition_key_count;
    table->partition_key = copy_list(raw->partition_key, raw->partition_key_count);
    table->hash_type = WORD(raw->hash_type, CFG_HASH_INT8);
    table->hash_buckets =
        take_number(document, prefix, "hash_buckets", raw->hash_buckets, (range){0, 2, 1024});
    table->sorted = dialect == CFG_DIALECT_YDB;
    table->key_order =
        WORD(raw->key_order, dialect == CFG_DIALECT_YDB ? CFG_HASH_FIRST : CFG_HASH_LAST);
    table->uncomputable = WORD(raw->uncomputable, CFG_UNCOMPUTABLE_ERROR);
    table->null_key = WORD(raw->null_key, CFG_NULL_KEY_ERROR);
    table->hide = WORD(raw->hide, CFG_HIDE_YES);
    table->hide_in_catalog = WORD(raw->hide_in_catalog, true);
    table->lookups = WORD(raw->lookups, true);
    table->copy =
        WORD(raw->copy, dialect == CFG_DIALECT_YDB ? CFG_COPY_PARTITION : CFG_COPY_ATOMIC);
    table->copy_on_conflict = WORD(raw->copy_on_conflict, CFG_COPY_CONFLICT_ERROR);
    table->atomicity = WORD(raw->atomicity, CFG_ATOMICITY_STATEMENT);
    table->transactions = WORD(raw->transactions, CFG_TRANSACTIONS_UNSAID);
    table->repeat_upserts = WORD(raw->repeat, false);
    build_sequences(document, prefix, table);
    build_columns(raw, table);
    build_partitions(document, prefix, raw->partitions, table);
    build_batch(document, prefix, &raw->batch, &table->batch);
    build_ydb(document, prefix, &raw->ydb, &table->ydb);
    free(where);
    free(prefix);
}

static bool is_columnar(const cfg_raw_table *raw)
{
    return WORD(raw->store, CFG_STORE_ROW) == CFG_STORE_COLUMN;
}

/* Tables with names of their own come first, then patterns, then column-oriented tables. */
static void build_tables(cfg_document *document, const cfg_raw *raw, cfg_config *config)
{
    cfg_table *all = cfg_alloc(raw->tables_count * sizeof *all);
    config->tables = cfg_alloc(raw->tables_count * sizeof *config->tables);
    for (size_t i = 0; i < raw->tables_count; i++) {
        build_table(document, i, &raw->tables[i], config->backend.dialect, &all[i]);
        all[i].place = i;
        config->has_lazy |= all[i].transactions == CFG_TRANSACTIONS_LAZY;
        if (!all[i].pattern && !is_columnar(&raw->tables[i]))
            config->tables[config->table_count++] = all[i];
    }
    size_t count = config->table_count;
    for (size_t i = 0; i < raw->tables_count; i++)
        if (all[i].pattern && !is_columnar(&raw->tables[i]))
            config->tables[count + config->pattern_count++] = all[i];
    count += config->pattern_count;
    for (size_t i = 0; i < raw->tables_count; i++)
        if (is_columnar(&raw->tables[i]))
            config->tables[count + config->columnar_count++] = all[i];
    free(all);
}

cfg_config *cfg_build(cfg_document *document, const cfg_raw *raw)
{
    cfg_config *config = cfg_alloc(sizeof *config);
    config->path = cfg_copy(document->path);
    build_listen(document, raw, config);
    config->workers = take_number(document, "", "workers", raw->workers, (range){0, 0, 256});
    build_unix_socket_mode(document, raw, config);
    build_client_tls(document, raw, config);
    build_auth(document, raw, config);
    build_admin(document, raw, config);
    build_backend(document, raw, config);
    config->log_level = WORD(raw->log.level, CFG_LOG_INFO);
    build_tables(document, raw, config);
    build_limits(document, raw, config);
    return config;
}
