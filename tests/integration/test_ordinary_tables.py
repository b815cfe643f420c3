"""Tables that have the name of a pattern and cannot have a hash: made as ordinary ones, which can be written, with a WARNING to
the client and a line of the log."""
import unittest

import harness
import wire
from made_case import Planned

KEYS = ", ".join(f"k{i}" for i in range(32))
COLUMNS = ", ".join(f"c{i} int" for i in range(1599))

# Each with a statement that writes a row of it.
ORDINARY = {
    "a column that the hash would be made of is generated, so that nobody could write it": (
        "create table made_1 (k int generated always as (v * 2) stored primary key, v int)", "insert into made_1 (v) values (1)"),
    "its primary key has too many columns: there is no room for the hash": (
        "create table made_1 (" + KEYS.replace(",", " int default 1,") + f" int default 1, primary key ({KEYS}))",
        "insert into made_1 default values"),
    "it has as many columns as a table can have": (
        f"create table made_1 (id int primary key, {COLUMNS})", "insert into made_1 (id) values (1)"),
    "a column of its primary key is of a type or collation that cannot be hashed, or is not written there": (
        "create table made_1 (k int4range primary key)", "insert into made_1 values ('[1,2)')"),
}


@harness.proxied
class Ordinary(harness.StackCase):
    tables = (Planned("made_*", "auto", hash_column="keyspread_hash"),)

    def setUp(self):
        """No table is there."""

    def forms(self, text):
        yield (wire.query(text),)
        yield wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync()

    def test_made_and_written(self):
        session = self.wire()
        for why, (made, row) in ORDINARY.items():
            for messages in self.forms(made):
                replies = session.ask(*messages)
                self.assertIsNone(wire.error_of(replies), why)
                notices = [reply.fields() for reply in replies if reply.kind == "N"]
                self.assertEqual([(one["S"], one["M"]) for one in notices],
                                 [("WARNING", f"this table is not spread, but made as an ordinary one: {why}")])
                self.assertIsNone(wire.error_of(session.query(row)), why)
                self.assertEqual(session.rows("select count(*) from made_1"), [["1"]])
                session.rows("drop table made_1")
        self.keyspread.lines.wait_for(r"table_made_ordinary.*generated")

    def test_a_key_that_comes_later(self):
        session = self.wire()
        session.rows("create table made_1 (k int generated always as (v * 2) stored, v int)")
        session.rows("alter table made_1 add primary key (k)")
        session.rows("insert into made_1 (v) values (1)")
        self.assertEqual(session.rows("select * from made_1"), [["2", "1"]])
        session.rows("drop table made_1")

    def test_what_can_be_hashed(self):
        session = self.wire()
        replies = session.query("create table made_1 (k int, v int, w int generated always as (v * 2) stored, primary key (k, w))")
        self.assertEqual([reply.kind for reply in replies if reply.kind in "NE"], [])
        session.rows("insert into made_1 (k, v) values (1, 2)")
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select count(*) from made_1 where keyspread_hash is not null"), [["1"]])
        session.rows("drop table made_1")


if __name__ == "__main__":
    unittest.main()
