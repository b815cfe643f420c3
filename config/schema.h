/*
 * schema: the keys of the file and their YAML types, for libcyaml, and the bare structures it
 * fills: a NULL is a key that was not written. Sizes, boundaries and addresses are still text.
 */
#ifndef CFG_SCHEMA_H
#define CFG_SCHEMA_H

#include <cyaml/cyaml.h>

#include "config/config.h"

typedef struct cfg_raw_column {
    char *name, *type, *by_default;
    bool *not_null;
} cfg_raw_column;

typedef struct cfg_raw_partitions {
    uint32_t *uniform, *buckets;
    char **at;
    unsigned at_count;
    bool *discover;
} cfg_raw_partitions;

typedef struct cfg_raw_batch {
    uint32_t *rows, *wait_ms, *target_ms, *lock_wait_ms, *max_wait_ms;
    char *bytes;
} cfg_raw_batch;

typedef struct cfg_raw_index {
    char *name;
    char **columns;
    unsigned columns_count;
    bool *sync;
} cfg_raw_index;

typedef struct cfg_raw_ttl {
    char *column, *after;
    cfg_ttl_unit *unit;
} cfg_raw_ttl;

typedef struct cfg_raw_ydb {
    bool *by_size, *by_load;
    uint32_t *partition_size_mb, *min_partitions, *max_partitions;
    cfg_raw_ttl *ttl;
    cfg_raw_index *indexes;
    unsigned indexes_count;
} cfg_raw_ydb;

enum { CFG_STORE_ROW, CFG_STORE_COLUMN };

typedef struct cfg_raw_table {
    char *name;
    char **except;
    unsigned except_count;
    char **hash_key;
    unsigned hash_key_count;
    char *hash_column;
    cfg_hash_function *hash_function;
    cfg_hash_type *hash_type;
    uint32_t *hash_buckets;
    cfg_key_order *key_order;
    cfg_raw_column *columns;
    unsigned columns_count;
    cfg_raw_partitions *partitions;
    int *store;
    char **partition_key;
    unsigned partition_key_count;
    cfg_uncomputable *uncomputable;
    cfg_null_key *null_key;
    cfg_hide *hide;
    bool *hide_in_catalog;
    bool *lookups;
    cfg_copies *copy;
    cfg_copy_conflicts *copy_on_conflict;
    cfg_atomicity *atomicity;
    cfg_transactions *transactions;
    bool *repeat;
    cfg_raw_batch batch;
    cfg_raw_ydb ydb;
} cfg_raw_table;

typedef struct cfg_raw {
    char **listen;
    unsigned listen_count;
    uint32_t *workers;
    char *unix_socket_mode;
    struct {
        cfg_tls_mode *mode;
        char *cert, *key, *ca;
        cfg_tls_verify *verify;
    } client_tls;
    struct {
        cfg_auth_mode *mode;
        char *users_file;
        bool *allow_remote_trust;
    } auth;
    struct {
        char *listen;
        bool *allow_remote;
    } admin;
    struct {
        char *dsn;
        cfg_dialect *dialect;
        char *monitoring;
        uint32_t *monitoring_s;
        struct {
            bool *can[CFG_CAPABILITIES];
            char *max_message;
        } capabilities;
        bool *allow_cleartext;
        uint32_t *keepalive_s, *retry_ms;
        int *update_counts, *upsert_first;
        cfg_links *links;
        uint32_t *max_links, *batch_links, *link_wait_ms, *link_age_s, *connect_ms, *catalog_s;
    } backend;
    struct {
        cfg_log_level *level;
    } log;
    cfg_raw_table *tables;
    unsigned tables_count;
    struct {
        char *row_bytes, *key_bytes, *queue_bytes, *lazy_bytes, *incomplete_bytes, *unread_bytes,
            *prepared_bytes;
        bool *enforce;
        uint32_t *clients, *unauthenticated, *unauthenticated_per_address, *clients_per_address,
            *startup_ms;
    } limits;
} cfg_raw;

extern const cyaml_schema_value_t cfg_schema;
/* The two forms of `sequences`. libcyaml ignores the key; its value is read from the document. */
extern const cyaml_schema_value_t cfg_sequences_word, cfg_sequences_mapping;
/* The two forms of `primary_key`, which libcyaml ignores as well. */
extern const cyaml_schema_value_t cfg_key_word, cfg_key_list;

/* The message for a key that is planned but not in this version; NULL for any other key. `mapping`
 * is where the key stands: "", "tables" or "tables.partitions", say. */
const char *cfg_schema_later(const char *mapping, const char *key);

#endif
