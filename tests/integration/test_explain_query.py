"""EXPLAIN (PROXY) in a session says what `keyspread explain` says, and runs nothing."""
import json
import subprocess
import tempfile
import unittest

import harness
import wire
from made_case import Planned

STATEMENTS = (
    "insert into events (userid, ts, event) values (5, '2026-01-01 00:00:00+00', e'a\\'b\\n'), (6, '2026-01-01 00:00:00+00', 'é')",
    "upsert into events (userid, ts, event) values (5, '2026-01-01 00:00:00+00', 'x')",
    "insert into events (ts) values ('2026-01-01')", "insert into events select 1, now(), 'x'",
    "select * from events where userid = 5", "update events set userid = 6", "copy events from stdin", "delete from events",
    "select 1", "select 'a\\b'", "create table nothing (a int)", "this is no statement", "vacuum",
)


class ExplainCase(harness.StackCase):
    def offline(self, statement):
        """What the command prints of it."""
        dsn = f"postgresql://{harness.USER}@127.0.0.1:{self.postgres.port}/{self.database}"
        config = {**self.keyspread.config, "backend": {**self.keyspread.config["backend"], "dsn": dsn}}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(config, file)
            file.flush()
            told = subprocess.run([harness.program(), "explain", file.name], input=statement, check=True,
                                  capture_output=True, text=True, timeout=harness.PATIENCE)
        return [[line] for line in told.stdout.splitlines() if line != "---"]


@harness.proxied
class ExplainQuery(ExplainCase):
    def test_as_the_command(self):
        session = self.wire()
        for statement in STATEMENTS:
            with self.subTest(statement):
                lines = self.offline(statement)
                self.assertEqual(session.rows("explain (proxy) " + statement), lines)
                self.assertEqual(session.rows(f" EXPLAIN/**/(Proxy)--\n{statement} ;"), lines)
                replies = session.ask(wire.parse("", "explain (proxy) " + statement), wire.describe("S", ""),
                                      wire.bind("", ""), wire.execute(), wire.sync())
                self.assertEqual([[value.decode() for value in reply.row()] for reply in replies if reply.kind == "D"], lines)
        self.assertEqual(self.stored(), [])

    def test_by_what_names_mean(self):
        session = self.wire()
        session.rows("create temp table events (a int)")
        statement = "explain (proxy) insert into events values (1)"
        self.assertIn(["table: -"], session.rows(statement))
        session.rows("drop table events")
        self.assertIn(["table: public.events"], session.rows(statement))

    def test_in_a_failed_transaction(self):
        session = self.wire()
        for text in ("begin", "select 1/0"):
            session.query(text)
        self.assertEqual(wire.error_of(session.query("explain (proxy) select 1")), "25P02")

    def test_what_is_none(self):
        """PostgreSQL says what is wrong with it."""
        session = self.wire()
        for text in ("explain (proxy)", "explain (proxy) explain (proxy) select 1", "explain (proxy, verbose) select 1",
                     "explain (proxy) select 1; select 2", "explain proxy select 1", "explain (proxy) select '" + "x" * (1 << 20) + "'"):
            with self.subTest(text[:60]):
                self.assertEqual(wire.error_of(session.query(text)), "42601")


@harness.proxied
class OfPatterns(ExplainCase):
    tables = (Planned("made_*", "auto", hash_column="keyspread_hash"),)

    def setUp(self):
        """No table is there."""

    def test_of_a_table_that_a_pattern_names(self):
        session = self.wire()
        for text in ("create table made_1 (id serial primary key, n text)", "create table made_2 (n text)"):
            session.query(text)
        for statement in ("insert into made_1 values (5, 'x')", "insert into made_1 (n) values ('x')", "select * from made_1 where id in (5, 6)",
                          "insert into made_2 values ('x')", "select * from made_2", "create table made_3 (id int primary key)",
                          "create table made_3 (id int)", "insert into made_3 values (1)"):
            with self.subTest(statement):
                self.assertEqual(session.rows("explain (proxy) " + statement), self.offline(statement))
        self.assertIn(["table: public.made_1"], session.rows("explain (proxy) insert into made_1 values (5, 'x')"))
        self.assertIn(["not spread: its name is of a pattern, but its CREATE TABLE has no primary key"],
                      session.rows("explain (proxy) create table made_3 (id int)"))
        session.query("drop table made_1, made_2")


if __name__ == "__main__":
    unittest.main()
