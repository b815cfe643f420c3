"""Transactions made by chance (the same ones every time), direct and through keyspread: most clients
await the answer to BEGIN, which is then given before the server knows of it.

A failing one is printed in the text of tests/vectors/sequences. KEYSPREAD_SEEDS=from-to plays others.
"""
import json
import unittest

import sequence_case
import test_random_sequences

SEEDS = range(1, 121)
BEGINS = ("begin", "begin", "BEGIN;", "start transaction", "begin read write", "begin work",
          "begin isolation level read committed", "begin isolation level repeatable read",
          "begin read only", "begin isolation level serializable, deferrable", "begin read",
          "begin; select 1")
ENDS = ("commit", "commit", "commit", "COMMIT;", "end", "rollback", "rollback", "abort work",
        "commit and chain", "rollback and no chain", "commit; select 2")


class Maker(test_random_sequences.Maker):
    def text(self):
        dice = self.dice
        if dice.random() < 0.2:
            self.lines.append('Query "listen heard"')
            self.owed += 1
        for _ in range(dice.randint(2, 6)):
            self.say(dice.choice(BEGINS))
            self.read_perhaps(0.85)
            for _ in range(dice.choice((0, 0, 1, 1, 1, 2, 3))):
                dice.choice((self.query, self.one, self.one, self.group, self.other))()
                self.read_perhaps(0.7)
            if dice.random() < 0.9:
                self.say(dice.choice(ENDS))
                self.read_perhaps(0.7)
            if dice.random() < 0.3:
                dice.choice((self.query, self.group))()
                self.read_perhaps(0.7)
        self.lines.append('Query "rollback"')
        self.owed += 1
        self.read()
        return self.lines

    def read_perhaps(self, chance):
        if self.dice.random() < chance:
            self.read()

    def say(self, text):
        """As a Query, or as a group of its own."""
        kind = self.dice.choice("QQQGGN")
        if kind == "Q" or ";" in text:
            self.lines.append("Query " + json.dumps(text))
        else:
            name = "" if kind == "G" else self.dice.choice("ab")
            if name:
                self.lines.append(f"Close S {name}")
            self.statements[name] = 0
            self.lines += [f'Parse {json.dumps(name)} {json.dumps(text)} []',
                           f'Bind "" {json.dumps(name)} []']
            if self.dice.random() < 0.5:
                self.lines.append('Describe P ""')
            self.lines += [f'Execute "" {self.dice.choice((0, 0, 1))}', "Sync"]
        self.owed += 1

    def one(self):
        self.say(self.insert(wrong=self.dice.random() < 0.2))

    def other(self):
        self.say(self.dice.choice((
            "set transaction isolation level serializable", "set local timezone = 'Asia/Tokyo'",
            "set timezone = 'UTC'", "savepoint s", "rollback to s", "release s",
            "notify heard, 'x'", "update events set userid = userid + 10",
            "update events set event = 'u' where userid = 1", "show transaction_isolation",
            "select 1/0", "create temp table passing (a int)", "insert into passing values (1)",
            "begin", "select now() = transaction_timestamp()", "vacuum plain", "")))


class RandomTransactions(sequence_case.SequenceCase):
    pass


sequence_case.add_seeds(RandomTransactions, Maker, SEEDS)

if __name__ == "__main__":
    unittest.main()
