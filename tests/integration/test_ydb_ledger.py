#!/usr/bin/env python3
"""A ledger through keyspread on the fake of YDB's endpoint, while that injects its faults: each
acknowledged unit is there, whole and once; what was refused is not; counters equal what was
acknowledged, and some of what nobody knows; no client finds an earlier value of its own.

`test_ydb_ledger.py --units 20000` writes more than CI does; `--seed` repeats what was tried.
"""
import argparse
import collections
import os
import random
import re
import sys
import threading
import unittest

import harness
import wire
from ydb import Endpoint

CLIENTS = 16
UNITS = 3000 if harness.LONG else 1200
SEED = 1
SHARED = 12  # keys that all clients write
UNKNOWN = {"08007", "lost"}
COUNTED = re.compile(r"(\d+) rows are committed; rows from line (\d+) on may be missing")
REFUSED = {"40001"}  # what has been told would not be true any more
INT8 = "bigint not null"
COLUMNS = {"rows_of": [("id", "bigint", True), ("unit", "bigint", False), ("place", "integer", False),
                       ("id_hash", "bigint", True)],
           "latest": [("id", "bigint", True), ("writer", "integer", False), ("turn", "bigint", False),
                      ("id_hash", "bigint", True)],
           "counters": [("id", "bigint", True), ("n", "bigint", False), ("id_hash", "bigint", True)]}
# What goes wrong, and at each which of the statements that it may strike.
ANSWERS = {"ABORTED": 23, "OVERLOADED": 61, "UNAVAILABLE": 67, "BAD_SESSION": 71,
           "stall": 83, "SESSION_BUSY": 79, "UNDETERMINED": 499}
DROPS = {"INTERNAL_ERROR": 151, "SESSION_EXPIRED": 107, "drop_before_commit": 97,
         "drop_after_commit": 101, "commit_late": 103}


def table(name):
    listed = [{"name": column, "type": kind, **({"not_null": True} if needed else {})}
              for column, kind, needed in COLUMNS[name]]
    return {"name": name, "primary_key": ["id"], "hash_function": "pg_hash", "columns": listed,
            "partitions": {"uniform": 4}, "repeat": "upserts" if name == "latest" else "nothing"}


def ddl(name):
    listed = ", ".join(f"{column} {kind}{' not null' if needed else ''}"
                       for column, kind, needed in COLUMNS[name])
    return f"create table {name} ({listed}, primary key (id_hash, id))"


class Client(threading.Thread):
    """Sends units, one after the other, and puts down what it was told."""

    def __init__(self, test, number, units):
        super().__init__()
        self.test, self.number, self.units = test, number, units
        self.dice = random.Random(f"{SEED}/{number}")
        self.told = []  # (kind, what, outcome)
        self.numbers = []  # (counter, its value), told by what was acknowledged
        self.session = None
        self.counted = None  # (rows that are committed, a line) as the last error of a COPY in batches said

    def run(self):
        kinds = ("one", "bound", "many", "grouped", "drawn", "latest", "shared", "counter", "copied", "copied_whole")
        for turn in range(self.units):
            kind = self.dice.choice(kinds)
            what, messages = getattr(self, kind)(turn)
            outcome, rows = self.outcome(messages, 2 if kind.startswith("copied") else 1)
            self.told.append((kind, (what, self.counted) if kind == "copied" else what, outcome))
            if outcome == "ok" and kind == "drawn":
                self.numbers.append((what[1], int(rows[0])))
        self.session.close()

    def outcome(self, messages, ready):
        """`ok`, a SQLSTATE, or `lost`, of one unit; and its rows' first cells."""
        self.counted = None
        try:
            if self.session is None:
                self.session = wire.Wire(("127.0.0.1", self.test.keyspread.port))
                self.session.login("app", "/local")
            replies = self.session.ask(messages, ready=ready)
        except (OSError, wire.Closed):
            self.session = None
            return "lost", []
        rows = [reply.row()[0] for reply in replies if reply.kind == "D"]
        hints = [reply.fields().get("H", "") for reply in replies if reply.kind == "E"]
        self.counted = next((tuple(map(int, found.groups())) for found in map(COUNTED.search, hints) if found), None)
        return wire.error_of(replies) or "ok", rows

    # Units: what is put down of them, and how they are sent.

    def key(self, turn):
        return (self.number * 1_000_000 + turn) * 100

    def one(self, turn):
        key = self.key(turn)
        return [key], wire.query(f"insert into rows_of (id, unit, place) values ({key}, {key}, 0)")

    def bound(self, turn):
        key = self.key(turn)
        return [key], (wire.parse("", "insert into rows_of (id, unit, place) values ($1, $2, $3)")
                       + wire.bind("", "", [key, key, 0]) + wire.execute() + wire.sync())

    def many(self, turn):
        key = self.key(turn)
        keys = [key + place for place in range(self.dice.randint(2, 20))]
        rows = ", ".join(f"({each}, {key}, {place})" for place, each in enumerate(keys))
        return keys, wire.query(f"insert into rows_of (id, unit, place) values {rows}")

    def copy(self, turn, mode):
        key = self.key(turn)
        keys = [key + place for place in range(self.dice.randint(2, 40))]
        lines = "".join(f"{each}\t{key}\t{place}\n" for place, each in enumerate(keys)).encode()
        return keys, (wire.query(f"set keyspread.copy = {mode}") + wire.query("copy rows_of (id, unit, place) from stdin") + wire.copy_data(lines[:20])
                      + wire.copy_data(lines[20:]) + wire.copy_done())

    def copied(self, turn):
        return self.copy(turn, "partition")

    def copied_whole(self, turn):
        return self.copy(turn, "atomic")

    def grouped(self, turn):
        """Statements of their own that are one transaction, for they are one Query."""
        key, shared = self.key(turn), self.dice.randrange(SHARED)
        first, last = (f"insert into rows_of (id, unit, place) values ({key + place}, {key}, {place})"
                       for place in range(2))
        return ([key, key + 1], shared), wire.query(f"{first}; {self.increment(shared)}; {last}")

    def drawn(self, turn):
        """… in which the client is told what must be true when it is done."""
        key, shared = self.key(turn), self.dice.randrange(SHARED)
        return ([key], shared), wire.query(
            f"{self.increment(shared)}; select n from counters where id = {shared}; "
            f"insert into rows_of (id, unit, place) values ({key}, {key}, 0)")

    def increment(self, key):
        return (f"insert into counters (id, n) values ({key}, 1) "
                "on conflict (id) do update set n = counters.n + 1")

    def write_latest(self, key, turn):
        return (key, turn), wire.query(
            f"insert into latest (id, writer, turn) values ({key}, {self.number}, {turn}) "
            "on conflict (id) do update set writer = excluded.writer, turn = excluded.turn")

    def latest(self, turn):
        return self.write_latest(1000 + self.number * 10 + self.dice.randrange(3), turn)

    def shared(self, turn):
        return self.write_latest(self.dice.randrange(SHARED), turn)

    def counter(self, _turn):
        key = self.dice.randrange(SHARED)
        return key, wire.query(self.increment(key))


class Ledger(unittest.TestCase):
    backend = {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("app")
        with cls.postgres.admin("app") as admin:
            for name in COLUMNS:
                admin.rows(ddl(name))
        cls.endpoint = Endpoint(cls.postgres)
        cls.addClassCleanup(cls.endpoint.stop)
        cls.keyspread = harness.Keyspread({
            "workers": 2, "admin": {},
            "backend": {"dsn": f"postgresql://app@127.0.0.1:{cls.endpoint.port}/local",
                        "dialect": "ydb", **cls.backend},
            "tables": [table(name) for name in COLUMNS]})
        cls.addClassCleanup(cls.keyspread.stop)

    def stored(self, sql):
        with self.postgres.admin("app") as admin:
            return [[int(cell) for cell in row] for row in admin.rows(sql)]

    def play(self, first, faults):
        """The clients' units under these faults; how often each struck."""
        self.endpoint.http("DELETE", "/faults")
        for fault, every in faults.items():
            ms = {"ms": {"commit_late": 300, "stall": 30}[fault]} if fault in ("commit_late", "stall") else {}
            self.endpoint.order(fault, statement=every, every=every, **ms)
        clients = [Client(self, first + number, UNITS // 2 // CLIENTS) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        struck = {one["fault"]: one["done"] for one in self.endpoint.http("GET", "/faults")}
        self.endpoint.http("DELETE", "/faults")
        return clients, struck

    def test_ledger(self):
        calm, struck = self.play(0, ANSWERS)
        rough, more = self.play(CLIENTS, {**ANSWERS, **DROPS})
        for fault, count in more.items():
            struck[fault] = struck.get(fault, 0) + count
        # What was sent before a link was dropped may still be committed, 300 ms later.
        harness.eventually("all that is late", lambda: not self.busy())
        self.check_rows(calm + rough)
        self.check_latest(calm + rough)
        self.check_counters(calm + rough)
        self.check_numbers(calm + rough)
        self.check_outcomes(calm, rough, struck)

    def busy(self):
        with self.postgres.admin("app") as admin:
            return admin.rows("select from pg_stat_activity where state <> 'idle'"
                              " and datname = 'app' and pid <> pg_backend_pid()")

    def check_rows(self, clients):
        """Each unit is whole, or not there at all; and each row is in its place."""
        there = {row[0]: row[1:] for row in self.stored("select id, unit, place from rows_of")}
        wrong = self.stored("select count(*) from rows_of where id_hash <> "
                            "hash_record_extended(row(id), 0)")
        self.assertEqual(wrong, [[0]])
        grouped = [(kind, what[0], outcome)
                   for kind, what, outcome in self.units(clients, ("grouped", "drawn"))]
        for kind, keys, outcome in self.units(clients, ("one", "bound", "many", "copied_whole")) + grouped:
            wanted = {"ok": [keys]}.get(outcome, [[], keys] if outcome in UNKNOWN else [[]])
            self.assertIn(self.take(there, keys), wanted, f"{kind} {keys} {outcome}")
        for _, (keys, counted), outcome in self.units(clients, ("copied",)):
            found = self.take(there, keys)
            committed, missing = counted or ((len(keys), len(keys) + 1) if outcome == "ok" else (0, 1))
            self.assertLessEqual(set(keys[:missing - 1]), set(found), f"{keys} {outcome} {counted}")
            self.assertGreaterEqual(len(found), committed, f"{keys} {outcome} {counted}")
            if outcome not in UNKNOWN:
                self.assertEqual(len(found), committed, f"{keys} {outcome} {counted}")
        self.assertEqual(there, {}, "rows that nobody sent")

    @staticmethod
    def take(there, keys):
        """The keys of a unit whose rows are there, which are taken out."""
        return [key for key in keys if there.pop(key, None) == [keys[0], key - keys[0]]]

    def units(self, clients, kinds):
        return [unit for client in clients for unit in client.told if unit[0] in kinds]

    def check_latest(self, clients):
        """What is there is of somebody who did not write something later that was acknowledged."""
        there = {row[0]: row[1:] for row in self.stored("select id, writer, turn from latest")}
        acknowledged, tried = {}, set()
        for client in clients:
            for kind, what, outcome in client.told:
                if kind not in ("latest", "shared"):
                    continue
                key, turn = what
                if outcome == "ok":
                    acknowledged[key, client.number] = turn
                if outcome == "ok" or outcome in UNKNOWN:
                    tried.add((key, client.number, turn))
        for (key, _writer) in acknowledged:
            self.assertIn(key, there)
        for key, (writer, turn) in there.items():
            self.assertIn((key, writer, turn), tried)
            self.assertGreaterEqual(turn, acknowledged.get((key, writer), -1), key)

    def check_counters(self, clients):
        there = dict(self.stored("select id, n from counters"))
        sure, unsure = collections.Counter(), collections.Counter()
        grouped = [(kind, what[1], outcome)
                   for kind, what, outcome in self.units(clients, ("grouped", "drawn"))]
        for _, key, outcome in self.units(clients, ("counter",)) + grouped:
            sure[key] += outcome == "ok"
            unsure[key] += outcome in UNKNOWN
        for key in range(SHARED):
            found = there.get(key, 0)
            self.assertGreaterEqual(found, sure[key], key)
            self.assertLessEqual(found, sure[key] + unsure[key], key)

    def check_numbers(self, clients):
        """No two were told the same value of a counter."""
        told = collections.Counter(number for client in clients for number in client.numbers)
        self.assertEqual([number for number, count in told.items() if count > 1], [])
        there = dict(self.stored("select id, n from counters"))
        for key, value in told:
            self.assertLessEqual(value, there[key])

    def check_outcomes(self, calm, rough, struck):
        """No more is unknown than must be; and each fault struck."""
        told = {name: collections.Counter(unit[2] for client in clients for unit in client.told)
                for name, clients in (("calm", calm), ("rough", rough))}
        copies = {kind: collections.Counter(unit[2] for unit in self.units(calm + rough, (kind,))) for kind in ("copied", "copied_whole")}
        for kind, counts in copies.items():
            self.assertGreater(counts["ok"], sum(counts.values()) // 2, (kind, counts))
        print(f"told {({name: dict(counts) for name, counts in told.items()})} struck {struck}",
              file=sys.stderr)
        upserts = {unit[2] for unit in self.units(calm + rough, ("latest", "shared"))}
        self.assertEqual(upserts, {"ok"}, "what is repeated where it is unknown")
        for client in calm + rough:
            for kind, what, outcome in client.told:
                self.assertIn(outcome, {"ok", *UNKNOWN, *(REFUSED if kind == "drawn" else ())}, (kind, what))
        self.assertEqual(told["calm"]["lost"], 0)
        self.assertLess(told["calm"]["08007"], 0.01 * sum(told["calm"].values()))
        for fault in (*ANSWERS, *DROPS):
            self.assertGreaterEqual(struck.get(fault, 0), 1 if UNITS < 20_000 else 50, fault)


class First(Ledger):
    """Upserts of counters try an INSERT first."""
    backend = {"upsert_first": "insert"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--seed", type=int, default=SEED)
    options, rest = parser.parse_known_args()
    UNITS, SEED = options.units, options.seed
    unittest.main(argv=[os.path.basename(__file__), *rest])
