#!/usr/bin/env python3
"""The fake of YDB's endpoint takes the SQL that YDB takes, and refuses the rest in YDB's words."""
import unittest

from ydb import EndpointCase, failure, outline


class Sql(EndpointCase):
    """2"""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint primary key, b text)")
        self.link = self.session()

    def refusal(self, sql):
        return failure(self.link.query(sql)) or "taken"

    def check_refused(self, cases):
        for sql, text in cases.items():
            self.assertIn(text, self.refusal(sql), sql)

    def check_taken(self, *cases):
        for sql in cases:
            self.assertEqual(self.refusal(sql), "taken", sql)

    def test_no_yql(self):
        """UPSERT, REPLACE: syntax errors; --!syntax_pg is harmless, others either way."""
        self.check_refused({"upsert into t (a) values (1)": "syntax error",
                            "replace into t (a) values (1)": "syntax error"})
        self.check_taken("--!syntax_pg\nselect 1", "--!syntax_v1\nselect 1")
        strict = self.session(self.start(syntax_hint="refused"))
        self.assertIn("Explicit syntax version is not allowed",
                      failure(strict.query("--!syntax_v1\nselect 1")))
        self.assertIsNone(failure(strict.query("--!syntax_pg\nselect 1")))

    def test_union(self):
        """pg_sql.cpp ParseSelectStmt: order and limit "should be used only on top"."""
        self.check_taken("select a from t union all select a from t order by a limit 1",
                         "select * from (select a from t order by a limit 1) x union all select a from t",
                         "select * from (select a from t union select 2) x order by a limit 1")
        self.check_refused({
            "(select a from t order by a) union all select a from t": "sortClause should be used only on top",
            "select a from t union all (select a from t limit 1)": "limit should be used only on top",
            "select 1 union all (select a from t offset 1) union all select 2": "limit should be used only on top"})

    def test_insert(self):
        self.check_taken("insert into t values (1)",
                         "insert into t (b, a) values ('x', 2), (null, 3)",
                         "insert into t select 4, 'y'")
        self.check_refused({
            "insert into t values (1) on conflict do nothing":
                "InsertStmt: not supported onConflictClause",
            "insert into t values (1) on conflict (a) do update set b = 'x'":
                "InsertStmt: not supported onConflictClause",
            "with x as (select 9) insert into t select * from x":
                "InsertStmt: not supported withClause",
            "insert into t as u values (1)": "alias is not supported",
            "insert into t values (default)": "not implemented"})

    def test_returning(self):
        """Plain column refs only."""
        self.assertEqual(self.link.rows("insert into t values (1, 'x') returning b, a"),
                         [["x", "1"]])
        self.assertEqual(self.link.rows("insert into t values (2, 'y') returning *"), [["2", "y"]])
        self.assertEqual(self.link.rows("update t set b = 'z' where a = 1 returning b"), [["z"]])
        self.assertEqual(self.link.rows("delete from t where a = 1 returning a"), [["1"]])
        self.check_refused({"insert into t values (3) returning a + 1": "not implemented",
                            "delete from t returning upper(b)": "not implemented"})

    def test_update_and_delete(self):
        self.check_taken("update t set b = 'x' where a = 1", "delete from t where a = 1",
                         "update t set b = u.b from t u where t.a = u.a",
                         "with x as (select 1 as a) update t set b = 'x' from x where t.a = x.a")
        self.check_refused({"update t as u set b = 'x'": "alias is not supported",
                            "delete from t as u": "alias is not supported",
                            "delete from t using t u where t.a = u.a": "using is not supported",
                            "with x as (select 1) delete from t": "with is not supported",
                            "update t set (a, b) = (1, 'x')": "not implemented"})

    def test_select(self):
        self.check_taken(
            "select a, count(*) from t group by a having count(*) > 0 order by a desc limit 1",
            "select * from t x join t y on x.a = y.a", "select * from t left join t z using (a)",
            "select case when a > 1 then 'x' else 'y' end, coalesce(b, 'z'), a::text from t",
            "with x as (select 1 as a) select * from x union all select 2",
            "select row_number() over (partition by b order by a) from t",
            "select a from t where a in (1, 2) and b like 'x%' or b is null and a between 1 and 2",
            "select a from t where a in (select a from t) and exists (select 1)",
            "select distinct b from t", "select distinct on (b) a from t",
            "select * from (select 1) x", "select array[1, 2], current_date", "values (1), (2)",
            "select * from generate_series(1, 3) g",
            "select relname from pg_catalog.pg_class limit 1")
        self.check_refused({
            "select a into u from t": "not supported intoClause",
            "select greatest(1, 2)": "not implemented",
            "select (1, 2)": "not implemented",
            "select a is distinct from 1 from t": "A_Expr_Kind unsupported value",
            "select b collate \"C\" from t": "not implemented",
            "select (array[1])[1]": "not implemented",
            "select * from t natural join t u": "unsupported isNatural",
            "select * from t, lateral (select 1) x": "unsupported lateral",
            "select * from t tablesample system (1)": "not implemented",
            "select string_agg(b, ',' order by b) from t": "unsupported agg_order",
            "select count(*) filter (where a > 1) from t": "unsupported agg_filter",
            "with x as (delete from t returning a) select * from x": "Expected Select statement",
            "select * from t order by a fetch first row with ties": "LimitOption unsupported value",
            "select localtimestamp": "SQLValueFunction",
            "select public.now()": "expected pg_catalog"})

    def test_for_update_either_way(self):
        """Uncertain."""
        self.check_taken("select * from t for update")
        strict = self.session(self.start(for_update="refused"))
        self.assertIn("lockingClause", failure(strict.query("select * from t for update")))

    def test_hash_functions_either_way(self):
        """Callable by name: uncertain."""
        self.check_taken("select hashint8extended(1, 0), hashtextextended('x', 0)")
        strict = self.session(self.start(hash_functions="unknown"))
        self.assertIn("No such proc", failure(strict.query("select hashint8extended(1, 0)")))
        self.assertIsNone(failure(strict.query("select md5('x')")))

    def test_what_is_not_there_at_all(self):
        for sql in ("truncate t", "explain select 1", "prepare p as select 1", "execute p",
                    "deallocate p", "listen x", "lock t", "create schema s", "copy t to stdout",
                    "create function f() returns int as 'select 1' language sql", "vacuum t",
                    "create table u as select 1", "create view v as select 1", "do 'begin end'",
                    "declare c cursor for select 1", "fetch c", "close c", "discard all",
                    "grant select on t to public", "merge into t using t u on true when matched "
                    "then delete", "call f()", "comment on table t is 'x'", "analyze t",
                    "create type x as enum ('a')", "alter table t add column c int",
                    "alter table t drop column b", "alter table t rename to u",
                    "create rule r as on insert to t do nothing", "reindex table t", "checkpoint"):
            self.assertIn("not implemented", self.refusal(sql), sql)

    def test_depth(self):
        """However deep a text is, it is refused, and nothing ends."""
        for count in (1000, 5000, 14000, 100000):
            for one, text in {"+1": "select 1{}", "not ": "select {}true", "- ": "select {}1",
                              "(": "select {}1" + ")" * count, "(select ": "select {}1" + ")" * count,
                              "coalesce(0,": "select {}1" + ")" * count, " union select 1": "select 1{}",
                              "||(1,2)": "select 'x'{}"}.items():
                with self.subTest(one, count=count):
                    self.assertRegex(self.refusal(text.format(one * count)),
                                     "Too deep recursion|syntax error|memory exhausted|taken")
        self.check_refused({"select 1" + "+1" * 32767: "Too deep recursion",
                            "select " + "(" * 10000 + "1" + "+1+1)" * 10000: "Too deep recursion"})
        self.check_taken("select " + ",".join(["1+1"] * 1000), "insert into t values "
                         + ",".join(f"({i}, 'x' || 'y')" for i in range(20000)))

    def test_set(self):
        for name in ("extra_float_digits", "application_name", "statement_timeout", "lock_timeout",
                     "idle_in_transaction_session_timeout", "client_encoding",
                     "standard_conforming_strings", "check_function_bodies", "xmloption",
                     "client_min_messages", "row_security", "escape_string_warning", "bytea_output",
                     "datestyle", "timezone", "DateStyle"):
            self.assertEqual(outline(self.link.query(f"set {name} = '0'")), ["SET", "I"], name)
        self.assertEqual(self.link.rows("select date '2026-01-02'"), [["2026-01-02"]])
        self.check_refused({
            "set default_transaction_isolation = 'serializable'":
                "VariableSetStmt, not supported name: default_transaction_isolation",
            "set session characteristics as transaction isolation level serializable":
                "VariableSetStmt, not supported kind",
            "reset all": "VariableSetStmt, not supported kind",
            "set timezone to default": "VariableSetStmt, not supported kind",
            "set search_path = 'elsewhere'": "search path supports only",
            "set search_path = 'public', 'pg_catalog'": "expected 1 unique scheme"})

    def test_show(self):
        self.assertEqual(outline(self.link.query("show transaction_isolation")),
                         ["T", "D", "SHOW", "I"])
        self.assertEqual(
            [self.link.rows(f"show {name}") for name in
             ("server_version_num", "standard_conforming_strings", "search_path",
              "default_transaction_read_only", "transaction_isolation")],
            [[["140005"]], [["on"]], [["public"]], [["off"]], [["serializable"]]])
        self.link.query("set search_path = 'pg_catalog'")
        self.assertEqual(self.link.rows("show search_path"), [["pg_catalog"]])
        self.check_refused({"show timezone": "unrecognized configuration parameter",
                            "show all": "unrecognized configuration parameter"})

    def test_create_table(self):
        self.check_taken(
            "create table u (a int8, b text not null default 'x', c int unique, "
            "primary key (a, b))",
            "create table if not exists u (a int primary key)",
            "create table v (a bigserial primary key, b varchar(20))",
            "create temp table w (a int primary key)", "create index i on u (c) include (b)",
            "alter table u alter column b drop default",
            "create sequence s", "alter table u alter column c set default nextval('s')",
            "drop index i", "drop table if exists u, nowhere", "drop table v")
        self.check_refused({
            "create table x (a int)": "Primary key is required",
            "create table x (a int primary key) with (fillfactor = 50)":
                "table options not supported",
            "create table x (a int primary key) partition by hash (a)":
                "PARTITION BY clause not supported",
            "create table x (a int primary key) inherits (t)": "table inheritance not supported",
            "create table x (a int primary key) using heap": "USING not supported",
            "create table x (a int primary key) tablespace y": "TABLESPACE not supported",
            "create unlogged table x (a int primary key)": "UNLOGGED tables not supported",
            "create table x (a int primary key check (a > 0))": "column constraint not supported",
            "create table x (a int primary key references t)": "column constraint not supported",
            "create table x (a int primary key, check (a > 0))": "constraint not supported",
            "create table x (a int primary key, like t)": "not implemented",
            "create unique index i on t (b)": "unique index creation is not supported yet",
            "create index i on t (b) where a > 1": "partial index is not supported yet",
            "create index i on t (lower(b))": "index expression is not supported yet",
            "drop table t cascade": "CASCADE is not implemented",
            "drop schema public": "Not supported object type for DROP"})

    def test_typmods_either_way(self):
        """varchar(20): not stored in CREATE (effect uncertain)."""
        long = "insert into k values (1, 'abcdef', 1.25)"
        create = "create table k (a int8 primary key, b varchar(3), c numeric(9, 1))"
        self.check_taken(create)
        self.assertNotEqual(self.refusal(long), "taken")
        self.link.query("drop table k")
        loose = self.session(self.start(typmods="dropped"))
        self.assertIsNone(failure(loose.query(create)))
        self.assertEqual(outline(loose.query(long)), ["INSERT", "I"])
        self.assertEqual(loose.rows("select b, c from k"), [["abcdef", "1.25"]])

    def test_types_of_keys(self):
        """varchar and uuid keys were not supported; newer may allow uuid (uncertain)."""
        taken = ("bool", '"char"', "int2", "int4", "int8", "float4", "float8", "text", "name",
                 "bpchar", "numeric", "date", "time", "timetz", "timestamp", "timestamptz",
                 "interval", "bytea")
        for number, name in enumerate(taken):
            self.check_taken(f"create table k{number} (a {name} primary key)")
        for name in ("varchar", "uuid", "money", "bit", "inet", "jsonb", "int[]"):
            self.assertIn("wrong key type", self.refusal(f"create table k (a {name} primary key)"))
        newer = self.session(self.start(uuid_keys="allowed"))
        self.assertIsNone(failure(newer.query("create table k (a uuid primary key)")))

    def test_schemas(self):
        """Other schema names are looked up as clusters; three parts are rejected."""
        self.check_taken("select * from public.t", "select * from pg_catalog.pg_class limit 1",
                         "select * from information_schema.tables limit 1",
                         'create table "dir/t" (a int primary key)', 'select * from "dir/t"')
        self.check_refused({"select * from other.t": "Unknown cluster: other",
                            "insert into other.t values (1)": "Unknown cluster: other",
                            "select * from x.public.t": "catalogname is not supported"})


if __name__ == "__main__":
    unittest.main()
