"""Memory is bounded, whatever a client sends or does not read, and goes back when it has left. The
bounds are looked at without a sanitizer alone; that everybody gets through, always."""
import re
import resource
import select
import threading
import unittest

import harness
import wire

MIB = 1 << 20
TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
REFUSED = "insert into events (userid, ts) select 1, now()"


def resident(keyspread):
    with open(f"/proc/{keyspread.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024


@harness.proxied
class MemoryCase(harness.StackCase):
    options = {"workers": 1}

    def setUp(self):
        super().setUp()
        # Unix sockets: the kernel holds little, and what is held is keyspread's.
        dsn = f"host={self.postgres.folder} port={self.postgres.port}"
        self.keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, self.tables, backend={"dsn": dsn}, **self.options), unix=True)
        self.addCleanup(self.keyspread.stop)

    @classmethod
    def start_keyspread(cls):
        cls.keyspread = None

    def wire(self, user=harness.USER, **params):
        session = wire.Wire(self.keyspread.path)
        self.addCleanup(session.close)
        session.login(user, self.database, **params)
        return session

    def check_bound(self, bytes_more, than):
        if not harness.instrumented():
            self.assertLess(resident(self.keyspread) - than, bytes_more)


class Deaf(MemoryCase):
    """Who does not read what it is owed is not read on."""

    def flood(self, unit, answer):
        """Sends `unit` as often as it is taken, reads nothing until then; afterwards reads all."""
        session = self.wire()
        before = resident(self.keyspread)
        block = unit * (MIB // len(unit))
        most = 32 if harness.instrumented() else 256
        sent = left = 0
        session.socket.setblocking(False)
        while sent < most * len(block) and select.select([], [session.socket], [], 1)[1]:
            sent += session.socket.send(block[sent % len(block):])
        self.check_bound(24 * MIB, before)
        self.assertLess(sent, most * len(block), "everything was taken, and nothing was read")
        session.socket.settimeout(harness.PATIENCE)
        left = -sent % len(unit)
        rest = threading.Thread(target=session.socket.sendall,
                                args=(unit[len(unit) - left:] + wire.terminate(),))
        rest.start()
        read = 0
        while data := session.socket.recv(MIB):
            read += len(data)
        rest.join()
        self.assertEqual(read, (sent + left) // len(unit) * answer)
        self.assertEqual(wire.tags_of(self.wire().query("select 1")), ["SELECT 1"])

    def answer_to(self, unit):
        session = self.wire()
        session.send(unit, wire.terminate())
        return sum(len(wire.frame(m.kind, m.body)) for m in session.read_to_end())

    def check_flood(self, unit):
        self.flood(unit, self.answer_to(unit))

    def test_sync(self):
        self.check_flood(wire.sync())

    def test_refused_statements(self):
        self.check_flood(wire.query(REFUSED))

    def test_refused_parses(self):
        self.check_flood(wire.parse("", REFUSED) + wire.sync())

    def test_empty_queries(self):
        self.check_flood(wire.query(""))

    def test_close(self):
        self.check_flood(wire.close("S", "x") + wire.sync())

    def test_describe(self):
        self.check_flood(wire.parse("", TEXT.format("$1", TS, "x"))
                         + wire.describe("S", "") * 20 + wire.sync())

    def test_sync_in_a_transaction(self):
        """Each is answered by the backend, and remembered until then."""
        unit = wire.sync()
        session = self.wire()
        session.query("begin")
        before = resident(self.keyspread)
        block = unit * (MIB // len(unit))
        session.socket.setblocking(False)
        sent = 0
        while sent < 64 * MIB and select.select([], [session.socket], [], 1)[1]:
            sent += session.socket.send(block[sent % len(unit):])
        self.check_bound(24 * MIB, before)
        session.drop()

    def test_notices_and_notifications(self):
        session = self.wire()
        session.query("listen news")
        before = resident(self.keyspread)
        session.send(wire.query("do $$ begin for i in 1 .. 20000 loop "
                                "raise notice '%', repeat('x', 2000); end loop; end $$"))
        with self.postgres.admin(self.database) as admin:
            for _ in range(10):
                admin.query("select count(pg_notify('news', i || repeat('y', 7000))) "
                            "from generate_series(1, 100) i")
        self.check_bound(24 * MIB, before)
        kinds = wire.kinds(session.read_ready())
        self.assertEqual(kinds[-1], "Z")

    def test_a_client_that_writes_much_before_it_reads(self):
        """A pipeline of thousands, as libpq's: as with PostgreSQL it is the kernel that holds it."""
        session = self.wire()
        rows = 2000 if harness.instrumented() else 10_000
        session.send(wire.parse("s", "insert into events (userid, ts) values ($1, $2)"),
                     *(wire.bind("", "s", [i, TS]) + wire.execute() for i in range(rows)),
                     wire.sync())
        replies = session.read_ready()
        self.assertEqual(len(wire.tags_of(replies)), rows)
        session.send(*(wire.bind("", "s", [rows + i, TS]) + wire.execute() + wire.sync()
                       for i in range(500)))
        self.assertEqual(len(wire.tags_of(session.read_ready(500))), 500)


class Crowd(MemoryCase):
    """What many have needed goes back when they have left."""

    options = {"workers": 1, "limits": {"unauthenticated": 4000}}

    def test_it_goes_back(self):
        count = 100 if harness.instrumented() else 3000
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * count + 200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.wire().query("select 1")
        before = resident(self.keyspread)
        crowd = []
        for _ in range(count):
            crowd.append(self.wire())
            crowd[-1].send(wire.parse("s", "insert into events (userid, ts) values ($1, $2)"))
        for session in crowd:
            session.socket.close()
        if not harness.instrumented():
            harness.eventually("memory goes back",
                               lambda: resident(self.keyspread) < before + 8 * MIB, patience=10)


if __name__ == "__main__":
    unittest.main()
