"""Memory is bounded, whatever a client sends or does not read, and goes back when it has left. The
bounds are looked at without a sanitizer alone; that everybody gets through, always."""
import re
import resource
import select
import socket
import struct
import threading
import unittest

import harness
import wire

MIB = 1 << 20
TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
REFUSED = "insert into events (userhash) select 1 /*" + "x" * 2000 + "*/"


def memory_of(keyspread, what):
    with open(f"/proc/{keyspread.process.pid}/status", encoding="ascii") as file:
        return int(re.search(what + r":\s+(\d+) kB", file.read())[1]) * 1024


def resident(keyspread):
    return memory_of(keyspread, "VmRSS")


def peak(keyspread):
    return memory_of(keyspread, "VmHWM")


@harness.proxied
class MemoryCase(harness.StackCase):
    options = {"workers": 1}

    def setUp(self):
        super().setUp()
        # Unix sockets: the kernel holds little, and what is held is keyspread's.
        dsn = f"host={self.postgres.folder} port={self.postgres.port}"
        options = {**self.options, "backend": {"dsn": dsn, **self.options.get("backend", {})}}
        self.keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, self.tables, **options), unix=True)
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


class ManyDeaf(MemoryCase):
    """What all that do not read are owed has a bound, and whoever reads goes on."""

    CLIENTS = 20 if harness.instrumented() else 200
    UNREAD = MIB if harness.instrumented() else 8 * MIB
    options = {"workers": 2, "limits": {"unread_bytes": f"{UNREAD}"},
               "backend": {"links": "on_demand"}}

    def all_deaf(self, unit):
        """Clients that have sent `unit` until none was taken any more, and have read nothing."""
        crowd = {session.socket.fileno(): session
                 for session in (self.wire() for _ in range(self.CLIENTS))}
        taking = select.poll()
        for number, session in crowd.items():
            session.socket.setblocking(False)
            session.sent = 0
            taking.register(number, select.POLLOUT)
        block = unit * (8 * 1024 // len(unit))  # little at once: first the kernel is to be full
        while ready := taking.poll(1000):
            for number, _ in ready:
                session = crowd[number]
                session.sent += session.socket.send(block[session.sent % len(unit):])
        return list(crowd.values())

    def read_all(self, session, unit, kinds):
        session.socket.settimeout(harness.PATIENCE)
        rest = -session.sent % len(unit)
        sending = threading.Thread(target=session.send, args=(unit[len(unit) - rest:],))
        sending.start()
        count = (session.sent + rest) // len(unit)
        self.assertEqual(wire.kinds(session.read_ready(count)), kinds * count)
        sending.join()

    def check_others(self, first=100):
        """One that reads is served, however much it is owed at once."""
        session = self.wire()
        rows = 2000
        session.send(wire.parse("s", "insert into events (userid, ts) values ($1, $2)"),
                     *(wire.bind("", "s", [first + i, TS]) + wire.execute() for i in range(rows)),
                     wire.sync())
        self.assertEqual(len(wire.tags_of(session.read_ready())), rows)
        self.assertEqual(wire.tags_of(session.query(
            "select repeat('x', 1000) from generate_series(1, 5000)")), ["SELECT 5000"])

    def test_they_are_bounded_and_others_go_on(self):
        self.wire().query(TEXT.format(0, TS, "x"))
        before = resident(self.keyspread)
        crowd = self.all_deaf(wire.sync())
        self.check_bound(self.UNREAD + self.CLIENTS * 64 * 1024 + 8 * MIB, before)
        self.check_others()
        for session in crowd[:4]:  # whoever begins to read is told everything
            self.read_all(session, wire.sync(), "Z")
        for session in crowd:
            session.socket.close()
        if not harness.instrumented():
            harness.eventually("memory goes back",
                               lambda: resident(self.keyspread) < before + 12 * MIB, patience=60)
        self.check_others(10_000)

    def test_what_links_bring_waits_there(self):
        crowd = [self.wire() for _ in range(20)]
        before = resident(self.keyspread)
        for session in crowd:
            session.send(wire.query("select repeat('x', 1000) from generate_series(1, 5000)"))
        self.check_others()
        self.check_bound(self.UNREAD + len(crowd) * 512 * 1024 + 8 * MIB, before)
        for session in crowd:
            self.assertEqual(wire.tags_of(session.read_ready()), ["SELECT 5000"])


class FewDeaf(ManyDeaf):
    """A few leave as much as many, though there is less to be noted of them."""

    CLIENTS = 20 if harness.instrumented() else 50


class InPart(MemoryCase):
    """Messages that have come in part: all of them together have a bound, and small ones go on."""

    SIZE = (1 if harness.instrumented() else 8) * MIB
    CLIENTS = 10
    options = {"workers": 2, "limits": {"incomplete_bytes": f"{SIZE + SIZE // 2}"},
               "backend": {"link_wait_ms": 600_000}}  # nobody is given up, however long the others take

    def send_in_part(self, session, message):
        """Sends what is taken of the message, but for its end; returns the rest."""
        sent, most = 0, len(message) - 1000
        session.socket.setblocking(False)
        while sent < most and select.select([], [session.socket], [], 0.2)[1]:
            sent += session.socket.send(message[sent:most])
        session.socket.settimeout(harness.PATIENCE)
        return message[sent:]

    def test_many_large_ones(self):
        self.wire().query(TEXT.format(0, TS, "x"))
        before = resident(self.keyspread)
        clients = [(self.wire(), TEXT.format(1 + i, TS, "x" * self.SIZE))
                   for i in range(self.CLIENTS)]
        rests = [self.send_in_part(session, wire.query(text)) for session, text in clients]
        self.check_bound(3 * self.SIZE + 16 * MIB, before)
        small = self.wire()
        self.assertEqual(wire.tags_of(small.query(TEXT.format(100, TS, "y" * 50_000))),
                         ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(small.query("select 1")), ["SELECT 1"])

        def finish(number):
            return wire.tags_of(clients[number][0].ask(rests[number]))
        self.assertEqual(harness.in_threads(self.CLIENTS, finish),
                         [["INSERT 0 1"]] * self.CLIENTS)
        self.check_stored(count=self.CLIENTS + 2)

    def test_an_answer_to_one_that_waits(self):
        """It goes on waiting, and is not forgotten."""
        messages = [wire.query(TEXT.format(1 + i, TS, "x" * self.SIZE)) for i in range(3)]
        first = [self.wire(), self.wire()]
        rests = [self.send_in_part(session, message) for session, message in zip(first, messages)]
        last = self.wire()
        last.send(wire.query("select pg_sleep(0.5)"))
        sending = threading.Thread(target=last.send, args=(messages[2],))
        sending.start()
        self.assertEqual(wire.tags_of(last.read_ready()), ["SELECT 1"])

        def finish(number):  # both at once: either may be the one that must wait for the other
            return wire.tags_of(first[number].ask(rests[number]))
        self.assertEqual(harness.in_threads(2, finish), [["INSERT 0 1"]] * 2)
        self.assertEqual(wire.tags_of(last.read_ready()), ["INSERT 0 1"])
        sending.join()

    def test_groups(self):
        """Held up to their Sync, which comes when all have sent the rest."""
        clients = [self.wire() for _ in range(60)]
        text = "insert into events (userid, ts, event) values ($1, $2, $3)"
        for number, session in enumerate(clients):
            session.query("select 1")
            session.ask(wire.parse("s", text), wire.sync())
            session.send(*(wire.bind("", "s", [1 + number * 10 + i, TS, "x" * 20_000])
                           + wire.execute() for i in range(7)))
        for session in clients:
            session.send(wire.sync())
        for session in clients:
            self.assertEqual(wire.tags_of(session.read_ready()), ["INSERT 0 1"] * 7)
        self.check_stored(count=7 * 60)


class LargeBind(MemoryCase):
    """The parameters of an INSERT that are no part of its key may be larger than what is held: they pass as they come."""
    SIZE = (16 if harness.instrumented() else 200) * MIB
    options = {"workers": 1, "limits": {"incomplete_bytes": "1MiB"}}

    def test_it(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into events (userid, ts, event) values ($1, $2, length($3))"), wire.sync())
        before = peak(self.keyspread)
        begun = wire.bind("", "s", [1, TS, b""])[:-2]  # all but the length of the value, and the count of formats
        size = struct.pack("!i", len(begun) + 1 + self.SIZE)
        session.send(begun[:1], size, begun[5:-4], struct.pack("!i", self.SIZE))
        for _ in range(self.SIZE // MIB):
            session.send(b"x" * MIB)
        session.send(b"\0\0", wire.execute(), wire.sync())
        self.assertEqual(wire.tags_of(session.read_ready()), ["INSERT 0 1"])
        self.assertEqual(self.stored(columns="event"), [[str(self.SIZE)]])
        if not harness.instrumented():
            self.assertLess(peak(self.keyspread) - before, 4 * MIB)


@unittest.skipIf(harness.instrumented(), "each of the texts takes a sanitizer minutes")
class Tiny(MemoryCase):
    """Small parts take many times what they are long: in one text there may be only so many."""

    MOST = 640 * MIB
    VALUES = "insert into events (userid, ts) values "

    def check_refused(self, text):
        session = self.wire()
        before = resident(self.keyspread)
        session.query("begin")
        self.assertEqual(wire.error_of(session.query(text)), "54000")
        self.assertEqual(wire.tags_of(session.query("commit")), ["ROLLBACK"])
        self.assertEqual(wire.error_of(session.ask(wire.parse("", text), wire.sync())), "54000")
        self.assertLess(peak(self.keyspread) - before, self.MOST)
        self.assertEqual(wire.tags_of(session.query(TEXT.format(1, TS, "x"))), ["INSERT 0 1"])
        self.check_stored(count=1)

    def test_rows(self):
        self.check_refused(self.VALUES + ",".join(["(1,1)"] * 3_000_000))

    def test_columns(self):
        self.check_refused(f"insert into events ({','.join(['ts'] * 5_000_000)}) values (1)")

    def test_statements(self):
        session = self.wire()
        before = resident(self.keyspread)
        replies = session.query("select 1 / 0 /* events */;" + "select;" * 3_000_000)
        self.assertEqual(wire.error_of(replies), "22012")  # before what is refused
        self.assertLess(peak(self.keyspread) - before, self.MOST)

    def test_many_rows(self):
        """What fits is written."""
        session, rows = self.wire(), 100_000
        before = resident(self.keyspread)
        values = ",".join(f"({i},'{TS}')" for i in range(rows))
        self.assertEqual(wire.tags_of(session.query(self.VALUES + values)), [f"INSERT 0 {rows}"])
        self.check_stored(count=rows)
        harness.eventually("memory goes back",
                           lambda: resident(self.keyspread) < before + 64 * MIB, patience=60)

    def test_plans_that_are_kept(self):
        """Those of all texts that were ever prepared have a bound."""
        session = self.wire()
        before = resident(self.keyspread)
        for number in range(100):
            values = ",".join([f"({number},'{TS}')"] * 5000)
            self.assertIsNone(wire.error_of(session.ask(
                wire.parse("", self.VALUES + values), wire.sync())))
        self.assertLess(resident(self.keyspread) - before, 128 * MIB)


class Stuck(MemoryCase):
    """Whoever sends a part of something large and no more gives way to those who wait."""

    options = {"workers": 1, "limits": {"incomplete_bytes": "1MiB"},
               "backend": {"link_wait_ms": 1000}}

    def large(self, number, size=700_000):
        return wire.query(TEXT.format(number, TS, "x" * size))

    def serve(self, number):
        """A row gets through. (A busy machine may stop its client for so long that it gives way itself.)"""
        session = self.wire()
        harness.eventually("it is served", lambda: wire.error_of(session.ask(self.large(number))) is None)

    def test_they_give_way(self):
        stuck = [self.wire() for _ in range(4)]
        stuck[1].query("begin")
        stuck[1].ask(wire.query(TEXT.format(100, TS, "x")))
        for number, session in enumerate(stuck):
            session.send(self.large(number)[:-10])
        harness.in_threads(3, lambda number: self.serve(10 + number))
        outcomes = []
        for number, session in enumerate(stuck):
            replies = session.ask(self.large(number)[-10:])
            outcomes.append(wire.error_of(replies))
            expected = ["INSERT 0 1"] if outcomes[-1] is None else []
            self.assertEqual(wire.tags_of(replies), expected, replies)
        self.assertIn("53200", outcomes)
        self.assertLessEqual(set(outcomes), {"53200", None})
        ended = wire.tags_of(stuck[1].query("commit"))
        self.assertEqual(ended, ["ROLLBACK" if outcomes[1] else "COMMIT"])
        for session in stuck:
            self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])
        self.check_stored(count=3 + outcomes.count(None) + (not outcomes[1]))

    def test_parameters_give_way(self):
        stuck = [self.wire() for _ in range(4)]
        text = "insert into events (userid, ts, event) values ($1, $2, $3)"
        for number, session in enumerate(stuck):
            session.send(wire.parse("s", text), wire.sync())
            session.read_ready()
            session.send(wire.bind("", "s", [number, TS, "x" * 700_000])[:-10])
        self.serve(10)
        outcomes = []
        for number, session in enumerate(stuck):
            message = wire.bind("", "s", [number, TS, "x" * 700_000])
            replies = session.ask(message[-10:], wire.execute(), wire.sync())
            outcomes.append(wire.error_of(replies))
            self.assertEqual(len(wire.tags_of(session.ask(
                wire.bind("", "s", [20 + number, TS, "x"]), wire.execute(), wire.sync()))), 1)
        self.assertIn("53200", outcomes)
        self.check_stored(count=1 + outcomes.count(None) + 4)

    def test_larger_than_all_of_it(self):
        session = self.wire()
        for message in (self.large(1, 2_000_000),
                        wire.parse("", TEXT.format(1, TS, "x" * 2_000_000)) + wire.sync()):
            self.assertEqual(wire.error_of(session.ask(message)), "53200")
            self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])
        session.query("begin")
        self.assertEqual(wire.error_of(session.ask(self.large(1, 2_000_000))), "53200")
        self.assertEqual(wire.tags_of(session.query("commit")), ["ROLLBACK"])
        self.check_stored(count=0)

    def test_they_leave(self):
        """What they held is free again."""
        for _ in range(3):
            stuck = [self.wire() for _ in range(3)]
            for number, session in enumerate(stuck):
                session.send(self.large(number)[:-10])
            for session in stuck:
                session.drop()
        for number in range(3):
            self.assertEqual(wire.tags_of(self.wire().ask(self.large(number))), ["INSERT 0 1"])


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
                               lambda: resident(self.keyspread) < before + 8 * MIB, patience=60)


class Prepared(MemoryCase):
    """INSERTs that were prepared and not closed are remembered, up to a limit."""

    options = {"workers": 2, "limits": {"prepared_bytes": "2MiB"}}
    SIZE = 20_000  # of a text, with more than all of them

    def prepare(self, session, number, name="s{}"):
        text = TEXT.format(number, TS, "x") + f" /* {'x' * self.SIZE} */"
        return wire.error_of(session.ask(wire.parse(name.format(number), text), wire.sync()))

    def prepare_all(self, session, numbers=range(1000)):
        """The first that was refused."""
        for number in numbers:
            error = self.prepare(session, number)
            if error:
                self.assertEqual(error, "53200")
                return number
        return None

    def test_they_are_bounded_and_others_go_on(self):
        hoarder, other = self.wire(), self.wire()
        count = self.prepare_all(hoarder)
        self.assertLess(count, 2 * MIB / self.SIZE + 1)
        self.assertIsNone(self.prepare(hoarder, 5000, name=""))
        self.assertIsNone(self.prepare(other, 2000, name="own"))
        run = [wire.bind("", "own"), wire.execute(), wire.sync()]
        self.assertEqual(wire.tags_of(other.ask(*run)), ["INSERT 0 1"])
        self.assertEqual(self.prepare(hoarder, count), "53200")
        hoarder.ask(*(wire.close("S", f"s{number}") for number in range(6)), wire.sync())
        self.assertIsNone(self.prepare(hoarder, count))
        self.assertEqual(wire.tags_of(hoarder.query("deallocate all")), ["DEALLOCATE ALL"])
        self.assertGreater(self.prepare_all(hoarder, range(3000, 4000)), 3000 + count / 2)
        hoarder.close()
        heir = self.wire()
        harness.eventually("memory is free",
                           lambda: self.prepare_all(heir, range(4000, 4006)) is None)

    def test_what_many_prepare_counts_once(self):
        for _ in range(20):
            self.assertIsNone(self.prepare_all(self.wire(), range(15)))


if __name__ == "__main__":
    unittest.main()
