/* Defaults mean what they mean to the backend whatever search_path is. */
#include "rewrite/insert/default_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void what_is_postgresql_s_own_gets_its_schema(void **state)
{
    (void)state;
    static const char *const defaults[][2] = {
        {"5", "5"},
        {"'-1'::integer", "'-1'::integer"},
        {"'it''s::text now()'::text", "'it''s::text now()'::pg_catalog.text"},
        {"'x'::character varying(5)", "'x'::character varying(5)"},
        {"('x'::text)::character(3)", "('x'::pg_catalog.text)::character(3)"},
        {"'{a,b}'::text[]", "'{a,b}'::pg_catalog.text[]"},
        {"'2026-01-02'::date", "'2026-01-02'::pg_catalog.date"},
        {"'2026-01-02 00:00:00'::timestamp(3) without time zone",
         "'2026-01-02 00:00:00'::timestamp(3) without time zone"},
        {"'1 day'::interval day to second(3)", "'1 day'::interval day to second(3)"},
        {"1.5::numeric(10,2)", "1.5::numeric(10,2)"},
        {"'a'::mood", "'a'::mood"},
        {"'a'::public.text", "'a'::public.text"},
        {"'a'::pg_catalog.text", "'a'::pg_catalog.text"},
        {"now()", "pg_catalog.now()"},
        {"CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP(3)"},
        {"public.made()", "public.made()"},
        {"pg_catalog.nextval('7'::pg_catalog.regclass)",
         "pg_catalog.nextval('7'::pg_catalog.regclass)"},
        {"nextval('s'::regclass)", "pg_catalog.nextval('s'::pg_catalog.regclass)"},
        {"\"left\"('abc'::text, 2)", "pg_catalog.\"left\"('abc'::pg_catalog.text, 2)"},
        {"COALESCE(lower('A'::text), 'b'::text)",
         "COALESCE(pg_catalog.lower('A'::pg_catalog.text), 'b'::pg_catalog.text)"},
        {"EXTRACT(year FROM now())", "EXTRACT(year FROM pg_catalog.now())"},
        {"(now() AT TIME ZONE 'utc'::text)",
         "(pg_catalog.now() AT TIME ZONE 'utc'::pg_catalog.text)"},
        {"((1 + 2) * (- length('a'::text)))",
         "((1 operator(pg_catalog.+) 2) operator(pg_catalog.*) (operator(pg_catalog.-) "
         "pg_catalog.length('a'::pg_catalog.text)))"},
        {"(1 OPERATOR(public.+) 2)", "(1 OPERATOR(public.+) 2)"},
        {"('a'::text ~~ ANY (ARRAY['b'::text]))",
         "('a'::pg_catalog.text operator(pg_catalog.~~) ANY (ARRAY['b'::pg_catalog.text]))"},
        {"make_interval(days => 1)", "pg_catalog.make_interval(days => 1)"},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        pgw_buf out = {0};
        rw_add_default(defaults[i][0], &out);
        if (!pgw_slice_eq_str(pgw_slice_buf(&out), defaults[i][1]))
            fail_msg("%s: %.*s", defaults[i][0], (int)out.len, out.ptr);
        pgw_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_postgresql_s_own_gets_its_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
