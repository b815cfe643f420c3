"""A BEGIN that is answered before the server knows of it: when it gets there, and what becomes of it."""
import contextlib
import functools
import signal
import socket
import threading
import time
import unittest

import harness
import metrics
import wire
from harness import EVENTS

INSERT = "insert into events (userid, ts, event) values ({}, '2026-01-01 00:00:00+00', 'x')"
GROUP = (wire.bind("", ""), wire.describe("P", ""), wire.execute(), wire.sync())
OPEN = "select count(*) from pg_stat_activity where state like 'idle in transaction%'"


class Relay:
    """Stands before PostgreSQL, keeps what it is sent, a write each, and may change a word of it."""

    def __init__(self, target):
        self.target = target
        self.writes, self.ends, self.word, self.other = [], [], None, None
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def falsify(self, word, other):
        """The next write that has the word gets the other one, of equal length."""
        self.word, self.other = word, other

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            self.ends += [client, server]
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink, sent in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass, args=(source, sink, sent), daemon=True).start()

    def _pass(self, source, sink, sent):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if sent:
                    self.writes.append((source, data))
                    if self.word and self.word in data:
                        data, self.word = data.replace(self.word, self.other, 1), None
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        for end in (self.listener, *self.ends):
            end.close()

    def link_of(self, text):
        """The connection by which this came last."""
        return [source for source, data in self.writes if text in data][-1]

    def since(self, mark, link):
        return [data for source, data in self.writes[mark:] if source is link]


class Early(AssertionError):
    """The BEGIN went at once, for the link was about to answer something else."""


def in_time(case):
    """Where the machine was so slow that a BEGIN was sent by itself, which it is after 50 ms, each of
    its tests begins once more."""
    def again(test):
        @functools.wraps(test)
        def run(self):
            for _ in range(10):
                before = metrics.Scrape(self.keyspread)
                try:
                    return test(self)
                except Early:
                    pass
                except (AssertionError, wire.Closed):
                    sent = metrics.Scrape(self.keyspread).since(before).get("transactions_total", kind="sent")
                    if not sent:
                        raise
                self.relay.word = None
                self.doCleanups()  # its sessions, whose transactions are open
                self.setUp()
            return test(self)
        return run
    for name in [name for name in vars(case) if name.startswith("test_")]:
        setattr(case, name, again(getattr(case, name)))
    return case


@harness.proxied
class Case(harness.StackCase):
    options = {"admin": {}}

    @classmethod
    def start_keyspread(cls):
        cls.relay = Relay(cls.postgres.port)
        cls.addClassCleanup(cls.relay.close)
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, cls.tables, port=cls.relay.port, **cls.options))
        cls.addClassCleanup(cls.keyspread.stop)

    def begun(self, text="begin", armed=False, **params):
        """A session that knows its tables, and has the answer to this BEGIN. Nothing was sent."""
        session = self.wire(**params)
        session.query(INSERT.format(999))
        session.query("begin; savepoint s; " + INSERT.format(998) + "; rollback")
        self.link = self.relay.link_of(b"savepoint s")
        self.mark = len(self.relay.writes)
        if armed:
            self.relay.falsify(text.encode(), b"x" * len(text))
        replies = session.query(text)
        if wire.kinds(replies) != "CZ" or self.relay.since(self.mark, self.link):
            raise Early(replies)
        self.assertEqual(replies[-1].body, b"T")
        return session

    def rows(self):
        return [row for row in self.stored(columns="userid") if int(row[0]) < 900]

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)


@in_time
class Riding(Case):
    def test_a_query_takes_it_along(self):
        session = self.begun()
        session.rows(INSERT.format(1))
        session.query("commit")
        writes = self.relay.since(self.mark, self.link)
        self.assertEqual(len(writes), 2, writes)
        self.assertIn(b"begin", writes[0])
        self.assertIn(b"insert", writes[0])
        self.assertEqual(self.rows(), [["1"]])

    def test_a_group_takes_it_along(self):
        session = self.begun()
        session.query("rollback")
        for number in (1, 2):
            self.mark = len(self.relay.writes)
            session.ask(wire.parse("", "BEGIN"), *GROUP)
            session.ask(wire.parse("", "insert into events (userid, ts, event) values ($1, $2, 'x')"),
                        wire.bind("", "", [number, "2026-01-01 00:00:00+00"]), *GROUP[1:])
            session.ask(wire.parse("", "COMMIT"), *GROUP)
        writes = self.relay.since(self.mark, self.link)
        self.assertEqual(len(writes), 2, writes)
        self.assertIn(b"BEGIN", writes[0])
        self.assertIn(b"insert", writes[0])
        self.assertEqual(self.rows(), [["1"], ["2"]])

    def test_what_the_client_sends_at_once_goes_at_once(self):
        session = self.begun()
        session.query("rollback")
        self.mark = len(self.relay.writes)
        replies = session.ask(wire.query("begin"), wire.query("select 1"), wire.query("commit"),
                              ready=3)
        self.assertEqual(wire.tags_of(replies), ["BEGIN", "SELECT 1", "COMMIT"])
        self.assertEqual(len(self.relay.since(self.mark, self.link)), 1)

    def test_nothing_is_sent_for_an_empty_one(self):
        session = self.begun()
        self.assertEqual(wire.tags_of(session.query("commit")), ["COMMIT"])
        self.assertEqual(wire.tags_of(session.query("begin read only")), ["BEGIN"])
        self.assertEqual(wire.tags_of(session.query("rollback")), ["ROLLBACK"])
        # A Sync keeps the link awake, once a second.
        self.assertEqual([data for data in self.relay.since(self.mark, self.link) if data != wire.sync()], [])

    def test_they_are_counted(self):
        before = metrics.Scrape(self.keyspread)
        session = self.begun()
        session.query("commit")
        session.query("begin")
        session.query("select 1")
        session.query("commit")
        session.query("begin")
        harness.eventually("the server knows of it", lambda: self.admin(OPEN) == [["1"]])
        session.query("commit")
        counted = metrics.Scrape(self.keyspread).since(before)
        self.assertEqual(counted.by("transactions_total", "kind"), {"empty": 1, "rode_along": 1, "sent": 1})

    def test_an_insert_behind_it_is_not_by_itself(self):
        session = self.begun()
        session.rows(INSERT.format(1))
        self.assertEqual(self.rows(), [])
        session.rows(INSERT.format(2))
        session.query("rollback")
        self.assertEqual(self.rows(), [])
        session.query("begin")
        session.query(INSERT.format(3))
        session.drop()
        harness.eventually("its transaction is gone", lambda: self.admin(OPEN) == [["0"]])
        self.assertEqual(self.rows(), [])


@in_time
class Times(Case):
    def test_it_does_not_wait_for_long(self):
        session = self.begun()
        harness.eventually("the server knows of it", lambda: self.admin(OPEN) == [["1"]])
        session.rows(INSERT.format(1))
        session.query("commit")
        self.assertEqual(self.rows(), [["1"]])

    def test_idle_in_transaction(self):
        session = self.begun(options="-c idle_in_transaction_session_timeout=300")
        self.assertEqual(wire.error_of(session.read_to_end()), "25P03")

    def test_idle_sessions(self):
        session = self.begun(options="-c idle_session_timeout=600")
        time.sleep(1)  # it is the passing of time that is tested
        self.assertEqual(session.rows("select 1"), [["1"]])
        session.query("commit")
        self.assertEqual(wire.error_of(session.read_to_end()), "57P05")

    def test_now(self):
        session = self.begun()
        session.query("commit")
        for _ in range(20):
            [[before]] = self.admin("select clock_timestamp()")
            session.query("begin")
            self.assertEqual(session.rows(f"select now() >= '{before}', now() = statement_timestamp()")[0][0], "t")
            session.query("commit")


@in_time
class Ends(Case):
    def test_a_cancel_while_nothing_runs(self):
        session = self.begun()
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port()))) as other:
            other.sendall(wire.cancel_request(session.pid, session.key))
            other.recv(1)
        session.rows(INSERT.format(1))
        session.query("commit")
        self.assertEqual(self.rows(), [["1"]])

    def test_the_link_is_lost(self):
        session = self.begun()
        self.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'")
        self.assertEqual(wire.error_of(session.read_to_end()), "57P01")

    def test_the_client_leaves(self):
        session = self.begun()
        session.send(wire.terminate())
        self.assertEqual(session.read_to_end(), [])
        self.assertFalse(any(b"begin" in write for write in self.relay.since(self.mark, self.link)))

    def test_keyspread_stops(self):
        session = self.begun()
        self.keyspread.process.send_signal(signal.SIGTERM)
        self.assertEqual(wire.error_of(session.read_to_end()), "57P01")
        self.keyspread.finish()


class Heard(Case):
    def test_what_others_notify_waits_for_its_end(self):
        session = self.wire()
        session.query("listen heard")
        session.query("begin")
        self.admin("notify heard, 'theirs'")
        harness.eventually("the server knows of it", lambda: self.admin(OPEN) == [["1"]])
        self.admin("notify heard, 'later'")
        self.assertEqual(wire.kinds(session.query("select 1")), "TDCZ")
        replies = session.query("select 2")
        self.assertNotIn("A", [message.kind for message in replies])
        replies = session.query("commit")
        self.assertEqual([message.kind for message in replies], ["C", "A", "A", "Z"])
        self.assertEqual([message.body[4:] for message in replies[1:3]],
                         [b"heard\0theirs\0", b"heard\0later\0"])


@in_time
class Refused(Case):
    """The server refuses the BEGIN to which the client has its answer: as if a cancel had hit it."""

    def refuse(self, text="begin"):
        return self.begun(text, armed=True)

    def check_failed(self, session):
        self.assertEqual(wire.error_of(session.query("select 1")), "25P02")
        self.assertEqual(wire.error_of(session.query(INSERT.format(2))), "25P02")
        replies = session.query("commit")
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (["ROLLBACK"], b"I"))
        self.assertEqual(self.rows(), [])
        session.rows(INSERT.format(3))
        self.assertEqual(self.rows(), [["3"]])

    def test_behind_it_a_query(self):
        session = self.refuse()
        replies = session.query(INSERT.format(1))
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("EZ", b"E"))
        self.assertEqual(replies[0].sqlstate, "42601")
        self.check_failed(session)

    def test_behind_it_a_group(self):
        session = self.refuse()
        replies = session.ask(wire.parse("", "select 1"), *GROUP)
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("EZ", b"E"))
        self.check_failed(session)

    def test_behind_it_a_group_that_is_not_at_its_end(self):
        session = self.refuse()
        session.send(wire.parse("", "select 1"), wire.flush())
        self.assertEqual(wire.kinds(session.read_until("E")), "E")
        session.send(wire.bind("", ""), wire.execute(), wire.sync())
        replies = session.read_ready()
        self.assertEqual((wire.kinds(replies), replies[-1].body), ("Z", b"E"))
        self.check_failed(session)

    def test_behind_it_a_pipeline(self):
        session = self.refuse()
        replies = session.ask(wire.query(INSERT.format(1)), wire.query(INSERT.format(2)),
                              wire.query("commit"), ready=3)
        self.assertEqual([message.sqlstate for message in replies if message.kind == "E"],
                         ["42601", "25P02"])
        self.assertEqual(wire.tags_of(replies), ["ROLLBACK"])
        self.assertEqual(self.rows(), [])

    def test_behind_it_groups(self):
        session = self.refuse()
        text = "insert into events (userid, ts, event) values ($1, '2026-01-01 00:00:00+00', 'x')"
        groups = [part for number in (1, 2) for part in
                  (wire.parse("", text), wire.bind("", "", [number]), wire.execute(), wire.sync())]
        replies = session.ask(*groups, wire.query("commit"), ready=3)
        self.assertEqual([message.sqlstate for message in replies if message.kind == "E"],
                         ["42601", "25P02"])
        self.assertEqual(wire.tags_of(replies), ["ROLLBACK"])
        self.assertEqual(self.rows(), [])

    def test_the_unnamed_statement_stays(self):
        session = self.begun()
        for text in ("commit", "set keyspread.transactions = lazy", "begin", INSERT.format(997), "rollback"):
            session.query(text)
        session.ask(*(wire.parse(name, text) for name, text in (("b", "BEGIN"), ("r", "rollback"), ("n", "select 1"), ("", "select 2"))), wire.sync())
        self.relay.falsify(b"BEGIN", b"x" * 5)
        for name, kinds, status in (("b", "2CZ", b"T"), ("n", "EZ", b"E"), ("r", "2CZ", b"I"), ("", "2DCZ", b"I")):
            replies = session.ask(wire.bind("", name), wire.execute(), wire.sync())
            self.assertEqual((wire.kinds(replies), replies[-1].body), (kinds, status), name)

    def test_behind_it_nothing(self):
        session = self.refuse()
        self.assertEqual(wire.error_of(session.read_to_end()), "42601")


class Standby(harness.StackCase):
    def test_it_is_told_at_once_what_a_standby_refuses(self):
        standby = harness.standby_of(self.postgres)
        self.addCleanup(standby.remove)
        keyspread = harness.Keyspread(harness.backend_config(standby, self.tables))
        self.addCleanup(keyspread.stop)
        replies = []
        for port in (standby.port, keyspread.port):
            with contextlib.closing(wire.Wire(("127.0.0.1", port))) as session:
                session.login(harness.USER, self.database)
                session.query("select 1")
                replies.append([repr(session.query(text)) for text in (
                    "begin read write", "rollback", "begin isolation level serializable", "rollback",
                    "begin", "select 1", "commit", "start transaction read only", "rollback")])
        self.assertEqual(replies[0], replies[1])


if __name__ == "__main__":
    unittest.main()
