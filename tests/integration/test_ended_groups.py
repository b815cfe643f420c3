#!/usr/bin/python3
"""What ends within a Sync group: settings that were set in it and are undone with it, of which PostgreSQL tells nobody; and
a failed transaction that its first message rolls back, behind which everything is as ever. PostgreSQL's answers, and rows
with their hashes."""
import unittest

import harness
import wire
from direct_case import DirectCase
from test_pipelined_ddl import messages_of

KEPT = harness.Table("kept", ["id text not null", "v text"], ["id"], hash_first=False)
TIMES = harness.Table("times", ["at timestamptz not null", "v text"], ["at"], hash_first=False)
DATED = harness.Table("dated", ["id text not null", "at timestamptz"], ["id"], hash_first=False)
DRAWN = harness.Table("drawn", ["id bigserial", "v text"], ["id"], hash_first=False)
OFF = "standard_conforming_strings = off"
INSERT = "insert into kept values ('other', 'x')"
# None of them is told that its strings were read otherwise for a while.
UNTOLD = (
    ("begin", f"set local {OFF}", INSERT, "commit"),
    ("begin", f"set local {OFF}", ("insert into kept values ($1, $2)", ["other", "x"]), "rollback"),
    (f"set {OFF}", INSERT, "select 1/0"),
    (f"set {OFF}", INSERT, "insert into kept values (1, 2, 3)"),
    ("begin", "savepoint a", f"set {OFF}", INSERT, "rollback to a", "commit"),
)
# One text or another, as a backslash is one or not.
SLASHED = (
    "insert into plain values ('\\'); update kept set id = 'moved' where id = 'there'",
    "select 1 where '' = '\\'; update kept set id = 'moved' where id = 'there'; select '\\', ''",
    "insert into kept values ('new', '\\')",
    "insert into kept (id, v) select 'new', '\\'::text",
)
FAILED = (
    ("rollback", "insert into drawn (v) values ('a') returning *"),
    ("rollback", ("insert into drawn (v) values ($1) returning *", ["a"]), "insert into kept values (lower('A'), 'x')"),
    ("rollback and chain", "insert into kept values (lower('A'), 'x')", "commit"),
    ("commit", "begin", ("insert into kept values ($1 || 'b', 'x')", ["a"]), "insert into drawn (v) values ('a')", "commit"),
    ("rollback to nothing", "insert into drawn (v) values ('a')"),
    ("select 1", "insert into drawn (v) values ('a')"),
)
IN_SAVEPOINT = (
    ("rollback to a", "insert into drawn (v) values ('a') returning *", "commit"),
    ("rollback to a", "insert into kept values (upper('a'), 'x')", "select * from kept", "commit"),
)


@harness.proxied
class EndedGroups(DirectCase):
    tables = (KEPT, DRAWN, TIMES, DATED)
    setup_sql = "create table plain (v text); create function one(int) returns int language sql as 'select $1'"

    def as_direct(self, *messages, ready):
        self.both(messages, ready=ready, verify=True)
        for admin in self.admins.values():
            admin.rows("truncate drawn restart identity")

    def test_settings_that_nobody_was_told(self):
        there = wire.query("insert into kept values ('there', 'x')")
        for group in UNTOLD:
            for text in SLASHED:
                with self.subTest(group, text=text):
                    self.as_direct(there, *messages_of(group, False), wire.sync(), wire.query("rollback"), wire.query(text), ready=4)

    def test_settings_of_what_was_prepared_before(self):
        """Of which a Bind says the name alone: what stands behind it is read by them."""
        row = wire.bind("", "row", ["2026-07-01 12:00", "x"]) + wire.execute()
        for text in ("set local timezone = '-05'", "set timezone = '-05'", "select set_config('TimeZone', '-05', true)"):
            prepared = wire.parse("set", text) + wire.parse("row", "insert into times values ($1, $2)")
            for first in (INSERT, "insert into drawn (v) values ('a')"):
                with self.subTest(text, first=first):
                    self.as_direct(prepared, wire.sync(), *messages_of((first,), False), wire.bind("", "set"), wire.execute(), row, wire.sync(),
                                   wire.query("reset timezone"), ready=3)
                    self.as_direct(prepared, wire.parse("first", first), wire.sync(), wire.bind("", "first"), wire.execute(),
                                   wire.bind("p", "set"), row.replace(b"12:00", b"11:00"), wire.execute("p"), row, wire.sync(),
                                   wire.query("reset timezone"), ready=3)

    def test_constants_of_what_was_prepared_before(self):
        """They are as they were read, whatever others do to other tables meanwhile."""
        for text in ("insert into kept values ('7', '2026-07-01 10:00'::timestamptz::text || one(1))", "insert into times values ('2026-07-01 10:00+00', 'x')",
                     "insert into dated values ('k', '2026-07-01 10:00')", "insert into dated select 'k', '2026-07-01 10:00'::timestamptz"):
            with self.subTest(text):
                answers = []
                for database, port in self.routes():
                    with wire.Wire(("127.0.0.1", port)) as session, wire.Wire(("127.0.0.1", port)) as other:
                        for one in (session, other):
                            one.login(harness.USER, database)
                        session.ask(wire.parse("row", text), wire.sync())
                        session.query("set timezone = '-05'")
                        other.rows("alter table drawn add column w int; alter table drawn drop column w")
                        replies = session.ask(wire.bind("", "row"), wire.execute(), wire.sync())
                        answers.append([wire.kinds(replies), wire.error_of(replies), self.contents(database, verify=True)])
                self.assertEqual(*answers)

    def test_a_key_that_cannot_be_asked_for(self):
        """In a Query in parts, whose client has an unnamed statement there."""
        for text in ("select 1; begin read only; insert into drawn (v) values ('a')", "select 1; begin; insert into drawn values (nextval('nothing'), 'x')",
                     "select 1; begin read only; insert into kept values (lower('A'), 'x'); select 2"):
            with self.subTest(text):
                answers = []
                for database, port in self.routes():
                    with wire.Wire(("127.0.0.1", port), timeout=10) as session:
                        session.login(harness.USER, database)
                        session.ask(*messages_of(("select * from kept where id = 'x'",), False), wire.sync())
                        answers.append([wire.kinds(session.query(one)) for one in (text, "select 2", "rollback")])
                        answers[-1].append(wire.error_of(session.ask(wire.bind("", ""), wire.sync())))
                self.assertEqual(*answers)

    def test_a_failed_transaction_that_ends(self):
        for begin, groups in (("begin; select 1/0", FAILED), ("begin; savepoint a; select 1/0", IN_SAVEPOINT)):
            for group in groups:
                for named in (False, True):
                    with self.subTest(group, named=named):
                        self.as_direct(wire.query(begin), *messages_of(group, named), wire.sync(), wire.query("rollback"), ready=3)


if __name__ == "__main__":
    unittest.main()
