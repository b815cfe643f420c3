"""A ledger of numbers that the database makes, under faults: whoever was told a number has the row of
that number, nobody else was told it, and no row is there twice. Numbers are drawn one by one, together
and ahead, in all the ways in which clients ask for them."""
import collections
import contextlib
import os
import random
import signal
import struct
import sys
import threading
import unittest

import harness
import wire

CLIENTS, ROUNDS = 16, 150
LOST = (OSError, wire.Closed)


def table(name, key, **options):
    return harness.Table(name, [key, "label text"], ["id"], hash_first=False, **options)


TABLES = (table("singles", "id bigserial"),
          table("blocks", "id bigserial", sequences={"block": 50}),
          table("always", "id int generated always as identity", sequences={"block": 7}))


class Client:
    """One that writes, and keeps what it was told: {label: id} of what is committed."""

    def __init__(self, test, number):
        self.test, self.number = test, number
        self.dice = random.Random(number)
        self.told, self.unknown, self.session, self.count = {}, set(), None, 0
        self.ways = [self.simple, self.rows, self.bound, self.pipeline, self.transaction, self.lastval, self.conflict]

    def labels(self, count):
        self.count += count
        return [f"{self.name} {self.number}-{self.count - n}" for n in range(count)]

    def run(self):
        for _ in range(ROUNDS):
            self.name = self.dice.choice(TABLES).name
            labels = self.labels(self.dice.choice((1, 3, 5)))
            try:
                if not self.session:
                    self.connect()
                ids = self.dice.choice(self.ways)(labels)
            except LOST:
                self.session = self.session and self.session.drop()
                self.unknown |= set(labels)
                continue
            self.told.update(zip(labels, ids))
            self.test.went_on()

    def connect(self):
        def opened():
            with contextlib.suppress(*LOST, AssertionError):
                session = wire.Wire(("127.0.0.1", self.test.port))
                session.login(harness.USER, "app")
                return session
            return None
        self.session = harness.eventually("keyspread answers", opened)

    def ids(self, replies, count):
        """Of as many rows, if nothing went wrong; a number may be in binary. What faults tell is of class 08 or 57."""
        error = wire.error_of(replies)
        self.test.must(error is None or error[:2] in ("08", "57"), replies)
        if error:
            raise wire.Closed(replies)
        rows = [reply.row()[0] for reply in replies if reply.kind == "D"]
        self.test.must(len(rows) == count, replies)
        return [struct.unpack("!q" if len(one) == 8 else "!i", one)[0] if b"\0" in one else int(one) for one in rows]

    def into(self, *labels, alone=True):
        """The key is left to its default, or is written as what that says, not among several statements of a Query."""
        named = alone and self.name != "always" and self.dice.random() < 0.5
        key = f"nextval('{self.name}_id_seq'), " if named else ""
        values = ", ".join(f"({key}{label})" for label in labels)
        return f"insert into {self.name} ({'id, ' if named else ''}label) values {values}"

    def insert(self, labels, tail="returning id", **options):
        return self.into(*(f"'{label}'" for label in labels), **options) + " " + tail

    def simple(self, labels):
        return self.ids(self.session.ask(wire.query("; ".join(self.insert([one], alone=False) for one in labels))), len(labels))

    def rows(self, labels):
        return self.ids(self.session.ask(wire.query(self.insert(labels))), len(labels))

    def conflict(self, labels):
        text = self.insert(labels, "on conflict do nothing returning id")
        return self.ids(self.session.ask(wire.query(text)), len(labels))

    def bound(self, labels):
        return [self.ids(self.session.ask(*self.prepared(label), wire.sync()), 1)[0] for label in labels[:1]]

    def prepared(self, label):
        text = self.into("$1") + " returning id"
        return (wire.parse("", text),
                wire.bind("", "", [label], results=[self.dice.choice((0, 1))]), wire.execute())

    def pipeline(self, labels):
        messages = [message for label in labels for message in self.prepared(label)]
        return self.ids(self.session.ask(*messages, wire.sync()), len(labels))

    def transaction(self, labels):
        self.ids(self.session.ask(wire.query("begin")), 0)
        ids = [self.ids(self.session.ask(wire.query(self.insert([label]))), 1)[0] for label in labels]
        last = self.ids(self.session.ask(wire.query("select lastval()")), 1)
        self.ids(self.session.ask(wire.query("commit")), 0)
        self.test.must(last == ids[-1:], (last, ids))
        return ids

    def lastval(self, labels):
        self.ids(self.session.ask(wire.query(self.insert(labels[:1], ""))), 0)
        return self.ids(self.session.ask(wire.query("select lastval()")), 1)


@harness.proxied
class DrawnLedger(unittest.TestCase):
    def setUp(self):
        self.postgres = harness.Postgres(synchronous_commit="on")
        self.addCleanup(self.postgres.remove)
        harness.create_tables(self.postgres, "app", TABLES, hashed=True)
        self.port, self.keyspread = harness.free_port(), None
        self.turns, self.turned, self.wrong = 0, threading.Condition(), []

    def start(self, workers):
        config = harness.backend_config(self.postgres, TABLES, workers=workers)
        self.keyspread = harness.Keyspread({**config, "listen": [f"127.0.0.1:{self.port}"]})

    def must(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def went_on(self):
        with self.turned:
            self.turns += 1
            self.turned.notify_all()

    def progress(self, count, threads):
        with self.turned:
            goal = self.turns + count
            while self.turns < goal and any(one.is_alive() for one in threads):
                self.turned.wait(0.1)

    # ---- what breaks ----

    def keyspread_is_killed(self, workers):
        self.keyspread.kill()
        self.start(workers)

    def a_backend_is_killed(self, _):
        with contextlib.suppress(*LOST, AssertionError), self.postgres.admin("app") as admin:
            pids = admin.rows("select pid from pg_stat_activity where usename = 'app'")
            for pid in pids[-1:]:
                os.kill(int(pid[0]), signal.SIGKILL)
        self.postgres.wait()

    def a_backend_is_terminated(self, _):
        with contextlib.suppress(*LOST, AssertionError), self.postgres.admin("app") as admin:
            admin.rows("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app' limit 3")

    def a_sequence_goes_on_from_elsewhere(self, _):
        with contextlib.suppress(*LOST, AssertionError), wire.Wire(("127.0.0.1", self.port)) as session:
            session.login(harness.USER, "app")
            for one in TABLES:
                session.rows(f"select setval('{one.name}_id_seq', nextval('{one.name}_id_seq') + 1000)")

    def run_all(self, workers):
        self.start(workers)
        clients = [Client(self, number) for number in range(CLIENTS)]
        threads = [threading.Thread(target=one.run) for one in clients]
        for one in threads:
            one.start()
        faults = [self.keyspread_is_killed, self.a_backend_is_killed, self.a_backend_is_terminated,
                  self.a_sequence_goes_on_from_elsewhere] * 3
        for fault in faults:
            self.progress(CLIENTS * ROUNDS // (len(faults) + 4), threads)
            fault(workers)
        for one in threads:
            one.join()
        self.keyspread.stop()
        self.check(clients)

    def check(self, clients):
        self.assertEqual(self.wrong, [])
        stored, told = collections.Counter(), 0
        found = {}
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            for one in TABLES:
                with connection.cursor() as cursor:
                    cursor.execute(f"select label, id from {one.name}")
                    for label, number in cursor.fetchall():
                        stored[label] += 1
                        found[label] = number
                harness.verify_hashes(self, connection, one)
        self.assertEqual([label for label, count in stored.items() if count > 1], [])
        for client in clients:
            told += len(client.told)
            for label, number in client.told.items():
                self.assertEqual(found.pop(label, None), number, f"{label} was told")
            for label in client.unknown:
                found.pop(label, None)
        self.assertEqual(found, {}, "rows that nobody sent")
        print(f"{told} told, {sum(len(one.unknown) for one in clients)} unknown", file=sys.stderr)
        self.assertGreater(told, CLIENTS * ROUNDS / 2)

    def test_one_worker(self):
        self.run_all(1)

    def test_three_workers(self):
        self.run_all(3)


if __name__ == "__main__":
    unittest.main()
