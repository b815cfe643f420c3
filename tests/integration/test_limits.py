"""Nobody can push it over: every limit answers with its SQLSTATE, and others are served as before."""
import contextlib
import os
import re
import resource
import select
import shutil
import socket
import ssl
import struct
import unittest

import certificates
import harness
import scram
import wire

SSL_REQUEST = struct.pack("!II", 8, 80877103)


class LimitsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if harness.DIRECT:
            raise unittest.SkipTest("only with keyspread in between")
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, "app", (harness.EVENTS,))

    def start(self, within=(), **more):
        keyspread = harness.Keyspread(harness.backend_config(self.postgres, **more), within=within)
        self.addCleanup(keyspread.stop)
        return keyspread

    def connect(self, keyspread):
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        return session

    def client(self, keyspread):
        session = self.connect(keyspread)
        session.login(harness.USER, "app")
        return session

    def check_refused(self, keyspread, sqlstate, message):
        session = self.connect(keyspread)
        with self.assertRaises(wire.Closed) as caught:
            session.login(harness.USER, "app")
        replies = caught.exception.messages
        self.assertEqual(wire.error_of(replies), sqlstate)
        self.assertRegex(replies[-1].fields()["M"], message)


class Clients(LimitsCase):
    def test_clients(self):
        keyspread = self.start(limits={"clients": 3})
        clients = [self.client(keyspread) for _ in range(3)]
        self.check_refused(keyspread, "53300", "too many clients")
        clients.pop().close()
        harness.eventually("there is room again", lambda: self.served(keyspread))

    def served(self, keyspread):
        with contextlib.suppress(wire.Closed):
            return bool(self.client(keyspread))

    def test_not_logged_in(self):
        """The longest silent gives way, those first that have said nothing; who waits for his
        password to be asked or taken stays."""
        keyspread = self.start(limits={
            "unauthenticated": 3, "unauthenticated_per_address": 3, "startup_ms": 60000})
        begun = self.connect(keyspread)
        begun.send(wire.startup(harness.USER, "app")[:20])
        mute = [self.connect(keyspread) for _ in range(2)]
        session = self.client(keyspread)
        self.assertEqual(wire.error_of(mute[0].read_to_end()), "53300")
        begun.send(wire.startup(harness.USER, "app")[20:])
        begun.read_until("Z")
        self.assertEqual(begun.rows("select 1"), [["1"]])
        self.assertEqual(session.rows("select 1"), [["1"]])

    def test_a_mute_crowd_shuts_nobody_out(self):
        keyspread = self.start(limits={"startup_ms": 60000, "unauthenticated": 100})
        crowd = [self.connect(keyspread) for _ in range(150)]
        for _ in range(5):
            self.assertEqual(self.client(keyspread).rows("select 1"), [["1"]])
        self.assertEqual(wire.error_of(crowd[0].read_to_end()), "53300")

    def test_an_address_has_its_share_of_silence(self):
        keyspread = self.start(limits={"startup_ms": 60000, "unauthenticated": 5000, "unauthenticated_per_address": 2})
        first = self.connect(keyspread)
        others = [self.connect(keyspread) for _ in range(2)]
        far = socket.create_connection(keyspread.address(), source_address=("127.0.0.9", 0))
        self.addCleanup(far.close)

        def one_more():
            others.append(self.connect(keyspread))
            return select.select([first.socket], [], [], 0)[0]

        harness.eventually("the first gives way", one_more)
        far.sendall(wire.startup(harness.USER, "app"))
        self.assertEqual(far.recv(1), b"R")

    def test_a_crowd_at_once_is_let_in(self):
        keyspread = self.start(limits={"startup_ms": 60000})
        crowd = [self.client(keyspread)]  # from now on it is known how to greet
        crowd[0].send(wire.sync())
        for _ in range(60):
            crowd.append(self.connect(keyspread))
            crowd[-1].send(wire.startup(harness.USER, "app"))
        for session in crowd:
            session.read_until("Z")

    def come(self, keyspread, count):
        """So many clients that ask for TLS first, all connected before any of them is answered."""
        crowd = [socket.socket() for _ in range(count)]
        for client in crowd:
            self.addCleanup(client.close)
            client.settimeout(harness.PATIENCE)
            client.connect(keyspread.address())
        for client in crowd:
            client.sendall(struct.pack("!II", 8, 80877103))
        return crowd

    def test_a_larger_crowd_waits_in_order(self):
        """As after a restart: many more than may log in at the same time."""
        for limits in ({"unauthenticated": 20}, {}):
            keyspread = self.start(limits=limits)
            crowd = self.come(keyspread, 300)
            for client in crowd:
                self.assertEqual(client.recv(1), b"N")
                client.sendall(wire.startup(harness.USER, "app"))
            for client in crowd:
                said = client.recv(200)
                self.assertEqual(said[:1], b"R", said)
            keyspread.stop()

    def test_a_crowd_of_more_than_all_clients(self):
        """Who is turned away is told why behind the answer to what was asked."""
        keyspread = self.start(limits={"clients": 30, "unauthenticated": 30, "startup_ms": 2000})
        said = []
        for client in self.come(keyspread, 60):
            if client.recv(1) != b"N":
                continue
            with contextlib.suppress(OSError):
                client.sendall(wire.startup(harness.USER, "app"))
                said.append(client.recv(1))
        self.assertLessEqual(said.count(b"R"), 30)
        self.assertGreater(said.count(b"R"), 0)

    def test_of_one_address(self):
        path = os.path.join(self.postgres.folder, ".s.PGSQL.6432")
        port = harness.free_port()
        keyspread = self.start(limits={"clients_per_address": 2},
                               listen=[f"127.0.0.1:{port}", path])
        keyspread.port = port
        first, second = self.client(keyspread), self.client(keyspread)
        refused = self.connect(keyspread)
        self.assertEqual(wire.error_of(refused.read_to_end()), "53300")
        local = wire.Wire(path)  # has no address
        self.addCleanup(local.drop)
        local.login(harness.USER, "app")
        elsewhere = socket.create_connection(keyspread.address(), source_address=("127.0.0.9", 0))
        self.addCleanup(elsewhere.close)
        elsewhere.sendall(wire.startup(harness.USER, "app"))
        self.assertEqual(elsewhere.recv(1), b"R")
        second.close()
        harness.eventually("there is room again", lambda: self.served(keyspread))
        self.assertEqual(first.rows("select 1"), [["1"]])

    def test_links(self):
        keyspread = self.start(backend={"max_links": 3, "batch_links": 1, "link_wait_ms": 100})
        busy = [self.client(keyspread) for _ in range(2)]
        for session in busy:
            session.rows("begin")
        late = self.client(keyspread)
        self.assertEqual(wire.error_of(late.query("select 1")), "53300")
        busy[0].close()
        harness.eventually("a link is free", lambda: wire.error_of(late.query("select 1")) is None)


class Descriptors(LimitsCase):
    def test_none_are_left(self):
        """Accepting stops and goes on later; whoever is in does not notice."""
        prlimit = shutil.which("prlimit") or harness.missing("prlimit (of util-linux)")
        keyspread = self.start(within=[prlimit, "--nofile=60:60"])
        inside = self.client(keyspread)
        inside.rows("select 1")  # has its link
        self.assertIn("limit=60", keyspread.lines.wait_for("event=few_descriptors"))
        silent = [self.connect(keyspread) for _ in range(70)]
        keyspread.lines.wait_for("event=accept_stopped")
        self.assertEqual(inside.rows("select 2"), [["2"]])
        waiting = self.connect(keyspread)
        waiting.send(wire.startup(harness.USER, "app"))
        for session in silent:
            session.drop()
        waiting.read_until("Z")
        keyspread.lines.wait_for("event=accept_resumed")
        self.assertEqual(keyspread.lines.text().count("event=accept_stopped"), 1)
        self.assertEqual(inside.rows("select 3"), [["3"]])


class Reloads(LimitsCase):
    """Many, for the sake of certificates and passwords: the file says what it said."""

    def memory(self, keyspread):
        with open(f"/proc/{keyspread.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1])

    def reload(self, keyspread, count):
        for _ in range(count):
            self.assertIn("event=reloaded", keyspread.reload())
        return self.memory(keyspread)

    def test_they_keep_no_memory(self):
        keyspread = self.start()
        before = self.reload(keyspread, 50)
        after = self.reload(keyspread, 200)
        if not harness.instrumented():
            self.assertLess(after - before, 100)
        self.assertEqual(self.client(keyspread).rows("select 1"), [["1"]])


class Crowd(LimitsCase):
    """10,000 clients that logged in and say nothing, and 1,000 that do not even log in."""

    IDLE, HALF_OPEN = 10_000, 1_000
    MEMORY = {"plain": 2304, "TLS": 17 * 1024 + 256}  # OpenSSL's are 14 KiB of them
    PASSWORD = "a secret"

    def setUp(self):
        need = self.IDLE + self.HALF_OPEN + 500
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < need:
            self.skipTest(f"a process may have {hard} descriptors here, and this needs {need}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (need, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.authority = certificates.Authority()
        self.addCleanup(self.authority.remove)
        users = harness.write_secret(self.authority.folder, "users.txt",
                                     f'"{harness.USER}" "{self.PASSWORD}"\n')
        pair = self.authority.server()
        self.keyspread = self.start(
            auth={"mode": "scram", "users_file": users},
            client_tls={"cert": pair.cert, "key": pair.key},
            limits={"clients": self.IDLE + 2000, "unauthenticated": self.HALF_OPEN + 100,
                    "unauthenticated_per_address": self.HALF_OPEN + 100,
                    "startup_ms": 600_000})

    def memory(self):
        with open(f"/proc/{self.keyspread.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024

    def client(self, tls=None):
        session = self.connect(self.keyspread)
        if tls:
            session.send(SSL_REQUEST)
            self.assertEqual(session.socket.recv(1), b"S")
            session.socket = tls.wrap_socket(session.socket, server_hostname="127.0.0.1")
        scram.login(session, harness.USER, "app", self.PASSWORD)
        return session

    def crowd(self, what, count, tls=None):
        """So many clients; what each takes is printed, and bounded."""
        first = self.client(tls)  # what greets the others is known from here on
        before = self.memory()
        clients = [first] + [self.client(tls) for _ in range(count)]
        each = (self.memory() - before) / count
        print(f"memory of an idle client, {what}: {each / 1024:.2f} KiB", flush=True)
        if not harness.instrumented():
            self.assertLess(each, self.MEMORY[what])
        return clients

    def check_served(self, session, number):
        self.assertEqual(session.rows("select 1"), [["1"]])
        tags = wire.tags_of(session.query(
            f"insert into events (userid, ts, event) values ({number}, '2026-01-01', 'x')"))
        self.assertEqual(tags, ["INSERT 0 1"])

    def test_a_crowd(self):
        idle = self.crowd("plain", self.IDLE)
        half = [self.connect(self.keyspread) for _ in range(self.HALF_OPEN)]
        for session in half[::2]:
            session.send(wire.startup(harness.USER, "app")[:7])
        self.check_served(self.client(), 1)
        self.check_served(idle[len(idle) // 2], 2)

    def test_a_crowd_behind_tls(self):
        count = 200 if harness.instrumented() else 3000
        idle = self.crowd("TLS", count, ssl.create_default_context(cafile=self.authority.cert))
        self.check_served(idle[count // 2], 3)


if __name__ == "__main__":
    unittest.main()
