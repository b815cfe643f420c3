"""Operators of somebody's own before PostgreSQL's in search_path: what a sign makes of a key is stored with its hash, and
what = finds is found."""
import unittest

import direct_case
import wire
from harness import Table

PATH = "set search_path = mine, pg_catalog, public"
KEYS = {  # the key's type, a value that is stored, one that is asked for, the operators = that may decide
    "varchar(5)": ("varchar", "'cd'", "'ab'", ("text,text", "varchar,varchar", "text,varchar", "anyelement,anyelement")),
    "text": ("text", "'cd'", "'ab'", ("text,text", "anyelement,anyelement")),
    "numeric": ("numeric", "6", "5", ("float8,int4", "numeric,int4", "numeric,numeric", "float8,float8")),
    "bigint": ("bigint", "6", "5", ("bigint,int4", "numeric,numeric")),
    "date": ("date", "'2026-01-03'", "'2026-01-02'", ("date,date", "timestamp,timestamp")),
}


def named(kind):
    return "of_" + kind.split("(")[0]


class OwnOperators(direct_case.DirectCase):
    tables = tuple(Table(named(kind), [f"k {kind} not null", "v text"], ["k"], hash_first=False) for kind in KEYS)
    setup_sql = """create schema mine; create function mine.minus(bigint) returns bigint immutable language sql as 'select 123::bigint';
        create function mine.minus(int) returns int immutable language sql as 'select 124';
        create function mine.minus(numeric) returns numeric immutable language sql as 'select 12.5'"""

    def make(self, *operators):
        """Through keyspread, which knows of them at once."""
        for sql in operators:
            self.query(sql)

    def test_signs(self):
        signs = [(sign, kind) for sign in "+-" for kind in ("bigint", "int", "numeric")]
        self.make(*(f"create operator mine.{sign} (rightarg = {kind}, function = mine.minus)" for sign, kind in signs))
        for kind in ("bigint", "numeric", "text"):
            for cell in ("-5", "+5", "- 5", "-(5)", "-(+5)", "(+5)", "-5::bigint", "-(5::bigint)", "-'5'::bigint",
                         "(-5)::bigint", "-1.5", "+1.5", "-1.5::numeric", "+5::bigint", "-5::int::text::int"):
                for path in ("select 1", PATH):
                    row = f"insert into {named(kind)} values ({cell}, 'v')"
                    self.both([wire.query(path), wire.query(row), wire.query(row + " on conflict do nothing"),
                               wire.query(f"select k, v from {named(kind)} where k = {cell}")], ready=4, verify=True)
        self.make(*(f"drop operator mine.{sign} (none, {kind})" for sign, kind in signs))

    def test_equality(self):
        for kind, (_, stored, value, operators) in KEYS.items():
            for types in operators:
                left, right = types.split(",")
                with self.subTest(kind, operator=types):
                    self.make(f"create function mine.always({types}) returns bool immutable language sql as 'select true'",
                              f"create operator mine.= (leftarg = {left}, rightarg = {right}, function = mine.always)")
                    self.reads(kind, stored, value)
                    self.make(f"drop operator mine.= ({types})", f"drop function mine.always({types})")

    def reads(self, kind, stored, value):
        table, cast = named(kind), KEYS[kind][0]
        begin = [wire.query(f"insert into {table} values ({stored}, 'v')"), wire.query(PATH)]
        for asked in (value, f"cast({value} as {cast})"):
            for text in (f"select v from {table} where k = {asked}", f"select v from {table} where {asked} = k",
                         f"select v from {table} where k in ({asked}, {asked})", f"delete from {table} where k = {asked}",
                         f"update {table} set v = 'w' where k = {asked}",
                         f"update {table} set k = {asked} where k = {asked}"):
                self.both([*begin, wire.query(text)], ready=3, verify=True)
        for oid in (0, 23, 25, 1043):
            self.both([*begin, wire.parse("", f"select v from {table} where k = $1", [oid]),
                       wire.bind("", "", [value.strip("'")]), wire.execute(), wire.sync()], ready=3)


if __name__ == "__main__":
    unittest.main()
