"""stage: plays a program twice, directly on PostgreSQL with plain tables and through keyspread with
spread ones, and says for each step what differed, what was refused, and how its rows were written.
"""
import collections
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "integration"))

import harness  # noqa: E402
import metrics  # noqa: E402

STEPS = ("create", "bulk", "transaction", "returning", "upsert", "find or create", "duplicate")

ITEMS = harness.Table("items", ["id bigserial", "label text", "amount int"], ["id"],
                      hash_first=False)
DOCUMENTS = harness.Table("documents", ["id uuid default gen_random_uuid()", "label text",
                                        "amount int"], ["id"], hash_first=False)
EVENTS = harness.Table("events", ["userid bigint not null", "ts timestamptz default now()",
                                  "label text", "amount int"], ["userid", "ts"], hash_first=False)
TABLES = (ITEMS, DOCUMENTS, EVENTS)

# What a step left, in an order that does not depend on keys that were made by chance.
STORED = {
    "items": "select label, amount from items where label like '{}%' order by id",
    "documents": "select label, amount from documents where label like '{}%' order by label, amount",
    "events": "select userid, case when ts > now() - interval '1 hour' then 'now' else ts::text end, "
              "label, amount from events where label like '{}%' order by label, userid"}
IDS = "select id::text, label from items union all select id::text, label from documents"
# A time of today, however it is written.
NOW = re.compile(time.strftime(r"%Y-%m-%d[ T][0-9:.]+", time.gmtime()))
CHECK = unittest.TestCase()
CHECK.maxDiff = None
# Why rows that could be batched were not: the machine was busy.
BY_CHANCE = {"lock", "slow"}

# A step through keyspread. `has`: whether the program has such a step; `refused`: the errors that
# PostgreSQL does not have, by table; `batched`: whether any rows were; `reasons` why others were not.
Outcome = collections.namedtuple("Outcome", "has refused batched reasons")


class Player:
    """A program that runs; it does a step when its name is written to it."""

    def __init__(self, command, port, database, folder):
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            harness.with_us() + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True, cwd=folder, env={
                **os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": harness.USER,
                "PGDATABASE": database, "PGSSLMODE": "disable", "TZ": "UTC", "LANG": "C.UTF-8",
                "NODE_PATH": os.path.join(harness.HERE, "node", "node_modules"),
                "PYTHONDONTWRITEBYTECODE": "1"})
        self.watchdog = threading.Timer(harness.PATIENCE * 3, self.process.kill)
        self.watchdog.start()

    def step(self, name):
        """What it prints."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == ".\n":
                return lines
            lines.append(line.rstrip("\n"))
        self.errors.seek(0)
        raise AssertionError(f"the program ended in step {name}:\n" + "\n".join(lines)
                             + self.errors.read()[-3000:])

    def end(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(harness.PATIENCE)
        self.watchdog.cancel()
        self.process.stdout.close()
        self.errors.close()


class Stage:
    """A PostgreSQL with both databases, and a keyspread before one of them."""

    def __init__(self):
        self.postgres = harness.Postgres()
        for database in ("direct", "hashed"):
            harness.create_tables(self.postgres, database, TABLES, hashed=database == "hashed")
        self.keyspread = harness.Keyspread(harness.backend_config(self.postgres, TABLES, admin={}))

    def close(self):
        try:
            self.keyspread.stop()
        finally:
            self.postgres.remove()

    def play(self, program):
        """The outcome of each step by its name, and why sessions became private, as "connect". What
        differs without having been refused is a failure."""
        before = metrics.Scrape(self.keyspread)
        with contextlib.ExitStack() as stack:
            routes = [self._route(stack, program, database, port) for database, port in (
                ("direct", self.postgres.port), ("hashed", self.keyspread.port))]
            outcomes = {name: self._step(name, routes) for name in STEPS}
        self._check_hashes()
        seen = metrics.Scrape(self.keyspread).since(before)
        return {"connect": set(seen.by("private_sessions_total", "reason")), **outcomes}

    def _route(self, stack, program, database, port):
        admin = stack.enter_context(self.postgres.admin(database))
        admin.rows("truncate items, documents, events")
        player = Player(program.command, port, database, self.postgres.folder)
        stack.callback(player.end)
        return player, admin

    def _step(self, name, routes):
        before = metrics.Scrape(self.keyspread)
        (lines, rows), (got, got_rows) = (self._do(name, *route) for route in routes)
        self.keyspread.check_alive()
        seen = metrics.Scrape(self.keyspread).since(before)
        refused = {what_of(line): line.split(":", 1)[1].strip() for line in got
                   if line[0] == "!" and line not in lines}
        for what in refused:
            rows.pop(what.split()[0], None)
            got_rows.pop(what.split()[0], None)
        compare(name, [line for line in lines if what_of(line) not in refused],
                [line for line in got if what_of(line) not in refused])
        compare(name, rows, got_rows)
        reasons = set(seen.by("inserts_not_batched_total", "reason"))
        batched = seen.get("batched_rows_total") > 0 or bool(reasons & BY_CHANCE)
        return Outcome(lines != ["-"], refused, batched, reasons - BY_CHANCE)

    @staticmethod
    def _do(name, player, admin):
        """What it printed and what it left; keys are called by their rows' labels."""
        lines = player.step(name)
        labels = dict(admin.rows(IDS))
        known = re.compile(r"\bid=([-0-9a-f]+)")
        lines = [NOW.sub("now", known.sub(lambda key: f"id of {labels.get(key[1])!r}", line))
                 for line in lines]
        return lines, {table: admin.rows(query.format(name)) for table, query in STORED.items()}

    def _check_hashes(self):
        with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
            for table in TABLES:
                harness.verify_hashes(CHECK, connection, table)


def what_of(line):
    """The table, and what was done with it where that is said: "items", "items insert_all"."""
    return line.removeprefix("! ").split(":")[0]


def compare(name, direct, through):
    CHECK.assertEqual(direct, through, f"step {name}")
