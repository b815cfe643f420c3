/* What makes a statement fail where the table's columns are others than it was made for. */
#include "rewrite/insert/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables.h"

static void expect(pgw_buf *out, const char *text)
{
    if (!pgw_slice_eq_str(pgw_slice_buf(out), text))
        fail_msg("%.*s", (int)out->len, out->ptr);
    pgw_buf_clear(out);
}

static void a_hash_is_of_its_columns_type(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    const rw_insert insert = {.table = &table};
    pgw_buf out = {0};
    rw_guard_hash_behind(&insert, &out);
    expect(&out, " else pg_catalog.concat('" RW_CHANGED "')::bigint end");
    table.hash_type = RW_HASH_UINT64;
    rw_guard_hash_behind(&insert, &out);
    expect(&out, " else pg_catalog.concat('" RW_CHANGED "')::numeric end");
    pgw_buf_free(&out);
}

static void rows_are_counted(void **state)
{
    (void)state;
    pgw_buf out = {0};
    rw_guard_before(&out);
    expect(&out, "with keyspread_rows as (");
    rw_guard_behind(7, PGW_LITERAL(" and x"), &out);
    expect(&out, "\nreturning 1) select 1 operator(pg_catalog./) case when (select "
                 "pg_catalog.count(*) from keyspread_rows) operator(pg_catalog.=) 7 and x then 1 "
                 "else 0 end");
    pgw_buf_free(&out);
}

/* Wherever the backend was asked for the columns; the catalog is read only for a list that was made
 * here. */
static void guards_are_for_tables_that_were_asked_for(void **state)
{
    (void)state;
    for (int made = 0; made < 2; made++)
        for (uint32_t oid = 0; oid < 2; oid++) {
            const rw_table table = {.oid = oid};
            const rw_insert insert = {.table = &table, .list_made = made};
            assert_int_equal(rw_guard_wanted(&insert), oid);
            assert_int_equal(rw_guard_reads(&insert), made && oid);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_of_its_columns_type),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(guards_are_for_tables_that_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
