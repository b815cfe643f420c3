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

/* Casts between PostgreSQL's own types that are not PostgreSQL's own: what they make of a value is
 * known to the database alone. */
typedef enum rw_own_casts {
    RW_NO_OWN_CASTS,
    RW_OWN_CASTS_ELSEWHERE, /* none into the column's type */
    RW_OWN_CASTS_INTO       /* … one at least */
} rw_own_casts;

typedef struct rw_column {
    char *name;
    int16_t attnum; /* of pg_attribute; 0 if the backend was not asked */
    uint32_t type;  /* pg_type oid */
    int32_t typmod;
    char *type_name; /* as format_type() prints it */
    bool not_null;
    bool has_default;      /* any default, generated and identity included */
    bool sequence;         /* the default draws from a sequence (serial, identity) */
    bool generated;        /* GENERATED ALWAYS AS (…) STORED */
    bool nondeterministic; /* its collation makes more equal than bytes */
    bool always;           /* GENERATED ALWAYS AS IDENTITY */
    bool identity;         /* … or BY DEFAULT */
    char *default_text;    /* its default as SQL says it under search_path pg_catalog; NULL: it has
                              none, or one that is not known here */
    int64_t default_hash;  /* of its default as the backend keeps it; 0: none */
    bool computed;         /* its default, or what it is generated from, may look at the session */
    bool granted;          /* rights on the table are granted by column: on this one or others */
    bool cascaded;         /* a foreign key of the table writes it, past keyspread */
    bool own_equals;       /* an operator = that is not PostgreSQL's own takes its type */
    rw_own_casts own_casts;
    bool own_names; /* the database has types called like PostgreSQL's own: a cast to one of these
                       may mean them */
    bool own_rows; /* … or of tables' rows alone, which become no value of its type: a cast to one
                      may be an error */
    bool own_signs;    /* it has operators + or - before a value: what they make is for it to say */
    int16_t key_place; /* in the primary key as the backend has it, from 1; 0: in none, or the
                          backend was not asked */
    bool leads; /* a btree index of all rows, which may be the primary key's, begins with it; false
                   also if the backend was not asked */
    uint32_t draws_from; /* the sequence whose next number is its default, as it is; 0: none */
} rw_column;

/* What a COPY in batches does with a row whose key is there. */
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
    bool discovered; /* these are but for as long as the store's own are not known */
} rw_partitions;

enum { RW_PATTERN_TABLES = 1000 }; /* that only patterns name, in one database, at most */

enum { RW_PART_NAME = '\1', RW_PART_LINE = '\2' }; /* what stands between part_names */

/* What a sample of a table's rows said of their hashes. */
typedef enum rw_sample {
    RW_SAMPLE_NONE, /* none was read */
    RW_SAMPLE_RIGHT,
    RW_SAMPLE_SOME_WRONG,
    RW_SAMPLE_WRONG /* as a whole: `unusable` says so */
} rw_sample;

/* A secondary index that the file tells of. */
typedef struct rw_index {
    char *name;
    size_t *columns; /* indexes into the table's */
    size_t column_count;
} rw_index;

/* A name, or the beginning of names, that a pattern does not cover. */
typedef struct rw_exception {
    char *name;
    bool pattern;
} rw_exception;

typedef struct rw_table {
    uint32_t oid;       /* of pg_class; 0 if the backend was not asked */
    uint32_t triggers;  /* user's triggers on itself, of any kind */
    uint32_t filled_by; /* The function of keyspread's own trigger on it (pg_proc.oid); 0: it has
                           none. */
    char *schema;       /* "public" if the file names none */
    char *name;
    bool pattern; /* `name` is what names of tables begin with, of which each is like this:
                     this one is none, and is found by rw_catalog_pattern() alone */
    rw_exception *exceptions; /* Tables that the pattern leaves out. */
    size_t exception_count;
    bool by_pattern; /* it is one of these */
    bool own_key;    /* … and hash_key is what its own primary key says: another table, that gets
                        its name, may have another one */
    bool schema_written; /* the file wrote schema.table with a schema other than public:
                            only the qualified name matches */
    rw_column *columns;  /* visible, live columns in attnum order, the hash column included */
    size_t column_count;
    size_t *primary_key; /* indexes into columns; without the hash column */
    size_t primary_key_count;
    size_t *hash_key; /* indexes into columns; a subset of primary_key, order matters */
    size_t hash_key_count;
    size_t hash_column; /* index into columns */
    rw_index *indexes;  /* by their names; of a backend that is not asked */
    size_t index_count;
    rw_hash_function hash_function;
    rw_hash_type hash_type;
    /* The hash column holds a bucket, the unsigned hash modulo this, as int2 or int4; 0: it holds
     * the hash itself, of hash_type. Of a table with buckets hash_type is RW_HASH_INT8. */
    uint32_t buckets;
    bool hash_first; /* a key that is made for it begins with the hash column, else it ends with
                        it; where the hash stands in the key that it has, key_place tells */
    rw_partitions partitions;
    bool forward_uncomputable; /* uncomputable: forward */
    bool allow_null_key;       /* null_key: allow */
    bool ignore_sequences;     /* sequences: ignore */
    bool repeats_upserts;      /* repeat: upserts */
    uint32_t block;            /* sequences: block: numbers that are drawn at once */
    bool defaults_unknown;     /* the columns are the file's, which does not tell their defaults */
    bool heeds_updates;        /* UPDATE fires triggers, or there are rules on it */
    bool defers_updates; /* … but deferred ones alone, or those of rows that refer to it, which
                      change no row of it */
    bool changes_rows;   /* what is stored may be other rows than those of an INSERT: by BEFORE
                            triggers, or in foreign tables */
    bool moves_keys;     /* a BEFORE trigger may give a row another key when it is updated */
    bool mergeable; /* ordinary or partitioned table without INSERT triggers, rules, row security */
    unsigned quiet; /* RW_EFFECT_RUNS, RW_EFFECT_READS: what its database stores for such
                       statements cannot change a session's state */
    bool expressions_run; /* … but what a type or an operator of its own runs unnamed may */
    bool casts_run;       /* … or what a cast to a type of its own runs, by that type's name */
    bool own_calls;       /* it has functions or operators with names that merged rows call
                             (insert/merged_call.h) */
    bool overloads;       /* … may stand behind the names and operators that PostgreSQL has */
    int64_t own_types;    /* changes when a type of the database's own is made, named or dropped */
    bool shows_hash;      /* `*` and rows of the table are with the hash column, else without it */
    bool in_parts;        /* PostgreSQL has it as a partitioned table */
    bool migrated;        /* `keyspread migrate` copies its rows to a table that has the hash */
    bool strict;          /* who names the hash column is told that there is none */
    bool listed;          /* PostgreSQL's catalog is asked of the table with the hash column */
    bool copied_apart;    /* copy: partition */
    rw_copy_conflict copy_conflict; /* copy_on_conflict */
    bool lazy;            /* transactions: lazy */
    bool looked_up; /* rows are found by their hash where a statement gives their whole hash key */
    bool reads_settings; /* a default or check of it may: what a session has set decides */
    char *part_names; /* of its unique indexes in its partitions: lines of the partition, its index
                         and the table's index, and the partition's schema, if it is another one;
                         NULL: it has none */
    char *key_name;   /* what its primary key is called; NULL: that is not known, or it has none */
    int16_t last;     /* number of its last column, dropped ones included; 0: not known */
    char *system_columns; /* of PostgreSQL's own relations: `oid.name`, a blank between them; NULL:
                             not known, or with another table of the catalog */
    rw_sample sample;
    char *unusable; /* NULL, or why every write to it must be refused (55000) */
    uint64_t epoch; /* grows with each change of the schema that was seen */
} rw_table;

/* Finds the column by its name as stored (already folded); column_count if there is none. */
size_t rw_table_column(const rw_table *table, pgw_slice name);
/* Whether the table's hash depends on this column, or it is the hash. */
bool rw_table_is_hash_input(const rw_table *table, pgw_slice column);
/* Whether its database has casts between PostgreSQL's own types that are not its own. */
bool rw_table_has_own_casts(const rw_table *table);
/* Whether its database has operators + or - before a value that are not PostgreSQL's own. */
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
/* Whether equal keys have the same hash in both. */
bool rw_table_shares_rule(const rw_table *a, const rw_table *b);
/* … and the columns have the same names. */
bool rw_table_hashes_alike(const rw_table *a, const rw_table *b);
/* … and the columns are the same ones: of two pictures of one table. */
bool rw_table_keeps_hashes(const rw_table *a, const rw_table *b);
/* Whether the name stands anywhere in the text, in any case of its letters. */
bool rw_text_mentions(pgw_slice text, const char *name);
/* Frees what the table owns (everything is malloc'ed, by pgw_alloc). */
void rw_table_free(rw_table *table);

/* What a table's name means to a session where no schema is written before it. */
typedef enum rw_meaning {
    RW_MEANS_OTHERS, /* another relation, or none */
    RW_MEANS_OURS,
    RW_MEANS_UNKNOWN /* taken for ours; a write by that name is refused */
} rw_meaning;

/* The configured tables that a session's texts are looked at with. */
struct rw_insert;

typedef struct rw_catalog {
    const rw_table *const *tables;
    size_t count;
    const rw_meaning *unqualified; /* one a table; NULL: as the file writes their names */
    bool moved; /* names meant something else before this transaction: what they mean behind its
                   end, or ROLLBACK TO, is not known */
    const struct rw_catalog *planned; /* all tables of the file, whether they are there or not, by
                                         the names of their columns; `unqualified`: what a table
                                         that is made by that name would be; `moved`: one was made
                                         earlier in the text. NULL: nothing is made or altered */
    const struct rw_word_set *words;  /* all their names, and perhaps more; NULL: one is compared
                                         after the other */
    bool informs; /* the first schema of search_path that is not pg_catalog is information_schema,
                     or may be, until that is known */
    bool apart;   /* the statements of a text are Queries of their own: what one makes is there for
                     the next */
    bool executes; /* an INSERT … VALUES that SQL's PREPARE keeps gets its hashes behind us, when it
                      is executed */
    const struct rw_catalog *others; /* tables that are none of ours, of which the names and types
                                        of their columns are known; NULL: of none */
    /* For EXPLAIN (PROXY): appends why `session`, as it stands, keeps an INSERT that could be
     * batched by itself out of batches; or nothing. NULL: there is no session. */
    void (*hinders)(const void *session, const struct rw_insert *insert, struct pgw_buf *why);
    const void *session;
} rw_catalog;

/* The table that `schema`.`name` (schema empty = not written) means; NULL if none of ours. */
const rw_table *rw_catalog_find(const rw_catalog *catalog, pgw_slice schema, pgw_slice name);
/* Whether a table of this name, in the pattern's schema, may be of the pattern. */
bool rw_pattern_covers(const rw_table *pattern, pgw_slice name);
/* … or the pattern that a table of this name is of: of those that it begins with, the longest. */
const rw_table *rw_catalog_pattern(const rw_catalog *catalog, pgw_slice schema, pgw_slice name);
/* True if `text` holds the name of a configured table anywhere, in any case, quoted or not, also in
 * U&"" form (then always true). False is certain; true is only a candidate. */
bool rw_catalog_mentioned(const rw_catalog *catalog, pgw_slice text);

#endif
