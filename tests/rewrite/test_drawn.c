/* Texts that ask what their session drew. */
#include "rewrite/statement/words/drawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"

/* What the link drew of the sequence last, the session's number. */
#define UNLESS_NEWER(call, link, number)                                                           \
    "case when " call " operator(pg_catalog.=) (" link ")::pg_catalog.int8 then (" number          \
    ")::pg_catalog.int8 else " call " end"
#define LASTVAL "(" UNLESS_NEWER("pg_catalog.lastval()", "90", "7") ")"
#define IS(arguments, sequence)                                                                    \
    " when (" arguments                                                                            \
    "\n)::pg_catalog.regclass::pg_catalog.oid operator(pg_catalog.=) " sequence " then "
#define CURRVAL(arguments)                                                                         \
    "(case" IS(arguments, "100") UNLESS_NEWER("pg_catalog.currval(100)", "90", "-5")               \
        IS(arguments, "200") "(7)::pg_catalog.int8 else pg_catalog.currval(" arguments "\n) end)"

/* Of the second its link has drawn nothing; of the third, nothing for others. */
static const rw_drawn drawn = {
    .of = {{100, -5, 90, true}, {300, 8, 8, true}, {200, 7, 0, false}},
    .count = 3,
    .link = 90,
    .linked = true,
};

static void calls_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told; /* NULL: it is left */
    } cases[] = {
        {"select lastval()", "select " LASTVAL},
        {"SELECT LastVal ( ) + 1;", "SELECT " LASTVAL " + 1;"},
        {"select pg_catalog.\"lastval\"(), a", "select " LASTVAL ", a"},
        {"select currval('s')", "select " CURRVAL("'s'")},
        {"select currval(f(')', (1)) -- x\n), 2", "select " CURRVAL("f(')', (1)) -- x\n") ", 2"},
        {"select nextval('s'), lastval()", "select nextval('s'), " LASTVAL},
        {"select setval('s', 1)", NULL},
        {"select other.lastval()", NULL},
        {"select \"o\".lastval()", NULL},
        {"select \"lastval\"()", "select " LASTVAL},
        {"select \"l\"(), \"c\"('s')", NULL},
        {"select \"LASTVAL\"()", NULL},
        {"select 'lastval()', lastval", NULL},
        {"select * from lastval()", NULL},
        {"create view v as select lastval()", NULL},
        {"prepare p as select lastval()", NULL},
        {"select lastval(", NULL},
        {"lastval", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf out = {0};
        bool told = rw_drawn_tell(exact(cases[i].text), &drawn, true, &out);
        assert_int_equal(told, cases[i].told != NULL);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, told ? cases[i].told : "");
        pgw_buf_free(&out);
    }
}

static void what_the_link_knows_is_left_to_it(void **state)
{
    (void)state;
    static const rw_drawn own = {.of = {{100, 8, 8, true}}, .count = 1, .link = 8, .linked = true};
    pgw_buf out = {0};
    assert_false(rw_drawn_tell(exact("select lastval(), currval('s')"), &own, true, &out));
    assert_int_equal(out.len, 0);
}

/* Another one has come in its place. */
static void a_link_that_has_gone_knew(void **state)
{
    (void)state;
    static const rw_drawn lost = {.of = {{100, 8, 8, false}}, .count = 1};
    pgw_buf out = {0};
    assert_true(rw_drawn_tell(exact("select lastval()"), &lost, true, &out));
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr, "select (select (8)::pg_catalog.int8 as lastval)");
    pgw_buf_free(&out);
}

/* They would be repeated. */
static void long_arguments_are_left(void **state)
{
    (void)state;
    for (size_t len = 1020; len <= 1024; len++) { /* and two quotes */
        pgw_buf text = {0}, out = {0};
        pgw_buf_add_str(&text, "select currval('");
        for (size_t i = 0; i < len; i++)
            pgw_buf_add_byte(&text, 'x');
        pgw_buf_add_str(&text, "')");
        assert_int_equal(rw_drawn_tell(pgw_slice_buf(&text), &drawn, true, &out), len + 2 <= 1024);
        pgw_buf_free(&text);
        pgw_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told),
        cmocka_unit_test(what_the_link_knows_is_left_to_it),
        cmocka_unit_test(a_link_that_has_gone_knew),
        cmocka_unit_test(long_arguments_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
