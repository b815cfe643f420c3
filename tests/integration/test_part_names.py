"""Errors about a row of a partition name the table and its constraints, as those of a plain table do."""
import unittest

import harness
import wire
from direct_case import DirectCase
from harness import Table
from made_case import Planned

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


SHOP = Planned("shop.items", ["id"], kind={"uniform": 4})
MADE = Planned("items", ["id"], kind={"uniform": 4})


@harness.proxied
class OfOneName(DirectCase):
    """Two tables of one name, in two schemas, and so their partitions."""
    tables = (MADE, SHOP)
    setup_sql = "create schema shop; create schema other; create table other.items_p2 (id int primary key, n int check (n > 0))"
    make = "create table items (id int primary key, n int); create table shop.items (id int primary key, n int not null check (n > 0))"
    texts = ("insert into shop.items values (1, 2)", "insert into shop.items values (2, 0)", "insert into shop.items select 2, null",
             "update shop.items set n = 0 where id = 4", "update shop.items set n = -id where id > 4", "update shop.items set id = 5", "insert into items values (1, 1)",
             "insert into other.items_p2 values (1, 1)", "insert into other.items_p2 values (2, 0)")
    fill = "insert into items values (1, 1); insert into shop.items values (1, 1), (4, 1), (5, 1); insert into other.items_p2 values (1, 1)"
    drop = "drop table items, shop.items; truncate other.items_p2"

    def contents(self, *unused, **more):
        return []

    def play(self, messages, ready, database, port, params):
        """Each is answered before the next is sent: what ends a transaction ends what is known of it."""
        with self.log_in(database, port, **params) as session:
            return [reply for message in messages for reply in session.ask(message)]

    def test_texts(self):
        self.both([wire.query(text) for text in (self.make, self.fill, *self.texts, self.drop)], ready=len(self.texts) + 3)

    def test_made_in_the_same_query(self):
        for text in self.texts:
            with self.subTest(text):
                self.query("; ".join((self.make, self.fill, text)))

    def test_made_in_the_same_transaction(self):
        for text in self.texts:
            with self.subTest(text):
                self.both([wire.query(one) for one in ("begin", self.make, self.fill, text, "rollback")], ready=5)


if __name__ == "__main__":
    unittest.main()
