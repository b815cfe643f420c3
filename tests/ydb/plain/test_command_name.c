/* What a statement's command is called in an error: the words by which PostgreSQL has it. */
#include "ydb/plain/command_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"

static void commands_have_postgres_s_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"(select 1)", ""},
        {"'x'", ""},
        {"select 1", "SELECT"},
        {"/* a */ Select -- b\n 1", "SELECT"},
        {"insert into t values (1)", "INSERT"},
        {"analyze t", "ANALYZE"},
        {"create table t (a int)", "CREATE TABLE"},
        {"Drop\n index i", "DROP INDEX"},
        {"alter role r", "ALTER ROLE"},
        {"create", "CREATE"},
        {"create \"x\"", "CREATE"},
        {"vacuum full", "VACUUM"},
        {"with a as (select 1) insert into t select * from a", "INSERT"},
        {"with a as (select (1)), b as (values (')')) update t set a = 1", "UPDATE"},
        {"with a (x) as (delete from t) merge into t using a on true", "MERGE"},
        {"with a as (insert into t values (1)) select 1", "SELECT"},
        {"with a as (select 1)) delete from t", "DELETE"},
        {"with a as (select 1) values (1)", ""},
        {"with a as (select 1", ""},
        {"with a as ('x", ""},
        {"create abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
         NULL},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[RW_COMMAND_NAME_MOST];
        memset(name, 'x', sizeof name);
        rw_command_name(exact(cases[i][0]), true, name);
        if (cases[i][1] != NULL)
            assert_string_equal(name, cases[i][1]);
        else /* as much as there is room for */
            assert_int_equal(strlen(name), RW_COMMAND_NAME_MOST - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_have_postgres_s_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
