#!/usr/bin/env python3
"""Keys that the database makes, before the fake of YDB's endpoint: where the configuration says a column's
default, keyspread asks for it, and clients see what PostgreSQL shows them.
"""
import unittest

import harness
import wire
import ydb_case
from harness import in_threads
from ydb_case import YdbCase

ITEMS = harness.Table("items", ["id bigint not null", "word text", "n integer", "at timestamptz"], ["id"])
DEFAULTS = {"items": {"id": "nextval('numbers')", "n": "7", "at": "now()"}}
PREPARE = """create sequence numbers; alter table items alter id set default nextval('numbers');
             alter table items alter n set default 7; alter table items alter at set default now()"""
FAULTS = ("ABORTED", "OVERLOADED", "BAD_SESSION", "drop_before_commit")

TEXTS = ("insert into items (word) values ('a')",
         "insert into items (word) values ('b') returning id, word, n",
         "insert into items (id, word) values (default, 'c') returning id",
         "insert into items (word) values ('d'), ('e') returning id, word",
         "insert into items (id, n, word) values (default, default, 'f'), (default, default, 'g')",
         "insert into items values (default, 'h', 3, null) returning id, n",
         "insert into items default values",
         "insert into items default values returning id, n",
         "insert into items (word) values ('i') on conflict (id) do nothing returning id",
         "insert into items (word) values ('j'); insert into items (word) values ('k') returning id",
         "insert into items (id, word) values (nextval('numbers'), 'l') returning id",
         "begin", "insert into items (word) values ('m') returning id", "commit",
         "begin", "insert into items (word) values ('n') returning id", "rollback",
         "select currval('numbers') >= 10, lastval() >= 10",
         "update items set word = upper(word) where id = 2 returning id, word, n",
         "select word, n, id = any(array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), at is null from items order by id",
         "select count(*), count(distinct id) from items")


class MadeKeys(YdbCase):
    tables = (ITEMS,)

    @classmethod
    def setUpClass(cls):
        columns_of = ydb_case.columns_of

        def with_defaults(table):
            return [{**column, **({"default": DEFAULTS[table.name][column["name"]]}
                                  if column["name"] in DEFAULTS[table.name] else {})}
                    for column in columns_of(table)]

        ydb_case.columns_of = with_defaults
        cls.addClassCleanup(setattr, ydb_case, "columns_of", columns_of)
        super().setUpClass()
        for admin in cls.admins.values():
            admin.rows(PREPARE)

    def empty(self):
        super().empty()
        self.endpoint.http("DELETE", "/faults")
        for admin in self.admins.values():
            admin.rows("alter sequence numbers restart")

    @staticmethod
    def told(messages):
        return [(one.kind, one.row() if one.kind == "D" else one.fields()["C"] if one.kind == "E"
                 else one.body if one.kind in "CZ" else None) for one in messages]

    def compare(self, *steps):
        """Each a text, or messages that end with Sync."""
        links = [self.link(port) for port in self.sides.values()]
        for step in steps:
            expected, got = (self.told(link.query(step) if isinstance(step, str) else link.ask(*step))
                             for link in links)
            self.assertEqual(expected, got, step)

    def test_texts(self):
        self.compare(*TEXTS)

    def test_defaults_are_assigned(self):
        """… where nothing is given, and by their name."""
        upsert = "on conflict (id) do update set"
        self.compare("insert into items (id, word, n) values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
                     f"insert into items (id, word) values (1, 'x') {upsert} n = excluded.n",
                     f"insert into items (id, word) values (2, 'x'), (4, 'x') {upsert} n = items.n + excluded.n",
                     f"insert into items (id) values (1) {upsert} n = default returning n, id",
                     f"insert into items (id, n) values (3, default), (5, 1) {upsert} n = excluded.n returning id, n",
                     f"insert into items (id) values (3) {upsert} at = excluded.at",
                     "update items set n = default where id = 2 returning id, n",
                     "update items set at = default, n = n + 1 where id = 2",
                     "update items as i set at = default where i.id = 1 returning i.id",
                     "select id, word, n, at is null, at > now() - interval '1 minute' from items order by id")

    def test_what_is_prepared(self):
        """RETURNING * has all columns but the hash, as PREPARE sees them already."""
        self.compare("prepare p as insert into items (id, word, at) values ($1, $2, null) returning *",
                     "execute p (50, 'x')",
                     "prepare q as insert into items as i (id, word, at) values (51, 'w', null) returning i.*, 1",
                     "execute q",
                     [wire.describe("S", "p"), wire.bind("", "p", ["52", "y"]), wire.execute(""), wire.sync()],
                     "select * from items order by id")

    def test_parameters(self):
        one = (wire.bind("", "s", ["x"]), wire.execute(""))
        self.compare([wire.parse("s", "insert into items (word) values ($1) returning id, word"),
                      wire.describe("S", "s"), wire.sync()],
                     [*one, wire.sync()], [*one, *one, wire.sync()],
                     [wire.parse("", "insert into items (word, n) values ($1, $2), ($3, default)"),
                      wire.bind("", "", ["y", "5", None]), wire.execute(""), wire.sync()],
                     "select id, word, n from items order by id")

    def test_what_happens_twice_has_one_number(self):
        """Whatever fails on the way: the row that is acknowledged is there, by its number, once."""
        link = self.link(self.keyspread.port)
        for fault in FAULTS:
            for at in range(1, 4):
                self.endpoint.order(fault, statement=at)
                reply = link.query("insert into items (word) values ('x') returning id")
                self.endpoint.http("DELETE", "/faults")
                rows = [one.row()[0].decode() for one in reply if one.kind == "D"]
                if wire.error_of(reply) is None:
                    self.assertEqual(len(rows), 1)
                    self.assertEqual(link.rows(f"select word from items where id = {rows[0]}"), [["x"]])
                else:
                    self.assertIn(wire.error_of(reply), ("08006", "08007", "40001"), (fault, at))

    def test_at_the_same_time(self):
        def write(_):
            link = self.link(self.keyspread.port)
            return [link.rows("insert into items (word) values ('x') returning id")[0][0]
                    for _ in range(20)]

        made = sum(in_threads(6, write), [])
        self.assertEqual(len(set(made)), 120)
        stored = self.admins[True].rows("select id from items")
        self.assertEqual(sorted(made), sorted(row[0] for row in stored))


if __name__ == "__main__":
    unittest.main()
