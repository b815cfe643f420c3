"""A Query that makes, alters or moves to a table and uses it behind that, as migrations do: one transaction, of which the
client sees what PostgreSQL answers."""
import unittest

import harness
import wire
from direct_case import shown
from made_case import MadeCase

ONE = "create table one (id int primary key, name text); "
SERIAL = "create table one (id serial primary key, name text); "
EVENTS = "create table events (userid int, ts int, primary key (userid, ts)); "
TEXTS = (
    ONE + "insert into one values (1, 'a'); select * from one",
    ONE + "insert into one (id) values (1), (2); table one",
    "create table one (id serial primary key, name text); insert into one (name) values ('a'), ('b') returning *; "
    "update one set name = 'c' where id = 1; select * from one order by id; select id, count(*) from one group by id, name order by 1",
    "create table cut (id int primary key, n int); insert into cut values (1, 1), (2, 2), (3, 3); select * from cut where id = 2; "
    "update cut set id = 7 where id = 3; copy (select * from cut order by id) to stdout",
    ONE + EVENTS + "insert into one values (1); insert into events values (1, 2), (2, 3); select * from events join one on id = userid",
    ONE + "insert into one values (1); " + EVENTS + "insert into events values (1, 2); select * from events, one; drop table one",
    ONE + "insert into one select g, 'x' from generate_series(1, 5) g; select count(*) from one",
    ONE + "insert into one values (1) on conflict (id) do update set name = 'b' returning *; select row_to_json(one), * from one",
    ONE + "create index on one (name); create view v as select * from one; insert into one values (1); select * from v; drop view v",
    ONE + "prepare p as select * from one; insert into one values (1); execute p; deallocate p",
    ONE + "insert into one values (1); declare c cursor for select * from one; fetch all from c",
    ONE + "do $$ begin raise notice 'x'; end $$; insert into one values (1); explain (costs off) select * from one",
    ONE + "insert into one values (1); truncate one; insert into one values (1); delete from one where id = 1; table one",
    ONE + "lock table one; comment on table one is 'x'; insert into one values (1); select obj_description('one'::regclass)",
    "drop table if exists one; " + ONE + "insert into one values (1); ; drop table one",
    "/* made */ " + ONE + "-- and filled;\n ; insert into one values (1) ; ;",
    "set local work_mem = '5MB'; " + ONE + "insert into one values (1); show work_mem",
    "create schema if not exists shop; create table shop.items (id int primary key); insert into shop.items values (1); table shop.items",
    "set search_path = shop, public; create table items (id int primary key); insert into items values (4); select * from items; "
    "set search_path = public",
    "create table plain (a int); insert into plain values (1); drop table plain",
    "set constraints all deferred; " + ONE + "insert into one values (1); set constraints all immediate; table one",
    # keys that the database makes, by what has been run before
    SERIAL + "insert into one (name) values ('a'); select lastval(); insert into one (name) values ('b') returning id; table one",
    SERIAL + "insert into one values (nextval('one_id_seq'), 'a'); select nextval('one_id_seq'); insert into one values "
    "(nextval('one_id_seq'), 'b'), (currval('one_id_seq'), 'c')", SERIAL + "insert into one (name) values ('a'); select setval('one_id_seq', 7); "
    "insert into one (name) select 'b'; insert into one (name) values ('c'); table one", SERIAL + "select setval('one_id_seq', 7); "
    "insert into one (id, name) values (lastval() + 1, 'b'); insert into one (id, name) values ((select max(id) + 1 from one), 'c'); table one",
    # in blocks of its client's
    "begin; " + ONE + "insert into one values (1); commit; select * from one; insert into one values (2); table one",
    "begin; " + ONE + "insert into one values (1); rollback; select * from one",
    "begin; " + ONE + "savepoint s; insert into one values (1); rollback to s; insert into one values (2); table one",
    "begin; " + ONE + "insert into one values (1)", "begin; " + ONE + "insert into one values ('x'); select 1",
    "begin; " + ONE + "insert into one values (1); commit; " + EVENTS + "insert into events values (1, 2); table events",
    "begin; " + ONE + "insert into one values (1); commit; " + EVENTS + "insert into events values (1, 2); select * from nothing",
    "begin; " + ONE + "insert into one values (1); commit; insert into one values (2); insert into one values (1)",
    "begin; " + ONE + "insert into one values (1); commit; begin; insert into one values (2); rollback; table one",
    # what is wrong, and where
    ONE + "insert into one values (1); insert into one values (1); select 1", ONE + "insert into one values (1); select * from nothing",
    ONE + "insert into one valuess (1)", ONE + "insert into one values (1); select 1 +", ONE + "insert into one values (null)",
    "create table one (id int primary key, näme text); insert into one values (1, 'ä'); insert into one values (2, 'ä', 3)",
    ONE + "insert into one values ('é'); select 1", ONE + "insert into one values (1/0)", ONE + "insert into one values (lastval())",
    ONE + "insert into one (id) values (default)", ONE + "savepoint a; insert into one values (1)",
    ONE + "insert into one values (1); vacuum one", ONE + "insert into one values (1); create table one (id int)",
    ONE + "insert into one values (1, 'a') returning nothing", ONE + "select 'é', nothing from one",
    # … in values that are asked for first
    ONE + "insert into one values (nofunc(1))", ONE + "insert into one values ((select 1 from nothing))",
    ONE + "insert into one values (1 + 'x')", ONE + "insert into one values ('1'::int4), (nofunc(2))",
    ONE + "insert into one (name, id) values ('é', nofunc(2)); select 1",
    "begin; " + ONE + "insert into one values (nofunc(1))", "begin; " + ONE + "commit; insert into one values (nofunc(1)); select 1",
)


# A table that is there already is altered, and written by its new columns.
ALTERED = (
    "alter table one add c int; insert into one (id, c) values (1, 2); insert into one values (2, 'b', 3); update one set c = 4 where id = 1",
    "alter table one add c int; insert into one (name, c) values ('a', 1); insert into one values (default, 'b', 3)",
    "alter table one add c int; insert into one (name, c) values ('a')", "alter table one add c int; insert into one values (2, 'b', 3)",
    "alter table one add c int; insert into one (id, c) values (null, 1)", "alter table one add c int; insert into one (name, c) values (default)",
    "alter table one add c int; insert into one (id, c) values (abs(-1), 2); insert into one values (3, 'c', 3, 4)",
    "alter table one add c int; with x as (select 1) insert into one (name, c) select 'a', 2; insert into one (name, c) default values",
    "alter table one add c int, add d int; insert into one values (2, 'b', 3, 4)", "alter table one add c int; insert into one values (null, 'b', 3)",
    "insert into one values (1, 'a'); alter table one add c int default 7; update one set id = c; update one set (id, c) = (8, 9)",
    "create temporary table one (a int); alter table one add c int; insert into one (c) values (1); drop table one",
    "alter table one rename name to c; insert into one (id, c) values (1, 'c'); insert into one (id, name) values (1, 'c')",
    "alter table one drop name; insert into one values (1); insert into one values (1, 'a')", "alter table one drop name; insert into one values (1, 'a')",
    "alter table one drop name, add name int; insert into one values (1, 2); insert into one values (2, 'a')",
)


@harness.proxied
class Parts(MadeCase):
    def both(self, text, ready=1):
        return super().both(*[wire.query(text)] * ready, ready=ready)

    def test_texts(self):
        for text in TEXTS:
            with self.subTest(text), self.connected():
                self.both(text)
                self.left()
                self.both("select 'still there'")
                self.both("rollback")
                self.left()

    def test_an_altered_table(self):
        for text in ALTERED:
            for block in (), ("begin",):
                with self.subTest(text, block=block), self.connected():
                    for before in (SERIAL, *block, text, "select count(*), max(id), max(name::text) from one", *("commit" for _ in block)):
                        self.both(before)
                    self.left()

    def test_in_a_transaction(self):
        for text in TEXTS:
            if text.startswith("begin") or "commit" in text:
                continue
            with self.subTest(text), self.connected():
                self.both("begin")
                self.both(text)
                self.both("select 'still there'")
                self.both("commit")
                self.left()

    def test_one_behind_the_other(self):
        """Sent at once."""
        with self.connected():
            self.both("drop table if exists one; " + ONE + "insert into one values (1); table one", ready=3)
            self.left()

    def test_behind_an_unnamed_statement(self):
        """… which a Query destroys, whatever of it fails; and no transaction is left behind."""
        last = "insert into one (id) values (5 + 1); insert into one (id) values (%s); select 1"
        for wrong in ("nextval('nothing')", "nofunc(1)", "'x'", "1 / 0", "null", "6"):
            for before in ("", "begin"):
                with self.subTest(wrong, before=before), self.connected():
                    self.both(before + "; " + ONE)
                    answers = [[shown(reply) for reply in session.ask(
                        wire.parse("", "select * from one"), wire.describe("S", ""), wire.bind("", ""), wire.execute(), wire.sync(),
                        wire.query(last % wrong), wire.bind("", ""), wire.sync(), wire.query("select 'still there'"), ready=4)]
                        for session in self.sessions]
                    self.assertEqual(*answers)
                    self.both("rollback")
                    self.left()

    def test_nobody_sees_a_half(self):
        """It waits in its middle, for a lock that another has, and is cancelled there."""
        with self.connected():
            _, port = self.route()
            session = self.sessions[1]
            with wire.Wire(("127.0.0.1", self.postgres.port)) as other:
                other.login(harness.USER, "hashed")
                other.query("select pg_advisory_lock(1)")
                session.send(wire.query(ONE + "insert into one values (1); select pg_advisory_lock(1); insert into one values (2)"))
                admin = self.admins["hashed"]
                harness.eventually("it waits", lambda: admin.rows("select 1 from pg_locks where locktype = 'advisory' and not granted"))
                self.assertEqual(admin.rows("select to_regclass('one')"), [[None]])
                with wire.Wire(("127.0.0.1", port)) as canceller:
                    canceller.send(wire.cancel_request(session.pid, session.key))
                    canceller.read_to_end()
                replies = session.read_ready()
                self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", b"I"))
            self.assertEqual(admin.rows("select to_regclass('one')"), [[None]])
            self.both(ONE + "insert into one values (1); table one")

    def test_the_backend_ends_in_its_middle(self):
        with self.connected():
            session = self.sessions[1]
            session.send(wire.query(ONE + "insert into one values (1); select pg_terminate_backend(pg_backend_pid()); insert into one values (2)"))
            replies = session.read_to_end()
            self.assertEqual(wire.error_of(replies), "57P01")
            self.assertEqual(self.admins["hashed"].rows("select to_regclass('one')"), [[None]])

    def test_a_client_that_leaves(self):
        """What it has sent is done, as PostgreSQL does it."""
        with self.connected():
            session = self.sessions[1]
            session.send(wire.query(ONE + "insert into one values (1); insert into one values (2)"), wire.terminate())
            self.assertEqual(wire.tags_of(session.read_to_end()), ["CREATE TABLE", "INSERT 0 1", "INSERT 0 1"])
            self.assertEqual(self.admins["hashed"].rows("select count(*) from one"), [["2"]])

    def test_settings_that_a_text_is_read_by(self):
        """PostgreSQL reads all of it by what they were when it came: so it is, or it is refused as a whole."""
        with self.connected():
            for session in self.sessions:
                replies = session.query("set standard_conforming_strings = off; " + ONE + "insert into one values (1, 'a')")
                self.assertEqual(wire.tags_of(replies), ["SET", "CREATE TABLE", "INSERT 0 1"])
            self.left()
        for setting, value in (("standard_conforming_strings = off", "a\\b"), ("client_encoding = 'LATIN1'", "é")):
            with self.connected():
                replies = self.sessions[1].query(f"set {setting}; {ONE}insert into one values (1, '{value}')")
                self.assertEqual((wire.error_of(replies), replies[-1].body), ("0A000", b"I"))
                self.assertEqual(self.admins["hashed"].rows("select to_regclass('one')"), [[None]])
                self.both(f"{ONE}insert into one values (1, '{value}'); table one")
                self.left()

    def test_settings_that_it_reports(self):
        """Once, in front of ReadyForQuery, and only those that end otherwise than the client was told last."""
        insert = "insert into one values (1); "
        for text in (
            "set datestyle = 'sql, dmy'; " + ONE + insert + "set timezone = 'Asia/Tokyo'; insert into one values (2)",
            "set datestyle = 'sql, dmy'; " + ONE + insert + "reset datestyle",
            "set datestyle = 'sql, dmy'; " + ONE + insert + "set datestyle = 'german'; insert into one values (2); set timezone = 'Asia/Tokyo'",
            "set local datestyle = 'sql, dmy'; " + ONE + insert + "set standard_conforming_strings = off",
            "set datestyle = 'sql, dmy'; " + ONE + insert + "select * from nothing",
            "set default_transaction_read_only = on; " + ONE + insert + "reset default_transaction_read_only",
            "set default_transaction_read_only = on; " + ONE + insert, "set application_name = 'a'; " + ONE + insert,
            "begin; set datestyle = 'sql, dmy'; " + ONE + insert + "rollback; " + ONE + insert, "set role nobody; " + ONE + insert,
            "begin; set datestyle = 'sql, dmy'; " + ONE + insert + "commit; set datestyle = 'german'; select 1",
            "begin; set datestyle = 'sql, dmy'; " + ONE + insert, ONE + insert + "reset all; insert into one values (2)",
            "create table one (id int primary key, at date); set datestyle = 'german'; insert into one values (1, '01.02.2026'); table one",
        ):
            with self.subTest(text), self.connected():
                self.both(text)
                self.both("show datestyle; show timezone; show standard_conforming_strings; rollback")
                self.both("set datestyle = 'sql, dmy'; rollback")
                self.both(text)

    def test_what_its_encoding_has_not(self):
        """PostgreSQL runs none of it."""
        text = "begin; " + ONE + "commit; insert into one values (1, '%s'); table one"
        for encoding, letter in (("UTF8", b"\xff"), ("UTF8", "é".encode()), ("LATIN1", b"\xe9"), ("WIN1252", b"\x81"), ("EUC_JP", b"\xa4\xa2")):
            for whole in (text, ONE + text[text.index("insert"):]):
                with self.subTest(encoding, letter=letter, text=whole), self.connected():
                    self.both(f"set client_encoding = '{encoding}'")
                    self.both(whole.encode().replace(b"%s", letter))
                    self.left()
                    self.both("drop table if exists one; begin")
                    self.both(b"set transaction isolation level serializable; " + whole.encode().replace(b"%s", letter))
                    self.both("select 'still there'")
                    self.both("rollback")
                    self.left()

    def test_a_look_that_is_cancelled(self):
        """It fails in the transaction, and what it fails with is what the client is told."""
        for begin, ready in (("", b"I"), ("begin; ", b"E")):
            with self.subTest(begin), self.connected(), wire.Wire(("127.0.0.1", self.postgres.port)) as other:
                session, (_, port), admin = self.sessions[1], self.route(), self.admins["hashed"]
                other.login(harness.USER, "hashed")
                [[backend]] = session.rows("select pg_backend_pid()")
                waits = f"select 1 from pg_locks where pid = {int(backend)} and not granted and "
                other.query("select pg_advisory_lock(1)")
                session.send(wire.query(begin + ONE + "select pg_advisory_lock(1); insert into one values (1); select 1"))
                harness.eventually("it is run", lambda: admin.rows(waits + "locktype = 'advisory'"))
                other.query("begin; lock table pg_catalog.pg_trigger in access exclusive mode; select pg_advisory_unlock(1)")
                harness.eventually("it looks", lambda: admin.rows(waits + "relation = 'pg_trigger'::regclass"))
                with wire.Wire(("127.0.0.1", port)) as canceller:
                    canceller.send(wire.cancel_request(session.pid, session.key))
                    canceller.read_to_end()
                replies = session.read_ready()
                self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", ready))
                other.query("rollback")
                session.query("rollback")
                self.left()
                self.both(ONE + "insert into one values (1); table one")

    def test_what_the_server_logs(self):
        """… of the client's own: nothing of the transaction that it knows nothing of."""
        with self.connected():
            session = self.sessions[1]
            session.query("set client_min_messages = log")
            replies = session.query(ONE + "insert into one values (1)")
            logged = [reply.fields()["M"] for reply in replies if reply.kind == "N"]
            self.assertEqual([text for text in logged if not text.startswith("statement: ")], [])
            self.assertTrue(logged)

    def test_many_tables_of_it(self):
        """With each a part of its own, up to a bound."""
        with self.connected():
            self.both("".join("drop table if exists one; " + ONE + "insert into one values (1); " for _ in range(20)))
            text = "".join("drop table if exists one; " + ONE + "insert into one values (1); " for _ in range(100))
            replies = self.sessions[1].query(text)
            self.assertEqual((wire.error_of(replies), replies[-1].body), ("0A000", b"I"))
            self.assertEqual(self.admins["hashed"].rows("select count(*) from one"), [["1"]])


if __name__ == "__main__":
    unittest.main()
