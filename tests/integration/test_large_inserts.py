"""A statement of more than 64 MiB for a configured table gets its error, and its session goes on: the rest of it is read away.
A Bind may be larger if its key stands before what is large: that passes as it comes."""
import hashlib
import socket
import struct
import unittest

import harness
import wire

SIZE = 65 << 20
TS = "2026-01-01 00:00:00+00"
BEGUN = f"insert into events values (1, '{TS}', '".encode()
TEXT = BEGUN + b"x" * SIZE + b"')"


@harness.proxied
class Large(harness.StackCase):
    def refused(self, replies, hint="Send fewer rows a statement."):
        error = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((error["S"], error["C"], error["H"]), ("ERROR", "54000", hint))
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
        session.ask(wire.parse("s", "insert into events (event, userid, ts) values ($1, $2, $3)"), wire.sync())
        for before in ((), (wire.bind("", "s", ["x", 5, TS]), wire.execute())):
            self.refused(session.ask(*before, wire.bind("", "s", [b"x" * SIZE, 1, TS]), wire.execute(), wire.sync()),
                         "Write the key's columns before the large values.")
            self.goes_on(session)
        self.check_stored(count=1)


DOCUMENTS = harness.Table("documents", ["id bigint not null", "part int not null", "body bytea", "note text"], ["id", "part"])
NUMBERED = harness.Table("numbered", ["id bigserial", "body bytea", "note text"], ["id"])
INSERT = "insert into documents (id, part, body, note) values ($1, $2, $3, $4)"


@harness.proxied
class Streamed(harness.StackCase):
    """Larger than limits.incomplete_bytes, which is less than 64 MiB here."""
    tables = (DOCUMENTS, NUMBERED)
    settings = {"log_parameter_max_length": "100"}
    options = {"workers": 1, "limits": {"incomplete_bytes": "1MiB"}}
    LARGE = b"\0\1xyz" * (600 << 10)  # 3 MiB

    def prepared(self, text=INSERT, name="s"):
        session = self.wire()
        self.assertIsNone(wire.error_of(session.ask(wire.parse(name, text), wire.sync())))
        return session

    def bound(self, *values, name="s", **more):
        return wire.bind("", name, values, **more) + wire.execute()

    def backends(self):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows(f"select count(*) from pg_stat_activity where usename = '{harness.USER}'")[0][0])

    def is_right(self, *expected, table="documents"):
        """The rows, each with the hash of its id; of a large value its length, and whether it is right."""
        with self.postgres.admin(self.database) as admin:
            rows = admin.rows(f"select id, length(body), md5(body), note, id_hash from {table} order by id")
        hashes = [str(harness.xxh3_signed(int(row[0]))) for row in rows]
        self.assertEqual([row.pop() for row in rows], hashes)
        self.assertEqual(rows, [[str(number), str(len(body)), hashlib.md5(body).hexdigest(), note] for number, body, note in expected])

    def test_each_form(self):
        """Named and unnamed, all formats, behind others in a group, with results, and in a transaction of a session that goes on."""
        binary = (1, 1, 1, 0)
        key = struct.pack("!q", 3), struct.pack("!i", 0)
        session = self.prepared()
        for messages in (self.bound(1, 0, self.LARGE, "a", formats=(0, 0, 1, 0)), self.bound(2, 0, b"\\x00", "b" * len(self.LARGE)),
                         self.bound(*key, self.LARGE, "c", formats=binary, results=(0,)),
                         wire.parse("", INSERT) + self.bound(4, 0, b"\\x00", "d") + self.bound(5, 0, self.LARGE, None, name="", formats=(0, 0, 1, 0))):
            replies = session.ask(messages, wire.sync())
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"] * (2 if messages.startswith(b"P") else 1), replies)
        session.query("begin")
        self.assertEqual(wire.tags_of(session.ask(self.bound(6, 0, self.LARGE, "f", formats=(0, 0, 1, 0)), wire.sync())), ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.is_right((1, self.LARGE, "a"), (2, b"\0", "b" * len(self.LARGE)), (3, self.LARGE, "c"), (4, b"\0", "d"),
                      (5, self.LARGE, None), (6, self.LARGE, "f"))

    def test_several_rows(self):
        """Each has its hash, if all keys stand before what is large; else it is refused, and the session goes on."""
        values = "insert into documents (id, part, body, note) values ($1, 0, $3, 'x'), ($2, 0, $4, 'y') returning id"
        session = self.prepared(values)
        self.assertIsNone(wire.error_of(session.ask(self.bound(1, 2, self.LARGE, self.LARGE[1:], formats=(0, 0, 1, 1)), wire.sync())))
        session = self.prepared("insert into documents (body, note, id, part) values ($1, $2, $3, $4)")
        replies = session.ask(self.bound(self.LARGE, "x", 3, 0, formats=(1, 0, 0, 0)), wire.sync())
        error = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((error["S"], error["C"], error["H"]), ("ERROR", "54000", "Write the key's columns before the large values."))
        self.assertIsNone(wire.error_of(session.ask(self.bound(self.LARGE[:9], "x", 3, 0, formats=(1, 0, 0, 0)), wire.sync())))
        self.is_right((1, self.LARGE, "x"), (2, self.LARGE[1:], "y"), (3, self.LARGE[:9], "x"))

    def test_a_key_that_the_database_makes(self):
        session = self.prepared("insert into numbered (body, note) values ($1, $2) returning id")
        replies = session.ask(self.bound(self.LARGE, "x", formats=(1, 0)), wire.sync())
        self.assertEqual(wire.error_of(replies), None)
        self.is_right((1, self.LARGE, "x"), table="numbered")

    def test_errors(self):
        """Of the values, of the message, and of a transaction that has failed: the session goes on."""
        session, large = self.prepared(), self.bound(1, 0, self.LARGE, "a", formats=(0, 0, 1, 0))
        malformed = bytearray(large)
        place = len(wire.bind("", "s", [1, 0], formats=(0, 0, 1, 0)))  # of the large value's length, with two bytes of result formats
        malformed[place - 2:place + 2] = struct.pack("!i", len(self.LARGE) * 2)
        short = wire.bind("", "s", [1, 0, self.LARGE], formats=(0, 0, 1)) + wire.execute()
        for message, state in ((self.bound(1, 0, b"\\xzz" + b"z" * len(self.LARGE), "a"), "22023"), (bytes(malformed), "08P01"), (short, "08P01"),
                               (self.bound(1, "x", self.LARGE, "a", formats=(0, 0, 1, 0)), "22P02"), (self.bound(None, 0, self.LARGE, "a", formats=(0, 0, 1, 0)), "23502")):
            replies = session.ask(message, wire.sync())
            self.assertEqual(wire.error_of(replies), state, message[:60])
            self.assertEqual(session.rows("select 1"), [["1"]])
        session.query("begin")
        session.query("select 1 / 0")
        self.assertEqual(wire.error_of(session.ask(large, wire.sync())), "25P02")
        session.query("rollback")
        self.assertIsNone(wire.error_of(session.ask(large, wire.sync())))
        self.assertEqual(wire.error_of(session.ask(large, wire.sync())), "23505")
        self.is_right((1, self.LARGE, "a"))

    def test_whoever_goes_or_cancels_in_the_middle(self):
        """Nothing is stored of who goes. A cancel concerns no statement that has not begun: the row is stored."""
        large = self.bound(1, 0, self.LARGE, "a", formats=(0, 0, 1, 0))
        cancelled = self.prepared()
        before = self.backends()
        gone = self.prepared()
        gone.send(large[:len(large) // 2])
        gone.drop()
        cancelled.send(large[:len(large) // 2])
        with socket.create_connection(self.keyspread.address()) as canceller:
            canceller.sendall(wire.cancel_request(cancelled.pid, cancelled.key))
            self.assertEqual(canceller.recv(1), b"")
        self.assertIsNone(wire.error_of(cancelled.ask(large[len(large) // 2:], wire.sync())))
        harness.eventually("its link is closed", lambda: self.backends() <= before)
        self.is_right((1, self.LARGE, "a"))

    def test_a_server_that_goes_in_the_middle(self):
        session = self.prepared()
        large = self.bound(1, 0, self.LARGE, "a", formats=(0, 0, 1, 0))
        session.send(large[:len(large) // 2])
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{harness.USER}'")
        with self.assertRaises((OSError, wire.Closed)):
            session.ask(large[len(large) // 2:], wire.sync())
            session.query("select 1")
        self.is_right()


@harness.proxied
class InLazyTransactions(harness.StackCase):
    """What was kept of the transaction goes first."""
    tables = (harness.Table("documents", DOCUMENTS.columns, DOCUMENTS.key, transactions="lazy"),)
    options = Streamed.options
    LARGE, prepared, bound, is_right = Streamed.LARGE, Streamed.prepared, Streamed.bound, Streamed.is_right

    def test_behind_a_kept_row_and_behind_begin(self):
        session = self.prepared()
        large = self.bound(2, 0, self.LARGE, "b", formats=(0, 0, 1, 0))
        session.query("begin")
        for message in (self.bound(1, 0, "a", "a"), large):
            self.assertEqual(wire.tags_of(session.ask(message, wire.sync())), ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(session.query("rollback")), ["ROLLBACK"])
        begin = wire.parse("", "begin") + wire.bind("", "") + wire.execute()
        self.assertEqual(wire.tags_of(session.ask(begin, large, wire.sync())), ["BEGIN", "INSERT 0 1"])
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.is_right((2, self.LARGE, "b"))


if __name__ == "__main__":
    unittest.main()
