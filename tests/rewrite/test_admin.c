/* Which databases must be left, and whose settings change, from the text of a statement. */
#include "rewrite/ddl/admin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"

static const struct {
    const char *text;
    bool settings;
    const char *databases[RW_ADMIN_DATABASES];
} cases[] = {
    {"", false, {0}},
    {"select 1", false, {0}},
    {"drop database X", false, {"x"}},
    {"/* a */ DROP -- b\n DATABASE IF EXISTS \"X y\" WITH (FORCE);", false, {"X y"}},
    {"drop table database", false, {0}},
    {"drop database", false, {0}},
    {"create database x", false, {"template1"}},
    {"create database x template other", false, {"other"}},
    {"create database x with owner = me template = \"Other\" encoding 'UTF8'", false, {"Other"}},
    {"create database x template 'other'", false, {"other"}},
    {"create database x template default", false, {"template1"}},
    {"create database template", false, {"template1"}},
    {"create table database (a int)", false, {0}},
    {"alter database a rename to b", true, {"a"}},
    {"alter role r set timezone = 'UTC'", true, {0}},
    {"alter user all reset all", true, {0}},
    {"alter system set x = 1", true, {0}},
    {"alter table role add b int", false, {0}},
    {"begin; alter role r set a = b; commit", true, {0}},
    {"drop database a; drop database b; drop database c", false, {"a", "b"}},
    {"insert into t values ('drop database x')", false, {0}},
    {"drop database 'x", false, {0}},
    {"select 1; drop database x",
     false,
     {0}}, /* only a text that begins with such a word is read */
    {"start transaction; alter user r set a = b", true, {0}},
    {"create database a; alter database b set x = 1; create database c", true, {"template1", "b"}},
    {"create database x template =", false, {"template1"}},
    {"create database", false, {"template1"}},
    {"create database x template", false, {"template1"}},
    {"create database template template template", false, {"template"}},
};

static void test_admin(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_admin admin;
        rw_admin_read(exact(cases[i].text), true, &arena, &admin);
        assert_int_equal(admin.settings, cases[i].settings);
        bool says = admin.settings || admin.database_count > 0;
        assert_true(!says || rw_admin_may_say(exact(cases[i].text)));
        for (size_t k = 0; k < RW_ADMIN_DATABASES; k++) {
            const char *expected = cases[i].databases[k];
            assert_int_equal(k < admin.database_count, expected != NULL);
            if (expected != NULL)
                assert_true(pgw_slice_eq_str(admin.databases[k], expected));
        }
        pgw_arena_free(&arena);
    }
}

static void test_two_letters_are_enough_for_most(void **state)
{
    static const char *const may[] = {"",        "d",  "DROP",    "Begin",
                                      " select", "--", "(select", "start"};
    static const char *const may_not[] = {"select", "SHOW", "insert", "update",
                                          "de",     "sa",   "ba",     "co"};
    (void)state;
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        assert_true(rw_admin_may_say(exact(may[i])));
    for (size_t i = 0; i < sizeof may_not / sizeof *may_not; i++)
        assert_false(rw_admin_may_say(exact(may_not[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_admin),
                                       cmocka_unit_test(test_two_letters_are_enough_for_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
