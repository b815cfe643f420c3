/* The expressions by which the server hashes, of keys of all types: that they are right is
 * test_hash_sql's matter, and the server's; here none changes unseen. */
#include "rewrite/hash/hash_sql.h"
#include "rewrite/hash/table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/protocol/left_out.h"

static const uint32_t types[] = {
    PGW_INT2, PGW_INT4, PGW_INT8, PGW_TEXT,      PGW_VARCHAR, PGW_BPCHAR, PGW_BYTEA,
    PGW_UUID, PGW_BOOL, PGW_DATE, PGW_TIMESTAMP, PGW_NUMERIC, PGW_FLOAT8, PGW_TIMESTAMPTZ};
enum { TYPES = sizeof types / sizeof *types, MOST_KEY = 3, TYPMODS = 3 };

static const size_t key[] = {0, 1, 2};

/* Of columns of the types from `first` on. */
static void add_expression(size_t first, rw_table *table, pgw_buf *out)
{
    static const int32_t typmods[TYPMODS] = {-1, 4 + 3, 5};
    static const char *const values[] = {"a.b", "$1", "(1 + 1)"};
    pgw_arena arena = {0};
    rw_column columns[MOST_KEY];
    for (size_t i = 0; i < MOST_KEY; i++)
        columns[i] = (rw_column){.name = "k",
                                 .type = types[(first + i) % TYPES],
                                 .typmod = typmods[(first + i + table->hash_key_count) % TYPMODS],
                                 .not_null = i % 2 == 0};
    table->columns = columns;
    table->column_count = MOST_KEY;
    table->hash_key = (size_t *)key;
    pgw_buf text = {0};
    pgw_buf_addf(&text, "%d ", rw_hash_has_sql(table));
    pgw_buf_add_str(&text, rw_hash_sql_type(types[first]));
    if (rw_hash_has_sql(table))
        pgw_buf_add_str(&text, rw_hash_sql(table, values, &arena));
    left_out_letters(&text, out);
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

static char *all(void)
{
    pgw_buf out = {0};
    for (size_t count = 1; count <= MOST_KEY; count++)
        for (int function = RW_XXH3; function <= RW_PG_HASH; function++)
            for (int variant = 0; variant < 4; variant++) {
                pgw_buf_addf(&out, "%zu %d %d", count, function, variant);
                rw_table table = {.hash_function = (rw_hash_function)function,
                                  .hash_key_count = count,
                                  .hash_type = variant & 1 ? RW_HASH_UINT64 : RW_HASH_INT8,
                                  .allow_null_key = variant & 2};
                for (size_t first = 0; first < TYPES; first++)
                    add_expression(first, &table, &out);
                pgw_buf_add_byte(&out, '\n');
            }
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/hash_sql_texts.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
