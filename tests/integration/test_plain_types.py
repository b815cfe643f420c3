#!/usr/bin/python3
"""The types of parameters that ydb/plain infers, against those that PostgreSQL's Parse tells.

The vectors say what both say, and where that is not the same, why.
"""
import os
import re
import unittest

import harness
import plain_probe

NAMES = rb"""select oid::int8, case when typname like '\_%' and typelem > 0
    then (select e.typname from pg_type e where e.oid = t.typelem) || '[]' else typname end
    from pg_type t"""
TYPES = b"""select t.typname::text, t.oid::regtype::text, concat_ws(' ', t.oid, t.typarray, t.typelem,
    coalesce(r.rngsubtype, 0), t.typlen, t.typinput = 'array_in'::regproc, t.typtype, t.typdelim)
    from pg_type t left join pg_range r on t.oid in (r.rngtypid, r.rngmultitypid)
      left join pg_type e on e.oid = t.typelem
    where t.typnamespace = 'pg_catalog'::regnamespace and t.typrelid = 0
      and coalesce(e.typrelid, 0) = 0 order by t.oid"""

# Expressions without columns and queries.
ARGUMENTS = [
    "1", "-1", "1.6", "-1.6", "1e3", "3000000000", "-3000000000", "-9223372036854775808", "-9223372036854775809", "99999999999999999999", "'5'", "null",
    "(null)", "('5')", "'5'::text", "'5'::varchar(3)", "cast('5' as text)", "int '5'", "E'5'", "true", "not true",
    "b'101'", "x'1f'", "1 + 1", "1 + 1.5", "1 / 2::real", "'a' || 'b'", "1 || 'b'", "'a' = 'b'", "1 < 2 and true",
    "upper('five')", "length('five')", "round(1.5)", "abs(-1)", "coalesce(null, 1)", "coalesce(null, 'a')",
    "case when true then 1 else 2.5 end", "case when true then 'a' end", "greatest(1, 2)", "nullif(1, 2)",
    "array[1, 2]", "array['a']", "array[1, 2]::int8[]", "'{1}'::int[]", "array[]::text[]", "(array[1, 2])[1]",
    "current_date", "current_date + 1", "now()", "now() - now()", "current_timestamp", "localtimestamp", "current_time",
    "localtime", "current_user", "date '2024-01-02' - date '2024-01-01'", "interval '1 day'", "'1 day'::interval * 2", "to_char(now(), 'YYYY')", "to_date('2024', 'YYYY')", "'{}'::jsonb",
    "'{}'::jsonb -> 'a'", "'{}'::jsonb ->> 'a'", "'{}'::json -> 'a'", "'a'::bytea || 'b'", "2 ^ 3", "2::int8 << 1",
    "1 is null", "'x' collate \"C\"", "'a' like 'b'", "1 in (1, 2)", "1 between 0 and 2", "1 = any (array[1])", "md5('a')",
    "extract(year from now())", "substring('abc' from 2)", "position('a' in 'b')", "trim('a')", "row(1, 2) = row(1, 2)",
    "random()", "'1'::money", "point '(1,1)'", "gen_random_uuid()", "'a'::name",
    "'a'::name || 'b'", "+ 1.5", "1::int2 + 1::int2", "-(1::int2)"]
# … of types that are not known here: the database says what it thinks of them.
OTHERS = ["pi()", "-pi()", "'1'::money * 2", "@ -5", "|/ 4.0", "~ 1", "date '2024-01-01' + time '12:00'"]


def vectors():
    """(statement, types, PostgreSQL's answer or "", why) each, and tables as (name, columns)."""
    found, tables = [], []
    for fields in lines("types.txt", "functions.txt", "operators.txt"):
        if fields[0] == "table":
            tables.append(fields[1:])
        else:
            found.append(fields + [""] * (4 - len(fields)))
    return found, tables


def lines(*names):
    for name in names:
        with open(os.path.join(harness.VECTORS, "plain", name), encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    yield [re.sub(r"\\x(..)", lambda hexed: chr(int(hexed[1], 16)), field)
                           for field in line.rstrip("\n").split("|")]


class PlainTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(log_statement="none", log_min_messages="fatal")
        cls.addClassCleanup(cls.postgres.remove)
        cls.server = plain_probe.Server(cls.postgres)
        cls.addClassCleanup(cls.server.close)
        cls.probe = plain_probe.Probe()
        cls.addClassCleanup(cls.probe.close)
        cls.names = {int(oid): name.decode() for oid, name in cls.server.run(NAMES, binary=0)}
        oids = {name: oid for oid, name in cls.names.items()}
        cls.vectors, tables = vectors()
        for name, columns in tables:
            key = columns.split()[0]
            cls.server.run(f"create table {name} ({columns}, primary key ({key}))".encode())
            cls.probe.ask("table", name, *(
                "{}:{}".format(column.split()[0], oids[column.split()[1]])
                for column in columns.split(", ")))

    def named(self, types):
        return types if isinstance(types, str) else ", ".join(self.names[oid] for oid in types)

    def inferred(self, statement, declared=()):
        answer = self.probe.ask("infer", statement.encode().hex(), *map(str, declared))
        self.assertIsInstance(answer, bytes, f"{statement}: {answer}")
        return [int(oid) for oid in answer.split()]

    def test_oids_are_those_of_pg_type(self):
        arrays = dict(self.server.run(b"select typname::text, concat(oid, '|', typarray) from "
                                      b"pg_type where typnamespace = 'pg_catalog'::regnamespace",
                                      binary=0))
        for name, *oids in lines("oids.txt"):
            self.assertEqual("|".join(oids), arrays[name.encode()].decode(), name)

    def test_types_are_all_that_postgres_is_born_with(self):
        born = [[field.decode() for field in row] for row in self.server.run(TYPES, binary=0)]
        self.assertEqual(list(lines("pg_types.txt")), born)

    def test_types_are_those_that_postgres_tells(self):
        differing = 0
        for statement, types, other, why in self.vectors:
            with self.subTest(statement):
                self.assertEqual(self.named(self.inferred(statement)), types)
                theirs = self.server.parameter_types(statement.encode())
                self.assertEqual(self.named(theirs), other or types)
                self.assertEqual(bool(other), bool(why))
                differing += bool(other)
        print(len(self.vectors), "statements, of which", differing, "differ")
        self.assertGreater(len(self.vectors) - differing, 200)

    def test_declared_types_come_first(self):
        for statement, _, other, _ in self.vectors:
            if other:
                continue
            with self.subTest(statement):
                types = self.inferred(statement)
                for first in range(len(types)):
                    declared = [0] * first + types[first:]
                    self.assertEqual(self.inferred(statement, declared), types)

    def test_inlined_statements_are_described_alike(self):
        """With NULLs in the place of parameters, the columns have the same names and types."""
        for statement, _, other, _ in self.vectors:
            if other or not re.match("select|with|values|insert|update|delete", statement):
                continue
            with self.subTest(statement):
                types = self.inferred(statement)
                nulls = self.probe.ask("describe", statement.encode().hex(), *map(str, types))
                self.assertIsInstance(nulls, bytes, nulls)
                self.assertEqual(self.server.columns(nulls), self.server.columns(
                    statement.encode(), types), nulls)

    def test_arguments_are_assigned(self):
        """What EXECUTE takes for a parameter of each type."""
        types = [(name, int(oid)) for name, oid, _ in lines("oids.txt")]
        for _, oid in types:
            told = self.server.run(f"prepare p{oid} ({self.cast(oid)}) as select $1 is null".encode())
            self.assertEqual(told, [], oid)
        given = [f"null::{self.cast(oid)}{more}" for _, oid in types for more in ("", "[]")]
        for expression in given + ARGUMENTS + OTHERS:
            for name, oid in types:
                told = self.probe.ask("argument", str(oid), expression.encode().hex())
                theirs = self.server.run(f"execute p{oid}({expression})".encode())
                if told or expression not in OTHERS:
                    self.assertEqual(told[0] if told else "", "42804" if theirs == "42804" else "",
                                     f"{expression} for {name}: {told}, {theirs}")

    def cast(self, oid):
        return f'"{self.names[oid]}"'


if __name__ == "__main__":
    unittest.main()
