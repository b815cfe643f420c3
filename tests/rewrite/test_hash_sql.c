/* The expressions by which the server hashes keys that only it sees: their values are those that
 * are computed here. */
#include "rewrite/hash/hash_sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protocol/value_in.h"
#include "rewrite/hash/hash.h"
#include "tests/protocol/value_vectors.h"
#include "tests/rewrite/sql_eval.h"

enum { MOST_COLUMNS = 4 };

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};
static size_t first_columns[] = {0, 1, 2, 3};

static unsigned wrong;

/* A key, and the table that it is of. */
typedef struct key {
    rw_table table;
    rw_column columns[MOST_COLUMNS];
    pgw_value values[MOST_COLUMNS];
    pgw_arena arena;
} key;

/* "type=value type=value …" with ~ for NULL and _ for a blank. */
static void read_key(key *it, pgw_slice text)
{
    char *rest = NULL;
    char *copy = pgw_arena_printf(&it->arena, "%.*s", (int)text.len, text.ptr);
    it->table.columns = it->columns;
    it->table.hash_key = first_columns;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        size_t i = it->table.column_count++;
        pgw_error error;
        uint32_t type = pgw_type_by_name((pgw_slice){word, (size_t)(equals - word)});
        for (char *c = equals; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        it->columns[i] = (rw_column){.type = type, .typmod = -1, .not_null = true};
        it->values[i] = (pgw_value){.type = type, .null = true};
        if (strcmp(equals + 1, "~") != 0)
            assert_int_equal(pgw_value_from_text(type, -1, pgw_slice_str(equals + 1),
                                                 &(pgw_reading){&utc, &it->arena, &error},
                                                 &it->values[i]),
                             PGW_KNOWN);
    }
    it->table.hash_key_count = it->table.column_count;
}

static const char *expression_of(key *it)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3"};
    return rw_hash_sql(&it->table, names, &it->arena);
}

static const char *shown(key *it)
{
    return sql_shown(expression_of(it), it->values, it->table.hash_key_count, &it->arena);
}

/* As rw_hash_key() has it. */
static void check_shown(key *it)
{
    pgw_buf expected = {0};
    rw_hash_print(&it->table, rw_hash_key(&it->table, it->values), &expected);
    pgw_buf_add_byte(&expected, '\0');
    assert_string_equal(shown(it), expected.ptr);
    pgw_buf_free(&expected);
}

static void check_key(const vector_line *line)
{
    key it = {.table.hash_function = RW_CITYHASH64};
    for (int f = RW_XXH3; f <= RW_PG_HASH; f++)
        if (pgw_slice_eq_str(line->fields[0], rw_hash_function_name((rw_hash_function)f)))
            it.table.hash_function = (rw_hash_function)f;
    if (line->fields[1].ptr[0] >= '0' && line->fields[1].ptr[0] <= '9')
        it.table.buckets = (uint32_t)vector_number(line->fields[1]);
    else if (!pgw_slice_eq_str(line->fields[1], "int8"))
        it.table.hash_type = RW_HASH_UINT64;
    if (!rw_hash_has_sql(&it.table))
        return;
    read_key(&it, line->fields[2]);
    it.table.allow_null_key = memchr(line->fields[2].ptr, '~', line->fields[2].len) != NULL;
    pgw_buf got = {0};
    pgw_buf_add_str(&got, shown(&it));
    wrong += !vector_same(line, line->fields[3], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&it.arena);
}

static void the_server_hashes_as_published(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/hashes_keys.txt", check_key) > 30);
    assert_int_equal(wrong, 0);
}

static void check_text(const char *text, rw_hash_function function, bool nullable)
{
    static const uint32_t buckets[] = {0, 10};
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
        key it = {.table = {.hash_function = function, .buckets = buckets[i]}};
        read_key(&it, pgw_slice_str(text));
        it.table.allow_null_key = nullable;
        check_shown(&it);
        pgw_arena_free(&it.arena);
    }
}

static void values_of_each_type_are_hashed_as_here(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "int8=-9223372036854775808",
        "int8=9223372036854775807",
        "int4=-7",
        "int2=7",
        "int8=1 int8=2",
        "int8=-1 int4=-2",
        "int8=1 timestamptz=2026-01-02_03:04:05.678901+00",
        "timestamp=infinity",
        "timestamptz=-infinity",
        "timestamp=1900-01-01_00:00:00",
        "date=2026-01-02",
        "date=1900-03-01",
        "date=infinity",
        "date=-infinity",
        "date=2000-01-01",
        "bool=false",
        "bool=true bool=true",
        "bool=true date=2026-01-02",
        "float8=-1.5",
        "float8=NaN",
        "float8=1e300",
        "float8=0 float8=-0",
        "numeric=100",
        "numeric=-1.500",
        "numeric=0.00",
        "numeric=NaN",
        "numeric=120.00",
        "uuid=a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 int8=5",
        "uuid=a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 uuid=00000000-0000-0000-0000-000000000001",
        "text=",
        "text=a bpchar=b__",
        "varchar=b__ text=x",
        "bytea=\\x00ff",
        "bpchar=__ bpchar=_",
        "int8=1 int8=2 int8=3",
        "int8=1 text=x",
        "text=x int8=1 date=2026-01-02 bool=true",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        check_text(keys[i], RW_XXH3, false);
        check_text(keys[i], RW_XXH3, true);
        check_text(keys[i], RW_PG_HASH, false);
    }
}

static void integers_are_mixed_as_here(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "int8=0",         "int8=-1", "int8=9223372036854775807", "int8=-9223372036854775808",
        "int4=123456789", "int2=-5"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        check_text(keys[i], RW_NUMERIC_HASH, false);
        check_text(keys[i], RW_NUMERIC_HASH, true);
    }
}

/* XXH3 has five ways, by how many bytes there are. */
static void bytes_of_each_length_are_hashed_as_here(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (size_t length = 0; length <= 240; length += length < 40 || length > 120 ? 1 : 7) {
        char bytes[240];
        for (size_t i = 0; i < length; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (char)(seed >> 24);
        }
        key it = {.columns = {{.type = PGW_BYTEA, .typmod = -1, .not_null = true}},
                  .values = {{.type = PGW_BYTEA, .as.bytes = {bytes, length}}}};
        it.table = (rw_table){.columns = it.columns,
                              .column_count = 1,
                              .hash_key = first_columns,
                              .hash_key_count = 1};
        check_shown(&it);
        pgw_arena_free(&it.arena);
    }
}

static void too_long_a_key_is_an_error(void **state)
{
    (void)state;
    char text[260] = "text=";
    key it = {.table = {.hash_function = RW_XXH3}};
    memset(text + strlen(text), 'x', 241);
    read_key(&it, pgw_slice_str(text));
    assert_string_equal(shown(&it), "ERROR " RW_KEY_TOO_LONG);
    pgw_arena_free(&it.arena);
}

/* Where it may not be: the server's own complaint is about that column, if no hash is NULL before
 * it. */
static void a_null_is_left_to_the_server(void **state)
{
    (void)state;
    key it = {.table = {.hash_function = RW_XXH3}};
    read_key(&it, PGW_LITERAL("int8=~ text=x"));
    assert_string_equal(shown(&it), "0");
    it.columns[0].not_null = false;
    assert_string_equal(shown(&it), "NULL");
    it.table.hash_function = RW_PG_HASH;
    assert_string_equal(shown(&it), "NULL");
    pgw_arena_free(&it.arena);
}

/* Precision and length are the column's, so that the value is hashed that is stored. */
static void values_are_cast_as_they_are_stored(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        int32_t typmod;
        const char *type_name, *cast;
    } cases[] = {
        {PGW_INT8, -1, "bigint", "cast(k0 as bigint)"},
        {PGW_NUMERIC, -1, "numeric", "cast(k0 as numeric)"},
        {PGW_NUMERIC, 655366, "numeric(10,2)", "cast(k0 as numeric(10,2))"},
        {PGW_BPCHAR, -1, "bpchar", "cast(k0 as pg_catalog.bpchar)"},
        {PGW_BPCHAR, 7, "character(3)", "cast(k0 as character(3))"},
        {PGW_VARCHAR, 7, "character varying(3)", "cast(k0 as character varying(3))"},
        {PGW_TIMESTAMP, 0, "timestamp(0) without time zone",
         "cast(k0 as timestamp(0) without time zone)"},
        {PGW_TIMESTAMPTZ, 3, "timestamp(3) with time zone",
         "cast(k0 as timestamp(3) with time zone)"},
        {PGW_TEXT, -1, "text", "cast(k0 as pg_catalog.text)"},
        {PGW_BYTEA, -1, "bytea", "cast(k0 as pg_catalog.bytea)"},
        {PGW_UUID, -1, "uuid", "cast(k0 as pg_catalog.uuid)"},
        {PGW_DATE, -1, "date", "cast(k0 as pg_catalog.date)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        key it = {.table = {.hash_function = RW_PG_HASH, .hash_key_count = 1}};
        it.columns[0] = (rw_column){.type = cases[i].type,
                                    .typmod = cases[i].typmod,
                                    .type_name = (char *)cases[i].type_name};
        it.table.columns = it.columns;
        it.table.hash_key = first_columns;
        assert_non_null(strstr(expression_of(&it), cases[i].cast));
        pgw_arena_free(&it.arena);
    }
}

/* Where the length is known the other four ways are not written. */
static void keys_of_a_fixed_length_are_hashed_one_way(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        bool fixed;
    } cases[] = {
        {"bool=true", true},
        {"date=2026-01-02 bool=true", true},
        {"int8=1 int8=2 int8=3", true},
        {"uuid=a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 date=2026-01-02", true},
        {"text=x", false},
        {"bool=true text=x", false},
        {"text=x bool=true", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        key it = {.table = {.hash_function = RW_XXH3}};
        read_key(&it, pgw_slice_str(cases[i].key));
        bool fixed = strstr(expression_of(&it), "case when pg_catalog.length(b)") == NULL;
        assert_int_equal(fixed, cases[i].fixed);
        it.table.allow_null_key = true; /* it may be shorter */
        assert_non_null(strstr(expression_of(&it), "case when pg_catalog.length(b)"));
        pgw_arena_free(&it.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_hashes_as_published),
        cmocka_unit_test(values_of_each_type_are_hashed_as_here),
        cmocka_unit_test(integers_are_mixed_as_here),
        cmocka_unit_test(bytes_of_each_length_are_hashed_as_here),
        cmocka_unit_test(too_long_a_key_is_an_error),
        cmocka_unit_test(a_null_is_left_to_the_server),
        cmocka_unit_test(values_are_cast_as_they_are_stored),
        cmocka_unit_test(keys_of_a_fixed_length_are_hashed_one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
