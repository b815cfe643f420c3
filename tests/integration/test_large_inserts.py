"""A statement of more than 64 MiB for a configured table gets its error, and its session goes on: the rest of it is read away."""
import unittest

import harness
import wire

SIZE = 65 << 20
TS = "2026-01-01 00:00:00+00"
BEGUN = f"insert into events values (1, '{TS}', '".encode()
TEXT = BEGUN + b"x" * SIZE + b"')"


@harness.proxied
class Large(harness.StackCase):
    def refused(self, replies):
        error = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((error["S"], error["C"], error["H"]), ("ERROR", "54000", "Send fewer rows a statement."))
        self.assertEqual(replies[-1].kind, "Z")

    def goes_on(self, session):
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.assertEqual(wire.tags_of(session.query(f"insert into events values (2, '{TS}', 'y') on conflict do nothing"))[0][:6], "INSERT")

    def test_query(self):
        session = self.wire()
        self.refused(session.query(TEXT))
        self.goes_on(session)
        session.send(wire.query(TEXT), wire.query("select 2"))
        replies = session.read_ready(2)
        self.assertEqual([reply.kind for reply in replies], ["E", "Z", "T", "D", "C", "Z"])
        self.check_stored(count=1)

    def test_in_a_transaction(self):
        session = self.wire()
        session.rows("begin")
        self.refused(session.query(TEXT))
        self.assertEqual(wire.error_of(session.query("select 1")), "25P02")
        session.rows("rollback")
        self.goes_on(session)

    def test_parse(self):
        session = self.wire()
        self.refused(session.ask(wire.parse("", TEXT), wire.bind("", ""), wire.execute(), wire.sync()))
        self.goes_on(session)

    def test_bind(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into events values ($1, $2, $3)"), wire.sync())
        for before in ((), (wire.bind("", "s", [5, TS, "x"]), wire.execute())):
            self.refused(session.ask(*before, wire.bind("", "s", [1, TS, b"x" * SIZE]), wire.execute(), wire.sync()))
            self.goes_on(session)
        self.check_stored(count=1)


if __name__ == "__main__":
    unittest.main()
