/* Whether stored rows have their hash: what is asked, and what is made of the answer. */
#include "proxy/backend/schema/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rewrite/hash/hash.h"
#include "tests/rewrite/tables.h"

static void names_are_quoted(void **state)
{
    (void)state;
    static const struct {
        size_t table;
        unsigned limit;
        const char *sql;
    } cases[] = {
        {0, 0, "select \"userhash\", \"userid\" from \"public\".\"events\""},
        {0, 100, "select \"userhash\", \"userid\" from \"public\".\"events\" limit 100"},
        {4, 1,
         "select \"H\", \"n\", \"Text \"\"Id\"\"\" from \"Odd\".\"Mixed \"\"Case\"\"\" limit 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf sql = {0};
        px_audit_query(&test_tables[cases[i].table], cases[i].limit, &sql);
        if (!pgw_slice_eq_str(pgw_slice_buf(&sql), cases[i].sql))
            fail_msg("%.*s", (int)sql.len, sql.ptr);
        pgw_buf_free(&sql);
    }
}

/* The hash of (n, Text "Id"), as text. */
static void hash_of(const char *number, const char *id, pgw_buf *out)
{
    const pgw_value values[] = {
        {.type = PGW_NUMERIC,
         .null = number == NULL,
         .as.bytes = pgw_slice_str(number ? number : "")},
        {.type = PGW_TEXT, .null = id == NULL, .as.bytes = pgw_slice_str(id ? id : "")}};
    rw_hash_print(&test_tables[4], rw_hash_key(&test_tables[4], values), out);
}

static void rows_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *number, *id; /* NULL: NULL */
        enum { RIGHT, WRONG, NONE } stored;
        px_audit verdict;
        bool told; /* what the hash should be */
    } cases[] = {
        {"1.50", "a", RIGHT, PX_AUDIT_RIGHT, true},
        {"1.50", "a", WRONG, PX_AUDIT_WRONG, true},
        {"1.50", "a", NONE, PX_AUDIT_MISSING, true},
        {NULL, "a", RIGHT, PX_AUDIT_RIGHT, true},
        {"1.50", NULL, RIGHT, PX_AUDIT_RIGHT, true},
        {"x", "a", RIGHT, PX_AUDIT_UNREADABLE, false},
        {"1.50", "\xc3\xa4", RIGHT, PX_AUDIT_RIGHT, true},
        {"x", "a", NONE, PX_AUDIT_MISSING, false},
        {"x", NULL, RIGHT, PX_AUDIT_UNREADABLE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf hash = {0}, right = {0};
        hash_of(cases[i].number, cases[i].id, &hash);
        const char *number = cases[i].number, *id = cases[i].id;
        const pgw_slice cells[] = {
            cases[i].stored == RIGHT ? pgw_slice_buf(&hash) : PGW_LITERAL("5"),
            pgw_slice_str(number ? number : ""), pgw_slice_str(id ? id : "")};
        const bool nulls[] = {cases[i].stored == NONE, number == NULL, id == NULL};
        if (px_audit_row(&test_tables[4], cells, nulls, &right) != cases[i].verdict)
            fail_msg("case %zu", i);
        assert_int_equal(px_audit_row(&test_tables[4], cells, nulls, NULL), cases[i].verdict);
        assert_true(pgw_slice_eq(pgw_slice_buf(&right),
                                 cases[i].told ? pgw_slice_buf(&hash) : (pgw_slice){"", 0}));
        pgw_buf_free(&hash);
        pgw_buf_free(&right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(rows_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
