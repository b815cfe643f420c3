"""Backends that die, clients that misbehave, signals: what was acknowledged is there, exactly once."""
import collections
import os
import random
import signal
import socket
import struct
import threading
import unittest

import harness
import middleman
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
UNDECIDED = "08007"


class Ledger:
    """What each statement's client was told, by the key of its row."""

    def __init__(self):
        self.told = {}
        self.lock = threading.Lock()

    def note(self, key, outcome):
        with self.lock:
            self.told[key] = outcome

    def count(self, outcome):
        with self.lock:
            return sum(told == outcome for told in self.told.values())

    def outcomes(self):
        return collections.Counter(self.told.values())

    def check(self, test, stored, undecided=(UNDECIDED,)):
        """`stored`: the keys in the table."""
        found = collections.Counter(stored)
        for key, outcome in self.told.items():
            if outcome == "ok":
                test.assertEqual(found[key], 1, f"{key} was acknowledged")
            elif outcome not in undecided:
                test.assertEqual(found[key], 0, f"{key} was refused with {outcome}")
        test.assertEqual(set(found) - set(self.told), set(), "rows that nobody sent")


class Writer:
    """A client that writes one row after another and comes back when it is cut off. Its modes: a
    Query a row, or Bind and Execute of a prepared statement."""

    def __init__(self, number, address, database, ledger, extended):
        self.number, self.address, self.database = number, address, database
        self.ledger, self.extended = ledger, extended
        self.session = None
        self.row = 0

    def connect(self):
        session = wire.Wire(self.address)
        try:
            session.login(harness.USER, self.database)
            if self.extended:
                replies = session.ask(wire.parse(
                    "s", "insert into events (userid, ts, event) values ($1, $2, $3)"), wire.sync())
                if wire.error_of(replies):
                    raise wire.Closed(replies)
        except (OSError, wire.Closed):
            session.drop()
            raise
        self.session = session

    def write(self):
        """One row; True if it was acknowledged."""
        self.row += 1
        key = self.number * 1_000_000 + self.row
        try:
            if not self.session:
                self.connect()
        except (OSError, wire.Closed):
            return False
        if self.extended:
            messages = (wire.bind("", "s", [key, TS, "x"]), wire.execute(), wire.sync())
        else:
            messages = (wire.query(TEXT.format(key, TS, "x")),)
        try:
            replies = self.session.ask(*messages)
        except (OSError, wire.Closed):
            self.ledger.note(key, "cut off")
            self.leave()
            return False
        outcome = wire.error_of(replies) or "ok"
        self.ledger.note(key, outcome)
        if replies[-1].kind != "Z":
            self.leave()
        return outcome == "ok"

    def leave(self):
        if self.session:
            self.session.drop()
        self.session = None


class FaultCase(unittest.TestCase):
    """A keyspread and a middleman for each test, one PostgreSQL for all."""

    database = "app"

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(synchronous_commit="on")  # what is committed survives
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, cls.database, (EVENTS,), hashed=True)

    def setUp(self):
        if harness.DIRECT:
            self.skipTest("only with keyspread in between")
        self.postgres.wait()
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate events")
        self.middleman = middleman.Middleman(self.postgres.port)
        self.addCleanup(self.middleman.close)
        self.keyspread = None

    def start(self, port=None, **more):
        self.keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, port=port or self.middleman.port, **more))
        self.addCleanup(self.keyspread.stop)
        return self.keyspread

    def wire(self, **params):
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.close)
        session.login(harness.USER, self.database, **params)
        return session

    def stored(self):
        with self.postgres.admin(self.database) as admin:
            return [int(row[0]) for row in admin.rows("select userid from events")]

    def check_hashes(self):
        with harness.connect_admin(self.postgres, self.database) as connection:
            harness.verify_hashes(self, connection, EVENTS)
        connection.close()

    def load(self, ledger, rows, clients=8, stop=None):
        """Every client writes until `rows` were acknowledged, or `stop` says so."""
        def client(number):
            writer = Writer(number, self.keyspread.address(), self.database, ledger, number % 2)
            done = 0
            try:
                while done < rows and not (stop and stop.is_set()):
                    done += writer.write()
            finally:
                writer.leave()
        return harness.in_threads(clients, client)


class BackendDies(FaultCase):
    @staticmethod
    def is_batch(text):
        return b"insert into" in text.lower() and b"events" in text

    def ledger_through(self, point, action):
        self.start()
        ledger = Ledger()
        fired = self.middleman.arm(point, self.is_batch, action, skip=100)
        self.load(ledger, 60)
        self.assertTrue(fired.is_set(), "the middleman met no batch")
        self.postgres.wait()
        ledger.check(self, self.stored())
        self.check_hashes()
        self.assertEqual(ledger.count("ok"), 8 * 60)
        return ledger.outcomes()

    @staticmethod
    def kill(connection):
        """kill -9 of one backend makes PostgreSQL end all and recover."""
        os.kill(connection.pid, signal.SIGKILL)


def _add_deaths():
    for point in middleman.POINTS:
        def cut(self, point=point):
            outcomes = self.ledger_through(point, lambda connection: None)
            if point in (middleman.AFTER, middleman.BEFORE_READY):
                self.assertGreaterEqual(outcomes[UNDECIDED], 1, outcomes)

        def kill(self, point=point):
            outcomes = self.ledger_through(point, self.kill)
            if point in (middleman.AFTER, middleman.BEFORE_READY):
                self.assertGreaterEqual(outcomes[UNDECIDED], 1, outcomes)
        slug = point.replace("-", "_")
        setattr(BackendDies, f"test_link_cut_{slug}", cut)
        setattr(BackendDies, f"test_kill_9_{slug}", kill)


_add_deaths()


class BackendAway(FaultCase):
    def test_it_refuses_at_start_and_comes_back(self):
        self.middleman.refusing = True
        self.start()
        for _ in range(2):
            session = wire.Wire(self.keyspread.address())
            self.addCleanup(session.drop)
            with self.assertRaises(wire.Closed) as context:
                session.login(harness.USER, self.database)
            error = context.exception.messages[-1].fields()
            self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)
        self.middleman.refusing = False
        self.assertEqual(wire.tags_of(self.wire().query(TEXT.format(1, TS, "x"))), ["INSERT 0 1"])

    def test_nobody_listens_at_start(self):
        port = harness.free_port()
        self.start(port=port)
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.drop)
        with self.assertRaises(wire.Closed) as context:
            session.login(harness.USER, self.database)
        error = context.exception.messages[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)
        self.assertIn("refused", (error["M"] + error.get("D", "")).lower(), error)

    def test_it_goes_and_comes_back_under_idle_sessions(self):
        self.start()
        fresh, used = self.wire(), self.wire()
        used.query("select 1")
        self.middleman.refusing = True
        self.middleman.cut_all()
        replies = fresh.query(TEXT.format(1, TS, "x"))
        self.assertEqual(wire.error_of(replies), "08006", replies)
        self.middleman.refusing = False
        if replies[-1].kind == "Z":
            self.assertEqual(wire.tags_of(fresh.query(TEXT.format(2, TS, "x"))), ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(self.wire().query(TEXT.format(3, TS, "x"))), ["INSERT 0 1"])
        self.assertNotIn(1, self.stored())

    def test_an_idle_session_without_state_goes_on(self):
        self.start()
        session = self.wire()
        session.query("select 1")
        session.ask(wire.parse("s", "select $1::int"), wire.sync())
        session.query("set timezone = 'Asia/Tokyo'")
        self.middleman.cut_all()
        self.assertEqual(session.rows("show timezone"), [["Asia/Tokyo"]])
        replies = session.ask(wire.bind("", "s", [1]), wire.execute(), wire.sync())
        self.assertEqual(wire.kinds(replies), "2DCZ", replies)

    def test_a_session_in_a_transaction_is_told(self):
        self.start()
        session = self.wire()
        session.query("begin")
        session.query(TEXT.format(1, TS, "x"))
        self.middleman.cut_all()
        replies = session.read_to_end()
        error = replies[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "57P01"), replies)
        self.assertEqual(self.stored(), [])

    def test_a_running_statement_is_told(self):
        self.start()
        session = self.wire()
        session.send(wire.query("select pg_sleep(60)"))
        with self.postgres.admin(self.database) as admin:
            harness.eventually("the statement runs", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
        self.middleman.cut_all()
        error = session.read_to_end()[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "08006"), error)

    def test_an_unknown_database_and_user(self):
        self.start()
        for user, database, code in ((harness.USER, "nowhere", "3D000"),
                                     ("nobody", self.database, "28000")):
            session = wire.Wire(self.keyspread.address())
            self.addCleanup(session.drop)
            with self.assertRaises(wire.Closed) as context:
                session.login(user, database)
            error = context.exception.messages[-1].fields()
            self.assertEqual((error["S"], error["C"]), ("FATAL", code), error)


class Signals(FaultCase):
    def test_sigterm_under_load(self):
        """What is in flight is finished and told; then the end is a clean one."""
        self.start()
        ledger, stop = Ledger(), threading.Event()
        loader = threading.Thread(target=self.load, args=(ledger, 10**9),
                                  kwargs={"stop": stop})
        loader.start()
        try:
            harness.eventually("rows are acknowledged", lambda: ledger.count("ok") > 200)
            self.keyspread.process.send_signal(signal.SIGTERM)
            self.keyspread.finish()
        finally:
            stop.set()
            loader.join(harness.PATIENCE)
        ledger.check(self, self.stored(), undecided=())
        self.assertLessEqual(set(ledger.outcomes()), {"ok", "57P01", "cut off"})

    def test_kill_9_of_keyspread_under_load(self):
        self.start()
        ledger, stop = Ledger(), threading.Event()
        loader = threading.Thread(target=self.load, args=(ledger, 10**9),
                                  kwargs={"stop": stop})
        loader.start()
        try:
            harness.eventually("rows are acknowledged", lambda: ledger.count("ok") > 200)
            self.keyspread.kill()
        finally:
            stop.set()
            loader.join(harness.PATIENCE)
        with self.postgres.admin(self.database) as admin:
            harness.eventually("its links are gone", lambda: admin.rows(
                "select count(*) from pg_stat_activity where usename = 'app'") == [["0"]])
        ledger.check(self, self.stored(), undecided=("cut off",))

    def test_sigterm_with_idle_sessions(self):
        self.start()
        session = self.wire()
        session.query("select 1")
        self.keyspread.process.send_signal(signal.SIGTERM)
        error = session.read_to_end()[-1].fields()
        self.assertEqual((error["S"], error["C"]), ("FATAL", "57P01"), error)
        self.keyspread.finish()

    def reload(self, config):
        since = len(self.keyspread.lines.lines)
        if isinstance(config, str):
            with open(self.keyspread.config_path, "w", encoding="utf-8") as file:
                file.write(config)
        else:
            self.keyspread.write_config(config)
        self.keyspread.process.send_signal(signal.SIGHUP)
        return self.keyspread.lines.wait_for(r"event=\S*reload", since)

    def test_sighup(self):
        """Swaps the configuration at once or not at all."""
        self.start()
        more = harness.Table("more", ["k text not null"], ["k"])
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop table if exists more cascade; " + more.ddl())
        self.addCleanup(self.drop, "more")
        session = self.wire()
        self.assertEqual(wire.error_of(session.query("insert into more values ('a')")), "22P02")
        good = dict(self.keyspread.config)
        good["tables"] = [EVENTS.config(), more.config()]
        self.reload(good)
        for client in (session, self.wire()):
            key = "a" if client is session else "b"
            self.assertEqual(wire.tags_of(client.query(f"insert into more values ('{key}')")),
                             ["INSERT 0 1"])
        for bad in ("tables: {", {**good, "tables": [{"name": "more"}]}, {**good, "unknown": 1}):
            self.assertRegex(self.reload(bad), "level=(error|warn)")
            self.assertEqual(wire.tags_of(session.query(TEXT.format(1, TS, "x"))), ["INSERT 0 1"])
            self.assertEqual(wire.tags_of(session.query("delete from events")), ["DELETE 1"])

    def drop(self, table):
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"drop table if exists {table} cascade")

    def test_a_changed_hash_rule_of_a_table_with_rows_is_refused(self):
        self.start()
        session = self.wire()
        session.query(TEXT.format(1, TS, "x"))
        config = dict(self.keyspread.config)
        config["tables"] = [{**EVENTS.config(), "hash_function": "cityhash64"}]
        self.assertRegex(self.reload(config), "level=(error|warn)")
        session.query(TEXT.format(2, TS, "x"))
        self.check_hashes()


class BadClients(FaultCase):
    def setUp(self):
        super().setUp()
        self.start(port=self.postgres.port, limits={
            "startup_ms": 1000, "unauthenticated": 20, "clients": 60})

    def raw(self):
        connection = socket.create_connection(self.keyspread.address(), harness.PATIENCE)
        self.addCleanup(connection.close)
        return connection

    def ends(self, connection):
        """Everything up to the end of the connection."""
        data = b""
        try:
            while part := connection.recv(1 << 16):
                data += part
        except ConnectionError:
            pass
        return data

    def still_serves(self):
        self.assertEqual(wire.tags_of(self.wire().query("select 1")), ["SELECT 1"])

    def test_garbage(self):
        dice = random.Random(1)
        for size in (1, 3, 4, 7, 8, 9, 100, 5000):
            connection = self.raw()
            try:
                connection.sendall(dice.randbytes(size))
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            self.ends(connection)
        for text in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"):
            connection = self.raw()
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            self.ends(connection)
        self.still_serves()

    def test_garbage_behind_the_login(self):
        dice = random.Random(2)
        for _ in range(20):
            session = self.wire()
            try:
                session.send(dice.randbytes(2000))
                session.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            session.read_to_end()
        self.still_serves()

    def test_impossible_startup_lengths(self):
        for size in (0, 3, 4, 7, 10_001, 2**31 - 1, 2**31, 2**32 - 1):
            connection = self.raw()
            connection.sendall(struct.pack("!II", size, 196608))
            self.ends(connection)
        self.still_serves()

    def test_impossible_lengths(self):
        for kind in b"QPBDECSHXFdcfp":
            for size in (0, 3, 2**30, 2**31 - 1, 2**31, 2**32 - 1):
                if kind in b"QPBFd" and size == 2**30:
                    continue
                session = self.wire()
                session.send(bytes([kind]) + struct.pack("!I", size))
                replies = session.read_to_end()
                if replies:
                    self.assertEqual(replies[-1].fields()["C"], "08P01", replies)
        self.still_serves()

    def test_ten_kilobytes_before_the_login(self):
        connection = self.raw()
        try:
            connection.sendall(struct.pack("!II", 100_000, 196608) + b"user\0app\0x\0" * 10_000)
        except OSError:
            pass
        self.ends(connection)
        self.still_serves()

    def test_bytes_behind_an_ssl_request(self):
        """They would be taken for what came over TLS: the connection ends."""
        connection = self.raw()
        connection.sendall(struct.pack("!II", 8, 80877103)
                           + wire.startup(harness.USER, self.database))
        self.assertNotIn(b"R\0\0\0\x08", self.ends(connection))
        self.still_serves()

    def test_ssl_and_gss_requests(self):
        connection = self.raw()
        for code in (80877104, 80877103):
            connection.sendall(struct.pack("!II", 8, code))
            self.assertEqual(connection.recv(1), b"N")
        connection.sendall(wire.startup(harness.USER, self.database))
        self.assertEqual(connection.recv(1), b"R")

    def test_an_older_and_a_newer_protocol(self):
        connection = self.raw()
        connection.sendall(struct.pack("!II", 8, 131072))
        self.assertTrue(self.ends(connection).startswith(b"E"))
        connection = self.raw()
        startup = bytearray(wire.startup(harness.USER, self.database, **{"_pq_.x": "1"}))
        struct.pack_into("!I", startup, 4, 196610)
        connection.sendall(startup)
        self.assertEqual(connection.recv(1), b"v")

    def test_a_slow_startup(self):
        """Whoever does not log in within startup_ms goes; others do not wait for them."""
        silent = [self.raw() for _ in range(5)]
        half = self.raw()
        half.sendall(wire.startup(harness.USER, self.database)[:20])
        self.still_serves()
        for connection in silent + [half]:
            self.ends(connection)

    def test_too_many_that_do_not_log_in(self):
        crowd = [self.raw() for _ in range(40)]
        for connection in crowd:
            self.ends(connection)
        self.still_serves()

    def test_too_many_clients(self):
        sessions = []
        with self.assertRaises((wire.Closed, ConnectionError)) as context:
            for _ in range(70):
                sessions.append(self.wire())
        if isinstance(context.exception, wire.Closed) and context.exception.messages:
            self.assertEqual(context.exception.messages[-1].fields()["C"], "53300")
        self.assertGreaterEqual(len(sessions), 50)
        self.assertEqual(wire.tags_of(sessions[0].query("select 1")), ["SELECT 1"])

    def test_a_client_that_never_reads(self):
        deaf = self.wire()
        deaf.send(wire.query("select repeat('x', 1000) from generate_series(1, 100000)") * 2)
        self.still_serves()
        deaf.drop()
        self.still_serves()

    def test_disconnects_everywhere(self):
        """At every byte of a conversation; the links that are left behind are closed."""
        text = (wire.parse("s", "insert into events (userid, ts) values ($1, $2)")
                + wire.describe("S", "s") + wire.bind("", "s", ["1", TS]) + wire.execute()
                + wire.sync() + wire.query("begin") + wire.query("select 1"))
        for size in range(0, len(text), 5):
            session = self.wire()
            session.send(text[:size])
            session.drop()
        self.still_serves()
        self.check_hashes()

    def test_cancel_of_a_running_query(self):
        session = self.wire()
        session.send(wire.query("select pg_sleep(60)"))
        with self.postgres.admin(self.database) as admin:
            harness.eventually("the statement runs", lambda: admin.rows(
                "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
        for key in (session.key ^ 1, session.key):
            other = self.raw()
            other.sendall(wire.cancel_request(session.pid, key))
            self.assertEqual(self.ends(other), b"")
        self.assertEqual(wire.error_of(session.read_ready()), "57014")
        self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])

    def test_cancel_of_nobody(self):
        session = self.wire()
        for pid, key in ((0, 0), (session.pid, session.key ^ 1), (2**32 - 1, 2**32 - 1)):
            other = self.raw()
            other.sendall(wire.cancel_request(pid, key))
            self.assertEqual(self.ends(other), b"")
        self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])

    def test_an_early_cancel_hits_nothing_later(self):
        session = self.wire()
        for _ in range(20):
            other = self.raw()
            other.sendall(wire.cancel_request(session.pid, session.key))
            self.ends(other)
            self.assertEqual(wire.tags_of(session.query(f"select {_}")), ["SELECT 1"])


class Large(FaultCase):
    """Large messages pass in little memory."""

    BOUND = 200 << 20

    def setUp(self):
        super().setUp()
        self.size = 64_000_000 if harness.instrumented() else 1_000_000_000
        self.start(port=self.postgres.port)

    def check_bound(self):
        if not harness.instrumented():
            self.assertLess(self.keyspread.memory_peak(), self.BOUND)

    def skim_to_ready(self, session):
        sizes = collections.Counter()
        kind = None
        while kind != "Z":
            kind, size = session.skim()
            sizes[kind] = max(sizes[kind], size)
        return sizes

    def test_a_large_row_out(self):
        session = self.wire()
        session.send(wire.query(f"select repeat('x', {self.size})"))
        self.assertEqual(self.skim_to_ready(session)["D"], self.size + 6)
        self.check_bound()

    def test_many_rows_out(self):
        session = self.wire()
        session.send(wire.query(
            f"select repeat('x', 100000) from generate_series(1, {self.size // 100_000})"))
        self.assertEqual(self.skim_to_ready(session)["D"], 100_006)
        self.check_bound()

    def test_a_large_parameter_in(self):
        size = self.size // 4
        session = self.wire()
        session.query("set log_parameter_max_length = 100")
        session.send(wire.parse("", "select length($1::text)"))
        head = struct.pack("!HHi", 0, 1, size)
        session.send(b"B" + struct.pack("!I", 4 + 2 + len(head) + size + 2) + b"\0\0" + head)
        self.send_many(session, size)
        session.send(struct.pack("!H", 0), wire.execute(), wire.sync())
        replies = session.read_ready()
        self.assertEqual([m.row() for m in replies if m.kind == "D"], [[str(size).encode()]])
        self.check_bound()

    def test_a_large_copy_in(self):
        session = self.wire()
        session.query("create temporary table big (t text)")
        session.send(wire.query("copy big from stdin"))
        size = self.size // 4
        session.send(b"d" + struct.pack("!I", 4 + size + 1))
        self.send_many(session, size)
        session.send(b"\n", wire.copy_done())
        self.assertEqual(wire.tags_of(session.read_ready()), ["COPY 1"])
        self.check_bound()

    @staticmethod
    def send_many(session, size):
        block = b"x" * (1 << 20)
        while size:
            part = block[:size]
            session.socket.sendall(part)
            size -= len(part)


if __name__ == "__main__":
    unittest.main()
