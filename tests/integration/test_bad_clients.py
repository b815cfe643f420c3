"""Clients that send garbage, say nothing, leave, or send and want very much."""
import collections
import contextlib
import random
import socket
import struct
import unittest

import harness
import wire
from load import TS, FaultCase


class BadClientsCase(FaultCase):
    startup_ms = 600_000

    def setUp(self):
        super().setUp()
        self.start(port=self.postgres.port, limits={
            "startup_ms": self.startup_ms, "unauthenticated": 20, "clients": 60})

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


class BadClients(BadClientsCase):
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
        for size in (0, 3, 4, 7, 10_005, 2**31 - 1, 2**31, 2**32 - 1):
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
        said = self.ends(connection)
        self.assertTrue(said.startswith(b"NE"), said)
        self.assertIn(b"C08P01\0", said)
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


class SlowClients(BadClientsCase):
    """Clients that do not log in."""

    startup_ms = 1000

    def still_serves(self):
        """A client comes again if the machine was so busy that it took as long as these."""
        def served():
            with contextlib.suppress(wire.Closed, ConnectionError):
                return wire.tags_of(self.wire().query("select 1"))
        self.assertEqual(harness.eventually("a client is served", served), ["SELECT 1"])

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
