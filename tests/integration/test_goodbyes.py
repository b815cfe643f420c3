"""A goodbye is no cancel: what was complete before Terminate, EOF or a reset is executed, in order,
as PostgreSQL does, and answered while somebody listens."""
import contextlib
import signal
import socket
import ssl
import struct
import subprocess
import sys
import unittest

import certificates
import harness
import wire

TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
PARAMETERS = "insert into events (userid, ts, event) values ($1, $2, $3)"
CLIENTS = 20
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() resets the connection


def insert(userid, event="x", more=""):
    return wire.query(TEXT.format(userid, TS, event) + more)


def bound(userid, statement="", text=PARAMETERS):
    parse = wire.parse("", text) if not statement else b""
    return parse + wire.bind("", statement, [userid, TS, "x"]) + wire.execute() + wire.sync()


def transaction(userid, end="commit"):
    return wire.query("begin") + insert(userid) + wire.query(end)


WAYS = {
    "a Query": insert,
    "RETURNING": lambda userid: insert(userid, more=" returning userid"),
    "parameters": bound,
    "parameters, RETURNING": lambda userid: bound(userid, text=PARAMETERS + " returning userid"),
    "a transaction": transaction,
    "an own Query behind": lambda userid: insert(userid) + wire.query("select 1"),
    "an own Query before": lambda userid: wire.query("select 1") + insert(userid),
    "a Query after Flush": lambda userid: wire.parse("", "select 1") + wire.flush() + insert(userid),
}


class GoodbyeCase(harness.StackCase):
    before_sql = "create table plain (id int primary key)"

    def count(self, table="events"):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows(f"select count(*) from {table}")[0][0])

    def wait_for(self, count, table="events"):
        harness.eventually(f"{count} rows are stored, of {self.count(table)}",
                           lambda: self.count(table) >= count, patience=20)
        self.assertEqual(self.count(table), count)

    def wait_for_silence(self):
        """Until no session runs anything, or is in a transaction."""
        with self.postgres.admin(self.database) as admin:
            harness.eventually("all is quiet", lambda: not admin.rows(
                "select 1 from pg_stat_activity where datname = current_database() and state <> "
                "'idle' and pid <> pg_backend_pid()"))

    def clear(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate events, plain")

    def raw(self):
        connection = wire.Wire(("127.0.0.1", self.port()))
        self.addCleanup(connection.drop)
        return connection

    @staticmethod
    def half_close(session):
        session.socket.shutdown(socket.SHUT_WR)

    def hold(self, userid):
        """A transaction that holds a key; to be ended by the caller."""
        holder = self.wire()
        holder.query("begin")
        self.assertEqual(wire.tags_of(holder.ask(insert(userid))), ["INSERT 0 1"])
        return holder


class Goodbyes(GoodbyeCase):
    """With several workers: most units leave the thread of their session. Where nobody reads what
    is written, PostgreSQL itself may stop in the middle of a pipeline: keyspread does not."""

    options = {"workers": 4}

    @harness.proxied
    def test_lone_clients_leave_at_once(self):
        for way, messages in WAYS.items():
            with self.subTest(way=way):
                for userid in range(CLIENTS):
                    session = self.wire()
                    session.send(messages(userid), wire.terminate() * (userid % 2))
                    session.drop()
                self.wait_for(CLIENTS)
                self.wait_for_silence()
                self.check_stored(count=CLIENTS)
                self.clear()

    def test_what_is_not_committed_is_rolled_back(self):
        for end in (wire.terminate(), b""):
            for messages in (wire.query("begin") + insert(1), transaction(1, "rollback"),
                             bound(1)[:-5], insert(1)[:-1], insert(1)[:3],
                             wire.query("begin") + bound(1)):
                session = self.wire()
                session.send(messages + end)
                session.drop()
        self.wait_for_silence()
        self.assertEqual(self.count(), 0)

    def test_pipelined_queries_are_answered(self):
        session = self.wire()
        session.send(*(insert(userid) for userid in range(CLIENTS)))
        self.half_close(session)
        self.assertEqual(wire.tags_of(session.read_to_end()), ["INSERT 0 1"] * CLIENTS)
        self.check_stored(count=CLIENTS)

    def test_every_way_is_answered(self):
        for way, messages in WAYS.items():
            with self.subTest(way=way):
                whole, half = self.wire(), self.wire()
                whole.send(messages(1))
                ready = messages(1).count(b"Q\0\0") + messages(1).count(wire.sync())
                expected = wire.kinds(whole.read_ready(ready))
                half.send(messages(2))
                self.half_close(half)
                self.assertEqual(wire.kinds(half.read_to_end()), expected)
                self.clear()

    def test_terminate_is_the_end_of_what_is_looked_at(self):
        session = self.wire()
        session.send(insert(1), wire.terminate(), insert(2))
        self.half_close(session)
        self.wait_for(1)
        self.wait_for_silence()
        self.assertEqual(self.count(), 1)

    def test_many_replies_behind_the_goodbye(self):
        """Far more than fits into any buffer; the client begins to read when it has said it."""
        session = self.wire()
        session.send(wire.query("select repeat('x', 1000) from generate_series(1, 20000)"), insert(1))
        self.half_close(session)
        replies = session.read_to_end()
        self.assertEqual(wire.tags_of(replies), ["SELECT 20000", "INSERT 0 1"])

    def test_much_before_the_goodbye(self):
        """What is in the kernel's buffers while reading is stopped comes before the end."""
        session = self.wire()
        messages = b"".join(insert(userid, "y" * 1000) for userid in range(500))
        session.send(wire.query("select pg_sleep(0.1)"), messages)
        self.half_close(session)
        self.assertEqual(len(wire.tags_of(session.read_to_end())), 501)
        self.check_stored(count=500)

    @harness.proxied
    def test_behind_a_lock(self):
        holder = self.hold(1)
        waiter, quiet = self.wire(), self.wire()
        waiter.send(insert(1), insert(2), wire.query("select 1"))
        self.half_close(waiter)
        quiet.send(insert(1, "gone"), insert(3), wire.terminate())
        quiet.drop()
        with self.postgres.admin(self.database) as admin:
            harness.eventually("they wait for the lock", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event_type = 'Lock'"))
        holder.query("rollback")
        replies = waiter.read_to_end()
        self.assertIn(wire.tags_of(replies)[-2:], (["INSERT 0 1", "SELECT 1"],))
        self.wait_for(3)
        self.check_stored(count=3)

    def test_unsynced(self):
        """PostgreSQL executes these at once; it is the answers that wait for Sync."""
        execute = wire.bind("", "") + wire.execute()
        for end in (wire.terminate(), b""):
            session = self.wire()
            session.send(wire.query("begin"), wire.query("insert into plain values (1)"),
                         wire.parse("", "commit"), execute, end)
            self.half_close(session)
            replies = session.read_to_end()
            self.assertEqual(wire.tags_of(replies)[:2], ["BEGIN", "INSERT 0 1"])
            self.wait_for(1, "plain")
            self.clear()
        session = self.wire()
        session.send(wire.parse("", "insert into plain values (1)"), execute)
        self.half_close(session)
        session.read_to_end()
        session = self.wire()
        session.send(wire.parse("", "select 1 / 0"), wire.bind("", ""), wire.execute())
        self.half_close(session)
        self.assertEqual(wire.error_of(session.read_to_end()), "22012")
        self.wait_for_silence()
        self.assertEqual(self.count("plain"), 0)

    def test_copy_in_progress(self):
        for end in (wire.terminate(), b""):
            session = self.wire()
            session.send(wire.query("copy plain from stdin"))
            session.read_until("G")
            session.send(wire.copy_data("1\n"), end)
            self.half_close(session)
            self.assertIn(wire.error_of(session.read_to_end()), ("08006", "08P01"))
            self.wait_for_silence()
            self.assertEqual(self.count("plain"), 0)
        session = self.wire()
        session.send(wire.query("copy plain from stdin"), wire.copy_data("1\n"), wire.copy_done(),
                     wire.terminate())
        session.drop()
        self.wait_for(1, "plain")

    def test_half_of_a_large_message(self):
        """Its beginning is with the backend already."""
        session = self.wire()
        session.send(wire.query("insert into plain values (1)"),
                     wire.parse("", "select length($1)"),
                     (b"B" + struct.pack("!I", 1 << 24) + b"\0\0").ljust(1 << 20, b"x"))
        self.half_close(session)
        self.assertEqual(wire.tags_of(session.read_to_end())[:1], ["INSERT 0 1"])
        self.wait_for(1, "plain")
        self.wait_for_silence()

    def test_a_reset(self):
        """What was answered is stored; what is stored, once."""
        for messages in (insert, bound, transaction):
            for userid in range(CLIENTS):
                session = self.wire()
                session.send(messages(userid), insert(userid + CLIENTS), wire.terminate())
                answered = userid % 2 == 0
                if answered:
                    session.read_until("C", "E")
                session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                session.drop()
            self.wait_for_silence()
            stored = {int(row[0]) for row in self.stored(columns="userid")}
            if messages is not transaction:
                self.assertLessEqual(set(range(0, CLIENTS, 2)), stored)
            self.check_stored()
            self.clear()

    @harness.proxied
    def test_a_reset_by_replies_that_nobody_read(self):
        """Closing a socket with something unread resets it; what has come is executed."""
        for userid in range(CLIENTS):
            session = self.wire()
            session.send(wire.query("select 1"))
            harness.eventually("a reply is there", lambda s=session: s.socket.recv(
                1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
            session.send(insert(userid), wire.query("select 1"), insert(CLIENTS + userid),
                         wire.terminate())
            session.drop()
        self.wait_for(2 * CLIENTS)
        self.check_stored(count=2 * CLIENTS)

    @harness.proxied
    def test_a_killed_client(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                  "import wire\n"
                  "session = wire.Wire(('127.0.0.1', int(sys.argv[2])))\n"
                  "session.login(sys.argv[3], sys.argv[4])\n"
                  "session.send(*(wire.query(text) for text in sys.argv[5:]))\n"
                  "print(flush=True)\n"
                  "session.socket.recv(1); session.read_to_end()\n")
        client = subprocess.Popen(
            [sys.executable, "-c", script, harness.HERE, str(self.port()), harness.USER,
             self.database, "select pg_sleep(0.2)", TEXT.format(1, TS, "x"),
             TEXT.format(2, TS, "x")], stdout=subprocess.PIPE)
        client.stdout.readline()
        client.kill()
        client.wait(harness.PATIENCE)
        client.stdout.close()
        self.wait_for(2)

    def test_a_goodbye_before_the_login_is_over(self):
        for end in (wire.terminate(), b""):
            for userid in range(CLIENTS):
                session = self.raw()
                session.send(wire.startup(harness.USER, self.database, application_name=f"g{userid}",
                                          options="-c geqo_effort=7"), insert(userid), end)
                self.half_close(session)
                self.assertEqual(wire.tags_of(session.read_to_end()), ["INSERT 0 1"])
            self.wait_for(CLIENTS)
            self.clear()
        for messages in (b"", b"\0", wire.startup(harness.USER, self.database)[:-3]):
            session = self.raw()
            session.send(messages)
            self.half_close(session)
            self.assertEqual(session.read_to_end(), [])

    @harness.proxied
    def test_nobody_is_left(self):
        """Sessions and links of clients that left are gone when their statements are."""
        before = len(self.postgres.statements(0, self.database))
        self.assertGreater(before, 0)
        for userid in range(CLIENTS):
            session = self.wire()
            session.send(wire.query("begin"), insert(userid), wire.parse("", "select 1"),
                         *[end for end in [wire.terminate()] if userid % 2])
            session.drop()
        with self.postgres.admin(self.database) as admin:
            harness.eventually("their links are closed", lambda: int(admin.rows(
                "select count(*) from pg_stat_activity where datname = current_database() and "
                "state like '%transaction%'")[0][0]) == 0)
        self.assertEqual(self.count(), 0)


@harness.proxied
class OneWorker(Goodbyes):
    options = {"workers": 1}


class Fresh(GoodbyeCase):
    """The first that keyspread hears of anybody: the catalog is not read, no link is open."""

    def setUp(self):
        if harness.DIRECT:
            self.skipTest("only with keyspread in between")
        super().setUp()

    def fresh(self, **more):
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, self.tables, **more))
        self.addCleanup(keyspread.stop)
        return keyspread

    def test_the_first_statement(self):
        for number, messages in enumerate((insert, bound, transaction)):
            keyspread = self.fresh()
            session = wire.Wire(keyspread.address())
            session.login(harness.USER, self.database)
            session.send(messages(number), wire.terminate())
            session.drop()
            self.wait_for(number + 1)
            keyspread.stop()

    def test_a_shutdown_waits_for_those_who_left(self):
        keyspread = self.fresh()
        for userid in range(3):
            session = wire.Wire(keyspread.address())
            session.login(harness.USER, self.database)
            session.send(wire.query("select pg_sleep(0.5)"), insert(userid),
                         wire.query("insert into plain values (1) on conflict do nothing"),
                         *[wire.terminate()] * (userid % 2))
            session.drop()
        with self.postgres.admin(self.database) as admin:
            harness.eventually("the statements run", lambda: len(admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'")) == 3)
        keyspread.stop()
        self.assertIn(self.count(), range(4))
        self.wait_for_silence()

    def test_the_backend_is_not_there(self):
        """Whoever left gets its error while it listens, and goes."""
        keyspread = self.fresh()
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.login(harness.USER, self.database)
        self.postgres.stop(signal.SIGQUIT)
        try:
            with contextlib.suppress(OSError):  # it may have been told already, and closed
                session.send(insert(1), wire.query("select 1"))
                self.half_close(session)
            replies = session.read_to_end()
            self.assertIsNotNone(wire.error_of(replies), replies)
            keyspread.stop()
        finally:
            self.postgres.start()

    def test_clients_that_left_are_counted(self):
        keyspread = self.fresh(limits={"clients": 1})
        holder = self.postgres.admin(self.database)
        self.addCleanup(holder.close)
        holder.rows("select pg_advisory_lock(1)")
        session = wire.Wire(keyspread.address())
        session.login(harness.USER, self.database)
        session.send(wire.query("select pg_advisory_lock(1)"), wire.terminate())
        session.drop()
        harness.eventually("it waits", lambda: holder.rows(
            "select 1 from pg_stat_activity where wait_event = 'advisory'"))
        refused = wire.Wire(keyspread.address())
        self.addCleanup(refused.drop)
        with self.assertRaises(wire.Closed) as caught:
            refused.login(harness.USER, self.database)
        self.assertEqual(wire.error_of(caught.exception.messages), "53300")
        holder.rows("select pg_advisory_unlock(1)")

        def served():
            other = wire.Wire(keyspread.address())
            self.addCleanup(other.drop)
            try:
                return other.login(harness.USER, self.database)
            except wire.Closed:
                return None
        harness.eventually("there is room again", served)


class Encrypted(certificates.AuthorityCase):
    """TLS has a goodbye of its own; without it the connection's end is the same."""

    @classmethod
    def setUpClass(cls):
        if harness.DIRECT:
            raise unittest.SkipTest("only with keyspread in between")
        super().setUpClass()
        pair = cls.authority.server(owner="postgres")
        cls.postgres = harness.Postgres(ssl="on", ssl_cert_file=pair.cert, ssl_key_file=pair.key)
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, "app", (harness.EVENTS,))
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, client_tls={"mode": "prefer", "cert": pair.cert, "key": pair.key},
            backend={"dsn": f"host=127.0.0.1 port={cls.postgres.port} sslmode=require"}))
        cls.addClassCleanup(cls.keyspread.stop)

    def connect(self):
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.drop)
        session.send(struct.pack("!II", 8, 80877103))
        self.assertEqual(session.socket.recv(1), b"S")
        session.socket = Half(session.socket, self.authority.trusting())
        session.login(harness.USER, "app")
        return session

    def test_half_closed(self):
        for number, notify in enumerate((True, False)):
            session = self.connect()
            for userid in range(CLIENTS):
                session.send(insert(number * CLIENTS + userid))
            session.send(wire.query("select 1"), wire.parse("", "select 1"))
            session.socket.end(notify)
            tags = wire.tags_of(session.read_to_end())
            self.assertEqual(tags, ["INSERT 0 1"] * CLIENTS + ["SELECT 1"])

    def test_left_at_once(self):
        for notify in (True, False):
            session = self.connect()
            session.send(*(insert(1000 + userid) for userid in range(CLIENTS)), wire.terminate())
            session.socket.end(notify)
            session.drop()
            with self.postgres.admin("app") as admin:
                harness.eventually("all are stored", lambda a=admin: a.rows(
                    "select count(*) from events where userid >= 1000") == [[str(CLIENTS)]])
                admin.rows("delete from events where userid >= 1000")


class Half:
    """A TLS socket whose sending side can be closed alone."""

    def __init__(self, plain, context):
        self.plain = plain
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="127.0.0.1")
        self._until_done(self.tls.do_handshake)

    def _until_done(self, work):
        while True:
            try:
                return work()
            except ssl.SSLWantReadError:
                self._flush()
                data = self.plain.recv(1 << 16)
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()
            except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                return b""
            finally:
                self._flush()

    def _flush(self):
        data = self.outgoing.read()
        if data:
            self.plain.sendall(data)

    def sendall(self, data):
        self.tls.write(data)
        self._flush()

    def recv(self, size):
        return self._until_done(lambda: self.tls.read(size))

    def end(self, notify):
        if notify:
            try:
                self.tls.unwrap()
            except ssl.SSLError:
                pass
            self._flush()
        self.plain.shutdown(socket.SHUT_WR)

    def close(self):
        self.plain.close()


class Unheard(GoodbyeCase):
    """Who vanishes while rows come leaves nothing running, as PostgreSQL ends it at its first failed send."""
    ENDLESS = "select repeat('x', 1000), generate_series(1, 2000000000)"

    def leave(self, *messages):
        """Reads a part of what comes, and is gone."""
        session = self.wire()
        session.send(*messages)
        got = 0
        while got < 1 << 20:
            got += len(session.socket.recv(1 << 16))
        session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        session.socket.close()

    def test_a_query(self):
        self.leave(wire.query(self.ENDLESS))
        self.wait_for_silence()

    def test_an_execute(self):
        self.leave(wire.parse("", self.ENDLESS), wire.bind("", ""), wire.execute(), wire.sync())
        self.wait_for_silence()

    def test_in_a_transaction(self):
        self.leave(wire.query("begin; insert into plain values (1)"), wire.query(self.ENDLESS))
        self.wait_for_silence()
        self.assertEqual(self.count("plain"), 0)

    def test_who_takes_nothing_for_tcp_user_timeout(self):
        """A client that is there and reads no more is gone after that time, as before PostgreSQL."""
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter role {harness.USER} in database {self.database} set tcp_user_timeout = '1s'")
        for params in ({}, {"options": "-c tcp_user_timeout=1500"}):
            with self.subTest(params):
                session = self.wire(**params)
                session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                session.send(wire.query("select repeat('x', 1000), generate_series(1, 300)"))
                with self.postgres.admin(self.database) as admin:
                    harness.eventually("its backend has gone", lambda: admin.rows(
                        f"select count(*) from pg_stat_activity where pid = {session.pid}") == [["0"]])
                session.socket.close()

    @harness.proxied
    def test_what_is_behind_it_is_done(self):
        """A goodbye is no cancel."""
        rows = "select repeat('x', 1000) from generate_series(1, 50000)"
        self.leave(wire.query(rows), wire.query("insert into plain values (2)"))
        self.wait_for(1, "plain")


if __name__ == "__main__":
    unittest.main()
