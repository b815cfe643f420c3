"""Message sequences made by chance (the same ones every time), direct and through keyspread.

A failing one is printed in the text of tests/vectors/sequences, where it belongs once it is
understood. KEYSPREAD_SEEDS=from-to plays others.
"""
import json
import random
import unittest

import harness
import sequence_case

SEEDS = range(1, 151)
OTHER_SEEDS = range(1001, 1041)  # Each other configuration plays these seeds.
TIMES = ("2026-01-01 00:00:00+00", "2026-01-02 00:00:00+00")
NAMES = ("", "", "a", "b")


class Maker:
    """Lines of one sequence. Groups end with Sync before a Query, so that replies can be counted."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.lines, self.owed, self.open = [], 0, False
        self.statements = {}

    def text(self):
        for _ in range(self.dice.randint(3, 14)):
            self.dice.choice((self.query, self.group, self.group))()
            if self.dice.random() < 0.4:
                self.read()
        self.lines.append('Query "rollback"')  # the last word needs a transaction that lives
        self.owed += 1
        self.read()
        return self.lines

    def read(self):
        if self.owed:
            self.lines.append(f"read {self.owed}")
        self.owed = 0

    def row(self, wrong):
        """Only one mistake in a text: which of two is told is not promised."""
        dice = self.dice
        key = dice.choice(["1", "2", "3", "'2'", "03", "4::int8", "5.2"] * 3
                          + ["null", "'x'", "99999999999999999999"] * wrong)
        event = dice.choice(["'e'", "null", "'a' || 'b'", "upper('x')", "'it''s'"])
        return f"({key}, '{dice.choice(TIMES)}', {event})"

    def insert(self, wrong=False):
        dice = self.dice
        count = dice.choice((1, 1, 1, 2, 3))
        rows = ", ".join(self.row(wrong and count == 1) for _ in range(count))
        columns = dice.choice((" (userid, ts, event)", " (userid, ts, event)", ""))
        tail = dice.choice(("", "", "", "", " returning userid", " returning *",
                            " on conflict do nothing",
                            " on conflict (userid, ts) do update set event = 'again'"))
        return f"insert into events{columns} values {rows}{tail}"

    def statement(self):
        """One without parameters."""
        return self.dice.choice((
            self.insert, self.insert, self.insert, self.insert,
            lambda: "select count(*) from events", lambda: "select a from plain order by a",
            lambda: "select 1/0", lambda: "begin", lambda: "commit", lambda: "rollback",
            lambda: "savepoint s", lambda: "rollback to s", lambda: "release s", lambda: "",
            lambda: "selectt", lambda: "insert into plain values (1, 'x')",
            lambda: "delete from events where userid = 1",
            lambda: f"deallocate {self.dice.choice('ab')}", lambda: "deallocate all",
            lambda: "set timezone = 'Asia/Tokyo'", lambda: "set search_path = public",
            lambda: "insert into noisy values (1, 'x')",
            lambda: "insert into items (kind) values ('k')",
            lambda: "insert into orders values (1, 1, 99)",
        ))()

    def query(self):
        count = self.dice.choice((0, 1, 1, 1, 2, 3))
        if self.dice.random() < 0.04:  # alone: behind a COMMIT in one Query it crashes PostgreSQL 15
            self.lines.append('Query "discard all"')
            self.owed += 1
        text = "; ".join(self.statement() for _ in range(count)) or self.insert(wrong=True)
        self.lines.append("Query " + json.dumps(text))
        self.owed += 1

    def prepared(self):
        """A text and how many parameters it takes."""
        return self.dice.choice((
            ("insert into events (userid, ts, event) values ($1, $2, $3)", 3),
            ("insert into events (userid, ts, event) values ($1, $2, $3)", 3),
            ("insert into events values ($1, $2, $3), (7, $2, 'second')", 3),
            ("insert into events (userid, ts, event) values ($1, $2, $3) returning userid", 3),
            ("insert into events (userid, ts, event) values ($1, $2, $3) on conflict do nothing", 3),
            ("select $1::text", 1), (self.parsable(), 0)))

    def parsable(self):
        """What deallocates itself while it runs tells little."""
        while True:
            text = self.statement()
            if not text.startswith("deallocate"):
                return text

    def value(self, number, count, wrong):
        dice = self.dice
        if count == 3:
            return (dice.choice(["1", "2", "3", " 2", "4", "5"] + [None, "x"] * wrong),
                    dice.choice(TIMES),
                    dice.choice(["e", None, "it's"]))[number]
        return "1"

    def group(self):
        dice = self.dice
        for _ in range(dice.randint(1, 8)):
            name, portal = dice.choice(NAMES), dice.choice(("", "", "", "p"))
            kind = dice.choice("PBBEEEDDCH" if name in self.statements else "PPPPPPEDCH")
            if kind == "P":
                text, count = self.prepared()
                self.statements[name] = count
                self.lines.append(f'Parse {json.dumps(name)} {json.dumps(text)} []')
                self.bind(portal, name)
                kind = dice.choice("EEEED")
            if kind == "B":
                self.bind(portal, name)
            elif kind == "E":
                self.lines.append(f"Execute {json.dumps(portal)} {dice.choice((0, 0, 0, 1))}")
            elif kind == "D":
                self.lines.append(dice.choice((f"Describe S {json.dumps(name)}",
                                               f"Describe P {json.dumps(portal)}")))
            elif kind == "C":
                self.lines.append(dice.choice((f"Close S {json.dumps(name)}",
                                               f"Close P {json.dumps(portal)}")))
            elif kind == "H" and dice.random() < 0.3:
                self.lines.append("Flush")
        self.lines.append("Sync")
        self.owed += 1

    def bind(self, portal, name):
        count = self.statements.get(name, 0)
        given = max(0, count + self.dice.choice((0,) * 20 + (1, -1)))
        wrong = given == count and not portal
        values = [self.value(n, count, wrong) if n < count else "1" for n in range(given)]
        self.lines.append(f"Bind {json.dumps(portal)} {json.dumps(name)} {json.dumps(values)}")


class RandomSequences(sequence_case.SequenceCase):
    pass


class OnDemand(sequence_case.SequenceCase):
    """A session has a link of its own only from its first statement on that needs one."""

    options = {"workers": 1, "backend": {"links": "on_demand", "batch_links": 1}}


class Narrow(sequence_case.SequenceCase):
    """Batches of two rows, a group for each partition, and little room for a key and a row."""

    tables = [harness.Table(table.name, table.columns, table.key, hash_first=False, hash_column=table.hash_column,
                            atomicity="partition", batch={"rows": 2})
              for table in sequence_case.TABLES]
    options = {"backend": {"links": "on_demand"}, "limits": {"row_bytes": "1KiB", "key_bytes": 64, "enforce": True}}


for case, seeds in ((RandomSequences, SEEDS), (OnDemand, OTHER_SEEDS), (Narrow, OTHER_SEEDS)):
    sequence_case.add_seeds(case, Maker, seeds)

if __name__ == "__main__":
    unittest.main()
