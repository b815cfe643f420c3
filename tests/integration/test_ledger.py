"""A ledger under faults: whatever breaks, what was acknowledged is there once and as it was written,
what was refused is not, and nothing else is.

`test_ledger.py --rows 2000000` writes more than CI does.
"""
import collections
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest

import harness
import ledger_clients
import wire

ROWS = 20_000 if harness.LONG else 8000
CLIENTS, PROCESSES = 64, 8
FAULTS = 22
# Told of these rows is only that nobody knows.
UNDECIDED = {"sent", "cut off", "08007", "08006", "fatal 08006", "fatal 08007"}
KEPT = harness.Table("kept", ["userid bigint not null", "ts timestamptz not null", "event text"],
                     ["userid", "ts"], hash_column="userhash", hash_first=False)
LOOSE = harness.Table("loose", KEPT.columns, KEPT.key, hash_column="userhash", hash_first=False)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def alive(pid):
    return os.path.exists(f"/proc/{pid}")


class Faults:
    """What may break, each by its name. All of it is whole again when a fault returns."""

    def __init__(self, test, dice):
        self.test, self.dice = test, dice
        self.names = [name[6:] for name in dir(self) if name.startswith("fault_")]

    def strike(self, name):
        getattr(self, f"fault_{name}")()

    @property
    def postgres(self):
        return self.test.postgres

    def backend(self):
        """One of keyspread's links, if there is one."""
        with contextlib.suppress(OSError, wire.Closed, AssertionError):
            with self.postgres.admin("app") as admin:
                pids = admin.rows("select pid from pg_stat_activity where usename = 'app'")
                return int(self.dice.choice(pids)[0]) if pids else None
        return None

    def signal_backend(self, *signals):
        pid = self.backend()
        for one in signals if pid else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, one)
                if one == signal.SIGSTOP:
                    self.test.progress(200)

    def fault_backend_dies(self):
        self.signal_backend(signal.SIGKILL)
        self.postgres.wait()

    def fault_backend_is_terminated(self):
        self.signal_backend(signal.SIGTERM)

    def fault_backend_stops(self):
        """The others go on meanwhile, as far as they do not wait for it."""
        self.signal_backend(signal.SIGSTOP, signal.SIGCONT)

    def fault_postmaster_dies(self):
        left = children_of(self.postgres.process.pid)
        self.postgres.process.kill()
        self.postgres.process.wait()
        harness.eventually("its children are gone", lambda: not any(map(alive, left)))
        self.postgres.start()

    def fault_slots_are_full(self):
        held = []
        with contextlib.suppress(OSError, wire.Closed, AssertionError):
            while True:
                held.append(self.postgres.admin("app"))
        self.test.progress(200)
        for session in held:
            session.close()

    def fault_reload(self):
        if self.dice.random() < 0.5:
            self.test.config["tables"].reverse()
        self.test.keyspread.reload({**self.test.keyspread.config, **self.test.config})

    def fault_alter(self):
        table = self.dice.choice(ledger_clients.TABLES)
        with contextlib.suppress(OSError, wire.Closed, AssertionError):
            with self.postgres.admin("app") as admin:
                admin.rows(f"alter table {table} add column extra int")
                self.test.progress(100)
                admin.rows(f"alter table {table} drop column extra")

    def fault_clients_die(self):
        running = [number for number, one in enumerate(self.test.clients) if one.poll() is None]
        if len(running) > PROCESSES // 2:
            self.test.clients[self.dice.choice(running)].kill()

    def fault_keyspread_ends(self):
        self.test.keyspread.process.send_signal(signal.SIGTERM)
        self.test.keyspread.finish()
        self.test.start_keyspread()


class LedgerUnderFaults(unittest.TestCase):
    def setUp(self):
        if harness.DIRECT:
            self.skipTest("only with keyspread in between")
        self.postgres = harness.Postgres(synchronous_commit="on", log_statement="none",
                                         max_connections=130)
        self.addCleanup(self.postgres.remove)
        harness.create_tables(self.postgres, "app", (KEPT, LOOSE), hashed=True)
        with self.postgres.admin("app") as admin:
            admin.rows("alter table loose drop constraint loose_pkey")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.keyspread, self.clients = None, []

    def relay(self, target, seed, cut_every):
        port = harness.free_port()
        relay = subprocess.Popen(
            harness.with_us() + [sys.executable, os.path.join(harness.HERE, "flaky.py"), str(port),
                                 str(target), str(seed), str(cut_every), "200"],
            stdout=subprocess.PIPE)
        self.addCleanup(self.end, relay)
        self.assertEqual(relay.stdout.readline(), b"ready\n")
        return port

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def start_keyspread(self):
        """On the port of the one before it, which clients know."""
        listen = {"listen": [f"127.0.0.1:{self.port}"]}
        self.keyspread = harness.Keyspread({**self.config, **listen})
        self.keyspread.config["listen"] = listen["listen"]

    def start_clients(self, rows, flaky_port):
        each = CLIENTS // PROCESSES
        for number in range(PROCESSES):
            port = flaky_port if number % 4 == 0 else self.port
            self.clients.append(subprocess.Popen(
                harness.with_us() + [
                    sys.executable, os.path.join(harness.HERE, "ledger_clients.py"), str(port),
                    "app", str(1 + number * each), str(each), str(rows // CLIENTS), self.path(number)]))
            self.addCleanup(self.end, self.clients[-1])

    def path(self, number):
        return os.path.join(self.folder.name, f"ledger{number}")

    def lines(self):
        """How much was put down until now."""
        sizes = [os.path.getsize(self.path(n)) for n in range(PROCESSES)
                 if os.path.exists(self.path(n))]
        return sum(sizes) // 20

    def running(self):
        return any(one.poll() is None for one in self.clients)

    def progress(self, lines):
        """Waits for so much more in the ledgers, or a moment in which nothing moves any more."""
        goal, before = self.lines() + lines, -1
        while before < self.lines() < goal and self.running():
            before = self.lines()
            with contextlib.suppress(AssertionError):
                harness.eventually("rows are written", lambda: self.lines() >= min(goal, before + 1)
                                   or not self.running(), patience=2)

    def run_all(self, workers, rows, seed):
        dice = random.Random(seed)
        backend = self.relay(self.postgres.port, seed, 800)
        self.config = harness.backend_config(
            self.postgres, (KEPT, LOOSE), port=backend, workers=workers,
            backend={"max_links": 60, "link_wait_ms": 2000})
        self.port = harness.free_port()
        self.start_keyspread()
        self.start_clients(rows, self.relay(self.port, seed + 1, 200))
        faults = Faults(self, dice)
        names = (faults.names * (FAULTS // len(faults.names) + 1))[:FAULTS]
        dice.shuffle(names)
        while names and self.running():
            self.progress(rows * 2 // (FAULTS + 4))
            faults.strike(names.pop())
        for one in self.clients:
            one.wait(600)
        self.keyspread.stop()
        self.postgres.wait()
        self.check(rows)

    def told(self):
        """{key: (table, last outcome)}."""
        told = {}
        for number in range(PROCESSES):
            with open(self.path(number), encoding="ascii") as file:
                for line in file:
                    key, table, outcome = line.rstrip("\n").split(" ", 2)
                    told[int(key)] = table, outcome
        return told

    def check(self, rows):
        told, found = self.told(), collections.Counter()
        with contextlib.closing(harness.connect_admin(self.postgres, "app")) as connection:
            for table in (KEPT, LOOSE):
                with connection.cursor() as cursor:
                    cursor.execute(f"select userid, event from {table.name}")
                    for key, event in cursor.fetchall():
                        found[key, table.name] += 1
                        self.assertEqual(event, ledger_clients.text_of(key))
                harness.verify_hashes(self, connection, table)
        counted = collections.Counter()
        for key, (table, outcome) in told.items():
            count = found.pop((key, table), 0)
            if outcome.startswith("counted"):
                self.assertLessEqual(count, 1, f"{key} of {table} is there twice ({outcome})")
                counted[table, outcome] += count
            elif outcome == "ok":
                self.assertEqual(count, 1, f"{key} of {table} was acknowledged")
            elif outcome in UNDECIDED:
                self.assertLessEqual(count, 1, f"{key} of {table} is there twice ({outcome})")
            else:
                self.assertEqual(count, 0, f"{key} of {table} was refused with {outcome}")
        self.assertEqual(found, {}, "rows that nobody sent")
        for (table, outcome), count in counted.items():
            _, state, committed, _ = outcome.split(" ")
            self.assertGreaterEqual(count, int(committed), f"{outcome} of {table}")
            if state[:3] not in ("080", "57P"):  # a batch was on its way when its backend ended
                self.assertEqual(count, int(committed), f"{outcome} of {table}")
        outcomes = collections.Counter(" ".join(outcome.split(" ")[:2]) for _, outcome in told.values())
        print(dict(outcomes), file=sys.stderr)
        for mode in ("copied", "copied apart"):
            written = [key for key, (_, outcome) in told.items() if outcome == "ok" and
                       ledger_clients.MODES[key // 1_000_000 % len(ledger_clients.MODES)] == mode]
            self.assertGreater(len(written), rows // 100, mode)
        self.assertGreater(outcomes["ok"], rows / 3, outcomes)

    def test_one_worker(self):
        self.run_all(1, ROWS // 2, 1)

    def test_four_workers(self):
        self.run_all(4, ROWS // 2, 2)


if __name__ == "__main__":
    if "--rows" in sys.argv:
        at = sys.argv.index("--rows")
        ROWS = int(sys.argv[at + 1])
        FAULTS = max(FAULTS, FAULTS * ROWS // 100_000)
        del sys.argv[at:at + 2]
    unittest.main()
