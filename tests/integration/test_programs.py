"""Real programs write into tables whose keys the database makes, with models that know nothing of a
hash: what they print and what they store is the same as directly on PostgreSQL, and what is refused or
left out of batches is what docs/clients.md says. A test a program, and one of the document."""
import os
import sys
import unittest

import harness

TESTS = os.path.dirname(harness.HERE)
CLIENTS = os.path.join(os.path.dirname(TESTS), "docs", "clients.md")
sys.path.insert(0, os.path.join(TESTS, "programs"))

import matrix  # noqa: E402
import programs  # noqa: E402
import stage  # noqa: E402


@harness.proxied
class Programs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stage = stage.Stage()
        cls.addClassCleanup(cls.stage.close)
        cls.documented = matrix.written(CLIENTS)

    def check(self, program):
        lacks = program.missing()
        if lacks:
            harness.missing(f"{lacks}, which {program.name} needs,")
        found = matrix.row(program.name, self.stage.play(program))
        self.assertEqual(matrix.stale(self.documented[program.name], found), [],
                         "docs/clients.md is stale: tests/programs/run --write docs/clients.md")

    def test_the_document_has_all_of_them_and_no_other(self):
        self.assertEqual(list(self.documented), [program.name for program in programs.PROGRAMS])


for one in programs.PROGRAMS:
    name = "test_" + "".join(c if c.isalnum() else "_" for c in one.name.lower())
    setattr(Programs, name, lambda self, program=one: self.check(program))


if __name__ == "__main__":
    unittest.main()
