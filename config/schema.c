#include "config/schema.h"

#include <string.h>

enum { OPTIONAL = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, WORD = OPTIONAL | CYAML_FLAG_STRICT };

#define STRING(key, type, member)                                                                  \
    CYAML_FIELD_STRING_PTR(key, OPTIONAL, type, member, 1, CYAML_UNLIMITED)
#define UINT(key, type, member) CYAML_FIELD_UINT_PTR(key, OPTIONAL, type, member)
#define BOOL(key, type, member) CYAML_FIELD_BOOL_PTR(key, OPTIONAL, type, member)
#define ENUM(key, type, member, words)                                                             \
    CYAML_FIELD_ENUM_PTR(key, WORD, type, member, words, CYAML_ARRAY_LEN(words))
#define SEQUENCE(key, type, member, entry, min)                                                    \
    CYAML_FIELD_SEQUENCE(key, OPTIONAL, type, member, entry, min, CYAML_UNLIMITED)
#define MAPPING(key, type, member, fields)                                                         \
    CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, type, member, fields)

/* The members of a mapping that is not a structure of its own are offsets into cfg_raw. */
#define PART(name, flags, fields)                                                                  \
    {                                                                                              \
        .key = name, .data_offset = 0, .value = { CYAML_VALUE_MAPPING(flags, cfg_raw, fields) }    \
    }

static const cyaml_strval_t tls_modes[] = {
    {"disable", CFG_TLS_DISABLE}, {"prefer", CFG_TLS_PREFER}, {"require", CFG_TLS_REQUIRE}};
static const cyaml_strval_t tls_verifies[] = {{"optional", CFG_TLS_VERIFY_OPTIONAL},
                                              {"verify-ca", CFG_TLS_VERIFY_CA},
                                              {"verify-full", CFG_TLS_VERIFY_FULL}};
static const cyaml_strval_t auth_modes[] = {
    {"trust", CFG_AUTH_TRUST}, {"scram", CFG_AUTH_SCRAM}, {"forward", CFG_AUTH_FORWARD}};
static const cyaml_strval_t upsert_firsts[] = {{"select", false}, {"insert", true}};
static const cyaml_strval_t update_counts[] = {{"exact", true}, {"unknown", false}};
static const cyaml_strval_t dialects[] = {{"postgres", CFG_DIALECT_POSTGRES},
                                          {"ydb", CFG_DIALECT_YDB}};
/* libcyaml takes a word for an integer of the field's size. */
static const cyaml_strval_t yes_or_no[] = {{"no", false}, {"yes", true}};
static const cyaml_strval_t links_modes[] = {
    {"auto", CFG_LINKS_AUTO}, {"on_login", CFG_LINKS_ON_LOGIN}, {"on_demand", CFG_LINKS_ON_DEMAND}};
static const cyaml_strval_t log_levels[] = {{"error", CFG_LOG_ERROR},
                                            {"warn", CFG_LOG_WARN},
                                            {"info", CFG_LOG_INFO},
                                            {"debug", CFG_LOG_DEBUG}};
static const cyaml_strval_t hash_functions[] = {{"xxh3", CFG_XXH3},
                                                {"numeric_hash", CFG_NUMERIC_HASH},
                                                {"cityhash64", CFG_CITYHASH64},
                                                {"pg_hash", CFG_PG_HASH}};
static const cyaml_strval_t hash_types[] = {{"int8", CFG_HASH_INT8}, {"uint64", CFG_HASH_UINT64}};
static const cyaml_strval_t key_orders[] = {{"hash_last", CFG_HASH_LAST},
                                            {"hash_first", CFG_HASH_FIRST}};
static const cyaml_strval_t stores[] = {{"row", CFG_STORE_ROW}, {"column", CFG_STORE_COLUMN}};
static const cyaml_strval_t uncomputables[] = {{"error", CFG_UNCOMPUTABLE_ERROR},
                                               {"forward", CFG_UNCOMPUTABLE_FORWARD}};
static const cyaml_strval_t copies[] = {{"atomic", CFG_COPY_ATOMIC},
                                        {"partition", CFG_COPY_PARTITION}};
static const cyaml_strval_t copy_conflicts[] = {{"error", CFG_COPY_CONFLICT_ERROR},
                                                {"nothing", CFG_COPY_CONFLICT_NOTHING},
                                                {"update", CFG_COPY_CONFLICT_UPDATE}};
static const cyaml_strval_t null_keys[] = {{"error", CFG_NULL_KEY_ERROR},
                                           {"allow", CFG_NULL_KEY_ALLOW}};
/* The values of `hide`: those of a switch, and strict. */
static const cyaml_strval_t hides[] = {{"true", CFG_HIDE_YES},     {"yes", CFG_HIDE_YES},
                                       {"on", CFG_HIDE_YES},       {"false", CFG_HIDE_NO},
                                       {"no", CFG_HIDE_NO},        {"off", CFG_HIDE_NO},
                                       {"strict", CFG_HIDE_STRICT}};
static const cyaml_strval_t atomicities[] = {{"statement", CFG_ATOMICITY_STATEMENT},
                                             {"partition", CFG_ATOMICITY_PARTITION}};
static const cyaml_strval_t transactions[] = {{"eager", CFG_TRANSACTIONS_EAGER},
                                              {"lazy", CFG_TRANSACTIONS_LAZY}};
static const cyaml_strval_t repeats[] = {{"nothing", false}, {"upserts", true}};
static const cyaml_strval_t sequence_modes[] = {{"session", CFG_SEQUENCES_SESSION},
                                                {"ignore", CFG_SEQUENCES_IGNORE}};

static const cyaml_strval_t ttl_units[] = {{"seconds", CFG_TTL_SECONDS},
                                           {"milliseconds", CFG_TTL_MILLISECONDS},
                                           {"microseconds", CFG_TTL_MICROSECONDS},
                                           {"nanoseconds", CFG_TTL_NANOSECONDS}};

static const cyaml_schema_value_t text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, CYAML_UNLIMITED)};

static const cyaml_schema_field_t column_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, cfg_raw_column, name, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("type", CYAML_FLAG_POINTER, cfg_raw_column, type, 1, CYAML_UNLIMITED),
    BOOL("not_null", cfg_raw_column, not_null), STRING("default", cfg_raw_column, by_default),
    CYAML_FIELD_END};
static const cyaml_schema_value_t column = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, cfg_raw_column, column_fields)};

static const cyaml_schema_field_t partitions_fields[] = {
    UINT("uniform", cfg_raw_partitions, uniform), UINT("buckets", cfg_raw_partitions, buckets),
    SEQUENCE("at", cfg_raw_partitions, at, &text, 1),
    BOOL("discover", cfg_raw_partitions, discover), CYAML_FIELD_END};

static const cyaml_schema_field_t index_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, cfg_raw_index, name, 1, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("columns", CYAML_FLAG_POINTER, cfg_raw_index, columns, &text, 1,
                         CYAML_UNLIMITED),
    BOOL("sync", cfg_raw_index, sync), CYAML_FIELD_END};
static const cyaml_schema_value_t table_index = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, cfg_raw_index, index_fields)};
static const cyaml_schema_field_t ttl_fields[] = {
    CYAML_FIELD_STRING_PTR("column", CYAML_FLAG_POINTER, cfg_raw_ttl, column, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("after", CYAML_FLAG_POINTER, cfg_raw_ttl, after, 1, CYAML_UNLIMITED),
    ENUM("unit", cfg_raw_ttl, unit, ttl_units), CYAML_FIELD_END};
static const cyaml_schema_field_t ydb_fields[] = {
    BOOL("by_size", cfg_raw_ydb, by_size),
    BOOL("by_load", cfg_raw_ydb, by_load),
    UINT("partition_size_mb", cfg_raw_ydb, partition_size_mb),
    UINT("min_partitions", cfg_raw_ydb, min_partitions),
    UINT("max_partitions", cfg_raw_ydb, max_partitions),
    CYAML_FIELD_MAPPING_PTR("ttl", OPTIONAL, cfg_raw_ydb, ttl, ttl_fields),
    SEQUENCE("indexes", cfg_raw_ydb, indexes, &table_index, 1),
    CYAML_FIELD_END};

static const cyaml_schema_field_t batch_fields[] = {
    UINT("rows", cfg_raw_batch, rows),
    STRING("bytes", cfg_raw_batch, bytes),
    UINT("wait_ms", cfg_raw_batch, wait_ms),
    UINT("target_ms", cfg_raw_batch, target_ms),
    UINT("lock_wait_ms", cfg_raw_batch, lock_wait_ms),
    UINT("max_wait_ms", cfg_raw_batch, max_wait_ms),
    CYAML_FIELD_END};

static const cyaml_schema_field_t table_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, cfg_raw_table, name, 1, CYAML_UNLIMITED),
    CYAML_FIELD_IGNORE("primary_key", CYAML_FLAG_DEFAULT),
    SEQUENCE("hash_key", cfg_raw_table, hash_key, &text, 1),
    SEQUENCE("except", cfg_raw_table, except, &text, 1),
    STRING("hash_column", cfg_raw_table, hash_column),
    ENUM("hash_function", cfg_raw_table, hash_function, hash_functions),
    ENUM("hash_type", cfg_raw_table, hash_type, hash_types),
    UINT("hash_buckets", cfg_raw_table, hash_buckets),
    ENUM("key_order", cfg_raw_table, key_order, key_orders),
    SEQUENCE("columns", cfg_raw_table, columns, &column, 0),
    CYAML_FIELD_MAPPING_PTR("partitions", OPTIONAL, cfg_raw_table, partitions, partitions_fields),
    ENUM("store", cfg_raw_table, store, stores),
    SEQUENCE("partition_key", cfg_raw_table, partition_key, &text, 1),
    ENUM("uncomputable", cfg_raw_table, uncomputable, uncomputables),
    ENUM("null_key", cfg_raw_table, null_key, null_keys),
    ENUM("hide", cfg_raw_table, hide, hides),
    BOOL("hide_in_catalog", cfg_raw_table, hide_in_catalog),
    BOOL("lookups", cfg_raw_table, lookups),
    ENUM("copy", cfg_raw_table, copy, copies),
    ENUM("copy_on_conflict", cfg_raw_table, copy_on_conflict, copy_conflicts),
    ENUM("atomicity", cfg_raw_table, atomicity, atomicities),
    ENUM("transactions", cfg_raw_table, transactions, transactions),
    ENUM("repeat", cfg_raw_table, repeat, repeats),
    CYAML_FIELD_IGNORE("sequences", CYAML_FLAG_OPTIONAL),
    MAPPING("batch", cfg_raw_table, batch, batch_fields),
    MAPPING("ydb", cfg_raw_table, ydb, ydb_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t table = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, cfg_raw_table, table_fields)};

static const cyaml_schema_field_t tls_fields[] = {
    ENUM("mode", cfg_raw, client_tls.mode, tls_modes),
    STRING("cert", cfg_raw, client_tls.cert),
    STRING("key", cfg_raw, client_tls.key),
    STRING("ca", cfg_raw, client_tls.ca),
    ENUM("verify", cfg_raw, client_tls.verify, tls_verifies),
    CYAML_FIELD_END};
static const cyaml_schema_field_t auth_fields[] = {
    ENUM("mode", cfg_raw, auth.mode, auth_modes), STRING("users_file", cfg_raw, auth.users_file),
    BOOL("allow_remote_trust", cfg_raw, auth.allow_remote_trust), CYAML_FIELD_END};
static const cyaml_schema_field_t admin_fields[] = {
    CYAML_FIELD_STRING_PTR("listen", CYAML_FLAG_POINTER, cfg_raw, admin.listen, 1, CYAML_UNLIMITED),
    BOOL("allow_remote", cfg_raw, admin.allow_remote), CYAML_FIELD_END};
#define CAPABILITY(row, name)                                                                      \
    ENUM(name, cfg_raw, backend.capabilities.can[CFG_CAN_##row], yes_or_no),
static const cyaml_schema_field_t capabilities_fields[] = {
    CFG_CAPABILITY_LIST(CAPABILITY)
        STRING("max_message", cfg_raw, backend.capabilities.max_message),
    CYAML_FIELD_END};
static const cyaml_schema_field_t backend_fields[] = {
    CYAML_FIELD_STRING_PTR("dsn", CYAML_FLAG_POINTER, cfg_raw, backend.dsn, 1, CYAML_UNLIMITED),
    ENUM("dialect", cfg_raw, backend.dialect, dialects),
    STRING("monitoring", cfg_raw, backend.monitoring),
    UINT("monitoring_s", cfg_raw, backend.monitoring_s),
    PART("capabilities", CYAML_FLAG_OPTIONAL, capabilities_fields),
    ENUM("links", cfg_raw, backend.links, links_modes),
    UINT("max_links", cfg_raw, backend.max_links),
    UINT("batch_links", cfg_raw, backend.batch_links),
    UINT("link_wait_ms", cfg_raw, backend.link_wait_ms),
    UINT("link_age_s", cfg_raw, backend.link_age_s),
    UINT("connect_ms", cfg_raw, backend.connect_ms),
    UINT("catalog_s", cfg_raw, backend.catalog_s),
    BOOL("allow_cleartext", cfg_raw, backend.allow_cleartext),
    ENUM("update_counts", cfg_raw, backend.update_counts, update_counts),
    ENUM("upsert_first", cfg_raw, backend.upsert_first, upsert_firsts),
    UINT("keepalive_s", cfg_raw, backend.keepalive_s),
    UINT("retry_ms", cfg_raw, backend.retry_ms),
    CYAML_FIELD_END};
static const cyaml_schema_field_t log_fields[] = {ENUM("level", cfg_raw, log.level, log_levels),
                                                  CYAML_FIELD_END};
static const cyaml_schema_field_t limits_fields[] = {
    STRING("row_bytes", cfg_raw, limits.row_bytes),
    STRING("key_bytes", cfg_raw, limits.key_bytes),
    STRING("queue_bytes", cfg_raw, limits.queue_bytes),
    STRING("lazy_bytes", cfg_raw, limits.lazy_bytes),
    STRING("incomplete_bytes", cfg_raw, limits.incomplete_bytes),
    STRING("unread_bytes", cfg_raw, limits.unread_bytes),
    STRING("prepared_bytes", cfg_raw, limits.prepared_bytes),
    BOOL("enforce", cfg_raw, limits.enforce),
    UINT("clients", cfg_raw, limits.clients),
    UINT("unauthenticated", cfg_raw, limits.unauthenticated),
    UINT("unauthenticated_per_address", cfg_raw, limits.unauthenticated_per_address),
    UINT("clients_per_address", cfg_raw, limits.clients_per_address),
    UINT("startup_ms", cfg_raw, limits.startup_ms),
    CYAML_FIELD_END};

static const cyaml_schema_field_t file_fields[] = {
    SEQUENCE("listen", cfg_raw, listen, &text, 1),
    UINT("workers", cfg_raw, workers),
    STRING("unix_socket_mode", cfg_raw, unix_socket_mode),
    PART("client_tls", CYAML_FLAG_OPTIONAL, tls_fields),
    PART("auth", CYAML_FLAG_OPTIONAL, auth_fields),
    PART("admin", CYAML_FLAG_OPTIONAL, admin_fields),
    PART("backend", CYAML_FLAG_DEFAULT, backend_fields),
    PART("log", CYAML_FLAG_OPTIONAL, log_fields),
    SEQUENCE("tables", cfg_raw, tables, &table, 0),
    PART("limits", CYAML_FLAG_OPTIONAL, limits_fields),
    CYAML_FIELD_END};

static const cyaml_schema_field_t sequences_fields[] = {
    {.key = "block",
     .value = {.type = CYAML_UINT, .flags = CYAML_FLAG_DEFAULT, .data_size = sizeof(uint32_t)}},
    CYAML_FIELD_END};
const cyaml_schema_value_t cfg_sequences_mapping = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, uint32_t, sequences_fields)};
const cyaml_schema_value_t cfg_sequences_word = {CYAML_VALUE_ENUM(
    CYAML_FLAG_STRICT, cfg_sequences, sequence_modes, CYAML_ARRAY_LEN(sequence_modes))};

static const cyaml_strval_t key_words[] = {{"auto", 0}};
const cyaml_schema_value_t cfg_key_list = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, char **, &text, 1, CYAML_UNLIMITED)};
const cyaml_schema_value_t cfg_key_word = {
    CYAML_VALUE_ENUM(CYAML_FLAG_STRICT, int, key_words, CYAML_ARRAY_LEN(key_words))};

const cyaml_schema_value_t cfg_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, cfg_raw, file_fields)};

static const struct {
    const char *mapping, *key, *what;
} later[] = {
    {"tables", "column_shards",
     "rows of column stores are not batched in this version: remove the key"},
};

const char *cfg_schema_later(const char *mapping, const char *key)
{
    for (size_t i = 0; i < CYAML_ARRAY_LEN(later); i++)
        if (strcmp(later[i].mapping, mapping) == 0 && strcmp(later[i].key, key) == 0)
            return later[i].what;
    return NULL;
}
