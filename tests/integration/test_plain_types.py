#!/usr/bin/python3
"""The types of parameters that rewrite/plain infers, against those that PostgreSQL's Parse tells.

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


if __name__ == "__main__":
    unittest.main()
