/* The hashes: frozen, because the hash of a stored row is for ever. */
#include "protocol/value_in.h"
#include "rewrite/hash/cityhash.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/pg_hash.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_COLUMNS = 4 };

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};

static unsigned wrong;

static void check_bytes(const vector_line *line)
{
    pgw_buf got = {0};
    uint64_t hash;
    if (pgw_slice_eq_str(line->fields[0], "cityhash64"))
        hash = rw_cityhash64(line->fields[1]);
    else if (pgw_slice_eq_str(line->fields[0], "xxh3"))
        hash = rw_xxh3(line->fields[1]);
    else
        hash = rw_numeric_hash((uint64_t)vector_number(line->fields[1]));
    pgw_buf_addf(&got, "%llu", (unsigned long long)hash);
    wrong += !vector_same(line, line->fields[2], &got);
    pgw_buf_free(&got);
}

static void functions_are_as_published(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/hashes_bytes.txt", check_bytes) > 40);
    assert_int_equal(wrong, 0);
}

/* "type=value type=value …" with ~ for NULL and _ for a blank. */
static size_t read_values(pgw_slice text, pgw_arena *arena, pgw_value *values)
{
    char *rest = NULL;
    char *copy = pgw_arena_printf(arena, "%.*s", (int)text.len, text.ptr);
    size_t count = 0;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        assert_true(count < MOST_COLUMNS);
        uint32_t type = pgw_type_by_name((pgw_slice){word, (size_t)(equals - word)});
        pgw_error error;
        for (char *c = equals; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        values[count] = (pgw_value){.type = type, .null = true};
        if (strcmp(equals + 1, "~") != 0)
            assert_int_equal(pgw_value_from_text(type, -1, pgw_slice_str(equals + 1),
                                                 &(pgw_reading){&utc, arena, &error},
                                                 &values[count]),
                             PGW_KNOWN);
        count++;
    }
    return count;
}

static void check_pg_hash(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf got = {0};
    pgw_value values[MOST_COLUMNS];
    size_t count = read_values(line->fields[1], &arena, values);
    pgw_buf_addf(&got, "%lld", (long long)rw_pg_hash(values, count));
    wrong += !vector_same(line, line->fields[0], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void pg_hash_is_postgres_hash(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/hashes_pg.txt", check_pg_hash) > 60);
    assert_int_equal(wrong, 0);
}

static rw_hash_function function_named(pgw_slice name)
{
    for (int f = RW_XXH3; f <= RW_PG_HASH; f++)
        if (pgw_slice_eq_str(name, rw_hash_function_name((rw_hash_function)f)))
            return (rw_hash_function)f;
    fail_msg("no such function: %.*s", (int)name.len, name.ptr);
    return RW_XXH3;
}

static void check_key(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf got = {0};
    pgw_value values[MOST_COLUMNS];
    const pgw_slice type = line->fields[1];
    bool buckets = type.ptr[0] >= '0' && type.ptr[0] <= '9';
    rw_table table = {.hash_function = function_named(line->fields[0]),
                      .hash_type = pgw_slice_eq_str(type, "uint64") ? RW_HASH_UINT64 : RW_HASH_INT8,
                      .buckets = buckets ? (uint32_t)vector_number(type) : 0,
                      .hash_key_count = read_values(line->fields[2], &arena, values)};
    rw_hash_print(&table, rw_hash_key(&table, values), &got);
    wrong += !vector_same(line, line->fields[3], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void keys_hash_as_published(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/hashes_keys.txt", check_key) > 30);
    assert_int_equal(wrong, 0);
}

static void a_lone_integer_hashes_as_a_key(void **state)
{
    (void)state;
    static const uint32_t types[] = {PGW_INT2, PGW_INT4, PGW_INT8};
    static const int64_t numbers[] = {
        0, 1, -1, 255, 256, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (rw_hash_function function = RW_XXH3; function <= RW_PG_HASH; function++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            size_t type = numbers[i] == (int16_t)numbers[i]   ? 0
                          : numbers[i] == (int32_t)numbers[i] ? 1
                                                              : 2;
            for (; type < 3; type++) {
                rw_table table = {.hash_function = function, .hash_key_count = 1};
                pgw_value value = {.type = types[type], .as.integer = numbers[i]};
                assert_int_equal(rw_hash_integer(&table, numbers[i]), rw_hash_key(&table, &value));
            }
        }
}

static void support_is_checked_by_type(void **state)
{
    (void)state;
    static const struct {
        rw_hash_function function;
        uint32_t types[2];
        size_t count;
        const char *sqlstate, *message; /* "": it is supported */
    } cases[] = {
        {RW_XXH3, {PGW_INT8, PGW_INT8}, 2, "", ""},
        {RW_PG_HASH, {PGW_TEXT}, 1, "", ""},
        {RW_NUMERIC_HASH, {PGW_INT8}, 1, "", ""},
        {RW_NUMERIC_HASH, {PGW_INT4}, 1, "", ""},
        {RW_NUMERIC_HASH, {PGW_INT2}, 1, "", ""},
        {RW_NUMERIC_HASH,
         {PGW_INT8, PGW_INT8},
         2,
         "0A000",
         "numeric_hash takes exactly one column of an integer type"},
        {RW_NUMERIC_HASH,
         {PGW_TEXT},
         1,
         "0A000",
         "numeric_hash takes exactly one column of an integer type"},
        {RW_CITYHASH64,
         {PGW_INT8, 790},
         2,
         "0A000",
         "cityhash64 cannot be computed of column 2 of the hash key, of type not known to "
         "keyspread"},
        {RW_PG_HASH,
         {PGW_FLOAT4},
         1,
         "0A000",
         "pg_hash cannot be computed of column 1 of the hash key, of type real"},
        {RW_XXH3, {0}, 0, "42P16", "xxh3 needs at least one column"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error = PGW_ERROR_NONE;
        bool supported =
            rw_hash_supports(cases[i].function, cases[i].types, cases[i].count, &error);
        assert_int_equal(supported, cases[i].sqlstate[0] == '\0');
        assert_string_equal(error.sqlstate, cases[i].sqlstate);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.hint[0] != '\0', strcmp(error.sqlstate, "0A000") == 0);
    }
}

/* A table with one or two key columns: `x` or `the "key`, and `y`. */
static void assert_expression(rw_hash_function function, rw_hash_type hash_type, uint32_t type,
                              size_t count, bool yql, const char *wanted)
{
    pgw_arena arena = {0};
    char name[] = "the \"`key", second[] = "y";
    rw_column columns[] = {{.name = name, .type = type}, {.name = second, .type = type}};
    size_t key[] = {0, 1};
    rw_table table = {.columns = columns,
                      .column_count = 2,
                      .hash_key = key,
                      .hash_key_count = count,
                      .hash_function = function,
                      .hash_type = hash_type};
    char *got = rw_hash_expression(&table, yql, &arena);
    if (wanted == NULL)
        assert_null(got);
    else
        assert_string_equal(got, wanted);
    pgw_arena_free(&arena);
}

static void expressions_are_given_where_there_are_any(void **state)
{
    (void)state;
    assert_expression(RW_PG_HASH, RW_HASH_INT8, PGW_TEXT, 2, false,
                      "hash_record_extended(ROW(\"the \"\"`key\", \"y\"), 0)");
    assert_expression(RW_PG_HASH, RW_HASH_INT8, PGW_TEXT, 1, true, NULL);
    assert_expression(RW_XXH3, RW_HASH_INT8, PGW_TEXT, 1, false, NULL);
    assert_expression(RW_XXH3, RW_HASH_UINT64, PGW_TEXT, 1, true,
                      "Digest::XXH3(CAST(`the \"\\`key` AS String))");
    assert_expression(
        RW_CITYHASH64, RW_HASH_INT8, PGW_VARCHAR, 1, true,
        "FromBytes(ToBytes(Digest::CityHash(CAST(FromPg(`the \"\\`key`) AS String))), "
        "Int64)");
    assert_expression(RW_XXH3, RW_HASH_UINT64, PGW_INT4, 1, true,
                      "Digest::XXH3(ToBytes(CAST(`the \"\\`key` AS Int64)))");
    assert_expression(RW_NUMERIC_HASH, RW_HASH_UINT64, PGW_INT8, 1, true,
                      "Digest::NumericHash(FromBytes(ToBytes(CAST(`the \"\\`key` AS Int64)), "
                      "Uint64))");
    assert_expression(RW_XXH3, RW_HASH_UINT64, PGW_NUMERIC, 1, true, NULL);
    assert_expression(RW_XXH3, RW_HASH_UINT64, PGW_TEXT, 2, true, NULL);
}

/* Each bucket of many keys is met, and about as often as the others. */
static void buckets_are_filled_evenly(void **state)
{
    (void)state;
    enum { KEYS = 16000, BUCKETS = 16 };
    unsigned counts[BUCKETS] = {0};
    rw_table table = {.hash_key_count = 1, .buckets = BUCKETS};
    for (int64_t i = 0; i < KEYS; i++) {
        const pgw_value value = {.type = PGW_INT8, .as.integer = i};
        uint64_t bucket = rw_hash_key(&table, &value);
        assert_true(bucket < BUCKETS);
        assert_int_equal(bucket, rw_hash_whole(&table, &value) % BUCKETS);
        counts[bucket]++;
    }
    for (size_t i = 0; i < BUCKETS; i++)
        assert_in_range(counts[i], KEYS / BUCKETS * 9 / 10, KEYS / BUCKETS * 11 / 10);
}

static const char *bucket_expression(rw_hash_function function, uint32_t type, bool yql,
                                     pgw_arena *arena)
{
    char name[] = "a", hash[] = "h";
    rw_column columns[] = {{.name = name, .type = PGW_INT8}, {.name = hash, .type = type}};
    size_t key[] = {0};
    const rw_table table = {.columns = columns,
                            .column_count = 2,
                            .hash_key = key,
                            .hash_key_count = 1,
                            .hash_column = 1,
                            .hash_function = function,
                            .buckets = 10};
    return rw_hash_expression(&table, yql, arena);
}

static void expressions_of_buckets_are_unsigned(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    assert_string_equal(bucket_expression(RW_PG_HASH, PGW_INT2, false, &arena),
                        "mod(mod(hash_record_extended(ROW(\"a\"), 0) + 18446744073709551616, "
                        "18446744073709551616), 10)");
    assert_string_equal(bucket_expression(RW_XXH3, PGW_INT2, true, &arena),
                        "CAST(Digest::XXH3(ToBytes(CAST(FromPg(`a`) AS Int64))) % 10ul AS Int16)");
    assert_string_equal(bucket_expression(RW_XXH3, PGW_INT4, true, &arena),
                        "CAST(Digest::XXH3(ToBytes(CAST(FromPg(`a`) AS Int64))) % 10ul AS Int32)");
    assert_string_equal(bucket_expression(RW_NUMERIC_HASH, PGW_INT2, true, &arena),
                        "CAST(Digest::NumericHash(FromBytes(ToBytes(CAST(FromPg(`a`) AS Int64)), "
                        "Uint64)) % 10ul AS Int16)");
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_as_published),
        cmocka_unit_test(pg_hash_is_postgres_hash),
        cmocka_unit_test(a_lone_integer_hashes_as_a_key),
        cmocka_unit_test(keys_hash_as_published),
        cmocka_unit_test(support_is_checked_by_type),
        cmocka_unit_test(expressions_are_given_where_there_are_any),
        cmocka_unit_test(buckets_are_filled_evenly),
        cmocka_unit_test(expressions_of_buckets_are_unsigned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
