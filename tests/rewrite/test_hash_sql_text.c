/* The expressions by which the server hashes, of keys of all types, are expressions of SQL of all
 * columns of the key: that they are right is test_hash_sql's matter, and the server's. */
#include "rewrite/hash/hash_sql.h"
#include "rewrite/hash/table.h"
#include "rewrite/statement/script/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t types[] = {
    PGW_INT2, PGW_INT4, PGW_INT8, PGW_TEXT,      PGW_VARCHAR, PGW_BPCHAR, PGW_BYTEA,
    PGW_UUID, PGW_BOOL, PGW_DATE, PGW_TIMESTAMP, PGW_NUMERIC, PGW_FLOAT8, PGW_TIMESTAMPTZ};
enum { TYPES = sizeof types / sizeof *types, MOST_KEY = 3, TYPMODS = 3 };

static const size_t key[] = {0, 1, 2};

static bool is_expression(const char *text)
{
    static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    bool right = rw_syntax_parse(pgw_slice_str(pgw_arena_printf(&arena, "SELECT %s AS hash", text)),
                                 &env, &arena, &syntax, &error);
    if (right)
        rw_syntax_free(&syntax);
    pgw_arena_free(&arena);
    return right;
}

/* Of columns of the types from `first` on. */
static void check_expression(size_t first, rw_table *table)
{
    static const int32_t typmods[TYPMODS] = {-1, 4 + 3, 5};
    static const char *const values[] = {"a.b", "$1", "(1 + 1)"};
    pgw_arena arena = {0};
    rw_column columns[MOST_KEY];
    for (size_t i = 0; i < MOST_KEY; i++)
        columns[i] = (rw_column){.name = "k",
                                 .type = types[(first + i) % TYPES],
                                 .type_name = (char *)rw_hash_sql_type(types[(first + i) % TYPES]),
                                 .typmod = typmods[(first + i + table->hash_key_count) % TYPMODS],
                                 .not_null = i % 2 == 0};
    table->columns = columns;
    table->column_count = MOST_KEY;
    table->hash_key = (size_t *)key;
    assert_true(is_expression(pgw_arena_printf(&arena, "a::%s", rw_hash_sql_type(types[first]))));
    if (rw_hash_has_sql(table)) {
        const char *text = rw_hash_sql(table, values, &arena);
        if (!is_expression(text))
            fail_msg("this is no expression: %s", text);
        /* A hash of one number is asked for keys of one column alone. */
        size_t count = table->hash_function == RW_NUMERIC_HASH ? 1 : table->hash_key_count;
        for (size_t i = 0; i < count; i++)
            if (strstr(text, values[i]) == NULL)
                fail_msg("%s is not hashed: %s", values[i], text);
    }
    pgw_arena_free(&arena);
}

static void keys_of_all_types_have_expressions(void **state)
{
    (void)state;
    for (size_t count = 1; count <= MOST_KEY; count++)
        for (int function = RW_XXH3; function <= RW_PG_HASH; function++)
            for (int variant = 0; variant < 4; variant++) {
                rw_table table = {.hash_function = (rw_hash_function)function,
                                  .hash_key_count = count,
                                  .hash_type = variant & 1 ? RW_HASH_UINT64 : RW_HASH_INT8,
                                  .allow_null_key = variant & 2};
                for (size_t first = 0; first < TYPES; first++)
                    check_expression(first, &table);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_all_types_have_expressions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
