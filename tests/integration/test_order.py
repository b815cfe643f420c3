"""Errors come in PostgreSQL's order and words: of a statement whose table has gone or become another, of what
is wrong with a Bind, of what the lexer refuses."""
import itertools
import unittest

import harness
import wire
from direct_case import DirectCase, shown
from harness import Table

ITEMS = Table("items", ["k int not null", "v text"], ["k"], hash_first=False)
BOUND = [wire.bind("", "s", ["1", "x"]), wire.execute(), wire.sync()]
TWICE = BOUND[:2] + [wire.bind("", "s", ["2", "y"]), wire.execute(), wire.sync()]
BEGUN = [wire.query("begin"), *BOUND, wire.query("commit")]


def said(session, messages):
    return session.ask(*messages, ready=sum(one[:1] in b"QS" for one in messages))


class Gone(DirectCase):
    """A statement was prepared, and its table is another by now: PostgreSQL analyses it anew."""
    tables = (ITEMS,)
    options = {"backend": {"catalog_s": 1}}
    changes = ("drop table items", "alter table items rename to moved",
               "create schema attic; alter table items set schema attic",
               "alter table items drop column v")
    others = ("alter table items rename to moved; create view items as select k, v from moved",
              "alter table items rename to moved; create table items (k int, v text)",
              "alter table items rename column k to l")
    texts = ("insert into items (k, v) values ($1, $2)",
             "insert into items values ($1, $2) returning *")

    def sessions(self):
        for database, port in self.routes():
            with self.log_in(database, port) as session:
                yield database, session

    def make_anew(self):
        for database, session in self.sessions():
            session.query("drop view items")
            session.rows("drop schema if exists attic cascade; drop table if exists items, moved;"
                         + ITEMS.ddl(database == "hashed", partitioned=False))

    def heard(self, text, used, change, past, messages):
        answers = []
        for database, session in self.sessions():
            replies = session.ask(wire.parse("s", text), wire.describe("S", "s"), wire.sync())
            replies += said(session, used) if used else []
            (self.admins[database] if past else session).rows(change)
            replies += said(session, messages) + session.query("rollback")
            answers.append([shown(reply) for reply in replies])
        self.make_anew()
        return answers

    def test_it_is_executed(self):
        for change, past, text, used, messages in itertools.product(
                self.changes, (False, True), self.texts, ([], BEGUN), (BOUND, TWICE, BEGUN)):
            if text == self.texts[1] and change == self.changes[3] and past:
                continue  # its columns are written out, and the server names the one that is gone
            with self.subTest(change, past=past, text=text, used=used, messages=messages):
                self.assertEqual(*self.heard(text, used, change, past, messages))

    @harness.proxied
    def test_what_cannot_be_written(self):
        for change, past, messages in itertools.product(self.others, (False, True), (BOUND, TWICE)):
            with self.subTest(change, past=past):
                direct, through = self.heard(self.texts[0], [], change, past, messages)
                if change == self.others[1] and not past:  # what is made through keyspread has a hash
                    self.assertEqual(direct, through)
                    continue
                errors = [line for line in through if line.startswith("E")]
                self.assertEqual([line[:40].split("C='")[1][:5] for line in errors], ["55000"])

    def test_another_s_for_a_while(self):
        answers = []
        for database, session in self.sessions():
            replies = session.ask(wire.parse("s", self.texts[0]), wire.sync())
            again = ITEMS.ddl(database == "hashed", partitioned=False)
            for change in ("", "drop table items; create temp table items (k text, v text)",
                           f"drop table items; {again}", f"drop table items; {again}"):
                replies += session.query(change) + said(session, BOUND)
                replies += session.query("select v from items") + session.query("delete from items")
            answers.append([shown(reply) for reply in replies])
        self.assertEqual(*answers)


class Binds(DirectCase):
    """What is wrong with a Bind: its statement, the numbers of its formats and parameters, its transaction, its
    table, what it sends."""
    tables = (ITEMS,)
    setup_sql = "create schema other"
    insert = "insert into items (k, v) values ($1, $2)"
    counts = (wire.bind("", "s", ["1"]), wire.bind("", "s", ["1", "x", "y"]), wire.bind("", "s"),
              wire.bind("", "s", ["1", "x"], [0, 0, 0]), wire.bind("", "s", ["y"]))
    values = (wire.bind("", "s", ["y", "x"]), wire.bind("", "s", ["1", "x"], [7]))

    def after(self, *messages, path="public", values=values):
        """Each wrong Bind behind these."""
        for wrong in self.counts + values:
            with self.subTest(wrong=wrong, path=path):
                said = [*messages, wrong, wire.execute(), wire.sync(), wire.query("rollback")]
                self.both(said, ready=sum(one[:1] in b"QS" for one in said), search_path=path)

    def test_of_a_statement(self):
        self.after(wire.parse("s", self.insert), wire.sync())
        self.after(wire.parse("s", self.insert))

    def test_of_none(self):
        self.after(wire.execute("none"), wire.parse("s", self.insert), wire.sync())
        self.after(wire.execute("none"), wire.parse("s", self.insert), wire.sync(), path="other, public")
        self.after(wire.parse("", "insert into public.items (k) values ($1)"), wire.execute(),
                   wire.parse("s", self.insert), wire.sync(), path="other, public")

    def test_in_a_transaction(self):
        begin = [wire.parse("s", self.insert), wire.sync(), wire.query("begin")]
        self.after(*begin)
        self.after(*begin, wire.query("select 1/0"))

    def test_of_a_table_that_is_another(self):
        """What is wrong with a value comes behind what is wrong with the table."""
        begun = [wire.sync(), wire.query("begin")]
        change = wire.query("alter table items rename v to w; alter table items add v text")
        self.after(wire.parse("s", self.insert + " returning *"), *begun, change, values=())
        self.after(wire.parse("s", self.insert), *begun, wire.query("drop table items"), values=())
        self.after(wire.parse("s", self.insert), *begun,
                   wire.query("create temp table items (k int, v text)"), values=())


class Copying(DirectCase):
    """A write behind COPY FROM STDIN, whose data and end were sent before the server asked for them."""
    tables = (ITEMS,)
    options = {"workers": 1}
    before_sql = """
        create table plain (a int);
        create function hold() returns trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock(7); return null; end $$;
        create trigger hold after insert on plain for each statement execute function hold()"""
    insert = wire.query("insert into items values (1, 'x')")
    bound = wire.parse("s", "insert into items values ($1, $2)") + b"".join(BOUND)
    data, done = wire.copy_data("1\n"), wire.copy_done()
    text = wire.query("copy plain from stdin")
    parsed = wire.parse("", "copy plain from stdin") + wire.bind("", "") + wire.execute()

    def written(self, database, port, copy, write):
        """The COPY takes its time, and the write is read meanwhile."""
        admin = self.admins[database]
        with wire.Wire(("127.0.0.1", port)) as session, wire.Wire(("127.0.0.1", port)) as other:
            for one in (session, other):
                one.login(harness.USER, database)
            admin.rows("select pg_advisory_lock(7)")
            session.send(copy)
            replies = session.read_until("G")
            session.send(write)
            for _ in range(2):
                other.rows("select 1")
            admin.rows("select pg_advisory_unlock(7)")
            return replies + session.read_ready(2) + session.query("select * from plain")

    def test_at_once(self):
        for copy in (self.text + self.data + self.done,
                     self.text + self.data + wire.copy_fail("no"),
                     wire.query("select 1; copy plain from stdin; copy plain from stdin")
                     + 2 * (self.data + self.done),
                     self.parsed + self.data + self.done + wire.sync(),
                     self.parsed + wire.sync() + self.data + self.done + wire.sync()):
            for write in (self.insert, self.bound):
                with self.subTest(copy=copy, write=write):
                    answers, contents = [], []
                    for database, port in self.routes():
                        replies = self.written(database, port, copy, write)
                        answers.append([shown(reply) for reply in replies])
                        contents.append(self.contents(database, verify=True))
                        self.admins[database].rows("truncate plain")
                    self.assertEqual(*answers)
                    self.assertEqual(*contents)

    def test_a_sync_that_is_eaten(self):
        copied = self.data + self.done
        for messages in ((self.parsed, wire.sync(), copied, self.bound),
                         (self.bound, self.parsed, wire.sync(), copied, self.parsed, copied, wire.sync()),
                         (self.bound, self.parsed, wire.sync(), copied, self.bound.replace(b"1", b"2"))):
            with self.subTest(messages):
                self.both([b"".join(messages)], ready=1 + (messages[0] == self.bound), verify=True)

    @harness.proxied
    def test_in_the_middle(self):
        """What no client should do harms nobody: no link waits for data for ever."""
        database, port = self.route()
        for write in (self.insert, self.bound):
            with self.log_in(database, port) as session:
                replies = session.ask(self.text + self.data, write, ready=2)
                self.assertEqual(wire.error_of(replies), "57014")
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
                self.contents(database, verify=True)
                session.send(self.text, write)  # and leaves
            harness.eventually("its link is closed", lambda: not self.admins[database].rows(
                "select 1 from pg_stat_activity where query like 'copy%' and state = 'active'"))
            with wire.Wire(("127.0.0.1", port)) as session:
                session.login(harness.USER, database)  # its row may be stored; it is not under way
                self.assertIn(wire.error_of(session.ask(write)), (None, "23505"))
            self.contents(database, verify=True)

    def test_a_copy_that_fails(self):
        for copy in (wire.query("copy nowhere from stdin"), self.text + wire.copy_data("x\n")):
            for end in (b"", self.done, self.data + self.done):
                for write in (self.insert, self.bound):
                    with self.subTest(copy=copy, end=end, write=write):
                        self.both([copy + end + write], ready=2, verify=True)


if __name__ == "__main__":
    unittest.main()
