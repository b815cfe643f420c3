"""In the middle of a message that is relayed nothing of keyspread's own is written, to neither side:
the connection ends without a word there, as PostgreSQL's would."""
import socket
import threading
import unittest

import harness
import wire
from load import TEXT, TS, FaultCase


class BoundaryCase(FaultCase):
    def setUp(self):
        super().setUp()
        self.start(workers=1)

    def tearDown(self):
        self.keyspread.check_alive()

    def told(self, session):
        """Every byte up to the end of the connection."""
        data = bytes(session.buffer)
        try:
            while part := session.socket.recv(1 << 18):
                data += part
        except ConnectionError:
            pass
        return data

    def past(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def whole(self, sql):
        """What PostgreSQL says to this, up to the end of the first row."""
        with self.postgres.admin(self.database) as admin:
            replies = admin.query(sql)
        return b"".join(wire.frame(m.kind, m.body) for m in replies if m.kind in "TD")


class ToTheClient(BoundaryCase):
    def setUp(self):
        FaultCase.setUp(self)
        events = harness.EVENTS
        self.start(workers=1, tables=[harness.Table(
            events.name, events.columns, events.key, hash_column=events.hash_column,
            batch={"target_ms": 60000})])  # no row is a slow one, which goes by its own link

    def check_cuts(self, sql, lefts):
        whole = self.whole(sql)
        for left in lefts:
            session = self.wire()
            there = self.middleman.open_gap("D", left)
            session.send(wire.query(sql))
            self.assertEqual(self.told(session), whole[:-left], f"{left} bytes before the end")
            self.assertTrue(there.is_set())

    def test_a_row_that_is_cut(self):
        self.check_cuts("select 'a row of some length, that is cut'", range(1, 31))

    def test_a_large_row_that_is_cut(self):
        self.check_cuts("select repeat('x', 1000000)", (*range(1, 31), 300_000, 999_999))

    def test_garbage_of_the_client(self):
        """It ends the session, but does not say so in the middle of a row."""
        sql = "select 'a row of some length'"
        session, then = self.wire(), threading.Event()
        there = self.middleman.open_gap("D", 10, then)
        session.send(wire.query(sql))
        there.wait()
        harness.eventually("the row's beginning is there", lambda: len(session.socket.recv(
            1000, socket.MSG_PEEK)) == len(self.whole(sql)) - 10)
        session.send(b"\1garbage")
        self.assertEqual(self.told(session), self.whole(sql)[:-10])
        then.set()

    def test_a_notification_in_the_way_of_a_unit(self):
        """A notification that has come in half does not stand in an INSERT's answer, nor hold it
        up, for however long."""
        listener, then = self.wire(), threading.Event()
        listener.query("listen news")
        listener.query(TEXT.format(-1, TS, "x"))  # what its names mean has been asked
        there = self.middleman.open_gap("A", 4, then)
        with self.postgres.admin(self.database) as admin:
            admin.query("notify news, 'something new'")
            over = ("select clock_timestamp() > "
                    f"'{admin.rows('select clock_timestamp()')[0][0]}'::timestamptz + '2500 ms'")
        there.wait()
        userid = 0
        while userid < 3 or self.past(over) != [["t"]]:
            self.assertEqual(wire.tags_of(listener.query(TEXT.format(userid, TS, "x"))),
                             ["INSERT 0 1"])
            userid += 1
        self.assertEqual(wire.error_of(listener.ask(wire.parse("", "copy events from '/x'"),
                                                    wire.sync())), "0A000")
        then.set()
        note = listener.read()
        self.assertEqual((note.kind, note.body[4:]), ("A", b"news\0something new\0"))


class ToTheBackend(BoundaryCase):
    """What ends keyspread's link is no part of the client's unfinished message."""

    def test_an_unfinished_message(self):
        """Terminate is five bytes: they must not be the end of a text that lacks two."""
        with self.postgres.admin(self.database) as admin:
            admin.query("create table if not exists plain (id int)")
        text = b"insert into plain values (1) --" + b"x" * (64 << 20)
        session = self.wire()
        session.send(wire.frame("Q", text + b"\0")[:-2])
        session.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(self.told(session), b"")
        self.keyspread.stop()
        with self.postgres.admin(self.database) as admin:
            harness.eventually("its backend is gone", lambda: admin.rows(
                "select count(*) from pg_stat_activity where datname = current_database()")
                == [["1"]])
            self.assertEqual(admin.rows("select count(*) from plain"), [["0"]])


    def test_a_table_behind_much_else(self):
        """A text too large to be held is looked through as it passes."""
        insert = b"insert into events values (1, 1, now(), '')"
        text = b"/*" + b"x" * (64 << 20) + b"*/" + insert
        for message in (wire.frame("Q", text + b"\0"),
                        wire.frame("P", b"\0" + text + b"\0\0\0") + wire.bind("", "")
                        + wire.execute() + wire.sync()):
            session = self.wire()
            try:
                session.send(message, wire.terminate())
            except ConnectionError:
                pass
            self.assertIn(wire.error_of(session.read_to_end()), ("54000", None))
        self.assertEqual(self.stored(), [])
        session = self.wire()
        self.assertEqual(wire.tags_of(session.ask(wire.query(
            "select 1 --" + "x" * (64 << 20)))), ["SELECT 1"])


if __name__ == "__main__":
    unittest.main()
