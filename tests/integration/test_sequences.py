"""Message sequences, played direct and through keyspread: the replies must be the same bytes.

The text of tests/vectors/sequences/*.seq is explained in sequences.py.
"""
import contextlib
import glob
import os
import re
import unittest

import harness
import sequences
import wire
from sequence_case import SequenceCase


class Sequences(SequenceCase):
    def test_startup_replies(self):
        """The same settings are reported, whoever answers."""
        answers = []
        for database, port in (("direct", self.postgres.port), self.route()):
            for _ in range(2):
                with contextlib.closing(wire.Wire(("127.0.0.1", port))) as session:
                    answers.append(sequences.normalise_startup(
                        session.login(harness.USER, database, application_name="startup")))
        for answer in answers[1:]:
            self.assertEqual(answers[0], answer)


def _add_tests():
    count = 0
    for path in sorted(glob.glob(os.path.join(harness.VECTORS, "sequences", "*.seq"))):
        topic = os.path.basename(path)[:-4]
        for sequence in sequences.load(path):
            count += 1
            for piecewise in (False, True):
                slug = re.sub(r"\W+", "_", sequence.name.lower())
                name = f"test_{topic}__{slug}" + ("__piecewise" if piecewise else "")
                assert not hasattr(Sequences, name), name

                def test(self, sequence=sequence, piecewise=piecewise):
                    self.compare(sequence, piecewise)
                setattr(Sequences, name, test)
    assert count >= 100, f"only {count} sequences"


_add_tests()

if __name__ == "__main__":
    unittest.main()
