/* Statements about tables with identities, and with keys of all types, with a word left out, or
 * twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "word_deleted_statement.h"
#include "tables.h"

enum { TABLES = 5, KINDS = 13, ROUNDS = 4 };

static rw_column made[] = {
    COLUMN("v", PGW_TEXT, -1, .attnum = 1),
    COLUMN("id", PGW_INT8, -1, .attnum = 2, .default_text = (char *)"nextval('s')",
           .has_default = true, .sequence = true, .always = true, .identity = true),
    COLUMN("w", PGW_TEXT, -1, .attnum = 3, .has_default = true),
    COLUMN("at", PGW_TIMESTAMPTZ, -1, .attnum = 4, .default_text = (char *)"now()",
           .has_default = true),
    HASH("h"),
};
static rw_column twins[] = {
    COLUMN("id", PGW_INT8, -1, .attnum = 1, .default_text = (char *)"nextval('s')",
           .has_default = true, .sequence = true, .always = true, .identity = true),
    COLUMN("n", PGW_INT4, -1, .attnum = 2, .default_text = (char *)"nextval('t')",
           .has_default = true, .sequence = true, .identity = true),
    COLUMN("v", PGW_TEXT, -1, .attnum = 3),
    COLUMN("g", PGW_TEXT, -1, .attnum = 4, .has_default = true, .generated = true),
    HASH("h"),
};
static rw_column kinds[KINDS] = {
    COLUMN("b", PGW_BOOL, -1),
    COLUMN("y", PGW_BYTEA, -1),
    COLUMN("u", PGW_UUID, -1),
    COLUMN("d", PGW_DATE, -1),
    COLUMN("ts", PGW_TIMESTAMP, -1),
    COLUMN("tz", PGW_TIMESTAMPTZ, 3),
    COLUMN("n", PGW_NUMERIC, 393222),
    COLUMN("f", PGW_FLOAT8, -1),
    COLUMN("c", PGW_VARCHAR, 9),
    COLUMN("p", PGW_BPCHAR, 9),
    COLUMN("i2", PGW_INT2, -1),
    COLUMN("i4", PGW_INT4, -1),
    HASH("h"),
};
static rw_column narrow[] = {
    COLUMN("v", PGW_TEXT, -1, .attnum = 1),
    COLUMN("i", PGW_INT4, -1, .attnum = 2, .not_null = true),
    HASH("h"),
};
static rw_column pairs[] = {
    COLUMN("a", PGW_INT4, -1, .attnum = 1, .not_null = true),
    COLUMN("b", PGW_INT4, -1, .attnum = 2, .not_null = true),
    HASH("h"),
};
static size_t i_alone[] = {1}, a_and_b[] = {0, 1};
static size_t id_and_at[] = {1, 3}, id_alone[] = {0},
              all_kinds[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

#define KEYED(n, c, hash, keys)                                                                    \
    {                                                                                              \
        .schema = (char *)"public", .name = (char *)(n), .columns = (c),                           \
        .column_count = sizeof(c) / sizeof *(c), .primary_key = (keys), .hash_key = (keys),        \
        .primary_key_count = sizeof(keys) / sizeof *(keys),                                        \
        .hash_key_count = sizeof(keys) / sizeof *(keys), .hash_column = (hash), .looked_up = true, \
        .mergeable = true, .partitions = {                                                         \
            .kind = RW_PARTITION_UNIFORM,                                                          \
            .count = 16                                                                            \
        }                                                                                          \
    }

static rw_table tables[TABLES] = {
    KEYED("made", made, 4, id_and_at),    KEYED("twins", twins, 4, id_alone),
    KEYED("kinds", kinds, 12, all_kinds), KEYED("narrow", narrow, 2, i_alone),
    KEYED("pairs", pairs, 2, a_and_b),
};

/* Of the file, or of a server; hashed by this function; NULL may be in the key. */
static void set_up(unsigned round)
{
    for (size_t i = 0; i < TABLES; i++) {
        tables[i].oid = round % 2 == 0 ? 0 : (uint32_t)(4711 + i);
        tables[i].hash_function = round < 2 ? RW_XXH3 : RW_PG_HASH;
        tables[i].allow_null_key = round == 1;
        tables[i].forward_uncomputable = round == 2;
    }
    kinds[5].type_name = (char *)"timestamp(3) with time zone";
    kinds[6].type_name = (char *)"numeric(6,2)";
    kinds[8].type_name = (char *)"character varying(5)";
    kinds[9].type_name = (char *)"character(5)";
}

/* Each round has other words of each text. */
static void judge_lines(unsigned round)
{
    word_deleted_lines(VECTORS "/left_out_made.sql", round, ROUNDS, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    static const rw_table *const pointers[] = {&tables[0], &tables[1], &tables[2], &tables[3],
                                               &tables[4]};
    const rw_catalog known = {.tables = pointers, .count = TABLES};
    catalog = &known;
    env = &test_env;
    for (unsigned round = 0; round < ROUNDS; round++) {
        set_up(round);
        judge_lines(round);
    }
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
