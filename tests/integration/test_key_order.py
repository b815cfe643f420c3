"""What asks for the order of the key, or for a range of it, is read by the index of each partition where the hash stands
last in the key; and is the same, read as a whole, where it stands first."""
import unittest

import harness
from harness import Table

COLUMNS = ["id bigint not null", "v text"]
LAST = Table("items", COLUMNS, ["id"], key_order="hash_last", partitions=4)
FIRST = Table("others", COLUMNS, ["id"], key_order="hash_first", partitions=4)
READS = ("select id from {} order by id desc limit 10", "select max(id) from {}", "select min(id) from {}",
         "select id from {} where id between 100 and 110 order by id", "select id from {} where id > 3900 order by id limit 50")
ROWS = 4000


@harness.proxied
class KeyOrder(harness.StackCase):
    tables = (LAST, FIRST)

    def setUp(self):
        super().setUp()
        with self.wire() as session:
            for table in self.tables:
                session.query(f"insert into {table.name} select n, repeat('v', 200) from generate_series(1, {ROWS}) n")
        with self.postgres.admin(self.database) as admin:
            admin.rows("analyze items; analyze others")

    def test_ranges_are_read_by_the_index(self):
        with self.wire() as session:
            for text in READS:
                with self.subTest(text):
                    plan = str(session.query("explain " + text.format("items")))
                    self.assertNotIn("Seq Scan", plan)
                    self.assertIn("Index", plan)
                    self.assertEqual(*(session.rows(text.format(table.name)) for table in self.tables))

    def test_all_partitions_have_rows(self):
        for table in self.tables:
            self.check_stored(table, ROWS)


if __name__ == "__main__":
    unittest.main()
