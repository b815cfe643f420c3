/*
 * The allow-list: statements of all kinds, and trees grown from them by chance. What a tree may
 * hold is said here once more, by the names of nodes alone: whatever holds another one is refused.
 */
#include "tests/ydb_endpoint/allow.h"
#include "tests/ydb_endpoint/rules.h"

#include "rewrite/statement/tree/walk.h"

#include <pg_query.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POOL = 4096, ROUNDS = 60000 };

/* Section 2 in names; the rest of PostgreSQL's nodes are nowhere in it. */
static const char *const known[] = {
    "SelectStmt",
    "InsertStmt",
    "UpdateStmt",
    "DeleteStmt",
    "CreateStmt",
    "IndexStmt",
    "DropStmt",
    "AlterTableStmt",
    "AlterTableCmd",
    "CreateSeqStmt",
    "AlterSeqStmt",
    "DefElem",
    "VariableSetStmt",
    "VariableShowStmt",
    "TransactionStmt",
    "AConst",
    "AExpr",
    "CaseExpr",
    "CaseWhen",
    "TypeCast",
    "TypeName",
    "BoolExpr",
    "NullTest",
    "BooleanTest",
    "FuncCall",
    "AArrayExpr",
    "SubLink",
    "CoalesceExpr",
    "GroupingFunc",
    "GroupingSet",
    "ParamRef",
    "ColumnRef",
    "SQLValueFunction",
    "List",
    "String",
    "Integer",
    "Float",
    "Boolean",
    "BitString",
    "AStar",
    "ResTarget",
    "RangeVar",
    "RangeSubselect",
    "RangeFunction",
    "JoinExpr",
    "Alias",
    "SortBy",
    "WindowDef",
    "WithClause",
    "CommonTableExpr",
    "ColumnDef",
    "Constraint",
    "IndexElem",
    "LockingClause",
    "Node",
};

static const char *const statements[] = {
    "select a, b.*, 'x', 1.5, true, b'1', null from t as b (c) where a = 1 and not b like 'x'",
    "select distinct on (a) a from t join u on t.a = u.a group by grouping sets ((a), ()) having "
    "count(*) > 0 window w as (partition by a order by b desc) order by 1 limit 1 offset 2",
    "select case a when 1 then 2 else 3 end, coalesce(a, b), grouping(a), array[1], $1::int, now(),"
    " current_date, a is null, a is true, a in (1, 2), exists (select 1), f(a) over w from t",
    "with x as (select 1) select * from x union all select 2 for update",
    "select * from (select 1) s, generate_series(1, 2) g",
    "insert into t (a) values (1), ('x') returning a",
    "update t set a = 1 from u where t.a = u.a returning *",
    "delete from t where a = 1 returning a",
    "create table t (a int primary key default 1, b text not null, unique (b))",
    "create index i on t (a desc) include (b)",
    "drop table if exists t, u",
    "alter table t alter column a set default nextval('s')",
    "create sequence s start 1 cycle",
    "alter sequence s increment 2",
    "set search_path = 'public'",
    "show search_path",
    "savepoint s",
    "start transaction isolation level serializable",
    /* and those with nodes that are not on the list */
    "select greatest(1, 2), (a, b), row(1), xmlelement(name x), (c).d[1], a collate \"C\", "
    "f(x => 1), current of from t",
    "select greatest(1, 2), (a, b), xmlelement(name x), (c).d[1], a collate \"C\", f(x => 1) from "
    "t",
    "select * from t tablesample system (1), xmltable('/' passing x columns a int)",
    "select a into u from t",
    "insert into t values (default) on conflict (a) do update set b = excluded.b",
    "update t set (a, b) = (select 1, 2)",
    "merge into t using u on t.a = u.a when matched then delete when not matched then insert "
    "values (1)",
    "create table t (like u including all) partition by range (a)",
    "create table t partition of u for values from (1) to (2)",
    "create table t as select 1",
    "create view v as select 1",
    "create function f(a int) returns int as 'x' language sql",
    "create trigger t before insert on t for each row execute function f()",
    "create type e as enum ('a')",
    "create type c as (a int)",
    "create type r as range (subtype = int4)",
    "create domain d as int check (value > 0)",
    "create schema s",
    "create extension e",
    "create role r",
    "create database d",
    "create policy p on t",
    "create publication p for table t",
    "create subscription s connection 'x' publication p",
    "create statistics s on a, b from t",
    "create rule r as on insert to t do nothing",
    "create cast (a as b) without function",
    "create aggregate a (int) (sfunc = f, stype = int)",
    "create operator + (function = f)",
    "create foreign table t (a int) server s",
    "create server s foreign data wrapper w",
    "create event trigger e on ddl_command_start execute function f()",
    "create materialized view v as select 1",
    "create tablespace t location 'x'",
    "create language l",
    "create access method a type table handler h",
    "create collation c from \"C\"",
    "create conversion c for 'a' to 'b' from f",
    "create text search configuration c (parser = p)",
    "create transform for t language l (from sql with function f)",
    "create user mapping for u server s",
    "alter table t add column a int, drop column b, attach partition p default",
    "alter role r set a = 1",
    "alter system set a = 1",
    "alter domain d set not null",
    "alter type e add value 'b'",
    "alter default privileges grant select on tables to r",
    "alter function f() owner to r",
    "alter table t rename to u",
    "alter table t set schema s",
    "truncate t",
    "explain select 1",
    "prepare p as select 1",
    "execute p (1)",
    "deallocate p",
    "declare c cursor for select 1",
    "fetch c",
    "close c",
    "copy t from stdin",
    "listen l",
    "notify l",
    "unlisten l",
    "lock t",
    "vacuum t",
    "cluster t",
    "reindex table t",
    "checkpoint",
    "discard all",
    "do 'x'",
    "call f()",
    "load 'x'",
    "grant select on t to r",
    "grant r to s",
    "revoke r from s",
    "comment on table t is 'x'",
    "security label on table t is 'x'",
    "refresh materialized view v",
    "set constraints all deferred",
    "import foreign schema s from server r into t",
    "drop owned by r",
    "reassign owned by r to s",
    "drop role r",
    "drop database d",
};

/* All nodes of all trees, and the slots that hold them. */
static PgQuery__Node *pool[POOL];
static size_t pooled;
static PgQuery__ParseResult *trees[sizeof statements / sizeof *statements];
static size_t tree_count;

static bool gather(void *context, const ProtobufCMessage *child)
{
    (void)context;
    if (child->descriptor == &pg_query__node__descriptor && pooled < POOL &&
        ((const PgQuery__Node *)child)->node_case != PG_QUERY__NODE__NODE__NOT_SET)
        pool[pooled++] = (PgQuery__Node *)child;
    return rw_walk(child, gather, context);
}

static int read_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        PgQueryProtobufParseResult result = pg_query_parse_protobuf(statements[i]);
        if (result.error == NULL) {
            trees[tree_count] = pg_query__parse_result__unpack(
                NULL, result.parse_tree.len, (const uint8_t *)result.parse_tree.data);
            gather(NULL, &trees[tree_count++]->stmts[0]->stmt->base);
        }
        pg_query_free_protobuf_parse_result(result);
    }
    return tree_count + 1 < sizeof statements / sizeof *statements;
}

static int free_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < tree_count; i++)
        pg_query__parse_result__free_unpacked(trees[i], NULL);
    return 0;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

/* `context` counts down: a tree whose parts were swapped may hold itself. */
static bool holds_only_known(void *context, const ProtobufCMessage *child)
{
    int *left = context;
    return --*left > 0 && is_known(child->descriptor->short_name) &&
           rw_walk(child, holds_only_known, context);
}

static bool allowed(const PgQuery__Node *statement, ye_failure *failure)
{
    static const ye_options options = {.uuid_keys = 1};
    *failure = (ye_failure){0};
    return ye_allow(statement, &options, failure);
}

static void rules_name_what_there_is(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *node = &pg_query__node__descriptor;
    for (size_t i = 0; i < ye_field_rule_count; i++) {
        bool found = false;
        for (unsigned j = 0; j < node->n_fields && !found; j++) {
            const ProtobufCMessageDescriptor *type = node->fields[j].descriptor;
            found = strcmp(type->short_name, ye_field_rules[i].node) == 0 &&
                    protobuf_c_message_descriptor_get_field_by_name(type, ye_field_rules[i].field);
        }
        if (!found)
            fail_msg("%s.%s", ye_field_rules[i].node, ye_field_rules[i].field);
    }
    for (size_t i = 0; i < ye_node_rule_count; i++)
        assert_true(is_known(ye_node_rules[i].node));
}

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    size_t taken = 0;
    for (size_t i = 0; i < tree_count; i++) {
        const PgQuery__Node *statement = trees[i]->stmts[0]->stmt;
        ye_failure failure;
        int left = 100000;
        bool passes = allowed(statement, &failure);
        if (passes && !holds_only_known(&left, &statement->base))
            fail_msg("taken: tree %zu", i);
        if (!passes)
            assert_true(failure.status != YE_SUCCESS && strlen(failure.issues) > 0);
        taken += passes;
    }
    assert_in_range(taken, 15, 20);
}

static void swap(PgQuery__Node *one, PgQuery__Node *other)
{
    const PgQuery__Node kept = *one;
    *one = *other;
    *other = kept;
}

/* One node takes the place of another, and both trees are asked for. */
static void trees_by_chance(void **state)
{
    (void)state;
    size_t taken = 0, refused = 0;
    srand(11);
    for (int i = 0; i < ROUNDS; i++) {
        PgQuery__Node *one = pool[(size_t)rand() % pooled], *other = pool[(size_t)rand() % pooled];
        const PgQuery__Node *statement = trees[(size_t)rand() % tree_count]->stmts[0]->stmt;
        ye_failure failure;
        int left = 100000;
        swap(one, other);
        bool passes = allowed(statement, &failure);
        if (passes && !holds_only_known(&left, &statement->base))
            fail_msg("taken in round %d", i);
        taken += passes;
        refused += !passes;
        swap(one, other);
    }
    assert_true(taken > ROUNDS / 50 && refused > ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_name_what_there_is),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(trees_by_chance),
    };
    return cmocka_run_group_tests(tests, read_trees, free_trees);
}
