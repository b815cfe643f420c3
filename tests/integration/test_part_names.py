"""Errors about a row of a partition name the table and its constraints, as those of a plain table do."""
import unittest

import wire
from direct_case import DirectCase
from harness import Table

ITEMS = Table("items", ["id int not null", "n int not null", "v text"], ["id"], hash_first=False,
              constraints=["constraint positive check (n > 0)"])
PREPARED = "insert into items (id, n, v) values ($1, $2, $3)"


class PartNames(DirectCase):
    tables = (ITEMS,)
    partitioned = True
    setup_sql = ("create table others (v text primary key); insert into others values ('x');"
                 "alter table items add constraint known foreign key (v) references others")
    fill = wire.query("insert into items (id, n) values (1, 1), (2, 2)")
    texts = ("insert into items (id, n) values (1, 1)", "insert into items (id, n) values (3, 3), (2, 2)",
             "insert into items (id, n) values (1, null)", "insert into items (id, n) values (1, 0)",
             "insert into items (id, n, v) values (5, 5, 'y')", "update items set n = 0 where id = 1",
             "update items set n = null where id = 2", "update items set v = 'z' where id = 1")

    def test_texts(self):
        for text in self.texts:
            with self.subTest(text=text):
                self.both([self.fill, wire.query(text)], ready=2, verify=True)

    def test_in_transactions(self):
        for text in self.texts:
            with self.subTest(text=text):
                self.both([self.fill, wire.query("begin"), wire.query(text), wire.query("rollback")],
                          ready=4, verify=True)

    def test_prepared(self):
        for values in (["1", "1", None], ["3", "0", None], ["3", None, None], ["3", "3", "q"]):
            with self.subTest(values=values):
                self.both([self.fill, wire.parse("", PREPARED), wire.bind("", "", values),
                           wire.execute(), wire.sync()], ready=2, verify=True)

    def test_raised(self):
        """What a function raises itself stays as it is."""
        self.query("do $$begin raise unique_violation using message = 'not \"items_p0_pkey\"', schema = 'public', "
                   "table = 'items_p0', constraint = 'items_p0_pkey'; end$$")


if __name__ == "__main__":
    unittest.main()
