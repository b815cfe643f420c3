"""COPY … FROM STDIN of tables with `copy: partition`, whose rows are stored in batches that each commit by themselves: the
same replies as directly, what is counted as committed is there, and what an error says of the rest is so."""
import copy
import re
import socket
import threading
import unittest

import harness
import test_copy
import wire
from direct_case import shown

OUTCOME = re.compile(r" ?(\d+) rows are committed; rows from line (\d+) on may be missing\.$")


def apart(table, **options):
    other = copy.copy(table)
    other.options = {**table.options, "copy": "partition", **options}
    return other


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class ApartCase(test_copy.CopyCase):
    tables = tuple(apart(table) for table in test_copy.CopyCase.tables)
    partitioned = True

    def setUp(self):
        super().setUp()
        self.plain, self.session = self.sessions

    def count(self, table="items", where="true"):
        return int(self.admins["hashed"].rows(f"select count(*) from {table} where {where}")[0][0])

    def load(self, text, *pieces, end=None):
        return self.session.ask(wire.query(text), *[wire.copy_data(piece) for piece in pieces], end or wire.copy_done())

    def failure(self, replies):
        """Its fields, less what is said of the outcome; how many rows are committed, and the line."""
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        found = OUTCOME.search(fields.get("H", ""))
        self.assertTrue(found, fields)
        fields["H"] = fields["H"][:found.start()]
        return {key: value for key, value in fields.items() if value and key not in "FLR"}, int(found[1]), int(found[2])

    def clear(self):
        for name in ("direct", "hashed"):
            self.admins[name].rows("truncate items, names, one")


class Files(ApartCase):
    """All of them are so short that they are one batch a partition; the keys of bad rows are told apart by their errors."""

    def check(self, text, table, *pieces, end=None):
        messages = [wire.query(text), *[wire.copy_data(piece) for piece in pieces], end or wire.copy_done()]
        expected, replies = self.plain.ask(*messages), self.session.ask(*messages)
        errors = [reply.fields() for reply in expected if reply.kind == "E"]
        if errors and all(reply.kind != "G" for reply in expected):
            self.assertEqual([shown(reply) for reply in expected], [shown(reply) for reply in replies])
        elif errors:
            fields, committed, _ = self.failure(replies)
            self.assertEqual({key: value for key, value in errors[0].items() if value and key not in "FLR"}, fields)
            self.assertEqual(self.count(table), committed)
        else:
            self.assertEqual([shown(reply) for reply in expected], [shown(reply) for reply in replies])
            self.assertEqual(*(self.contents(name, True) for name in ("direct", "hashed")))

    def test_as_they_are_and_cut_at_each_byte(self):
        for table, columns, files in (("items", "", test_copy.FILES), ("names", " (name, day, v)", test_copy.KEYS)):
            for options, data in files:
                if "freeze" in options:
                    continue
                for pieces in ((data,), [data[at:at + 1] for at in range(len(data))]):
                    self.clear()
                    with self.subTest(options, data=data, pieces=len(pieces)):
                        self.check(f"copy {table}{columns} from stdin{options}", table, *pieces)

    def test_binary(self):
        for data in test_copy.BINARIES:
            for pieces in ((data,), [data[at:at + 1] for at in range(len(data))]):
                self.clear()
                with self.subTest(data=data, pieces=len(pieces)):
                    self.check("copy items from stdin (format binary)", "items", *pieces)


if __name__ == "__main__":
    unittest.main()
