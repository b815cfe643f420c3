/* Which statements may change what is known of the configured tables. */
#include "rewrite/statement/words/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"

static const char *const reaching[] = {
    "alter table events add a int",
    "ALTER TABLE Events RENAME a TO b",
    "alter table parent add a int", /* ours may inherit it */
    "create table events (a int)",
    "create temp table \"events\"(a int)",
    "create unlogged table u&\"\\0065vents\"(a int)",
    "drop table events",
    "drop table if exists other, events",
    "drop schema s cascade",
    "drop function f() cascade",
    "alter schema s rename to t",
    /* a cast may mean it */
    "create domain pg_temp.text as varchar(3)",
    "create type d as enum ()",
    "create table if not exists s.TEXT (a int)",
    "create temp view \"uuid\" as select 1",
    "create materialized view u&\"x\" as select 1",
    "select 1 as a into temp table date",
    "alter type mood add value 'x'",
    "alter domain d set not null",
    "drop type t cascade",
    "create or replace trigger t before insert on part for each row execute function f()",
    "create constraint trigger t after insert on part execute function f()",
    "create rule r as on insert to part do nothing",
    "create extension citext",
    "drop extension citext",
    "drop owned by r",
    "reassign owned by a to b",
    "import foreign schema s from server f into public",
    "create or replace function f() returns trigger language plpgsql as 'x'",
    "create table t (a text default set_config('role', 'x', false))",
    "do $$ begin execute 'alter ' || 'table x' end $$",
    "call p()",
    "commit prepared 'x'",
    "select 1 as a into events",
    /* quoted wherever it is */
    "comment on table events is 'x'",
};

static const char *const harmless[] = {
    "create temp table zz(a int)",
    "drop table zz",
    "create table public.zz (a int, b text default 'x')",
    "create table zz as select 1",
    "create unique index concurrently on zz(a)",
    "drop index i",
    "create view v as select 1",
    "create sequence s",
    "create table text.zz (text int8, date date)",
    "create temp view \"TEXT\" as select 1",
    /* as long as the longest of their names, and longer */
    "create table abcdefghijklmnop",
    "create table abcdefghijklmnopq",
    "create table \"abcdefghijklmnop\"",
    "alter sequence s restart",
    "create role r",
    "alter role r set search_path = x",
    "alter database d set timezone = 'UTC'",
    "create schema s",
    "truncate events",
    "commit",
    "commit and chain",
    "begin",
    "set search_path = x",
    "set local role events",
    "reset events.x",
    "begin isolation level serializable /* events */",
    "start transaction; -- events",
    "savepoint events",
    "rollback to events",
    "release events",
    "lock table events",
    "end -- of events",
    "select 1 into zz",
    "",
};

static void test_reaches(void **state)
{
    (void)state;
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog names = test_catalog(pointers);
    for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++)
        if (!rw_reaches_tables(exact(reaching[i]), &names, true))
            fail_msg("harmless? %s", reaching[i]);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (rw_reaches_tables(exact(harmless[i]), &names, true))
            fail_msg("it reaches a table? %s", harmless[i]);
}

static void test_stands_by(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool stands_by;
    } table[] = {
        {"lock table events", true},
        {"BEGIN; set local role events; LOCK events in share mode;;", true},
        {"savepoint events; release events; rollback to a; abort", true},
        {"start transaction; reset all; end", true},
        {"set events.x = 'a;b'", true},
        {"set events.x = 'a\\'", false}, /* only by what strings are now */
        {"set events.x = U&'a'", false},
        {"", true},
        {"set x = 'no end", false},
        {"begin; select 1", false},
        {"lock table events; insert into events values (1)", false},
        {"commit prepared 'x'", false},
        {"insert into events values (1)", false},
        {"show x", false},
        {"; insert into events values (1)", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (rw_stands_by(exact(table[i].text), true) != table[i].stands_by)
            fail_msg("%s", table[i].text);
}

static void test_moves_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool moves;
    } table[] = {
        {"alter table events drop a", true},      {"drop table events", true},
        {"create table events (a int)", true},    {"alter schema public rename to old", true},
        {"create table other (a int)", false},    {"create index on events (a)", false},
        {"insert into events values (1)", false}, {"create view v as select * from events", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(rw_moves_columns(exact(table[i].text), &test_tables[0], true),
                         table[i].moves);
}

static void test_defines_alone(void **state)
{
    (void)state;
    static const char *const others[] = {
        "create table zz (a int references events)",
        "create table zz (like events)",
        "create table zz as select 1",
        "create table zz (a int) inherits (events)",
        "create table zz partition of events default",
        "create table zz of events",
        "create table zz (a int); insert into zz values (1)",
        "create table zz (a int); select 1",
        "create table zz (a int default 'no end)",
        "create table zz (a text default 'it''s', b int references \"events\")",
        "create view v as select * from events",
        "create materialized view v as select 1",
        "create rule r as on insert to events do nothing",
        "create schema s create table events (a int)",
        "create unique index on only events (userid)",
        "create unique index on events (event)", /* tables of these tests are in partitions */
        "create index concurrently on events (event)",
        "create trigger t before update on events for each row when (true) execute function f()",
        "create function f() returns int language sql begin atomic select 1; end",
        "create function f() returns bigint language sql return (select userid from events)",
        "alter table events add primary key (userid)",
        "alter table events add x int primary key",
        "alter table events add x int unique",
        "alter table events add x int references events",
        "alter table events add x int, drop userid",
        "alter table events add constraint c check (true)",
        "alter table events drop userhash",
        "alter table events rename to other",
        "alter table events alter userid type text",
        "alter table events alter userid set default 1",
        "alter table events alter userid set statistics 1, alter userhash drop not null",
        "alter table events owner to r, alter userhash drop not null",
        "alter table events inherit parent",
        "alter table only events add primary key (userid)",
        "alter index i attach partition j",
        "alter schema s rename to t",
        "drop table events; create table events (a int)",
        "select 1 into events",
        "insert into events values (1)",
        "truncate events",
        "comment on table events is 'no end",
        "comment on column sly.shy is 'x'",
        "grant select (shy) on sly to r",
        "",
    };
    static rw_column shy = {.name = (char *)"shy"};
    static const rw_table sly = {
        .schema = (char *)"public", .name = (char *)"sly", .columns = &shy, .strict = true};
    const rw_table *pointers[TEST_TABLE_COUNT + 1];
    rw_catalog names = test_catalog(pointers);
    pointers[names.count++] = &sly;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (rw_defines_alone(exact(others[i]), &names, true))
            fail_msg("alone? %s", others[i]);
    for (size_t i = 0; i < TEST_ALONE_COUNT; i++)
        if (!rw_defines_alone(exact(test_alone[i]), &names, true))
            fail_msg("not alone? %s", test_alone[i]);
}

#define SIXTY "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"

/* What is read by keys alone, and leaves them alone. */
static void test_leaves_keys(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool refers, leaves;
        const char *made; /* NULL: nothing */
    } table[] = {
        {"alter table a add foreign key (b) references c", true, true, NULL},
        {"ALTER TABLE ONLY public.a ADD CONSTRAINT x FOREIGN KEY (b, c) REFERENCES d (e, f)"
         " ON DELETE CASCADE;",
         true, true, NULL},
        {"alter table if exists a add foreign key (b) references c", true, true, NULL},
        {"create table a (b int references c, d int)", true, true, "a"},
        {"create table if not exists s.\"A b\" (b int)", true, true, "A b"},
        {"create temp table a (b int)", true, true, "a"},
        {"create table \"" SIXTY "xyz and more\" (b int)", true, true, SIXTY "xyz"},
        {"create unique index i on a (b)", false, true, "i"},
        {"create index concurrently if not exists i on a (b)", false, true, "i"},
        {"create index on a (b)", false, true, NULL},
        {"create or replace function f() returns trigger language plpgsql as 'begin; end'", false,
         true, NULL},
        {"create trigger t before insert on a for each row execute function f()", false, true,
         NULL},
        {"alter table a add foreign key (b) references c, drop d", false, false, NULL},
        {"alter table a add foreign key (b) references c; drop table d", false, false, NULL},
        {"alter table a add primary key (b)", false, false, NULL},
        {"alter table a add column b int references c", false, false, NULL},
        {"alter table a drop b", false, false, NULL},
        {"alter table a rename to b", false, false, NULL},
        {"alter index a rename to b", false, false, NULL},
        {"create table a (like b)", false, false, NULL},
        {"create table a as select 1", false, false, NULL},
        {"create table a (b int) inherits (c)", false, false, NULL},
        {"create table a partition of b default", false, false, NULL},
        {"create table \"a\"\"b\" (b int)", true, false, NULL},
        {"create table a (b int references U&\"\\0063\")", false, false, NULL},
        {"create table a (b int default 'no end)", false, false, NULL},
        {"create view a as select 1", false, false, NULL},
        {"drop table a", false, false, NULL},
        {"insert into a values (1)", false, false, NULL},
        {"", false, false, NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pgw_slice made;
        pgw_slice text = exact(table[i].text);
        bool leaves = rw_leaves_keys(text, true, &made);
        if (rw_refers_alone(text, true) != table[i].refers || leaves != table[i].leaves)
            fail_msg("%s", table[i].text);
        if (leaves && !pgw_slice_eq_str(made, table[i].made != NULL ? table[i].made : ""))
            fail_msg("%s makes %.*s", table[i].text, (int)made.len, made.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches),       cmocka_unit_test(test_stands_by),
        cmocka_unit_test(test_moves_columns), cmocka_unit_test(test_defines_alone),
        cmocka_unit_test(test_leaves_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
