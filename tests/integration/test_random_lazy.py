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
import sequences
import test_random_transactions

SEEDS = range(1, 121)
KEPT = [harness.Table(table.name, table.columns, table.key, hash_first=False, transactions="lazy",
                      hash_column=table.hash_column) for table in sequence_case.TABLES]


class Maker(test_random_transactions.Maker):
    """More of what is kept."""

    def other(self):
        if self.dice.random() < 0.5:
            super().other()
        else:
            self.say(self.dice.choice(("savepoint s", "select count(*) from events",
                                       "insert into plain values (9, 'nine')")))

    def insert(self, wrong=False):
        if self.dice.random() < 0.4:
            key = self.dice.randint(1, 4)
            return (f"insert into events (userid, ts, event) values ({key}, '2026-01-01 00:00:00+00', 'u') on conflict"
                    " (userid, ts) do update set event = excluded.event")
        return super().insert(wrong)


class RandomLazy(sequence_case.SequenceCase):
    @classmethod
    def start_keyspread(cls):
        if not harness.DIRECT:
            cls.keyspread = harness.Keyspread(harness.backend_config(cls.postgres, KEPT, admin={}))
            cls.addClassCleanup(cls.keyspread.stop)

    @classmethod
    def tearDownClass(cls):
        """They are about what they seem to be about."""
        kinds = metrics.Scrape(cls.keyspread).by("transactions_total", "kind") if cls.keyspread else {}
        for kind in ("lazy", "made_ordinary"):
            if cls.keyspread and kinds.get(kind, 0) < len(SEEDS) / 4:
                raise AssertionError(kinds)
        super().tearDownClass()

    def compare(self, sequence, piecewise):
        direct, rows_direct = self.play(sequence, "direct", self.postgres.port, False)
        through, rows_through = self.play(sequence, *self.route(), piecewise)
        self.assertEqual(rows_direct, rows_through, "what the tables hold")
        self.assertEqual(self.ends(direct), self.ends(through))

    def ends(self, replies):
        """Whether each message leaves a transaction open: it is not told whether that has failed."""
        return [message.body == b"I" for message in replies if message.kind == "Z"]


def _add_tests():
    first, _, last = os.environ.get("KEYSPREAD_SEEDS", "").partition("-")
    for seed in range(int(first), int(last) + 1) if last else SEEDS:
        def test(self, seed=seed):
            lines = Maker(seed).text()
            sequence = sequences.Sequence("seed", seed, "by chance")
            for number, line in enumerate(lines, 1):
                sequence.add(number, line)
            try:
                self.compare(sequence, piecewise=seed % 2 == 0)
            except AssertionError as failure:
                raise AssertionError(str(failure) + "\n\n== seed %d\n%s" % (
                    seed, "\n".join(lines))) from None
        setattr(RandomLazy, f"test_seed_{seed:05}", test)


_add_tests()

if __name__ == "__main__":
    unittest.main()
