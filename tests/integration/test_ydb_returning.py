#!/usr/bin/env python3
"""RETURNING of tables that are not configured, before the fake of YDB's endpoint: what PostgreSQL shows."""
import unittest

import harness
import wire
from ydb_case import LinksCase

TABLES = """create table plain (id bigint primary key, "A word" text, n integer, b bytea);
            create table made (id bigserial primary key, n integer default 7)"""
ROW = """insert into plain (id, "A word", n, b) values """
TEXTS = (
    ROW + "(1, 'a', 1, '\\x00ff'), (2, 'b', null, null) returning *",
    ROW + "(3, 'c', '3', null) returning n, \"A word\", n * 2 as twice",
    ROW.replace("plain", "plain as p") + "(4, 'd', 4, null) returning p.*, n * n, p.id",
    "insert into plain (id, n, \"A word\", b) values (5, 5, null, null) returning plain.*",
    ROW + "(5, 'e', 6, null) on conflict (id) do update set n = plain.n + excluded.n returning *, 1",
    ROW + "(5, 'e', 6, null), (6, 'f', 6, null) on conflict (id) do nothing returning *",
    "update plain set n = n + 1, \"A word\" = upper(\"A word\") where id < 3 returning *",
    "update plain p set n = p.n * 2 where id = 3 returning p.*, p.n + 1",
    "update plain set n = n + 1 where id = 3 returning n",
    "delete from plain where id = 2 returning *",
    "delete from plain p where id = 3 returning p.n, p.*",
    ROW + "(1, 'again', 1, null) returning *",
    "begin", ROW + "(7, 'g', 7, null) returning *", "rollback",
    ROW + "(8, 'h', 8, null) returning *; " + ROW + "(9, 'i', 9, null) returning id",
    "insert into made (id, n) values (1, 2) returning *", "insert into made (n) values (3)",
    "update made set n = n + 1 where n = 2 returning *",
    "select * from plain order by id", "select count(*) from made")
BOUND = (
    (ROW + "($1, $2, $3, $4) returning *", "20", "z", "5", "\\x0102"),
    ("update plain set n = n + $1 where id = $2 returning n, *", "1", "20"),
    ("delete from plain where id = $1 returning *", "20"))
UNKNOWN = ("insert into made (n) values (3) returning id", "insert into made (n) values (3) returning *",
           "insert into made (id) values (50) returning n",
           "insert into made (id, n) values (50, 1) returning row(made.*)", "delete from made returning row(made.*), *",
           "insert into made (id, n) values (50, 1) returning (made.*) is null, *",
           "insert into made (id, n) values (50, 1) returning (made).*, made.*")


class Returning(LinksCase):
    plain_sql = TABLES

    def setUp(self):
        super().setUp()
        self.endpoint.http("DELETE", "/faults")

    def play(self):
        for sql in TEXTS:
            self.same(sql)

    def test_texts(self):
        self.play()

    def test_it_is_repeated_as_it_was(self):
        for fault in ("ABORTED", "UNAVAILABLE", "BAD_SESSION"):
            self.empty()
            self.endpoint.order(fault, statement=3, every=23)
            self.play()
            self.endpoint.http("DELETE", "/faults")

    def test_what_a_query_gives_is_what_is_stored(self):
        """… whatever others write between the question and the INSERT."""
        slow, other = self.links[1], self.link(self.sides["keyspread"])
        self.endpoint.order("stall", ms=300, begins="insert into plain", times=1)
        slow.send(wire.query(ROW + "(31, 'slow', (select count(*) from plain), null) returning n"))
        harness.eventually("it stalls", lambda: self.endpoint.http("GET", "/faults")[0]["done"] == 1)
        self.assertEqual(self.line(other.query(ROW + "(32, 'other', 0, null)")[0]), ("C", b"INSERT 0 1\0"))
        told = [one.row()[0].decode() for one in slow.read_ready() if one.kind == "D"]
        self.assertEqual([told], self.admins[True].rows("select n from plain where id = 31"))

    def test_parameters(self):
        for formats in ([], [1]):
            for sql, *values in BOUND:
                told = []
                for link in self.links:
                    link.send(wire.parse("", sql), wire.describe("S", ""),
                              wire.bind("", "", values, results=formats), wire.execute(""), wire.sync())
                    told.append([self.line(one) for one in link.read_ready()])
                self.assertEqual(*told, sql)

    def test_what_is_not_known_is_refused(self):
        """Defaults; and whole rows, which YDB makes none of."""
        for sql in UNKNOWN:
            self.assertEqual(self.links[1].query(sql)[0].fields()["C"], "0A000", sql)
        self.assertEqual(self.admins[True].rows("select count(*) from made"), [["0"]])

    def test_a_table_that_is_made_anew(self):
        """Its columns are others then."""
        link = self.links[1]
        for columns in ("id bigint primary key, n integer", "word text, id bigint primary key"):
            link.query("drop table if exists short")
            link.query(f"create table short ({columns})")
            told = link.query("insert into short (id, {}) values (1, '2') returning *".format(
                "n" if "n integer" in columns else "word"))
            names = [one[0] for one in told[0].columns()]
            self.assertEqual(names, ["id", "n"] if "n integer" in columns else ["word", "id"])
        link.query("drop table short")


if __name__ == "__main__":
    unittest.main()
