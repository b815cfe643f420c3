"""What a session sees of the configured tables over its own link, where no reader does: no row is lost by it."""
import string
import unittest

import harness
import metrics
import wire
from made_case import Planned
from test_catalog import CatalogCase


class LooksCase(CatalogCase):
    def anew(self, **login):
        """Another keyspread, that has met the tables as they are; a session of it."""
        self.keyspread.stop()
        self.start_keyspread()
        return self.wire(**login)

    def no_reader(self):
        self.past("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyspread'")

    def only(self, limit):
        """A role that may have so many connections, and owns the table."""
        self.past("drop role if exists single; create role single login; alter table pairs owner to single")
        self.addCleanup(self.past, "reassign owned by single to current_user; drop owned by single; drop role single")
        return lambda: self.past(f"alter role single connection limit {limit}")


@harness.proxied
class Unheard(LooksCase):
    """What the server logs of keyspread's own statements is not its client's to read."""

    def test_by_who_reads_the_servers_log(self):
        session = self.anew()
        for sql in ("set client_min_messages = debug1", "create table zz(a int); drop table zz",
                    "insert into pairs values (1, 'a', 'b')", "begin", "alter table pairs add more text",
                    "insert into pairs values (2, 'a', 'b')", "rollback", "select a from pairs where k = 1"):
            told = [message.fields()["M"] for message in session.query(sql) if message.kind == "N"]
            self.assertEqual([line for line in told if "keyspread state" in line or "to_regclass" in line], [], sql)


@harness.proxied
class WrongRows(LooksCase):
    """A row with a wrong hash, that was found when the table was met, is found by its key ever after."""

    def setUp(self):
        super().setUp()
        session = self.wire()
        for number in range(10):
            self.good(session.query(f"insert into pairs values ({number}, 'a', 'b')"))
        self.past("insert into pairs values (1, 100, 'wrong', 'b')")

    def found(self, session):
        self.assertEqual(session.rows("select a from pairs where k = 100"), [["wrong"]])
        self.assertEqual(session.rows("select a from pairs where k = 5"), [["a"]])
        self.good(session.ask(wire.parse("", "update pairs set a = 'wrong' where k = $1"), wire.bind("", "", ["100"]),
                              wire.execute(), wire.sync()), "UPDATE 1")

    def test_behind_ddl_of_its_own(self):
        one, other = self.anew(), self.wire()
        self.found(one)
        for number, end in enumerate(("rollback", "commit")):
            one.query("begin")
            self.good(one.query(f"alter table pairs add more{number} text"))
            self.found(one)
            self.good(one.query(end))
            self.found(other)
            self.found(one)

    def test_where_no_reader_may_look(self):
        limit = self.only(1)
        one, other = self.anew(user="single"), self.wire()
        self.found(other)
        limit()
        for number in range(2):
            self.no_reader()
            self.past(f"alter table pairs add more{number} text")
            one.query("create table zz(a int); drop table zz")
            self.found(one)
            self.found(other)

    def test_where_nobody_has_looked_before(self):
        limit = self.only(1)
        one = self.anew(user="single")
        one.query("select 1")
        limit()
        self.found(one)

    def test_a_table_that_gets_the_name(self):
        """In a transaction that nobody else sees into."""
        self.past("create table bad (like pairs including all); insert into bad values (1, 100, 'wrong', 'b'),"
                  " (2, 5, 'a', 'b')")
        one = self.anew()
        self.found(one)
        one.query("begin")
        self.good(one.query("alter table pairs rename to good; alter table bad rename to pairs"))
        self.found(one)
        self.good(one.query("rollback"))


@harness.proxied
class Unsynced(LooksCase):
    """Behind DDL that runs in a pipeline without Sync the group itself asks what the tables are like."""

    swaps = ("alter table pairs rename to good", "alter table bad rename to pairs")
    writes = (("insert into public.pairs values (100, 'a', 'b')", ()),
              ("insert into public.pairs values ($1, 'a', 'b')", ("100",)),
              ("update public.pairs set k = 7 where a = 'wrong'", ()))

    def known(self):
        """The tables anew, and a session that knows them, and the statements."""
        super().setUp()
        self.past("create table bad (like pairs including all); insert into bad values (1, 100, 'wrong', 'b')")
        session = self.wire()
        self.good(session.query("alter table other add more text"))  # they are looked at
        self.assertEqual(session.rows("select a from public.pairs where k = 100"), [])
        for number, text in enumerate(self.swaps):
            self.good(session.ask(wire.parse(f"s{number}", text), wire.sync()))
        for text, values in self.writes:
            session.query("begin")
            self.good(session.ask(wire.parse("w" + text, text), *self.ran("w" + text, *values), wire.sync()))
            session.query("rollback")
        return session

    @staticmethod
    def ran(name, *values):
        return [wire.bind("", name, values), wire.execute()]

    def at_once(self):
        return [message for text in self.swaps for message in [wire.parse("", text), *self.ran("")]]

    def prepared(self):
        return self.ran("s0") + self.ran("s1")

    def test_a_query_that_reads(self):
        for swap in (self.at_once, self.prepared):
            with self.subTest(swap.__name__):
                replies = self.known().ask(*swap(), wire.query("select a from public.pairs where k = 100"))
                self.good(replies)
                self.assertEqual([reply.row()[0] for reply in replies if reply.kind == "D"], [b"wrong"])

    def test_a_write(self):
        for swap in (self.at_once, self.prepared):
            for text, values in self.writes:
                writes = [[wire.parse("", text), *self.ran("", *values), wire.sync()],
                          [*self.ran("w" + text, *values), wire.sync()]]
                for write in writes if values else [[wire.query(text)], *writes]:
                    with self.subTest(swap.__name__, write=write):
                        self.good(self.known().ask(*swap(), *write))
                        self.written(text)

    def written(self, text):
        """To the other table, whose rows have other hashes; with its own."""
        self.assertEqual(self.past("select k from good"), [])
        rows = [["7", str(harness.xxh3_signed(7))]] if text.startswith("update") else [["100", "1"], ["100", str(harness.xxh3_signed(100))]]
        self.assertEqual(sorted(self.past("select k, k_hash from pairs")), sorted(rows))

    def test_a_write_behind_what_changes_no_table(self):
        write = "insert into public.pairs values ($1, 'a', 'b') on conflict do nothing"
        for behind in ("select set_config('my.tenant', '7', false)", "set my.tenant = '7'", "select now()"):
            session = self.known()
            self.good(session.ask(wire.parse("w", write), wire.parse("f", behind), wire.sync()))
            for messages in ([wire.parse("", behind), *self.ran("")], self.ran("f")):
                self.good(session.ask(*messages, *self.ran("w", "7"), wire.sync()))

    def test_a_write_behind_sync(self):
        """What ran before it is looked at, in its own transaction."""
        for text, values in self.writes[:2]:
            session = self.known()
            session.query("begin")
            self.good(session.ask(wire.parse("", "alter table other add again text"), *self.ran(""), wire.sync()))
            self.good(session.ask(wire.parse("s", "savepoint a"), *self.ran("s"), wire.parse("", text),
                                  *self.ran("", *values), wire.sync()))
            self.good(session.query("commit"))

    def test_a_write_behind_what_was_bound_before_sync(self):
        for text, values in self.writes:
            session = self.known()
            session.query("begin")
            self.good(session.ask(*(wire.bind(f"p{n}", f"s{n}") for n in range(2)), wire.sync()))
            self.good(session.ask(*(wire.execute(f"p{n}") for n in range(2)), *self.ran("w" + text, *values), wire.sync()))
            session.query("commit")
            self.written(text)


@harness.proxied
class Called(LooksCase):
    """A function that keyspread does not know may have changed a table."""
    options = {**LooksCase.options, "admin": {}}

    def test_it(self):
        self.past("create table notes (n int); create or replace function touch() returns void language sql as $$ insert into notes values (1) $$;"
                  "create or replace function widen() returns void language plpgsql as $$ begin alter table pairs add more text; end $$;"
                  "grant all on notes to public")
        self.past(f"alter table pairs owner to {harness.USER}")
        session = self.anew()
        self.good(session.ask(wire.parse("w", "insert into pairs (k, a, b) values ($1, 'a', 'b')"), wire.sync()))

        def loads(function, *keys):
            before = metrics.Scrape(self.keyspread)
            for key in keys:
                self.good(session.query("begin"))
                self.good(session.query(f"select {function}()"))
                self.good(session.ask(wire.bind("", "w", [key]), wire.execute(), wire.sync()), "INSERT 0 1")
                self.good(session.query("commit"))
            return metrics.Scrape(self.keyspread).since(before).get("catalog_loads_total")
        loads("touch", 0)
        self.assertEqual(loads("touch", *range(1, 6)), 0)
        self.assertGreater(loads("widen", 7), 0)
        self.right()


@harness.proxied
class Defaults(LooksCase):
    """Where the default of the key is another, that is the one which is asked."""

    def keys(self, session, count):
        for _ in range(count):
            self.good(session.query("insert into pairs (a) values ('made')"), "INSERT 0 1")

    def stored(self):
        self.right()
        return sorted(int(k) for k, in self.past("select k from pairs where a = 'made'"))

    def test_a_function_that_is_called_otherwise(self):
        self.past("create sequence s; create function f() returns bigint language sql as $$ select nextval('s') $$;"
                  "alter table pairs alter k set default f()")
        session = self.anew()
        self.keys(session, 2)
        self.good(session.query("alter function f() rename to g"))
        self.good(session.query("create function f() returns bigint language sql as $$ select 7777 $$"))
        self.keys(session, 2)
        self.assertEqual(self.stored(), [1, 2, 3, 4])

    def test_an_identity_that_is_made_anew(self):
        self.past("alter table pairs alter k add generated by default as identity")
        session = self.anew()
        self.keys(session, 2)
        for number in range(2):
            self.good(session.query("alter table pairs alter k drop identity"))
            self.good(session.query("alter table pairs alter k add generated by default as identity"
                                    f" (start {10 * number + 10})"))
            self.keys(session, 2)
        self.assertEqual(self.stored(), [1, 2, 10, 11, 20, 21])


@harness.proxied
class ManyPatterns(harness.StackCase):
    """The server plans what a session asks by its own link as it plans its client's statements: what seems to cost much is
    compiled first, for a second of its time, once for each table that is made in a transaction."""

    tables = [Planned(f"{first}{letter}_*", "auto", hash_column="keyspread_hash")
              for first in ("", "z") for letter in string.ascii_lowercase]
    settings = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0",
                "auto_explain.log_analyze": "on", "auto_explain.log_timing": "off", "jit": "on"}

    def setUp(self):
        self.assertIsNone(self.keyspread.process.poll())

    def test_nothing_is_compiled(self):
        session, mark = self.wire(), self.postgres.mark()
        self.assertEqual(session.rows("show jit"), [["on"]])
        texts = ["begin"]
        for letter in "abcde":
            texts += [f"create table {letter}_made (id bigint primary key, v text, n numeric default 1)",
                      f"create index on {letter}_made (v)", f"insert into {letter}_made values (1, 'x')"]
        for text in texts + ["commit"]:
            self.assertIsNone(wire.error_of(session.query(text)), text)
        log = self.postgres.log(mark)
        self.assertGreater(log.count("Query Text: with recursive"), 3)
        self.assertNotIn("JIT:", log)


if __name__ == "__main__":
    unittest.main()
