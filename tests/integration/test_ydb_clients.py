"""Real clients play the same steps against PostgreSQL and through keyspread against the fake of
YDB's endpoint: what they see must be the same, less DIFFERENCES, which YDB's nature makes.
"""
import collections
import difflib
import re
import unittest

import harness
import ydb_clients
from ydb_case import YdbCase

THINGS = harness.Table("things", [
    "id bigint not null", "flag boolean", "small smallint", "medium integer", "big bigint",
    "half real", "whole double precision", "exact numeric", "word text", "bytes bytea",
    "mark uuid", "day date", "clock time", "moment timestamp", "instant timestamptz",
    "span interval", "doc json", "tree jsonb"], ["id"])
STAMPS = harness.Table("stamps", [
    "name text not null", "mark uuid not null", "at timestamp not null", "note text"],
    ["name", "mark", "at"], hash_key=["name", "mark", "at"], hash_column="stamp_hash")
PLAIN = """create table plain (id int primary key, name text not null, price numeric,
                               at timestamptz, mark uuid)"""

KINDS = ("int8", "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "bytea",
         "uuid", "date", "time", "timestamp", "timestamptz", "interval", "json", "jsonb")
TEXTS = ("1", "true", "-7", "70000", "5000000000", "1.5", "-0.1", "123.4500", "it's \\ é\"%",
         "00ff5c27", "01234567-89ab-cdef-0123-456789abcdef", "2024-02-29", "12:34:56.789012",
         "2026-01-02T03:04:05.678901", "2026-01-02T03:04:05.678901+00:00", "90061",
         '{"a": [1, null]}', '{"b": "é"}')
LEAST = ("-9223372036854775808", "false", "-32768", "-2147483648", "-9223372036854775808",
         "-3.25e-20", "1e-300", "-0.000000000000000000012345", "", "",
         "00000000-0000-0000-0000-000000000000", "0001-01-01", "00:00:00", "0001-01-01T00:00:00",
         "1970-01-01T00:00:00+00:00", "0", "null", "[]")
MOST = ("9223372036854775807", "true", "32767", "2147483647", "9223372036854775807", "3.25e+20",
        "1e+300", "99999999999999999999999999999999.99", "x" * 3000, "ff" * 300,
        "ffffffff-ffff-ffff-ffff-ffffffffffff", "9999-12-31", "23:59:59.999999",
        "9999-12-31T23:59:59.999999", "9999-12-31T23:59:59+00:00", "86399", '"x"', "1.50")
COLUMNS = [column.split()[0] for column in THINGS.columns]
MARKS = ", ".join(f"${number}" for number in range(1, 19))
FILL = f"insert into things ({', '.join(COLUMNS)}) values ({MARKS})"
UUIDS = ("01234567-89ab-cdef-0123-456789abcdef", "11111111-2222-3333-4444-555555555555")


def row(texts):
    return list(zip(KINDS, texts))


def int8(number):
    return ("int8", None if number is None else str(number))


def text(value):
    return ("text", value)


def thing(number, word):
    return ("insert into things (id, word) values ($1, $2)", int8(number), text(word))


def plain(number, name):
    return ("insert into plain (id, name) values ($1, $2)", ("int4", str(number)), text(name))


def stamp(name, mark, at, note):
    return ("insert into stamps (name, mark, at, note) values ($1, $2, $3, $4)", text(name),
            ("uuid", mark), ("timestamp", at), text(note))


# A case is a list of steps: a text, or a text and its values.
CASES = {
    "values": [
        (FILL, *row(TEXTS)), (FILL, *row(LEAST)), (FILL, *row(MOST)),
        (FILL, int8(2), *((kind, None) for kind in KINDS[1:])),
        "select * from things order by id",
        *((f"select id, {name} from things where id = $1", int8(1)) for name in COLUMNS[1:]),
        "select id, word from things where word is null",
    ],
    "rows": [
        ("insert into things (id, word) values ($1, $2), ($3, $4), ($5, $6)", int8(1), text("a"),
         int8(2), text(None), int8(3), text("c")),
        "insert into things (id, word, medium) values (4, 'd', 40), (5, E'e\\n', null)",
        "insert into things (word, id) values ('f', '6')",
        "select count(*), min(id), max(word) from things",
        ("select word from things where id = $1", int8(2)),
        ("select id from things where id in ($1, $2) order by id", int8(1), int8(3)),
        ("select id, word from things where id > $1 order by id desc limit $2", int8(1), int8(2)),
        "select id as n, upper(word) as w, id * 2 as twice, medium is null from things order by 1",
        "select case when id > 3 then 'high' else 'low' end as h, count(*) from things group by 1"
        " order by 1",
        "select t.id from things t join things u on u.id = t.id + 1 order by t.id",
        "with w as (select id from things where id < 3) select * from w order by id",
        "select 1 as one, 'x' as x, null as n, 1.5 as d, true as t, now() > '2000-01-01' as later",
        "values (1, 'a'), (2, 'b')",
        "select * from things where id = 77",
        "select word from things where id < 3 union all select 'z' order by 1",
    ],
    "arrays": [
        *(thing(number, "x") for number in range(1, 4)),
        ("select id from things where id = any($1) order by id", ("int8[]", "[1, 3, 9]")),
    ],
    "lists": [
        "create table lists (id int primary key, numbers int[], words text[], marks uuid[])",
        ("insert into lists values ($1, $2, $3, $4)", ("int4", "1"), ("int4[]", "[3, 1, null]"),
         ("text[]", '["a", "it\'s \\\\ \\"", ""]'), ("uuid[]", f'["{UUIDS[0]}"]')),
        ("insert into lists (id, numbers) values ($1, $2)", ("int4", "2"), ("int4[]", "[]")),
        ("insert into lists (id, numbers) values ($1, $2::int[])", ("int4", "3"),
         ("int4[]", "[7]")),
        "select * from lists order by id",
        "select array[1, 2] as a, '{{1,2},{3,4}}'::int8[] as b, '[2:3]={a,\"b c\"}'::text[] as c",
        ("update lists set words = $1 where id = $2", ("text[]", '["x"]'), ("int4", "2")),
        ("select words from lists where id = any($1) order by id", ("int4[]", "[1, 2]")),
        ("select id from lists where $1 = any(numbers)", ("int4", "3")),
        "select id from lists where numbers = '{7}'",
        "drop table lists",
    ],
    "changes": [
        *(thing(number, "old") for number in range(1, 7)),
        ("update things set word = $1 where id = $2", text("new"), int8(1)),
        ("update things set word = $1, medium = $2 where id = $3", text(None), ("int4", "7"),
         int8(2)),
        ("update things set medium = coalesce(medium, 0) + 1 where id <= $1", int8(3)),
        ("update things set word = $1 where id = $2", text("none"), int8(99)),
        "update things set word = 'all'",
        ("delete from things where id = $1", int8(4)),
        ("delete from things where id = $1", int8(4)),
        ("delete from things where word = $1 and id > $2", text("all"), int8(4)),
        "select id, word, medium from things order by id",
        "delete from things",
        "select count(*) from things",
    ],
    "long keys": [
        stamp("a", UUIDS[0], "2026-01-02T03:04:05.678901", "first"),
        stamp("é'\\", UUIDS[1], "1969-12-31T23:59:59.999999", None),
        stamp("a", UUIDS[0], "2026-01-02T03:04:05.678901", "again"),
        "select * from stamps order by name",
        ("select note from stamps where name = $1 and mark = $2 and at = $3", text("a"),
         ("uuid", UUIDS[0]), ("timestamp", "2026-01-02T03:04:05.678901")),
        ("update stamps set note = $1 where name = $2 and mark = $3 and at = $4", text("changed"),
         text("a"), ("uuid", UUIDS[0]), ("timestamp", "2026-01-02T03:04:05.678901")),
        ("delete from stamps where mark = $1", ("uuid", UUIDS[1])),
        "select * from stamps order by name",
    ],
    "plain": [
        plain(1, "one"),
        ("insert into plain (id, name, price, at, mark) values ($1, $2, $3, $4, $5)",
         ("int4", "2"), text("it's"), ("numeric", "1.50"),
         ("timestamptz", "2026-01-02T03:04:05+00:00"), ("uuid", UUIDS[0])),
        ("select * from plain where id = $1", ("int4", "2")),
        ("update plain set price = $1 where id = $2", ("numeric", "3"), ("int4", "1")),
        ("select name, price from plain where mark = $1", ("uuid", UUIDS[0])),
        plain(1, "again"),
        ("delete from plain where id = $1", ("int4", "1")),
        "select * from plain order by id",
    ],
    "upserts": [
        thing(1, "old"),
        ("insert into things (id, word) values ($1, $2) on conflict (id) do update set word = "
         "excluded.word", int8(1), text("new")),
        ("insert into things (id, word) values ($1, $2) on conflict (id) do update set word = "
         "excluded.word", int8(2), text("made")),
        ("insert into things (id, word) values ($1, $2) on conflict (id) do nothing", int8(1),
         text("lost")),
        ("insert into things (id, word) values ($1, $2) on conflict do nothing", int8(3),
         text("three")),
        "insert into things (id, medium) values (1, 5), (4, 6) on conflict (id) do update set "
        "medium = coalesce(things.medium, 0) + excluded.medium",
        "select id, word, medium from things order by id",
    ],
    "returning": [
        ("insert into things (id, word) values ($1, $2) returning id, word", int8(1), text("a")),
        ("insert into things (id, word) values ($1, $2), ($3, $4) returning id", int8(2),
         text("b"), int8(3), text("c")),
        ("update things set word = $1 where id = $2 returning id, word", text("x"), int8(1)),
        ("delete from things where id = $1 returning word", int8(1)),
        ("delete from things where id = $1 returning word", int8(1)),
        "select id, word from things order by id",
    ],
    "transactions": [
        "begin", thing(1, "a"), "select id, word from things", "rollback",
        "select id, word from things",
        "BEGIN;", thing(1, "a"), thing(2, "b"), "commit",
        "start transaction", "update things set word = 'c' where id = 1",
        ("delete from things where id = $1", int8(2)),
        "select id, word from things", "end",
        "select id, word from things",
        "begin", thing(3, "c"), "savepoint s", thing(4, "d"), "release savepoint s", "commit work",
        "select id from things order by id",
        "begin", "begin", "rollback", "rollback", "commit",
        "begin isolation level serializable", thing(5, "e"), "commit and no chain",
        "begin read write", thing(6, "f"), "abort",
        "select id from things order by id",
    ],
    "failed transactions": [
        "begin", thing(1, "a"), thing(1, "again"), "select 1", thing(2, "b"), "savepoint s",
        "commit", "select count(*) from things",
        "begin", thing(1, "a"), "select nothing from things", "rollback",
        "select count(*) from things",
        "begin", "select 1 / 0", "end", thing(1, "a"),
        "select count(*) from things",
    ],
    "errors": [
        thing(1, "a"), thing(1, "again"),
        "insert into things (id, word) values (2, 'b'), (1, 'again')",
        ("insert into things (id, word) values ($1, $2)", int8(None), text("no key")),
        plain(1, "a"), plain(1, "again"), "insert into plain (id) values (2)",
        "insert into things (id, nothing) values (1, 2)", "select nothing from things",
        "select * from nowhere", "insert into nowhere values (1)", "update nowhere set a = 1",
        "selct 1", "select (1", "insert into things (id, word) values (3)",
        "select 1 / 0", "select 'x'::int", "insert into things (id) values ('x')",
        "insert into things (id, small) values (4, 40000)",
        "insert into things (id, day) values (4, '2026-02-30')",
        "update things set small = 40000 where id = 1",
        "select nothing()", "select 1 + true", "select id from things where word = 1",
        "select id, count(*) from things", "select 9223372036854775807 + 1",
        "delete from things where nothing = 1", "release savepoint s", "savepoint s",
        "drop table nowhere",
        "select id, word from things",
        "select U&'\\zz'", "select U&'\\d800'",
        "insert into things (id, bytes) values (5, 6) returning id, bytes",
        ("insert into things (id, bytes) values (5, $1::int4) returning bytes", ("int4", "6")),
        "insert into things (id, word) values (5, 'x') on conflict do update set word = 'y'",
        "insert into things (id) values (5) on conflict (nothing) do nothing",
        "insert into things (id) values (1) on conflict (id) do update set word = excluded.nothing",
        "select * from things t, things t", "select distinct word from things order by id",
        "select id from things limit id", "select to_date('x', 'YYYY')", "select jsonb '1' -> 'a' || 1",
        "select '\"a\"'::jsonb::int", "select lag(1) from things", "select * from nowhere.things",
        "select make_date(2024, 13, 1)", "select format('%s')",
        "select 'unterminated",
    ],
    "scripts": [
        "", ";",
        "select 1; select 2",
        "insert into things (id) values (1); insert into things (id) values (2)",
        "insert into things (id) values (3); insert into things (id) values (3)",
        "insert into things (id) values (4); select count(*) from things; select nothing",
        "-- a comment\nselect 1 -- another\n", "/* one */ select /* two */ 2;",
        "begin; insert into things (id) values (5); commit; select id from things order by id",
        "select id from things order by id",
    ],
    "tables": [
        "create table made (id int primary key, word text)",
        "insert into made values (1, 'a'), (2, null)", "select * from made order by id",
        "update made set word = 'b' where id = 2", "delete from made where id = 1",
        "select * from made order by id", "create table made (id int primary key)",
        "drop table made", "select * from made", "drop table if exists made",
    ],
}

# What YDB's nature makes different in what clients see, though it works: matches of `texts` in a line
# are taken out on both sides. docs/ydb.md tells its users the same. By its example (a client and a
# case) a difference shows that it is still there.
Difference = collections.namedtuple("Difference", "name reason texts example")
DIFFERENCES = [
    Difference("the words of errors",
               "YDB tells a status and words of its own, and neither where in a text the error is "
               "nor of which column, table or constraint it speaks; severity and SQLSTATE are "
               "PostgreSQL's",
               [r"(?s)(?<=sqlstate='.....').*", r"(?s)(?<=^! ERROR:  .....).*",
                r"^! (DETAIL|HINT|LINE|TABLE NAME|COLUMN NAME|CONSTRAINT NAME|SCHEMA NAME|Status|"
                r"Issues|<main>| *\^).*"],
               ("Psycopg2", "errors")),
    Difference("the tables of columns",
               "YDB does not tell which table a column of a result is of",
               [r" table=\w*"], ("Pgjdbc", "changes")),
    Difference("notices of what DROP … IF EXISTS does not find",
               "YDB gives none", [r"(?s)^(! |notice ).*does not exist, skipping.*"],
               ("Psycopg2", "tables")),
]


# What is refused, the statement, with a clear error. `before`: steps that it needs.
Refusal = collections.namedtuple("Refusal", "name reason before sql sqlstate")
REFUSALS = [
    Refusal("DEFAULT inside of VALUES",
            "YDB's parser does not take it: leave the column out", [],
            "insert into things (id, medium) values (4, 5), (5, default)", "0A000"),
    Refusal("INSERT … SELECT into a table with a hash",
            "YDB has no function that gives the hash", [thing(1, "a")],
            "insert into things (id, word) select id + 100, word from things", "0A000"),
    Refusal("UPDATE of a key", "YDB changes no column of a primary key", [thing(1, "a")],
            "update things set id = 2 where id = 1", "0A000"),
    Refusal("ROLLBACK TO SAVEPOINT", "YDB would roll back all of the transaction",
            ["begin", thing(1, "a"), "savepoint s"], "rollback to savepoint s", "0A000"),
]

# What is not built yet, in the same way, whatever the error is.
GAPS = [
    Refusal("an INSERT without the key", "it is refused before YDB could call it a NULL", [],
            "insert into things (word) values ('no key')", "0A000"),
]



class Clients(YdbCase):
    tables = (THINGS, STAMPS)
    plain_sql = PLAIN
    endpoint_options = {"uuid_keys": "allowed"}
    programs = {}

    @classmethod
    def opened(cls, client, port):
        """One in another language takes long to start, so it plays all cases."""
        if not issubclass(client, ydb_clients.Program):
            return client(port)
        if (client, port) not in cls.programs:
            program = cls.programs[client, port] = client(port)
            cls.addClassCleanup(program.end)
        return cls.programs[client, port]

    def play(self, client, port, steps):
        """What it saw of each step."""
        opened = self.opened(client, port)
        seen = []
        try:
            for step in steps:
                sql, *values = (step,) if isinstance(step, str) else step
                seen.append(opened.step(sql, values))
        finally:
            at_end = opened.close()
        return at_end or seen

    def told(self, client, case, port, differences):
        lines = []
        for step, seen in zip(CASES[case], self.play(client, port, CASES[case])):
            lines.append(f"> {step if isinstance(step, str) else step[0]}")
            shorter = [shortened(line, differences) for line in seen]
            lines += [line for line in shorter if line]
        return lines

    def compare(self, client, case, differences=DIFFERENCES):
        expected, got = (self.told(client, case, port, differences)
                         for port in self.sides.values())
        if expected != got:
            self.fail("\n".join(difflib.unified_diff(expected, got, *self.sides, lineterm="", n=3)))

    def test_differences_are_still_there(self):
        for difference in DIFFERENCES:
            client, case = difference.example
            others = [one for one in DIFFERENCES if one is not difference]
            with self.subTest(difference.name), self.assertRaises(AssertionError):
                self.compare(getattr(ydb_clients, client), case, others)
            self.empty()

    def test_refusals(self):
        """PostgreSQL takes them."""
        for refusal in REFUSALS + GAPS:
            with self.subTest(refusal.name):
                told = [self.play(ydb_clients.Psycopg3, port, refusal.before + [refusal.sql])
                        for port in self.sides.values()]
                self.assertNotEqual(*told)
                self.assertIn(f"sqlstate='{refusal.sqlstate}'", told[1][-1][-1])
                self.empty()


def shortened(line, differences):
    for pattern in (text for difference in differences for text in difference.texts):
        line = re.sub(pattern, "", line)
    return line if len(line) < 500 else f"{line[:500]} … {hash(line)}"


def _add_tests():
    def test_of(client, case):
        return lambda self: self.compare(client, case)

    for client in ("Psql", "Psycopg2", "Psycopg3", "Psycopg3Binary", "Asyncpg", "NodePostgres",
                   "NodePostgresNamed", "Pgjdbc", "PgjdbcBinary", "PgjdbcSimple"):
        for case in CASES:
            name = f"test_{client.lower()}_{case.replace(' ', '_')}"
            setattr(Clients, name, test_of(getattr(ydb_clients, client), case))


_add_tests()

if __name__ == "__main__":
    unittest.main()
