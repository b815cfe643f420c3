/* A COPY by way of a temporary table. */
#include "rewrite/statement/copy/staged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables.h"

#define CREATE(columns)                                                                            \
    "create temporary table \"events\" on commit delete rows as select " columns                   \
    " from \"public\".\"events\" with no data"
#define KEY "(\"userid\", \"ts\", \"userhash\")"

static const struct {
    const char *sent;
    bool updates;
    const char *create, *statement;
} CASES[] = {
    {"copy events (userid, ts, event, userhash) from stdin", false,
     CREATE("userid, ts, event, userhash"),
     "copy \"pg_temp\".\"events\" (userid, ts, event, userhash) from stdin\n"
     "; insert into \"public\".\"events\" (userid, ts, event, userhash) overriding system value "
     "select  userid, ts, event, userhash from \"pg_temp\".\"events\" on conflict " KEY
     " do nothing"},
    {"/* c (*/ COPY binary \"public\" . events(\"event\", TS,userid ,\"userhash\") from stdin; -- "
     "x",
     true, CREATE("\"event\", TS,userid ,\"userhash\""),
     "/* c (*/ COPY binary \"pg_temp\".\"events\" (\"event\", TS,userid ,\"userhash\") from stdin; "
     "-- x\n"
     "; insert into \"public\".\"events\" (\"event\", TS,userid ,\"userhash\") overriding system "
     "value select distinct on " KEY " \"event\", TS,userid ,\"userhash\" from "
     "\"pg_temp\".\"events\" order by \"userid\", \"ts\", \"userhash\", ctid desc on conflict " KEY
     " do update set \"event\" = excluded.\"event\""},
    {"copy events (userid, ts, userhash) from stdin", true, CREATE("userid, ts, userhash"),
     "copy \"pg_temp\".\"events\" (userid, ts, userhash) from stdin\n"
     "; insert into \"public\".\"events\" (userid, ts, userhash) overriding system value select "
     "distinct on " KEY " userid, ts, userhash from \"pg_temp\".\"events\" order by \"userid\", "
     "\"ts\", \"userhash\", ctid desc on conflict " KEY
     " do update set \"userid\" = excluded.\"userid\""},
};

static void test_cases(void **state)
{
    (void)state;
    const rw_copy copy = {.table = &test_tables[0]};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rw_staged staged;
        rw_copy_stage(&copy, pgw_slice_str(CASES[i].sent), true, CASES[i].updates, &staged);
        pgw_buf_add_byte(&staged.create, '\0');
        pgw_buf_add_byte(&staged.statement, '\0');
        assert_string_equal(staged.create.ptr, CASES[i].create);
        assert_string_equal(staged.statement.ptr, CASES[i].statement);
        pgw_buf_free(&staged.create);
        pgw_buf_free(&staged.statement);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
