"""CREATE TABLE … (LIKE t) of a table that has a hash makes the table that it makes of a plain one."""
import re
import unittest

import harness
from direct_case import SessionCase, shown
from made_case import Planned

MADE = (
    "create table two (like one)", "create table two (like one including all)", "create table two (x int, like one including indexes including defaults)",
    "create temp table two (like public.one including all)", "create unlogged table other.two (like one including all, y text)",
    "select 'é'; create table two (like one including all excluding indexes); insert into two values (1, 'a'); select 2",
    "create table two (like one including all, more int references one)", 'create table "Two" (like one including all, unique (name))',
    "create temp table two (like one) on commit drop", "begin; create temp table two (like one including identity) on commit drop; insert into two select * from one",
    "create table two (like one including indexes, like plain)",
)

USED = (
    "insert into {0} select * from one", "insert into {0} (id, name) select id, name from one", "select * from {0}", "select {0} from {0}",
    "select attname, attnotnull from pg_attribute where attrelid = '{0}'::regclass and attnum > 0 and not attisdropped order by attnum",
    "select conname, contype::text, pg_get_constraintdef(oid) from pg_constraint where conrelid = '{0}'::regclass order by 1",
    "select indexrelid::regclass::text from pg_index where indrelid = '{0}'::regclass order by 1",
)

WRONG = ("create table two (like one, id int)", "create table two (like nothing)", "create table two (like one, x nothing)")


@harness.proxied
class Like(SessionCase):
    tables = (Planned("one", ["id"]), Planned("cut", ["id"], kind={"uniform": 4}), Planned("checked", ["id"], hash_function="pg_hash"),
              Planned("log_*", "auto", hash_column="log_hash"))
    setup_sql = "create schema other; create table plain (z int)"

    def setUp(self):
        self.sessions = self.connect_both()
        self.clean()

    def clean(self):
        for session in self.sessions:
            session.query("rollback")
            session.query('drop table if exists pg_temp.two, other.two, two, "Two", one, cut, checked, three, log_1')

    def both(self, *messages, ready=1):
        answers = [[re.sub("pg_temp_[0-9]+", "pg_temp", shown(reply)) for reply in session.ask(*messages, ready=ready) if reply.kind != "T"] for session in self.sessions]
        self.assertEqual(*answers)
        return answers[0]

    def make(self):
        self.query("create table one (id serial primary key, name varchar(9) not null default 'x' check (name <> ''), k int unique)")
        self.query("create table three (id int, one_id int references one)")
        self.query("create index on one (name)")
        self.query("insert into one values (1, 'a', 1), (2, 'b', 2)")

    def test_tables_that_are_like_one(self):
        for text in MADE:
            for ask in (self.query, self.prepared):
                if ask == self.prepared and ";" in text:
                    continue
                self.clean()
                self.make()
                with self.subTest(text, by=ask.__name__):
                    replies = ask(text)
                    self.assertFalse(any(reply.startswith("E") for reply in replies), replies)
                    name = "other.two" if "other." in text else '"Two"' if '"Two"' in text else "two"
                    for use in USED:
                        with self.subTest(use):
                            self.query(use.format(name))

    def test_of_other_sorts(self):
        for source in ("cut", "checked"):
            with self.subTest(source):
                self.query(f"create table {source} (id int, name text, primary key (id))")
                self.query(f"insert into {source} values (1, 'a')")
                self.query(f"create table two (like {source} including all)")
                for use in USED:
                    self.query(use.format("two").replace("one", source))
                self.clean()

    def test_of_a_table_that_gets_its_key_in_the_same_query(self):
        for like in ("like one", "like one including all"):
            with self.subTest(like):
                self.query(f"create table one (id int not null, name text); alter table one add primary key (id); create table two ({like})")
                self.query("insert into one values (1, 'a')")
                for use in USED:
                    self.query(use.format("two"))
                self.clean()

    def test_of_a_table_that_stays_ordinary(self):
        """It is of a pattern, and gets in the same Query a key that no hash can join, which is said by a WARNING."""
        self.sessions[1].query("set client_min_messages = error")
        self.query("create table log_1 (id int not null, name text) partition by list (id); alter table log_1 add primary key (id);"
                   " create table two (like log_1); insert into two values (1, 'a')")
        self.query("select * from two")

    def test_what_is_wrong(self):
        self.make()
        for text in WRONG:
            with self.subTest(text):
                self.query(text)
                self.prepared(text)

    def test_what_is_refused(self):
        self.make()
        for text in ("create table checked (like one)", "create table if not exists two (like one)"):
            errors = [reply.fields() for reply in self.sessions[1].query(text) if reply.kind == "E"]
            self.assertEqual((errors[0]["C"], errors[0]["H"], errors[0]["P"]), ("0A000", "List its columns.", str(text.rindex("one") + 1)))


if __name__ == "__main__":
    unittest.main()
