/*
 * config: the configuration as it was loaded (load.h), defaulted and checked; nothing of it is
 * interpreted twice.
 */
#ifndef CFG_CONFIG_H
#define CFG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/capabilities.h"

typedef enum cfg_log_level {
    CFG_LOG_ERROR,
    CFG_LOG_WARN,
    CFG_LOG_INFO,
    CFG_LOG_DEBUG
} cfg_log_level;
typedef enum cfg_hash_function {
    CFG_XXH3,
    CFG_NUMERIC_HASH,
    CFG_CITYHASH64,
    CFG_PG_HASH
} cfg_hash_function;
typedef enum cfg_hash_type { CFG_HASH_INT8, CFG_HASH_UINT64 } cfg_hash_type;
/* Where the hash column stands in the primary key of a table that is made. */
typedef enum cfg_key_order { CFG_HASH_LAST, CFG_HASH_FIRST } cfg_key_order;
typedef enum cfg_uncomputable { CFG_UNCOMPUTABLE_ERROR, CFG_UNCOMPUTABLE_FORWARD } cfg_uncomputable;
typedef enum cfg_hide { CFG_HIDE_NO, CFG_HIDE_YES, CFG_HIDE_STRICT } cfg_hide;
/* How the rows of a COPY are stored: all or none, or in batches that each commit by themselves. */
typedef enum cfg_copies { CFG_COPY_ATOMIC, CFG_COPY_PARTITION } cfg_copies;
/* What a COPY in batches does with a row whose key is there. */
typedef enum cfg_copy_conflicts {
    CFG_COPY_CONFLICT_ERROR,
    CFG_COPY_CONFLICT_NOTHING,
    CFG_COPY_CONFLICT_UPDATE
} cfg_copy_conflicts;
typedef enum cfg_null_key { CFG_NULL_KEY_ERROR, CFG_NULL_KEY_ALLOW } cfg_null_key;
typedef enum cfg_atomicity { CFG_ATOMICITY_STATEMENT, CFG_ATOMICITY_PARTITION } cfg_atomicity;
/* Whether keyspread keeps a transaction of INSERTs until its COMMIT. A session's setting goes
 * before the table's. */
typedef enum cfg_transactions {
    CFG_TRANSACTIONS_UNSAID,
    CFG_TRANSACTIONS_EAGER,
    CFG_TRANSACTIONS_LAZY
} cfg_transactions;
typedef enum cfg_sequences { CFG_SEQUENCES_SESSION, CFG_SEQUENCES_IGNORE } cfg_sequences;
typedef enum cfg_tls_mode { CFG_TLS_DISABLE, CFG_TLS_PREFER, CFG_TLS_REQUIRE } cfg_tls_mode;
/* What a client's certificate must be, if there is a `ca`. OPTIONAL: good, if one is given. CA:
 * given and good. FULL: its common name must be the user's, too. */
typedef enum cfg_tls_verify {
    CFG_TLS_VERIFY_OPTIONAL,
    CFG_TLS_VERIFY_CA,
    CFG_TLS_VERIFY_FULL
} cfg_tls_verify;
/* When a session's own link opens: at its login while there is room, always then, or with its first
 * statement that needs one. */
typedef enum cfg_links { CFG_LINKS_AUTO, CFG_LINKS_ON_LOGIN, CFG_LINKS_ON_DEMAND } cfg_links;
typedef enum cfg_dialect { CFG_DIALECT_POSTGRES, CFG_DIALECT_YDB } cfg_dialect;
typedef enum cfg_auth_mode { CFG_AUTH_TRUST, CFG_AUTH_SCRAM, CFG_AUTH_FORWARD } cfg_auth_mode;

/* Where to listen: a TCP address (numeric or a name) with port, or a Unix socket's path. */
typedef struct cfg_listen {
    char *host; /* NULL for a Unix socket */
    uint16_t port;
    char *path; /* NULL for TCP */
} cfg_listen;

typedef struct cfg_column {
    char *name, *type;
    char *by_default; /* an SQL expression; NULL: nothing is said of it */
    bool not_null;
} cfg_column;

/* What the numbers of a column that rows expire by count. */
typedef enum cfg_ttl_unit {
    CFG_TTL_NONE, /* the column has dates */
    CFG_TTL_SECONDS,
    CFG_TTL_MILLISECONDS,
    CFG_TTL_MICROSECONDS,
    CFG_TTL_NANOSECONDS
} cfg_ttl_unit;

typedef struct cfg_index {
    char *name;
    char **columns;
    size_t column_count;
    bool sync;
} cfg_index;

/* What YDB is told when the table is made; numbers are 0 if not written. */
typedef struct cfg_ydb {
    bool by_size, by_load; /* how it splits partitions: true, true */
    uint32_t partition_size_mb, min_partitions, max_partitions;
    char *ttl_column, *ttl_after; /* "P30D", NULL: rows stay */
    cfg_ttl_unit ttl_unit;
    cfg_index *indexes;
    size_t index_count;
} cfg_ydb;

/* Exactly one of uniform, buckets, at. Default: uniform 1. With `discover` these are buckets, for
 * as long as the table's own partitions are not known. `at` values are int64 or uint64 bit patterns
 * by hash_type, or numbers of hash buckets if the table has these. */
typedef struct cfg_partitions {
    uint32_t uniform; /* 0 = not this */
    uint32_t buckets; /* 0 = not this */
    uint64_t *at;
    size_t at_count;
    bool discover; /* the monitoring endpoint is asked for the table's partitions */
} cfg_partitions;

typedef struct cfg_batch {
    uint32_t rows;         /* 500 */
    uint64_t bytes;        /* 1 MiB */
    uint32_t wait_ms;      /* 0 */
    uint32_t target_ms;    /* 50 */
    uint32_t lock_wait_ms; /* 200 */
    uint32_t max_wait_ms;  /* 30000 */
} cfg_batch;

/* A name, or the beginning of names, that a pattern does not cover. */
typedef struct cfg_exception {
    char *schema; /* NULL: in each schema of the pattern */
    bool schemas; /* `schema` is only how names of schemas begin */
    char *name;
    bool pattern;
} cfg_exception;

typedef struct cfg_table {
    char *schema; /* NULL if not written */
    bool schemas; /* a pattern of all schemas whose names begin with `schema` */
    char *name;
    char *label;  /* what cfg_table_label() gives */
    bool pattern; /* a pattern: all tables whose names begin with `name`, but for closer entries' */
    cfg_exception *exceptions; /* tables of its schemas that are not of the pattern */
    size_t exception_count;
    char **primary_key;
    size_t primary_key_count; /* 0 in a pattern whose tables have keys of their own */
    char **hash_key;          /* defaulted: the first key column */
    size_t hash_key_count;    /* 0: the first column of each table's key */
    char *hash_column; /* defaulted: <first hash_key column>_hash, or keyspread_hash where that is
                          each table's own */
    cfg_hash_function hash_function;
    cfg_hash_type hash_type;
    uint32_t hash_buckets;   /* the hash column holds the unsigned hash modulo this; 0: the hash */
    cfg_key_order key_order; /* defaulted: the hash is last, before YDB first */
    bool sorted;             /* the store keeps the table sorted by its whole key, as YDB does */
    cfg_column *columns;
    size_t column_count; /* 0: ask the backend */
    cfg_partitions partitions;
    cfg_uncomputable uncomputable;
    cfg_null_key null_key;
    cfg_hide hide; /* `*` and rows of the table are shown without the hash column; strict: who names
                      it is told that there is none */
    bool hide_in_catalog; /* what is asked of PostgreSQL's catalog is answered without it */
    bool lookups; /* rows that are asked for by their hash_key are looked for by their hash */
    cfg_copies copy;
    cfg_copy_conflicts copy_on_conflict;
    cfg_atomicity atomicity;
    cfg_transactions transactions; /* UNSAID is eager, where no session says lazy */
    bool repeat_upserts;           /* upserts whose outcome is not known are done once more */
    cfg_sequences sequences;
    uint32_t block; /* numbers of a sequence that are drawn at once; 1 */
    cfg_batch batch;
    cfg_ydb ydb;
    char **partition_key; /* partition key of a column-oriented table; else NULL */
    size_t partition_key_count;
    size_t place;  /* index among all tables of the file */
    unsigned line; /* line of the table in the file, for messages */
} cfg_table;

typedef struct cfg_config {
    char *path; /* path of the file */
    char *text; /* bytes of the file */
    size_t text_len;
    cfg_listen *listen;
    size_t listen_count;
    uint32_t workers;          /* 0 = one a core */
    uint32_t unix_socket_mode; /* permission bits of Unix sockets; 0700 */
    struct {
        cfg_tls_mode mode;     /* defaulted: prefer if there is a cert, else disable */
        char *cert, *key, *ca; /* absolute paths, NULL if not written */
        unsigned cert_line, key_line, ca_line; /* lines in the file, for messages */
        cfg_tls_verify verify;
    } client_tls;
    struct {
        cfg_auth_mode mode;
        char *users_file;         /* absolute path, NULL if not written */
        unsigned users_file_line; /* line in the file, for messages */
        bool allow_remote_trust;
    } auth;
    struct {
        cfg_listen *listen; /* NULL: no admin endpoint */
        bool allow_remote;
    } admin;
    struct {
        char *dsn;
        unsigned dsn_line; /* line in the file, for messages */
        cfg_dialect dialect;
        cfg_capabilities capabilities; /* capabilities of YDB's endpoint */
        char *monitoring;              /* http://host:8765, NULL if not written */
        uint32_t monitoring_s;         /* 30 */
        cfg_links links;
        uint32_t max_links;    /* 90 */
        uint32_t batch_links;  /* 8 */
        uint32_t link_wait_ms; /* 10000 */
        uint32_t link_age_s;   /* 600: age at which links for batches are closed */
        uint32_t connect_ms;   /* 10000 */
        uint32_t catalog_s;    /* 10 */
        /* The rest is for dialect ydb only. */
        bool allow_cleartext; /* passwords may travel unencrypted to other machines */
        bool exact_counts;    /* rows that UPDATE and DELETE touch are counted; true */
        uint64_t max_message; /* 1536 KiB: the longest text that is sent */
        bool insert_first;    /* ON CONFLICT tries an INSERT first; false */
        uint32_t keepalive_s; /* 300 */
        uint32_t retry_ms;    /* 30000 */
    } backend;
    cfg_log_level log_level;
    cfg_table *tables;
    size_t table_count;   /* tables with names of their own, first in `tables` */
    size_t pattern_count; /* patterns, behind the tables with names in `tables` */
    /* Column-oriented tables, last in `tables`. Only DDL is printed for them: statements about them
     * pass unchanged. */
    size_t columnar_count;
    bool has_lazy; /* A table says transactions: lazy. */
    struct {
        uint64_t row_bytes; /* 8 MiB */
        uint64_t key_bytes; /* 2 KiB */
        bool enforce;
        uint32_t clients;                     /* 10000 */
        uint32_t unauthenticated;             /* a fourth of clients, at least 100 */
        uint32_t unauthenticated_per_address; /* a fourth of `unauthenticated` */
        uint32_t clients_per_address;         /* 0 = no limit of its own */
        uint32_t startup_ms;                  /* 10000 */
        uint64_t incomplete_bytes;            /* 128 MiB: what clients have sent in part, in all */
        uint64_t unread_bytes;   /* 128 MiB: answers that clients have not taken, in all */
        uint64_t prepared_bytes; /* 1 GiB: statements that clients have prepared, in all */
        uint64_t queue_bytes;    /* 256 MiB: rendered rows waiting for batches, in all */
        uint64_t lazy_bytes;     /* 4 MiB: what one transaction may have waiting for its COMMIT */
    } limits;
} cfg_config;

/* NULL is fine. */
void cfg_free(cfg_config *config);
/* Whether both were made of files with the same bytes. */
bool cfg_same_text(const cfg_config *a, const cfg_config *b);

/* "name" or "schema.name", as the file wrote it, for messages; valid as long as the config. */
const char *cfg_table_label(const cfg_table *table);
/* Finds a table by the label or the bare name; NULL if there is none. */
const cfg_table *cfg_find_table(const cfg_config *config, const char *name);
/* Finds a column-oriented table by its name or label; NULL if there is none. */
const cfg_table *cfg_find_columnar(const cfg_config *config, const char *name);
/* Whether a schema is PostgreSQL's own or keyspread's own: no pattern covers its tables. */
bool cfg_is_reserved(const char *schema);
/* What all patterns of several schemas leave out: the i-th of the reserved schemas, all of whose
 * tables it names; NULL behind the last one. */
const cfg_exception *cfg_reserved(size_t i);
/* Finds the pattern of a table without an entry of its own: one of its own schema before those of
 * several, of these the one with the longest beginning of the schema, and then the longest that its
 * name begins with; NULL if there is none. */
const cfg_table *cfg_find_pattern(const cfg_config *config, const char *schema, const char *name);

/* The i-th of the file's column-oriented tables. */
static inline const cfg_table *cfg_columnar_table(const cfg_config *config, size_t i)
{
    return &config->tables[config->table_count + config->pattern_count + i];
}

#endif
