"""What SQL's EXECUTE runs, however it was prepared and however EXECUTE comes: in a Query, in a Parse, or in a Bind of what
was parsed before. Where the table's name means another table by then, or the table itself is another, nothing is stored
with the hash of another key; and what is refused runs once it was prepared again."""
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from made_case import Planned

TABLES = (Planned("pat_*", "auto", hash_column="keyspread_hash"), Planned("fixed", ["id"], hash_column="keyspread_hash"))
PREPARED = ("Parse", "PREPARE", "PREPARE that is parsed")
EXECUTED = ("Query", "Parse", "Bind of what was parsed before", "Bind of the unnamed one")
BY_ID = "(id bigint primary key, v text, n int)"
BY_V = "(v text primary key, id bigint, n int)"


def prepare(how, name, text):
    if how == "Parse":
        return wire.parse(name, text) + wire.sync()
    if how == "PREPARE":
        return wire.query(f"prepare {name} as {text}")
    return wire.parse("", f"prepare {name} as {text}") + wire.bind("", "") + wire.execute() + wire.sync()


def before(how, text):
    names = {"Bind of what was parsed before": "e", "Bind of the unnamed one": ""}
    return [wire.parse(names[how], text) + wire.sync()] if how in names else []


def execute(how, text):
    if how == "Query":
        return wire.query(text)
    if how == "Parse":
        return wire.parse("", text) + wire.bind("", "") + wire.execute() + wire.sync()
    return wire.bind("", "" if "unnamed" in how else "e") + wire.execute() + wire.sync()


@harness.proxied
class Executed(DirectCase):
    tables = TABLES
    before_sql = "create schema alt; create table alt.pat_a (id bigint, v text, n int); create table alt.fixed (id bigint, v text, n int)"
    options = {"workers": 1}

    def setUp(self):
        self.sessions = []
        self.renew()

    def renew(self):
        """Other sessions, and empty tables."""
        for session in self.sessions:
            session.close()
        self.sessions = [self.connect(*at) for at in (*self.routes(), self.route())]
        self.direct, self.session, self.other = self.sessions
        for table in ("pat_a", "fixed"):
            self.make(f"drop table if exists {table}; create table {table} {BY_ID}; insert into {table} (id, v, n) values (1, 'a', 1)")

    def make(self, script, by=None):
        for session in (self.direct, by or self.session):
            self.assertIsNone(wire.error_of(session.query(script)), script)

    def make_apart(self, script, by=None):
        """By a statement with a name, which leaves the unnamed one alone."""
        for text in script.split("; "):
            for session in (self.direct, by or self.session):
                replies = session.ask(wire.parse("m", text) + wire.bind("", "m") + wire.execute() + wire.close("S", "m") + wire.sync())
                self.assertIsNone(wire.error_of(replies), text)

    def both(self, *messages):
        answers = [[shown(reply) for reply in session.ask(*messages)]
                   for session in (self.direct, self.session)]
        self.assertEqual(*answers)

    def is_stale(self, replies):
        error = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((error["C"], error["R"]), ("0A000", "RevalidateCachedQuery"))

    def are_right(self, table, column="id"):
        rows = self.admins["hashed"].rows(f"select {column}, keyspread_hash from {table}")
        self.assertTrue(rows)
        for value, stored in rows:
            self.assertEqual(stored, str(harness.xxh3_signed(int(value) if column == "id" else value)), value)

    def every_way(self):
        for how in PREPARED:
            for way in EXECUTED:
                yield how, way

    def test_its_name_means_another_table(self):
        for how, way in self.every_way():
            for table in ("pat_a", "fixed"):
                with self.subTest(how=how, way=way, table=table):
                    self.renew()
                    run = execute(way, "execute s")
                    self.make("set search_path = alt, public")
                    for message in (prepare(how, "s", f"update {table} set id = id + 1"), *before(way, "execute s"), run):
                        self.both(message)
                    self.make_apart("set search_path = public")
                    self.is_stale(self.session.ask(run))
                    self.are_right(table)

    def test_the_table_is_another(self):
        for how, way in self.every_way():
            for by in ("itself", "another"):
                with self.subTest(how=how, way=way, by=by):
                    self.renew()
                    run = execute(way, "execute s")
                    for message in (prepare(how, "s", "update pat_a set v = 'up'"), *before(way, "execute s"), run):
                        self.both(message)
                    self.make_apart(f"drop table pat_a; create table pat_a {BY_V}; insert into pat_a (id, v, n) values (1, 'a', 1)",
                                    self.session if by == "itself" else self.other)
                    self.is_stale(self.session.ask(run))
                    self.are_right("pat_a", "v")

    def test_behind_what_moves_its_name_in_one_text(self):
        for how in PREPARED:
            for move in ("set search_path = public", "select set_config('search_path', 'public', false)"):
                with self.subTest(how=how, move=move):
                    self.renew()
                    self.make("set search_path = alt, public")
                    self.both(prepare(how, "s", "update pat_a set id = id + 1"))
                    self.is_stale(self.session.query(f"{move}; execute s"))
                    self.are_right("pat_a")

    def test_behind_the_end_of_a_transaction(self):
        self.make("begin; set local search_path = alt, public")
        self.both(wire.query("prepare s as update pat_a set id = id + 1"))
        self.session.query("commit; execute s")
        self.are_right("pat_a")

    def test_it_is_prepared_again(self):
        """As often as its name comes to mean another; what else the session has prepared goes on."""
        self.both(wire.query("prepare q as select 1"))
        for _ in range(2):
            for path in ("alt, public", "public, alt"):
                self.make(f"set search_path = {path}; create table if not exists alt.pat_a {BY_ID}")
                text = "update pat_a set n = n + 1" if path[0] == "p" else "update pat_a set id = id + 1"
                self.both(wire.query(f"prepare s as {text}"))
                self.both(wire.query("execute s"))
                self.both(wire.query("execute q"))
                self.both(wire.query("deallocate s"))
        self.are_right("pat_a")

    def test_an_insert_of_ours(self):
        """What it computes a hash by is right for the table that it was prepared for."""
        text = "insert into pat_a (id, v, n) select 5, 'e', 5"
        self.both(prepare("Parse", "s", text))
        self.both(wire.query("execute s"))
        self.make("create table if not exists pat_other (id bigint primary key)")
        self.make("delete from pat_a")
        self.both(wire.query("execute s"))
        self.make(f"drop table pat_a; create table pat_a {BY_V}")
        for run in (wire.query("execute s"), execute("Parse", "execute s")):
            self.is_stale(self.session.ask(run))
        self.both(wire.close("S", "s") + wire.sync())
        self.both(prepare("Parse", "s", text))
        self.both(wire.query("execute s"))
        self.are_right("pat_a", "v")

    def test_a_read_that_a_parsed_prepare_keeps(self):
        self.both(prepare("PREPARE that is parsed", "s", "table pat_a"))
        self.make("drop table if exists pat_other; create table pat_other (id bigint primary key)", self.other)
        self.both(wire.query("execute s"))

    def test_two_parsed_before_they_are_run(self):
        messages = [wire.parse(name, f"prepare {name} as update pat_a set v = 'up'") for name in ("s1", "s2")]
        messages += [wire.bind("", name) + wire.execute() for name in ("s1", "s2")]
        self.both(*messages, wire.sync())
        self.make(f"drop table pat_a; create table pat_a {BY_V}; insert into pat_a (id, v, n) values (1, 'a', 1)")
        for name in ("s1", "s2"):
            self.is_stale(self.session.query(f"execute {name}"))
        self.are_right("pat_a", "v")

    def test_a_key_change_of_a_table_that_is_made_anew(self):
        """An UPDATE that changes the key, of a table of a pattern, asks for the old one by its oid."""
        for text, values in (("update pat_a set id = id + $1", ("1",)), ("update pat_a set id = $1 where id = $2", ("7", "1"))):
            with self.subTest(text):
                self.renew()
                run = wire.bind("", "s", values) + wire.execute() + wire.sync()
                self.both(wire.parse("s", text) + wire.sync())
                self.both(run)
                self.make(f"drop table pat_a; create table pat_a {BY_ID}; insert into pat_a (id, v, n) values (1, 'a', 1)")
                for _ in range(2):
                    self.is_stale(self.session.ask(run))
                self.both(wire.close("S", "s") + wire.parse("s", text) + wire.sync())
                self.both(run)
                self.are_right("pat_a")

    def test_parsed_behind_what_drops_its_name(self):
        """DEALLOCATE is answered when Parse has given the name already: that one stays, and is known."""
        run, select = wire.bind("", "") + wire.execute(), wire.query("select * from fixed order by id")
        insert = "insert into fixed (id, v) values ($1, 'x')"
        for drop in ("deallocate all", "deallocate s"):
            with self.subTest(drop):
                for session in (self.direct, self.session):
                    session.query("insert into nosuch values (1)")
                    session.ask(wire.parse("s", insert) + wire.sync())
                both = [[[shown(reply) for reply in session.ask(*messages)] for messages in (
                    [wire.parse("", drop) + run + wire.parse("s", insert) + wire.bind("", "s", ["5"]) + wire.execute() + wire.sync()],
                    [wire.bind("", "s", ["6"]) + wire.execute() + wire.sync()], [select], [wire.query("delete from fixed")])]
                        for session in (self.direct, self.session)]
                self.assertEqual(*both)


if __name__ == "__main__":
    unittest.main()
