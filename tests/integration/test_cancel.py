"""Cancel requests find their session, on whatever worker it lives, and nobody else's."""
import contextlib
import random
import signal
import socket
import struct
import threading
import unittest

import harness
import wire


@harness.proxied
class AcrossWorkers(harness.StackCase):
    options = {"workers": 4}

    def running(self):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows("select count(*) from pg_stat_activity "
                                  "where wait_event = 'PgSleep'")[0][0])

    def cancel(self, pid, key):
        with wire.Wire(self.keyspread.address()) as other:
            other.send(wire.cancel_request(pid, key))
            self.assertEqual(other.socket.recv(1), b"")  # right or wrong: no word

    @staticmethod
    def others(key):
        """Keys that are none: beside a number, or beside the 32 bytes of protocol 3.2."""
        if isinstance(key, int):
            return (key ^ 1, struct.pack("!I", key) * 8, struct.pack("!I", key)[:3])
        return (key[:4], key[:31], key + b"x", key[:31] + bytes([key[31] ^ 1]), b"x" * 256, b"x" * 300)

    def test_each_its_own(self):
        sessions = [self.wire(minor=number % 2 * 2) for number in range(8)]  # each goes to the worker that has the fewest
        for session in sessions:
            session.send(wire.query("select pg_sleep(600)"))
        harness.eventually("all sleep", lambda: self.running() == 8)
        random.Random(1).shuffle(sessions)
        for left, session in enumerate(sessions):
            for key in self.others(session.key):
                self.cancel(session.pid, key)
            self.cancel(sessions[left - 1].pid, session.key)
            self.assertEqual(self.running(), 8 - left)
            self.cancel(session.pid, session.key)
            self.assertEqual(wire.error_of(session.read_ready()), "57014")
            self.assertEqual(session.rows("select 1"), [["1"]])


class Swallow:
    """Between keyspread and the backend: passes everything on, but for cancels, which it keeps
    without an answer: all of them, or as many as it is told to."""

    def __init__(self, port, most=1 << 30):
        self.backend = ("127.0.0.1", port)
        self.most = most
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.cancels = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                first = client.recv(1 << 16)
                if first[4:8] == wire.cancel_request(0, 0)[4:8] and len(self.cancels) < self.most:
                    self.cancels.append(client)
                    continue
                backend = socket.create_connection(self.backend)
                backend.sendall(first)
                for pair in ((client, backend), (backend, client)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    @staticmethod
    def _pass(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self):
        self.listener.close()
        for client in self.cancels:
            client.close()


@harness.proxied
class Unanswered(unittest.TestCase):
    def begin(self, sleepers, connect_ms, **swallowed):
        """Sessions that sleep, and what stands between them and their backend."""
        postgres = harness.Postgres()
        self.addCleanup(postgres.remove)
        swallow = Swallow(postgres.port, **swallowed)
        self.addCleanup(swallow.close)
        config = harness.backend_config(postgres, (), port=swallow.port)
        config["backend"]["connect_ms"] = connect_ms
        self.keyspread = harness.Keyspread(config)
        self.addCleanup(self.keyspread.stop)
        sessions = [wire.Wire(self.keyspread.address()) for _ in range(sleepers)]
        for session in sessions:
            self.addCleanup(session.drop)
            session.login(harness.USER, "postgres")
            session.send(wire.query("select pg_sleep(600)"))
        self.admin = self.enterContext(postgres.admin("postgres"))
        harness.eventually("all sleep", lambda: len(self.sleepers()) == sleepers)
        return swallow, sessions

    def sleepers(self):
        return self.admin.rows("select pid from pg_stat_activity where wait_event = 'PgSleep'")

    def cancel(self, session):
        with wire.Wire(self.keyspread.address()) as other:
            other.send(wire.cancel_request(session.pid, session.key))
            self.assertEqual(other.socket.recv(1), b"")

    def test_the_end_does_not_wait_for_it(self):
        swallow, sessions = self.begin(3, 3600000)
        for session in sessions:
            self.cancel(session)
        harness.eventually("they came", lambda: len(swallow.cancels) == 3)
        self.keyspread.process.send_signal(signal.SIGTERM)
        self.keyspread.finish()

    def test_another_one_does_not_wait_for_it(self):
        swallow, (first, second) = self.begin(2, 3600000, most=1)
        self.cancel(first)
        harness.eventually("it came", lambda: swallow.cancels)
        self.cancel(second)
        self.assertEqual(wire.error_of(second.read_ready()), "57014")
        self.assertEqual(second.rows("select 1"), [["1"]])
        self.assertEqual(len(self.sleepers()), 1)

    def test_its_session_goes_on_after_a_while(self):
        swallow, (session,) = self.begin(1, 5000)
        self.cancel(session)
        harness.eventually("it came", lambda: swallow.cancels)
        self.admin.rows(f"select pg_cancel_backend({self.sleepers()[0][0]})")
        self.assertEqual(wire.error_of(session.read_ready()), "57014")
        self.assertEqual(session.rows("select 1"), [["1"]])
        self.assertEqual(swallow.cancels[0].recv(1), b"")  # nor is anything left of it


if __name__ == "__main__":
    unittest.main()
