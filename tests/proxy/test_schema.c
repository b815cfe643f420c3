/* Tables made from the file and from rows as the backend's catalog gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/backend/schema/schema.h"
#include "proxy/backend/schema/schema_query.h"
#include "proxy/backend/schema/schema_type.h"
#include "rewrite/statement/words/statement.h"

/* A row of the catalog, cells parted by blanks; `_` stands for a blank within one. */
static void add_row(px_schema_rows *rows, const char *line)
{
    char text[512], *words[64];
    pgw_slice cells[64];
    bool nulls[64] = {false};
    size_t count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; (words[count] = strsep(&at, " ")) != NULL; count++) {
        for (char *c = words[count]; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        cells[count] = pgw_slice_str(words[count]);
    }
    px_schema_rows_add(rows, cells, nulls, count);
}

/* name, attnum, oid, typmod, type's name; the rest as for a plain column. */
#define COLUMN(table, head, name, number, oid, typmod, type)                                       \
    "public " table " " head " " name " " number " " oid " " typmod " " type                       \
    " false false false false false true false 0 false  0 true false  "
#define PLAIN "16384 r 12 false false false false false"

static char *key_names[] = {"userid", "ts"};
static char *userid[] = {"userid"};

static cfg_table events(void)
{
    return (cfg_table){.name = "events",
                       .label = "events",
                       .primary_key = key_names,
                       .primary_key_count = 2,
                       .hash_key = userid,
                       .hash_key_count = 1,
                       .hash_column = "h",
                       .hash_function = CFG_XXH3};
}

/* The table events (h, userid, ts), with a column dropped in front of ts; and rows that are not
 * its. */
static px_schema_rows *events_rows(const char *head)
{
    static const char *const columns[] = {
        "h 1 20 -1 bigint false true false false false true false 1 false  0 true false  "
        "4_1249.attrelid_1259.oid",
        "short 2 20 -1 bigint false true true true false true", /* left out: a cell is
                                                                   missing */
        "long 2 20 -1 bigint false true true true false true false 2 false  0 true false  "
        " extra", /* left out,
                   * too
                   */
        "userid 2 20 -1 bigint false true true true false true false 2 false  0 true false  ",
        ("ts 4 1184 3 timestamp(3)_with_time_zone false true true false false true false 3 "
         "false "
         " 0 true false  "),
    };
    px_schema_rows *rows = px_schema_rows_new();
    add_row(rows, COLUMN("other", "16385 r 0 true true false true false", "userid", "1", "20", "-1",
                         "bigint"));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char line[256];
        snprintf(line, sizeof line, "public events %s %s", head, columns[i]);
        add_row(rows, line);
    }
    add_row(rows,
            "app events 16386 v 0 true true false true false x 1 25 -1 text false false false "
            "false false true false 0 false  0 true false  ");
    return rows;
}

static rw_table *build(const cfg_table *config, const px_schema_rows *rows)
{
    pgw_error error = PGW_ERROR_NONE;
    rw_table *table = px_schema_build(config, rows, 7, &error);
    if (table == NULL)
        fail_msg("%s", error.message);
    return table;
}

static void test_types(void **state)
{
    (void)state;
    char line[512];
    size_t count = 0;
    FILE *file = fopen(VECTORS "/schema/types.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        char *bar = strstr(line, " | ");
        assert_non_null(bar);
        *bar = '\0';
        rw_column column = {0};
        bool good = px_schema_type(line, &column);
        char got[512] = "error";
        if (good)
            snprintf(got, sizeof got, "%u | %d | %s", column.type, column.typmod, column.type_name);
        if (strcmp(got, bar + 3) != 0)
            fail_msg("%s: %s, not %s", line, got, bar + 3);
        free(column.type_name);
        count++;
    }
    fclose(file);
    assert_true(count > 50);
}

static void test_from_rows(void **state)
{
    (void)state;
    cfg_table config = events();
    px_schema_rows *rows = events_rows(PLAIN);
    rw_table *table = build(&config, rows);
    assert_null(table->unusable);
    assert_string_equal(table->schema, "public");
    assert_false(table->schema_written);
    assert_int_equal(table->epoch, 7);
    assert_int_equal(table->oid, 16384);
    assert_int_equal(table->triggers, 12);
    assert_int_equal(table->last, 4);
    assert_string_equal(table->system_columns, "1249.attrelid 1259.oid");
    assert_int_equal(table->column_count, 3);
    assert_int_equal(table->columns[2].attnum, 4);
    assert_int_equal(table->hash_column, 0);
    assert_int_equal(table->primary_key[0], 1);
    assert_int_equal(table->primary_key[1], 2);
    assert_int_equal(table->hash_key[0], 1);
    assert_true(table->mergeable);
    assert_int_equal(table->columns[2].type, PGW_TIMESTAMPTZ);
    assert_int_equal(table->columns[2].typmod, 3);
    assert_string_equal(table->columns[2].type_name, "timestamp(3) with time zone");
    assert_true(table->columns[1].not_null);
    assert_true(table->columns[1].has_default);
    assert_true(table->columns[1].sequence);
    assert_false(table->columns[2].sequence);
    assert_false(table->columns[0].has_default);
    assert_int_equal(table->partitions.kind, RW_PARTITION_UNIFORM);
    assert_int_equal(table->partitions.count, 1);
    rw_table_free(table);
    px_schema_rows_free(rows);
}

static void test_mergeable(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        bool mergeable, changes_rows, unusable;
    } cases[] = {{"16384 r 0 false false true false false", true, false,
                  false}, /* UPDATE is another matter */
                 {"16384 r 0 false false deferred false false", true, false, false},
                 {"16384 p 0 false false false false false", true, false, false},
                 {"16384 r 0 true false false false false", false, false, false},
                 {"16384 r 0 true false false false true", false, true, false},
                 {"16384 r 0 false true false false false", false, false, false},
                 {"16384 r 0 false false false true false", false, false, false},
                 {"16384 f 0 false false false false false", false, true, false},
                 {"16384 v 0 false false false false false", false, true, true},
                 {"16384 m 0 false false false false false", false, true, true}};
    cfg_table config = events();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_schema_rows *rows = events_rows(cases[i].head);
        rw_table *table = build(&config, rows);
        assert_int_equal(table->mergeable, cases[i].mergeable);
        assert_int_equal(table->changes_rows, cases[i].changes_rows);
        assert_int_equal(table->heeds_updates, i == 0);
        assert_int_equal(table->defers_updates, i == 1);
        assert_int_equal(table->unusable != NULL, cases[i].unusable);
        rw_table_free(table);
        px_schema_rows_free(rows);
    }
}

/* What the database's own code may do while its tables are used, and which types it has. */
static void test_of_the_database(void **state)
{
    (void)state;
    static const struct {
        const char *cell;
        unsigned quiet;
        bool expressions_run, casts_run, overloads, own_calls;
        int64_t own_types;
    } cases[] = {
        {"t", RW_EFFECT_RUNS | RW_EFFECT_READS, false, false, false, false, 0},
        {"r", RW_EFFECT_READS, false, false, false, false, 0},
        {"b", 0, false, false, false, false, 0},
        {"f", 0, false, false, true, false, 0},
        {"t+", RW_EFFECT_RUNS | RW_EFFECT_READS, true, true, false, false, 0},
        {"t~", RW_EFFECT_RUNS | RW_EFFECT_READS, false, true, false, false, 0},
        {"t=", RW_EFFECT_RUNS | RW_EFFECT_READS, false, false, false, true, 0},
        {"r+=_12", RW_EFFECT_READS, true, true, false, true, 12},
        {"b_-9223372036854775807", 0, false, false, false, false, -INT64_MAX},
    };
    cfg_table config = events();
    config.primary_key_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        px_schema_rows *rows = px_schema_rows_new();
        snprintf(line, sizeof line,
                 "public events " PLAIN " userid 1 20 -1 bigint false true false false false true "
                 "false 1 false  0 %s false  ",
                 cases[i].cell);
        add_row(rows, line);
        add_row(rows, "public events " PLAIN " h 2 20 -1 bigint false true false false false true "
                      "false 0 false  0 true false  ");
        rw_table *table = build(&config, rows);
        assert_int_equal(table->quiet, cases[i].quiet);
        assert_int_equal(table->expressions_run, cases[i].expressions_run);
        assert_int_equal(table->casts_run, cases[i].casts_run);
        assert_int_equal(table->overloads, cases[i].overloads);
        assert_int_equal(table->own_calls, cases[i].own_calls);
        assert_int_equal(table->own_types, cases[i].own_types);
        rw_table_free(table);
        px_schema_rows_free(rows);
    }
}

/* By the file alone: each column of the key once, and the hash column. */
static void test_planned(void **state)
{
    (void)state;
    cfg_table config = events();
    config.partitions.buckets = 16;
    config.schema = "app";
    rw_table *table = px_schema_plan(&config);
    assert_string_equal(table->schema, "app");
    assert_string_equal(table->name, "events");
    assert_true(table->schema_written);
    assert_int_equal(table->column_count, 3);
    assert_int_equal(table->primary_key_count, 2);
    assert_string_equal(table->columns[table->primary_key[1]].name, "ts");
    assert_int_equal(table->hash_key_count, 1);
    assert_string_equal(table->columns[table->hash_key[0]].name, "userid");
    assert_string_equal(table->columns[table->hash_column].name, "h");
    assert_int_equal(table->partitions.kind, RW_PARTITION_BUCKETS);
    rw_table_free(table);
}

static void test_missing(void **state)
{
    (void)state;
    cfg_table config = events();
    px_schema_rows *rows = px_schema_rows_new();
    pgw_error error = PGW_ERROR_NONE;
    assert_null(px_schema_build(&config, rows, 0, &error));
    assert_string_equal(error.sqlstate, "42P01");
    assert_string_equal(error.message, "table events does not exist in the backend");
    assert_null(px_schema_build(&config, NULL, 0, &error));
    assert_string_equal(error.sqlstate, "42P01");
    assert_string_equal(error.message, "the columns of table events are not known");
    config.schema = "app"; /* another schema's table is not it */
    add_row(rows, COLUMN("events", PLAIN, "userid", "1", "20", "-1", "bigint"));
    assert_null(px_schema_build(&config, rows, 0, &error));
    px_schema_rows_free(rows);
    px_schema_rows_free(NULL);
}

/* A table with the one column k of the given type, and the hash column; why it cannot be used. */
typedef struct wrong_case {
    const char *hash, *key;
    cfg_hash_function function;
    cfg_hash_type type;
    const char *reason; /* its beginning; NULL: none */
} wrong_case;

static void check_usable(const wrong_case *c, uint32_t buckets)
{
    char *names[] = {"k"};
    cfg_table config = {.name = "t",
                        .primary_key = names,
                        .primary_key_count = 1,
                        .hash_key = names,
                        .hash_key_count = 1,
                        .hash_column = "h",
                        .hash_function = c->function,
                        .hash_type = c->type,
                        .hash_buckets = buckets};
    px_schema_rows *rows = px_schema_rows_new();
    if (c->hash != NULL)
        add_row(rows, c->hash);
    if (c->key != NULL)
        add_row(rows, c->key);
    rw_table *table = build(&config, rows);
    const char *got = table->unusable ? table->unusable : "usable";
    const char *wanted = c->reason ? c->reason : "usable";
    if (strncmp(got, wanted, strlen(wanted)) != 0)
        fail_msg("%s, %s: %s, not %s", c->hash, c->key, got, wanted);
    /* Whatever is wrong, indexes hold. */
    assert_int_equal(table->column_count, 2);
    assert_string_equal(table->columns[table->hash_column].name, "h");
    assert_string_equal(table->columns[table->hash_key[0]].name, "k");
    assert_non_null(table->columns[table->primary_key[0]].type_name);
    assert_int_equal(table->key_unfolds, c->key != NULL && strstr(c->key, " 1700 ") != NULL);
    rw_table_free(table);
    px_schema_rows_free(rows);
}

static void test_bucket_columns(void **state)
{
    (void)state;
    static const char smallint[] = COLUMN("t", PLAIN, "h", "1", "21", "-1", "smallint");
    static const char integer[] = COLUMN("t", PLAIN, "h", "1", "23", "-1", "integer");
    static const char bigint[] = COLUMN("t", PLAIN, "h", "1", "20", "-1", "bigint");
    static const char key[] = COLUMN("t", PLAIN, "k", "2", "20", "-1", "bigint");
    const wrong_case small = {smallint, key, CFG_XXH3, CFG_HASH_INT8, NULL};
    const wrong_case middle = {integer, key, CFG_XXH3, CFG_HASH_INT8, NULL};
    const wrong_case large = {
        bigint, key, CFG_XXH3, CFG_HASH_INT8,
        "hash column h is bigint: with hash_buckets it must be smallint or integer"};
    const wrong_case whole = {smallint, key, CFG_XXH3, CFG_HASH_INT8,
                              "hash column h is smallint: for hash_type int8 it must be bigint"};
    check_usable(&small, 16);
    check_usable(&middle, 16);
    check_usable(&large, 16);
    check_usable(&whole, 0);
}

static void test_unusable(void **state)
{
    (void)state;
    static const char bigint[] = COLUMN("t", PLAIN, "h", "1", "20", "-1", "bigint");
    static const char numeric[] = COLUMN("t", PLAIN, "h", "1", "1700", "1310724", "numeric(20,0)");
    static const char key[] = COLUMN("t", PLAIN, "k", "2", "20", "-1", "bigint");
    static const wrong_case cases[] = {
        {bigint, key, CFG_XXH3, CFG_HASH_INT8, NULL},
        {bigint, COLUMN("t", PLAIN, "k", "2", "1700", "-1", "numeric"), CFG_XXH3, CFG_HASH_INT8,
         NULL},
        {numeric, key, CFG_XXH3, CFG_HASH_UINT64, NULL},
        {COLUMN("t", PLAIN, "h", "1", "1700", "-1", "numeric"), key, CFG_XXH3, CFG_HASH_UINT64,
         NULL},
        {COLUMN("t", PLAIN, "h", "1", "1700", "1245188", "numeric(19,0)"), key, CFG_XXH3,
         CFG_HASH_UINT64, "hash column h is numeric(19,0): for hash_type uint64 it must be"},
        {COLUMN("t", PLAIN, "h", "1", "1700", "1966082", "numeric(30,2)"), key, CFG_XXH3,
         CFG_HASH_UINT64, "hash column h is numeric(30,2)"},
        {bigint, key, CFG_XXH3, CFG_HASH_UINT64, "hash column h is bigint: for hash_type uint64"},
        {numeric, key, CFG_XXH3, CFG_HASH_INT8,
         "hash column h is numeric(20,0): for hash_type int8"},
        {COLUMN("t", PLAIN, "h", "1", "23", "-1", "integer"), key, CFG_XXH3, CFG_HASH_INT8,
         "hash column h is integer: for hash_type int8 it must be bigint"},
        {"public t " PLAIN
         " h 1 20 -1 bigint false true true false true true false 0 false  0 true false  ",
         key, CFG_XXH3, CFG_HASH_INT8, "hash column h is filled by the backend"},
        {"public t " PLAIN
         " h 1 20 -1 bigint false true true true false true false 0 false  0 true false  ",
         key, CFG_XXH3, CFG_HASH_INT8, "hash column h is filled by the backend"},
        {NULL, key, CFG_XXH3, CFG_HASH_INT8, "hash column h does not exist"},
        {bigint, NULL, CFG_XXH3, CFG_HASH_INT8, "key column k does not exist"},
        {bigint, COLUMN("t", PLAIN, "k", "2", "16999", "-1", "citext"), CFG_XXH3, CFG_HASH_INT8,
         "key column k is of type citext, which cannot be hashed"},
        {bigint, COLUMN("t", PLAIN, "k", "2", "1007", "-1", "integer[]"), CFG_XXH3, CFG_HASH_INT8,
         "key column k is of type integer[], which cannot be hashed"},
        {bigint, COLUMN("t", PLAIN, "k", "2", "1186", "-1", "interval"), CFG_XXH3, CFG_HASH_INT8,
         "key column k is of type interval, which cannot be hashed"},
        {bigint,
         "public t " PLAIN
         " k 2 16999 -1 dom true true true true false true false 2 false  0 true false  ",
         CFG_XXH3, CFG_HASH_INT8, "key column k is of type dom, which cannot be hashed"},
        {bigint,
         "public t " PLAIN
         " k 2 25 -1 text false true false false false false false 2 false  0 true false  ",
         CFG_XXH3, CFG_HASH_INT8, "key column k has a nondeterministic collation"},
        {bigint, COLUMN("t", PLAIN, "k", "2", "25", "-1", "text"), CFG_NUMERIC_HASH, CFG_HASH_INT8,
         "numeric_hash"},
        {bigint, COLUMN("t", PLAIN, "k", "2", "25", "-1", "text"), CFG_PG_HASH, CFG_HASH_INT8,
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_usable(&cases[i], 0);
}

static void test_from_file(void **state)
{
    (void)state;
    cfg_column columns[] = {
        {.name = "userid", .type = "bigint", .by_default = "nextval('s')", .not_null = true},
        {.name = "ts", .type = "timestamp(3)"}};
    uint64_t at[] = {5, 9};
    cfg_table config = events();
    config.schema = "app";
    config.columns = columns;
    config.column_count = 2;
    config.partitions = (cfg_partitions){.at = at, .at_count = 2};
    config.null_key = CFG_NULL_KEY_ALLOW;
    config.uncomputable = CFG_UNCOMPUTABLE_FORWARD;
    config.sequences = CFG_SEQUENCES_IGNORE;
    rw_table *table = build(&config, NULL);
    assert_null(table->unusable);
    assert_true(table->schema_written);
    assert_true(table->mergeable);
    assert_int_equal(table->column_count, 3);
    assert_int_equal(table->hash_column, 2);
    assert_int_equal(table->columns[2].type, PGW_INT8);
    assert_string_equal(table->columns[0].default_text, "nextval('s')");
    assert_true(table->columns[0].has_default && table->columns[0].sequence);
    assert_false(table->columns[1].has_default || table->columns[1].sequence);
    assert_int_equal(table->partitions.kind, RW_PARTITION_AT);
    assert_int_equal(table->partitions.count, 3);
    assert_int_equal(table->partitions.at[1], 9);
    assert_true(table->allow_null_key && table->forward_uncomputable && table->ignore_sequences);
    rw_table_free(table);
    columns[1].type = "timestamp(9)";
    table = build(&config, NULL);
    assert_non_null(
        strstr(table->unusable, "type \"timestamp(9)\" of column ts is not understood"));
    rw_table_free(table);
    columns[1].type = "jsonb";
    table = build(&config, NULL);
    assert_non_null(strstr(table->unusable, "key column ts is of type jsonb"));
    rw_table_free(table);
    static const char *const wrong[] = {"", "1,", "1) from (select 1", "1 from t", "1; select 2"};
    columns[1].type = "bigint";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        columns[1].by_default = (char *)wrong[i];
        table = build(&config, NULL);
        assert_non_null(strstr(table->unusable, "of column ts is no expression"));
        rw_table_free(table);
    }
}

/* The file must say what the backend has: a wrong type would give wrong hashes. */
static void test_file_against_backend(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *reason;
    } cases[] = {{"userid", "bigint", NULL},
                 {"ts", "timestamptz(3)", NULL},
                 {"h", "uint64", NULL},
                 {"userid", "int", "column userid is bigint in the backend and int"},
                 {"ts", "timestamptz", "column ts is timestamp(3) with time zone in the backend"},
                 {"gone", "int", "column gone of the configuration does not exist"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cfg_column column = {.name = (char *)cases[i].name, .type = (char *)cases[i].type};
        cfg_table config = events();
        config.columns = &column;
        config.column_count = 1;
        px_schema_rows *rows = events_rows(PLAIN);
        rw_table *table = build(&config, rows);
        if (cases[i].reason == NULL)
            assert_null(table->unusable);
        else
            assert_non_null(strstr(table->unusable ? table->unusable : "", cases[i].reason));
        rw_table_free(table);
        px_schema_rows_free(rows);
    }
}

static void test_same(void **state)
{
    (void)state;
    cfg_table config = events();
    px_schema_rows *rows = events_rows(PLAIN);
    rw_table *a = build(&config, rows), *b = build(&config, rows);
    char *other = (char *)"x";
    b->epoch = 8;
    assert_true(px_schema_same(a, b));
#define DIFFERS(field, value)                                                                      \
    do {                                                                                           \
        __typeof__(b->field) before = b->field;                                                    \
        b->field = (value);                                                                        \
        if (px_schema_same(a, b) || px_schema_same(b, a))                                          \
            fail_msg("the same with another " #field);                                             \
        b->field = before;                                                                         \
        assert_true(px_schema_same(a, b));                                                         \
    } while (0)
    DIFFERS(oid, 1);
    DIFFERS(triggers, 7);
    DIFFERS(schema, other);
    DIFFERS(name, other);
    DIFFERS(schema_written, !a->schema_written);
    DIFFERS(column_count, a->column_count - 1);
    DIFFERS(columns[1].name, other);
    DIFFERS(columns[1].attnum, 77);
    DIFFERS(columns[1].default_text, other);
    DIFFERS(sample, RW_SAMPLE_RIGHT);
    DIFFERS(columns[1].type, PGW_UUID);
    DIFFERS(columns[2].typmod, 77);
    DIFFERS(columns[1].type_name, other);
    DIFFERS(columns[1].not_null, !a->columns[1].not_null);
    DIFFERS(columns[1].has_default, !a->columns[1].has_default);
    DIFFERS(columns[1].sequence, !a->columns[1].sequence);
    DIFFERS(columns[1].generated, !a->columns[1].generated);
    DIFFERS(columns[1].nondeterministic, !a->columns[1].nondeterministic);
    DIFFERS(columns[1].computed, !a->columns[1].computed);
    DIFFERS(columns[1].own_equals, !a->columns[1].own_equals);
    DIFFERS(expressions_run, !a->expressions_run);
    DIFFERS(casts_run, !a->casts_run);
    DIFFERS(columns[1].own_casts, RW_OWN_CASTS_INTO);
    DIFFERS(columns[1].own_names, !a->columns[1].own_names);
    DIFFERS(columns[1].own_rows, !a->columns[1].own_rows);
    DIFFERS(columns[1].own_signs, !a->columns[1].own_signs);
    DIFFERS(own_types, a->own_types + 1);
    DIFFERS(columns[1].granted, !a->columns[1].granted);
    DIFFERS(columns[1].cascaded, !a->columns[1].cascaded);
    DIFFERS(columns[1].always, !a->columns[1].always);
    DIFFERS(columns[1].identity, !a->columns[1].identity);
    DIFFERS(columns[1].default_hash, a->columns[1].default_hash + 1);
    DIFFERS(block, a->block + 1);
    DIFFERS(primary_key_count, a->primary_key_count - 1);
    DIFFERS(primary_key[0], 77);
    DIFFERS(hash_key[0], 77);
    DIFFERS(hash_key_count, a->hash_key_count - 1);
    DIFFERS(hash_column, 77);
    DIFFERS(hash_function, RW_PG_HASH);
    DIFFERS(hash_type, RW_HASH_UINT64);
    DIFFERS(buckets, 16);
    DIFFERS(partitions.kind, RW_PARTITION_BUCKETS);
    DIFFERS(partitions.count, 77);
    DIFFERS(forward_uncomputable, !a->forward_uncomputable);
    DIFFERS(allow_null_key, !a->allow_null_key);
    DIFFERS(looked_up, !a->looked_up);
    DIFFERS(ignore_sequences, !a->ignore_sequences);
    DIFFERS(mergeable, !a->mergeable);
    DIFFERS(changes_rows, !a->changes_rows);
    DIFFERS(heeds_updates, !a->heeds_updates);
    DIFFERS(quiet, !a->quiet);
    DIFFERS(reads_settings, !a->reads_settings);
    DIFFERS(part_names, other);
    DIFFERS(last, 77);
    DIFFERS(system_columns, other);
    DIFFERS(unusable, other);
    uint64_t at[2][16] = {{0}, {0}}; /* the bounds themselves, wherever they lie */
    const rw_partitions kept[] = {a->partitions, b->partitions};
    a->partitions = (rw_partitions){.kind = RW_PARTITION_AT, .count = 17, .at = at[0]};
    b->partitions = (rw_partitions){.kind = RW_PARTITION_AT, .count = 17, .at = at[1]};
    DIFFERS(partitions.at[0], 1);
    DIFFERS(partitions.at[15], 1);
    a->partitions = kept[0];
    b->partitions = kept[1];
#undef DIFFERS
    rw_table_free(a);
    rw_table_free(b);
    px_schema_rows_free(rows);
}

/* Names go into the query as constants that nothing can break out of. */
static void test_query(void **state)
{
    (void)state;
    cfg_table tables[] = {{.name = "events"}, {.schema = "it's", .name = "back\\slash'"}};
    cfg_config config = {.tables = tables, .table_count = 2};
    pgw_buf sql = {0};
    px_schema_query(&config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, "values ('public'::pg_catalog.name, 'events'::pg_catalog.name),"
                                    " ('it''s'::pg_catalog.name,"
                                    " E'back\\\\slash'''::pg_catalog.name)), ours"));
    pgw_buf_clear(&sql);
    config.table_count = 0;
    px_schema_query(&config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(
        strstr(sql.ptr, "values (null::pg_catalog.name, null::pg_catalog.name)), ours"));
    pgw_buf_free(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),          cmocka_unit_test(test_from_rows),
        cmocka_unit_test(test_mergeable),      cmocka_unit_test(test_of_the_database),
        cmocka_unit_test(test_missing),        cmocka_unit_test(test_planned),
        cmocka_unit_test(test_bucket_columns), cmocka_unit_test(test_unusable),
        cmocka_unit_test(test_from_file),      cmocka_unit_test(test_file_against_backend),
        cmocka_unit_test(test_same),           cmocka_unit_test(test_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
