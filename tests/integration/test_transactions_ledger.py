"""A ledger of transactions under faults, eager and lazy: of 1 to 20 rows in 1 to 4 tables. What was told to be committed is there
whole and once, what was refused is not there at all, and where nobody knows it is one or the other."""
import collections
import contextlib
import itertools
import os
import random
import signal
import sys
import threading
import unittest

import harness
import wire

CLIENTS, TRANSACTIONS = 16, 60
LOST = (OSError, wire.Closed)
TABLES = [harness.Table(name, ["id bigint not null", "writer bigint not null", "amount int constraint positive check (amount > 0)"],
                        ["id"], hash_first=False, partitions=4, **options)
          for name, options in (("credits", {}), ("debits", {"atomicity": "partition"}), ("fees", {}), ("notes", {}))]
OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
UNBEGUN = "not begun"  # its rows were statements by themselves


class Client:
    """One that writes, and keeps what it was told: {number of the transaction: (rows, outcome)}."""

    def __init__(self, test, number):
        self.test, self.number, self.setting = test, number, ("lazy", "eager")[number % 2]
        self.dice = random.Random(number)
        self.told, self.session = {}, None

    def run(self):
        for turn in range(1, TRANSACTIONS + 1):
            writer = turn * CLIENTS + self.number
            count = self.dice.randint(1, 20)
            if not self.session:
                self.connect()
            texts = self.texts(writer, count)
            self.told[writer] = count, self.dice.choice((self.one_by_one, self.one_by_one, self.at_once))(texts)
            if self.told[writer][1] == UNKNOWN or self.lost:
                self.session.drop()
                self.session = None
            self.test.went_on()
        if self.session:
            self.session.drop()

    def connect(self):
        def opened():
            with contextlib.suppress(*LOST, AssertionError):
                session = wire.Wire(("127.0.0.1", self.test.port))
                session.login(harness.USER, "app")
                session.rows(f"set keyspread.transactions = {self.setting}")
                return session
            return None
        self.session = harness.eventually("keyspread answers", opened)

    def texts(self, writer, count):
        """Statements of some rows each, as (table, their values). One of ten transactions has a row that is refused."""
        tables = self.dice.sample([table.name for table in TABLES], self.dice.randint(1, len(TABLES)))
        keys = iter(range(writer * 32, writer * 32 + count))
        bad = writer * 32 + self.dice.randrange(count) if self.dice.random() < 0.1 else None
        statements = []
        while part := list(itertools.islice(keys, self.dice.choice((1, 1, 2, 5)))):
            statements.append((self.dice.choice(tables), [(key, writer, 0 if key == bad else 1) for key in part]))
        return statements

    def messages(self, statements):
        """Messages with one ReadyForQuery each. A transaction is of one protocol, or is made ordinary."""
        bound = self.dice.random() < 0.5
        yield wire.query("begin")
        for table, rows in statements:
            if bound:
                places = ", ".join(f"(${3 * n + 1}, ${3 * n + 2}, ${3 * n + 3})" for n in range(len(rows)))
                yield (wire.parse("", f"insert into {table} (id, writer, amount) values {places}")
                       + wire.bind("", "", [value for row in rows for value in row]) + wire.execute() + wire.sync())
            else:
                yield wire.query(f"insert into {table} (id, writer, amount) values {', '.join(map(str, rows))}")
        if self.dice.random() < 0.1:
            yield wire.query("select 1")
        yield wire.query("rollback" if self.dice.random() < 0.1 else "commit")

    @staticmethod
    def outcome(replies):
        """Of a COMMIT, or a ROLLBACK."""
        error = wire.error_of(replies)
        return (UNKNOWN if error[:2] == "08" else REFUSED) if error else OK if wire.tags_of(replies) == ["COMMIT"] else REFUSED

    def one_by_one(self, statements):
        self.lost, messages = False, list(self.messages(statements))
        try:
            for number, message in enumerate(messages[:-1]):
                self.lost = wire.error_of(self.session.ask(message)) is not None and number == 0
                if self.lost:
                    return REFUSED
        except LOST:
            self.lost = True
            return REFUSED  # no COMMIT was sent
        try:
            return self.outcome(self.session.ask(messages[-1]))
        except LOST:
            return UNKNOWN if messages[-1] == wire.query("commit") else REFUSED

    def at_once(self, statements):
        self.lost, messages = False, list(self.messages(statements))
        try:
            self.session.send(*messages)
            replies = [self.session.read_ready() for _ in messages]
            return self.outcome(replies[-1]) if not wire.error_of(replies[0]) else UNBEGUN
        except LOST:
            return UNKNOWN


@harness.proxied
class TransactionsLedger(unittest.TestCase):
    def setUp(self):
        self.postgres = harness.Postgres(synchronous_commit="on", log_statement="none")
        self.addCleanup(self.postgres.remove)
        harness.create_tables(self.postgres, "app", TABLES, hashed=True)
        self.port, self.keyspread = harness.free_port(), None
        self.turns, self.turned = 0, threading.Condition()

    def start(self):
        config = harness.backend_config(self.postgres, TABLES)
        self.keyspread = harness.Keyspread({**config, "listen": [f"127.0.0.1:{self.port}"]})

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

    def keyspread_is_killed(self):
        self.keyspread.kill()
        self.start()

    def backends(self):
        with contextlib.suppress(*LOST, AssertionError), self.postgres.admin("app") as admin:
            return [int(row[0]) for row in admin.rows("select pid from pg_stat_activity where usename = 'app' order by query_start desc")]
        return []

    def a_backend_is_killed(self):
        for pid in self.backends()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.postgres.wait()

    def backends_are_terminated(self):
        for pid in self.backends()[:8]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def a_table_is_altered(self):
        with contextlib.suppress(*LOST, AssertionError), self.postgres.admin("app") as admin:
            admin.rows("alter table fees add column extra int; alter table notes alter amount type bigint")
            admin.rows("alter table fees drop column extra; alter table notes alter amount type int")

    def test_it(self):
        self.start()
        clients = [Client(self, number) for number in range(CLIENTS)]
        threads = [threading.Thread(target=one.run) for one in clients]
        for one in threads:
            one.start()
        faults = [self.keyspread_is_killed, self.a_backend_is_killed, self.backends_are_terminated, self.a_table_is_altered] * 3
        for fault in faults:
            self.progress(CLIENTS * TRANSACTIONS // (len(faults) + 4), threads)
            fault()
        for one in threads:
            one.join()
        self.keyspread.stop()
        self.check(clients)

    def check(self, clients):
        stored, outcomes = collections.Counter(), collections.Counter()
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            for table in TABLES:
                with connection.cursor() as cursor:
                    cursor.execute(f"select writer, count(*) from {table.name} group by 1")
                    stored.update(dict(cursor.fetchall()))
                harness.verify_hashes(self, connection, table)
        for client in clients:
            for writer, (count, outcome) in client.told.items():
                found = stored.pop(writer, 0)
                outcomes[client.setting, outcome] += 1
                whole = {OK: (count,), REFUSED: (0,), UNKNOWN: (0, count), UNBEGUN: range(count + 1)}[outcome]
                self.assertIn(found, whole, f"transaction {writer} ({client.setting}) of {count} rows: {outcome}")
        self.assertEqual(stored, {}, "rows that nobody sent")
        print(dict(outcomes), file=sys.stderr)
        for setting in ("lazy", "eager"):
            self.assertGreater(outcomes[setting, OK], CLIENTS * TRANSACTIONS / 5, outcomes)
            self.assertGreater(outcomes[setting, REFUSED], CLIENTS * TRANSACTIONS / 40, outcomes)


if __name__ == "__main__":
    unittest.main()
