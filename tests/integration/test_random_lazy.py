"""Transactions made by chance (the same ones every time), direct and through keyspread with
transactions: lazy. What differs is which statement is told of an error, and nothing else may: the
rows that are there in the end are the same, a COMMIT has committed if it would have, and each message
is answered, in order.

KEYSPREAD_SEEDS=from-to plays others.
"""
import json
import os
import unittest

import harness
import metrics
import sequence_case
import test_random_sequences
import test_random_transactions

SEEDS = range(1, 121)
KEPT = [harness.Table(table.name, table.columns, table.key, hash_first=False, transactions="lazy",
                      hash_column=table.hash_column) for table in sequence_case.TABLES]


class Maker(test_random_transactions.Maker):
    """Most transactions consist of INSERTs that can be kept; some are made ordinary."""

    savepoints = 0

    def text(self):
        for _ in range(self.dice.randint(3, 7)):
            self.set = []
            if self.dice.random() < 0.8:
                self.say(self.dice.choice(("begin", "begin", "BEGIN;", "start transaction", "begin read write",
                                           "begin isolation level repeatable read")))
                self.read_perhaps(0.8)
            for _ in range(self.dice.choice((0, 1, 1, 1, 2, 3, 5))):
                self.dice.choice((self.kept,) * 7 + (self.savepoint,) * 3 + (self.other, self.one, self.query))()
                self.read_perhaps(0.8)
            self.say(self.dice.choice(("commit", "commit", "commit", "COMMIT;", "end", "rollback")))
            self.read_perhaps(0.8)
        self.lines.append('Query "rollback"')
        self.owed += 1
        self.read()
        return self.lines

    def say(self, text):
        """Without names: a Close in front of COMMIT sends what was kept, and its error ends that group."""
        if self.dice.random() < 0.6 or ";" in text:
            self.lines.append("Query " + json.dumps(text))
        else:
            self.lines += [f'Parse "" {json.dumps(text)} []', 'Bind "" "" []', 'Execute "" 0', "Sync"]
        self.owed += 1

    def savepoint(self):
        """Each of a name of its own: behind an error that is told later there are some that direct were not set."""
        if not self.set or self.dice.random() < 0.4:
            self.savepoints += 1
            self.set.append(f"s{self.savepoints}")
            self.say(f"savepoint {self.set[-1]}")
        else:
            self.say(self.dice.choice(("rollback to {}", "ROLLBACK TO SAVEPOINT {};", "release {}")).format(self.dice.choice(self.set)))

    def statement(self):
        """An error of what was kept is told of a whole Query, with whatever stands behind the COMMIT in it."""
        while True:
            text = super().statement()
            if text.split(" ")[0] not in ("commit", "rollback", "begin"):
                return text

    def row(self, wrong):
        del wrong
        key = self.dice.randint(1, 30)
        return f"({key}, '{self.dice.choice(test_random_sequences.TIMES)}', '{self.dice.choice('abc')}')"

    def kept(self):
        dice = self.dice
        rows = ", ".join(self.row(False) for _ in range(dice.choice((1, 1, 1, 2, 3))))
        tail = dice.choice(("", "", "", " on conflict (userid, ts) do update set event = excluded.event"))
        text = f"insert into events (userid, ts, event) values {rows}{tail}"
        kind = dice.random()
        if kind < 0.2:
            text += f"; insert into orders (customer, number, plain) values ({dice.randint(1, 9)}, {dice.randint(1, 9)}, {dice.randint(1, 6)})"
        if kind < 0.6:
            self.lines.append("Query " + json.dumps(text))
        else:
            count = dice.choice((1, 1, 2))
            for _ in range(count):
                self.lines += ['Parse "" "insert into events (userid, ts, event) values ($1, $2, $3)" []',
                               'Bind "" "" ' + json.dumps([str(dice.randint(1, 30)), test_random_sequences.TIMES[0], "bound"]),
                               'Execute "" 0']
            self.lines.append("Sync")
        self.owed += 1


class RandomLazy(sequence_case.SequenceCase):
    tables, options = KEPT, {"admin": {}}

    @classmethod
    def tearDownClass(cls):
        """They are about what they seem to be about."""
        kinds = metrics.Scrape(cls.keyspread).by("transactions_total", "kind") if cls.keyspread else {}
        for kind in ("lazy", "made_ordinary"):
            if "KEYSPREAD_SEEDS" not in os.environ and kinds.get(kind, 0) < len(SEEDS) / 4:
                raise AssertionError(kinds)
        super().tearDownClass()

    def compare(self, sequence, piecewise):
        direct, rows_direct = self.play(sequence, "direct", self.postgres.port, False)
        through, rows_through = self.play(sequence, *self.route(), piecewise)
        unknown = [message for message in through if message.kind == "E" and message.sqlstate not in
                   {"25P02"} | {other.sqlstate for other in direct if other.kind == "E"}]
        self.assertEqual(unknown, [], "errors that are told nowhere else")
        self.assertEqual(rows_direct, rows_through, "what the tables hold")
        self.assertEqual(self.ends(direct), self.ends(through))

    def ends(self, replies):
        """Whether each message leaves a transaction open: it is not told whether that has failed."""
        return [message.body == b"I" for message in replies if message.kind == "Z"]


sequence_case.add_seeds(RandomLazy, Maker, SEEDS)

if __name__ == "__main__":
    unittest.main()
