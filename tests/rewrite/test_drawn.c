/* Texts that ask what their session drew. */
#include "rewrite/read/drawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"

#define SEVEN "(select (7)::pg_catalog.int8 as lastval)"
#define CURRVAL                                                                                    \
    "(select case when s::pg_catalog.oid operator(pg_catalog.=) 100 then (-5)::pg_catalog.int8"    \
    " when s::pg_catalog.oid operator(pg_catalog.=) 200 then (7)::pg_catalog.int8"                 \
    " else pg_catalog.currval(s) end as currval from (select ("
#define OF "\n)::pg_catalog.regclass) q(s))"

static const rw_drawn drawn = {.of = {{100, -5}, {200, 7}}, .count = 2, .last = true};

static void calls_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told; /* NULL: it is left */
        bool moves;
    } cases[] = {
        {"select lastval()", "select " SEVEN, false},
        {"SELECT LastVal ( ) + 1;", "SELECT " SEVEN " + 1;", false},
        {"select pg_catalog.\"lastval\"(), a", "select " SEVEN ", a", false},
        {"select currval('s')", "select " CURRVAL "'s'" OF, false},
        {"select currval(f(')', (1)) -- x\n), 2", "select " CURRVAL "f(')', (1)) -- x\n" OF ", 2",
         false},
        {"select nextval('s'), lastval()", "select nextval('s'), " SEVEN, true},
        {"select setval('s', 1)", NULL, true},
        {"select other.lastval()", NULL, false},
        {"select \"LASTVAL\"()", NULL, false},
        {"select 'lastval()', lastval", NULL, false},
        {"select * from lastval()", NULL, false},
        {"create view v as select lastval()", NULL, false},
        {"prepare p as select lastval()", NULL, false},
        {"select lastval(", NULL, false},
        {"lastval", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf out = {0};
        bool moves;
        bool told = rw_drawn_tell(exact(cases[i].text), &drawn, true, &out, &moves);
        assert_int_equal(told, cases[i].told != NULL);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, told ? cases[i].told : "");
        assert_int_equal(moves, cases[i].moves);
        pgw_buf_free(&out);
    }
}

/* Another sequence was drawn from since. */
static void the_link_tells_what_was_last(void **state)
{
    (void)state;
    rw_drawn older = drawn;
    older.last = false;
    pgw_buf out = {0};
    bool moves;
    assert_false(rw_drawn_tell(exact("select lastval()"), &older, true, &out, &moves));
    assert_true(rw_drawn_tell(exact("select currval('s')"), &older, true, &out, &moves));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told),
        cmocka_unit_test(the_link_tells_what_was_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
