"""What a session may set and its rows are batched all the same: the list of settings against the servers that are there, and
what becomes of rows behind each kind of SET. KEYSPREAD_SERVERS: versions of npm's, "16 17 18" by default, those that are there."""
import os
import re
import unittest

import harness
import wire

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "..", "..", "rewrite", "statement", "words", "setting_kind.c")
# What only a distribution's own build has.
SOMEWHERE = {"extension_destdir"}
SETTABLE = "select lower(name) from pg_settings where context in ('user', 'superuser') and name !~ '[.]'"


def listed():
    """Of each setting on the list its kind, and the first and the last version that has it."""
    with open(LIST, encoding="utf-8") as file:
        rows = re.findall(r'^    \{"(\w+)", RW_SETTING_(\w+), (\d+), (\d+)\},', file.read(), re.M)
    return {name: (kind, int(since), int(until) or 99) for name, kind, since, until in rows}


def servers():
    yield None
    for version in os.environ.get("KEYSPREAD_SERVERS", "16 17 18").split():
        if os.path.isdir(os.path.join(HERE, "node", "node_modules", f"postgresql-{version}", "native")):
            yield int(version)


class Lists(unittest.TestCase):
    def test_each_setting_is_on_the_list(self):
        known = listed()
        self.assertGreater(len(known), 180)
        for version in servers():
            with self.subTest(version):
                postgres = harness.Postgres(version)
                self.addCleanup(postgres.remove)
                with postgres.admin("postgres") as admin:
                    number = int(admin.rows("show server_version_num")[0][0]) // 10000
                    there = {name for name, in admin.rows(SETTABLE)} - SOMEWHERE
                due = {name for name, (_, since, until) in known.items() if since <= number <= until} - SOMEWHERE
                self.assertEqual(there, due)


@harness.proxied
class Batches(harness.StackCase):
    def count(self, session, text):
        """Whether the row of `text` travelled in a batch."""
        mark = self.postgres.mark()
        session.query(text)
        pids = {one.pid for one in self.postgres.statements(mark, self.database, "insert into")}
        return pids, session.rows("select pg_backend_pid()")[0][0]

    def is_batched(self, session, number):
        pids, own = self.count(session, f"insert into events values ({number}, '2026-01-01 00:00:00+00', 'x')")
        self.assertEqual(len(pids), 1, number)
        return pids != {int(own)}

    def said(self, session, text="insert into events values (1, '2026-01-01 00:00:00+00', 'x')"):
        lines = [line for line, in session.rows("explain (proxy) " + text)]
        return next(line for line in lines if line.startswith("batchable: "))

    def test_what_changes_nothing(self):
        session = self.wire()
        for number, setting in enumerate(("escape_string_warning = off", "client_min_messages = error", "default_tablespace = ''",
                                          "enable_sort = off", "application_name = 'a'", "client_encoding = 'SQL_ASCII'")):
            session.rows(f"set {setting}")
            self.assertTrue(self.is_batched(session, number), setting)
            self.assertEqual(self.said(session), "batchable: yes")

    def test_what_does(self):
        for number, setting in enumerate(("array_nulls", "row_security", "xmloption", "session_replication_role",
                                          "default_transaction_isolation", "quote_all_identifiers")):
            session, value = self.wire(), {"array_nulls": "off", "row_security": "off", "xmloption": "document",
                                           "session_replication_role": "replica", "quote_all_identifiers": "on",
                                           "default_transaction_isolation": "'serializable'"}[setting]
            session.rows(f"set {setting} = {value}")
            self.assertFalse(self.is_batched(session, number), setting)
            self.assertEqual(self.said(session), f"batchable: no, because the session has set {setting}")
            session.rows(f"reset {setting}")
            self.assertEqual(self.said(session), "batchable: yes")
            self.assertTrue(self.is_batched(session, number + 100), setting)

    def test_why_not(self):
        session = self.wire()
        for before, why, behind in (("begin", "it is inside of a transaction", "rollback"),
                                    ("set client_encoding = latin1", "client_encoding is not UTF8", "reset client_encoding"),
                                    ("set standard_conforming_strings = off", "standard_conforming_strings is off",
                                     "reset standard_conforming_strings"),
                                    ("set role postgres", "the session has another role", "reset role")):
            session.rows(before)
            self.assertEqual(self.said(session), f"batchable: no, because {why}")
            session.rows(behind)
            self.assertEqual(self.said(session), "batchable: yes")

    def test_bytes_as_they_are(self):
        """A client in SQL_ASCII sends what the server stores, and is told of it as it is."""
        session = self.wire()
        session.rows("set client_encoding = 'SQL_ASCII'")
        self.assertTrue(self.is_batched(session, 1))
        session.query("insert into events values (2, '2026-01-01 00:00:00+00', 'é') returning event")
        self.assertEqual(wire.error_of(session.query(b"insert into events values (3, '2026-01-01 00:00:00+00', '\xe9')")), "22021")
        self.check_stored(count=2)


@harness.proxied
class BytesAlone(harness.StackCase):
    """A database in SQL_ASCII, as Bacula has it: what is ASCII is batched, by a client that says SQL_ASCII, too."""

    def setUp(self):
        with self.postgres.admin("postgres") as admin:
            admin.rows("drop database if exists bytes")
            admin.rows("create database bytes encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0")
        with self.postgres.admin("bytes") as admin:
            admin.rows(harness.EVENTS.ddl())

    def test_ascii(self):
        session = wire.Wire(("127.0.0.1", self.port()))
        self.addCleanup(session.close)
        session.login(harness.USER, "bytes")
        session.rows("set client_encoding = 'SQL_ASCII'")
        own = int(session.rows("select pg_backend_pid()")[0][0])
        for event, batched in 4 * [(b"x", True)] + [(b"\xe9", False), (b"y", True)]:  # the first ones are learned from
            for form in ("Query", "Bind"):
                mark = self.postgres.mark()
                text = b"insert into events values (%d, '2026-01-01 00:00:00+00', '%b') returning event" % (
                    len(self.rows()) + 1, event)
                if form == "Query":
                    replies = session.query(text)
                else:
                    replies = session.ask(wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())
                self.assertEqual([reply.row() for reply in replies if reply.kind == "D"], [[event]])
                pids = {one.pid for one in self.postgres.statements(mark, "bytes", "insert into")}
                self.assertEqual(own not in pids, batched, (event, form))

    def test_copy_is_cut_byte_by_byte(self):
        """As the server does it: the later byte of a character of SJIS is a delimiter there."""
        session = wire.Wire(("127.0.0.1", self.port()))
        self.addCleanup(session.close)
        session.login(harness.USER, "bytes", client_encoding="SJIS")
        replies = session.ask(wire.query("copy events (event, userid, ts) from stdin delimiter '|'"),
                              wire.copy_data(b"\x83|5|2026-01-01 00:00:00+00\n"), wire.copy_done())
        self.assertEqual(wire.tags_of(replies), ["COPY 1"])
        with self.postgres.admin("bytes") as admin:
            (userid, stored), = admin.rows("select userid, userhash from events")
        self.assertEqual((userid, stored), ("5", str(harness.EVENTS.stored_hash(5))))

    def rows(self):
        with self.postgres.admin("bytes") as admin:
            return admin.rows("select userid from events")


if __name__ == "__main__":
    unittest.main()
