"""The message sequences of test_sequences.py, through keyspread before the fake of YDB's endpoint: the
replies are those of PostgreSQL, less the words of errors and the tables of columns.

What YDB cannot do is listed in tests/vectors/sequences/ydb.txt, a sequence a line with its reason;
each is played all the same, and must be answered with something else than PostgreSQL's.
"""
import glob
import os
import re
import unittest

import harness
import sequence_case
import sequences
import wire
import ydb_case
from ydb import Endpoint

FOLDER = os.path.join(harness.VECTORS, "sequences")


def lines_of(messages):
    """What a client can go by. YDB tells no process to cancel, so keyspread's is as good as any."""
    lines = []
    for message in messages:
        if message.kind in "EN":
            fields = message.fields()
            lines.append(f"{message.name} {fields['S']} {fields['C']}")
        elif message.kind == "T":
            lines.append(f"{message.name} {[(c[0], *c[3:]) for c in message.columns()]}")
        elif message.kind in "KA":
            lines.append(message.name)
        else:
            lines.append(f"{message.name} {message.body!r}")
    return lines


def unable():
    """Reasons by topic and name."""
    found = {}
    with open(os.path.join(FOLDER, "ydb.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                topic, name, reason = line.rstrip("\n").split(" | ")
                found[topic, name] = reason
    return found


class Sequences(sequence_case.SequenceCase):
    @classmethod
    def start_keyspread(cls):
        cls.endpoint = Endpoint(cls.postgres, "hashed")
        cls.addClassCleanup(cls.endpoint.stop)
        cls.keyspread = harness.Keyspread(ydb_case.config(cls.endpoint, sequence_case.TABLES))
        cls.addClassCleanup(cls.keyspread.stop)

    def told(self, sequence, database, port, reason=None):
        """After another reply than PostgreSQL's one that is waited for may never come."""
        try:
            replies, stored = self.play(sequence, database, port, False)
        except (AssertionError, wire.Closed) as failure:
            if reason is None:
                raise
            return [f"{failure} {getattr(failure, 'messages', '')}"]
        return lines_of(replies) + [f"stored {rows}" for rows in stored]

    def check(self, sequence, reason):
        expected = self.told(sequence, "direct", self.postgres.port)
        got = self.told(sequence, *self.route(), reason)
        if reason is None:
            self.assertEqual(expected, got, f"{sequence.file}:{sequence.line}: {sequence.name}")
        else:
            self.assertNotEqual(expected, got, f"{sequence.name} is the same by now: {reason}")


def _add_tests():
    reasons = unable()
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.seq"))):
        topic = os.path.basename(path)[:-4]
        for sequence in sequences.load(path):
            name = "test_" + re.sub(r"\W+", "_", f"{topic}_{sequence.name.lower()}")
            reason = reasons.pop((topic, sequence.name), None)

            def test(self, sequence=sequence, reason=reason):
                self.check(sequence, reason)
            setattr(Sequences, name, test)
    assert not reasons, f"no such sequences: {reasons}"


_add_tests()

if __name__ == "__main__":
    unittest.main()
