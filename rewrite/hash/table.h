/*
 * table: a configured table as the rewriter sees it: its columns, its key as the application knows
 * it, the hash rule, the partition map. Immutable once built and shared by plans of one epoch.
 */
#ifndef RW_TABLE_H
#define RW_TABLE_H

#include "protocol/value.h"

typedef enum rw_hash_function {
    RW_XXH3,
    RW_NUMERIC_HASH,
    RW_CITYHASH64,
    RW_PG_HASH
} rw_hash_function;
typedef enum rw_hash_type { RW_HASH_INT8, RW_HASH_UINT64 } rw_hash_type;

/* Whether the database has casts between PostgreSQL's own types that are not PostgreSQL's own: only
 * the database knows what they make of a value. */
typedef enum rw_own_casts {
    RW_NO_OWN_CASTS,
    RW_OWN_CASTS_ELSEWHERE, /* there are such casts, but none into the column's type */
    RW_OWN_CASTS_INTO       /* there is such a cast into the column's type */
} rw_own_casts;

typedef struct rw_column {
    char *name;
    int16_t attnum; /* number in pg_attribute; 0 if the backend was not asked */
    uint32_t type;  /* pg_type oid */
    int32_t typmod;
    char *type_name; /* the type as format_type() prints it */
    bool not_null;
    bool has_default;      /* any default, generated and identity included */
    bool sequence;         /* the default draws from a sequence (serial, identity) */
    bool generated;        /* GENERATED ALWAYS AS (…) STORED */
    bool nondeterministic; /* the column's collation takes strings of other bytes for equal */
    bool always;           /* GENERATED ALWAYS AS IDENTITY */
    bool identity;         /* GENERATED ALWAYS or BY DEFAULT AS IDENTITY */
    char *default_text;   /* the default's SQL under search_path pg_catalog; NULL: there is none, or
                             it is not known here */
    int64_t default_hash; /* changes with the stored default; 0: the backend was not asked */
    bool computed;   /* the default, or a generated column's expression, may look at the session */
    bool granted;    /* rights on the table are granted by column: on this one or others */
    bool cascaded;   /* a foreign key of the table writes the column, past keyspread */
    bool own_equals; /* an operator = that is not PostgreSQL's own may take the column's type */
    rw_own_casts own_casts;
    bool own_names; /* the database has types called like PostgreSQL's own, which a cast may mean */
    bool own_rows;  /* the database has row types alone that are called like PostgreSQL's own: none
                       becomes a value of this column, but a cast to one may fail */
    bool own_signs; /* the database has prefix operators + or - of its own */
    int16_t key_place; /* place in the primary key as the backend has it, from 1; 0: it is in none,
                          or the backend was not asked */
    bool leads; /* a btree index of all rows, perhaps the primary key's, begins with the column;
                   false also if the backend was not asked */
    uint32_t draws_from; /* oid of the sequence whose next number, and nothing else, is the default;
                            0: none */
} rw_column;

/* What a COPY in batches does with a row whose key exists. */
typedef enum rw_copy_conflict {
    RW_COPY_CONFLICT_ERROR,
    RW_COPY_CONFLICT_NOTHING,
    RW_COPY_CONFLICT_UPDATE
} rw_copy_conflict;

typedef enum rw_partition_kind {
    RW_PARTITION_UNIFORM,
    RW_PARTITION_AT,
    RW_PARTITION_BUCKETS
} rw_partition_kind;

/* How the hash space is cut. `at` holds the first hashes of partitions 2…count, ascending in the
 * order of the hash type (int8: as int64_t bit patterns). */
typedef struct rw_partitions {
    rw_partition_kind kind;
    uint32_t count;
    uint64_t *at;
    bool discovered; /* the map stands in until YDB's monitoring has told the real partitions */
} rw_partitions;

enum { RW_PATTERN_TABLES = 1000 }; /* most tables of one database that belong to patterns */

enum { RW_PART_NAME = '\1', RW_PART_LINE = '\2' }; /* separators in part_names */

/* What a sample of a table's rows said of their hashes. */
typedef enum rw_sample {
    RW_SAMPLE_NONE, /* no sample was read */
    RW_SAMPLE_RIGHT,
    RW_SAMPLE_SOME_WRONG,
    RW_SAMPLE_WRONG /* most or all hashes are wrong: `unusable` says so */
} rw_sample;

/* A secondary index that the file tells of. */
typedef struct rw_index {
    char *name;
    size_t *columns; /* indexes into the table's columns */
    size_t column_count;
} rw_index;

/* A name, or the beginning of names, that a pattern does not cover. */
typedef struct rw_exception {
    char *schema; /* NULL: in each schema of the pattern */
    bool schemas; /* `schema` is only how names of schemas begin */
    char *name;
    bool pattern;
} rw_exception;

typedef struct rw_table {
    uint32_t oid;       /* oid in pg_class; 0 if the backend was not asked */
    uint32_t triggers;  /* triggers that users made on the table itself, of any kind */
    uint32_t filled_by; /* pg_proc.oid of the function of keyspread's own trigger on the table; 0:
                           there is none */
    char *schema;       /* "public" if the file names none */
    char *name;
    bool pattern; /* the entry is a pattern and no table: tables' names begin with `name`, and only
                     rw_catalog_pattern() finds it */
    bool schemas; /* the pattern is of all schemas whose names begin with `schema` */
    rw_exception *exceptions; /* tables that the pattern leaves out */
    size_t exception_count;
    bool by_pattern; /* the table belongs to a pattern */
    bool own_key;    /* hash_key comes from the table's own primary key, because its pattern names
                        none: another table that gets the name may have another hash_key */
    bool schema_written; /* the file wrote schema.table with a schema other than public:
                            only the qualified name matches */
    rw_column *columns;  /* visible, live columns in attnum order, the hash column included */
    size_t column_count;
    size_t *primary_key; /* indexes into columns; without the hash column */
    size_t primary_key_count;
    bool key_unfolds; /* a value of the primary key may have more bytes than it is written with, as
                         a numeric 1e1999 has */
    size_t *hash_key; /* indexes into columns; a subset of primary_key, order matters */
    size_t hash_key_count;
    size_t hash_column; /* index into columns */
    rw_index *indexes;  /* secondary indexes in order of their names; only of a backend that is not
                           asked */
    size_t index_count;
    rw_hash_function hash_function;
    rw_hash_type hash_type;
    /* The hash column holds a bucket, the unsigned hash modulo this, as int2 or int4; 0: it holds
     * the hash itself, of hash_type. Of a table with buckets hash_type is RW_HASH_INT8. */
    uint32_t buckets;
    bool hash_first; /* a key that is made begins with the hash column, else it ends with it;
                        key_place tells of the key that the table has */
    bool sorted;     /* the store keeps the table sorted by its key, and looks for ranges of it only
                        where the hash column's value is told */
    rw_partitions partitions;
    bool forward_uncomputable; /* uncomputable: forward */
    bool allow_null_key;       /* null_key: allow */
    bool ignore_sequences;     /* sequences: ignore */
    bool repeats_upserts;      /* repeat: upserts */
    uint32_t block;            /* sequences: block: numbers that are drawn at once */
    bool defaults_unknown;     /* the columns are the file's, which does not tell their defaults */
    bool heeds_updates;        /* UPDATE fires triggers at once, or has rules */
    bool defers_updates; /* UPDATE fires only deferred triggers, or changes rows that refer to the
                            table's: neither changes the table's own rows */
    bool changes_rows; /* the stored rows may be others than an INSERT's: by BEFORE triggers, or in
                          foreign tables */
    bool moves_keys;   /* a BEFORE trigger may give a row another key when it is updated */
    bool mergeable; /* ordinary or partitioned table without INSERT triggers, rules, row security */
    unsigned quiet; /* bits RW_EFFECT_RUNS and RW_EFFECT_READS: code that the database stores cannot
                       change a session's state when such statements run */
    bool expressions_run; /* an expression that names no function may run the database's own code */
    bool casts_run;       /* a cast by name to one of the database's own types may run its code */
    bool own_calls;    /* the database has functions or operators with names that merged rows call
                          (insert/merged_call.h) */
    bool overloads;    /* code that changes a session may stand behind names and operators that
                          PostgreSQL has */
    int64_t own_types; /* a number that changes when a type of the database's own is made, named or
                          dropped */
    bool shows_hash;   /* `*` and whole rows of the table include the hash column */
    bool in_parts;     /* PostgreSQL cuts the table into partitions */
    bool migrated;     /* `keyspread migrate` copies the table's rows to one that has the hash, or
                          keeps the table in step that it is made of */
    bool strict;       /* a statement that names the hash column is told that there is none */
    bool listed;       /* PostgreSQL's catalog shows the table with the hash column */
    bool copied_apart; /* copy: partition */
    rw_copy_conflict copy_conflict; /* copy_on_conflict */
    bool lazy;                      /* transactions: lazy */
    bool looked_up; /* rows are found by their hash where a statement gives their whole hash key */
    bool reads_settings; /* a default or check of the table may read what a session has set */
    char *part_names; /* a line for each unique index in each partition: the partition, its index,
                         the table's index, and the partition's schema, if that is another one;
                         NULL: there are none */
    char *key_name;   /* the primary key's name; NULL: it is not known, or there is none */
    int16_t last;     /* number of the table's last column, dropped ones included; 0: not known */
    char *system_columns; /* columns of PostgreSQL's own relations as `oid.name`, with blanks
                             between; NULL: not known, or another table of the catalog has them */
    rw_sample sample;
    char *unusable; /* why every write to the table must be refused (55000); NULL: it need not be */
    uint64_t epoch; /* grows with each change of the schema that was seen */
} rw_table;

/* Finds the column by its name as stored (already folded); column_count if there is none. */
size_t rw_table_column(const rw_table *table, pgw_slice name);
/* Whether the table's hash depends on this column, or it is the hash. */
bool rw_table_is_hash_input(const rw_table *table, pgw_slice column);
/* Whether its database has casts between PostgreSQL's own types that are not its own. */
bool rw_table_has_own_casts(const rw_table *table);
/* Whether its database has prefix operators + or - that are not PostgreSQL's own. */
bool rw_table_has_own_signs(const rw_table *table);
/* Whether a row that leaves the column out, or says DEFAULT for it, certainly has NULL there. */
bool rw_table_defaults_to_null(const rw_table *table, size_t column);
/* Whether a hash_key column's NULL is hashed as nothing: because it may be there, or because the
 * backend certainly rejects it and tells more of it than could be told here. A BEFORE trigger could
 * still fill it in. */
bool rw_table_hashes_null(const rw_table *table, size_t column);
/* Whether an INSERT past keyspread that lists no columns would put a value into the hash column: it
 * is not the last one. */
bool rw_table_shifts(const rw_table *table);
/* Whether its primary key begins with the hash column, as far as the backend or the file tells. */
bool rw_table_begins_with_hash(const rw_table *table);
/* Whether a column, or one that was dropped, stands behind the hash column. */
bool rw_table_has_gap(const rw_table *table);
/* Whether each row with a hash_key value certainly has the hash of it, so that a statement that
 * asks for the value may ask for the hash as well. */
bool rw_table_is_looked_up(const rw_table *table);
/* Whether equal keys have the same hash in both tables. */
bool rw_table_shares_rule(const rw_table *a, const rw_table *b);
/* Whether equal keys have the same hash in both tables, and the columns of hash and hash_key the
 * same names. */
bool rw_table_hashes_alike(const rw_table *a, const rw_table *b);
/* Whether rw_table_hashes_alike() holds and the columns have the same numbers: for two pictures of
 * one table. */
bool rw_table_keeps_hashes(const rw_table *a, const rw_table *b);
/* Whether the name stands anywhere in the text, in any case of its letters. */
bool rw_text_mentions(pgw_slice text, const char *name);
/* Frees what the table owns (everything is malloc'ed, by pgw_alloc). */
void rw_table_free(rw_table *table);

/* What a table's name means to a session where no schema is written before it. */
typedef enum rw_meaning {
    RW_MEANS_OTHERS, /* another relation, or none */
    RW_MEANS_OURS,
    RW_MEANS_UNKNOWN /* perhaps the configured table: taken for it, but a write by that name is
                        refused */
} rw_meaning;

/* The configured tables that a session's texts are read with. */
struct rw_insert;

typedef struct rw_catalog {
    const rw_table *const *tables;
    size_t count;
    const rw_meaning *unqualified; /* what bare names mean; NULL: what the file tells */
    bool moved; /* names meant something else before this transaction: their meaning after its end,
                   or ROLLBACK TO, is not known */
    /* All tables of the file, whether they exist or not, with the columns that the file names.
     * Its `unqualified`: what a table made by that name would be; its `moved`: one was made
     * earlier in the text. NULL: nothing is made or altered. */
    const struct rw_catalog *planned;
    /* Of `planned`: the schema where a table without a written one is made; empty: not known. */
    pgw_slice here;
    /* All names of the tables, and perhaps more. NULL: names are compared one by one. */
    const struct rw_word_set *words;
    bool informs;  /* information_schema is the first schema of search_path but for pg_catalog, or
                      may be, until that is known */
    bool apart;    /* each statement of a text is a Query of its own: what one makes exists for the
                      next */
    bool executes; /* an INSERT … VALUES that SQL's PREPARE keeps gets its hashes later, when it is
                      executed */
    const struct rw_catalog *others; /* tables that are not configured, whose columns' names and
                                        types are known; NULL: there are none */
    /* For EXPLAIN (PROXY): appends why `session`, as it stands, keeps an INSERT out of batches that
     * could be batched by itself, or nothing. NULL: there is no session. */
    void (*hinders)(const void *session, const struct rw_insert *insert, struct pgw_buf *why);
    const void *session;
} rw_catalog;

/* The configured table that `schema`.`name` means (an empty schema is not written); NULL: none. */
const rw_table *rw_catalog_find(const rw_catalog *catalog, pgw_slice schema, pgw_slice name);
/* The schema where a table without a written one is made, if `pattern` (an index) makes it; empty:
 * not known. */
pgw_slice rw_catalog_place(const rw_catalog *planned, size_t pattern);
/* Whether a table of this name belongs to the pattern, in a schema that may be any if it is empty.
 */
bool rw_pattern_covers(const rw_table *pattern, pgw_slice schema, pgw_slice name);
/* The closest pattern that covers a table of this name, an empty schema not being written: one of
 * the table's own schema before those of several, and the longest; NULL: none. */
const rw_table *rw_catalog_pattern(const rw_catalog *catalog, pgw_slice schema, pgw_slice name);
/* True if `text` holds the name of a configured table anywhere, in any case, quoted or not, also in
 * U&"" form (then always true). False is certain; true is only a candidate. */
bool rw_catalog_mentioned(const rw_catalog *catalog, pgw_slice text);

#endif
