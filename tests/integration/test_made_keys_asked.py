"""While the database is asked for a key: what it is asked by was changed, clients leave or cancel, backends
end, time is over, locks are held."""
import socket
import unittest

import harness
import wire
from harness import Table


def table(name, key):
    return Table(name, [key, "v text"], [key.split()[0]], hash_first=False)


SERIAL = table("items", "id bigserial")
AGAIN = table("again", "id bigserial")
CALLS = table("calls", "id int default made()")
SLOW = table("slow", "id int default lasting()")
LOCKED = table("locked", "id int default counted()")

BEFORE = """
    create table counter (n int);
    insert into counter values (0);
    create function made() returns int language sql as 'select 5';
    create function lasting() returns int language plpgsql as
      $$ begin perform pg_sleep(300); return 5; end $$;
    create function counted() returns int language sql as
      'update counter set n = n + 1 returning n';
"""


def simple(name):
    return [wire.query(f"insert into {name} (v) values ('x')")]


def extended(name):
    return [wire.parse("", f"insert into {name} (v) values ($1)"), wire.bind("", "", ["x"]),
            wire.execute(), wire.sync()]


PROTOCOLS = (simple, extended)


@harness.proxied
class Asked(harness.StackCase):
    tables = (SERIAL, AGAIN, CALLS, SLOW, LOCKED)
    before_sql = BEFORE
    partitioned = False
    options = {"backend": {"catalog_s": 3600}}

    def admin(self, *texts):
        with self.postgres.admin(self.database) as admin:
            for text in texts:
                rows = admin.rows(text)
        return rows

    def test_changed_past_keyspread(self):
        for change, name, count in (
                ("alter sequence items_id_seq rename to other_seq", "items", 1),
                ("drop table again; " + AGAIN.ddl(partitioned=False), "again", 1),
                ("alter table calls alter id drop default; drop function made(); "
                 "create sequence later; alter table calls alter id set default nextval('later')",
                 "calls", 1)):
            session = self.wire()
            session.ask(wire.parse("s", f"insert into {name} (v) values ($1)"), wire.sync())
            session.ask(*simple(name))
            self.admin(f"truncate {name}", change)
            with self.subTest(change):
                for messages in (simple(name), extended(name),
                                 [wire.bind("", "s", ["y"]), wire.execute(), wire.sync()]):
                    self.assertEqual(wire.tags_of(session.ask(*messages)), ["INSERT 0 1"])
                self.check_stored(next(one for one in self.tables if one.name == name), count=3)

    def in_the_question(self, session, messages):
        session.send(*messages)
        sleeping = "from pg_stat_activity where wait_event = 'PgSleep'"
        harness.eventually("it is asked", lambda: self.admin(f"select 1 {sleeping}"))
        return lambda how: self.admin(f"select {how}(pid) {sleeping}")

    def test_a_cancel(self):
        for protocol in PROTOCOLS:
            for begin in ([], [wire.query("begin"), *simple("items")]):
                with self.subTest(protocol.__name__, begin=begin):
                    session = self.wire()
                    session.ask(*begin, wire.query("select 1"), ready=len(begin) + 1)
                    self.in_the_question(session, protocol("slow"))
                    with socket.create_connection(self.keyspread.address()) as other:
                        other.sendall(wire.cancel_request(session.pid, session.key))
                    replies = session.read_ready()
                    self.assertEqual(wire.error_of(replies), "57014")
                    self.assertEqual(replies[-1].body, b"E" if begin else b"I")
                    session.query("commit")
                    self.check_stored(count=0, table=SERIAL)
                    self.assertEqual(session.rows("select 1"), [["1"]])

    def test_a_backend_that_is_terminated(self):
        for protocol in PROTOCOLS:
            session = self.wire()
            tell = self.in_the_question(session, protocol("slow"))
            tell("pg_terminate_backend")
            self.assertEqual([one.sqlstate for one in session.read_to_end() if one.kind == "E"],
                             ["57P01"])
        self.check_stored(SLOW, count=0)

    def test_a_goodbye(self):
        """It is no cancel."""
        for protocol in PROTOCOLS:
            for goodbye in (lambda session: session.socket.shutdown(socket.SHUT_WR),
                            lambda session: session.send(wire.terminate())):
                session = self.wire()
                with self.postgres.admin(self.database) as other:
                    other.rows("begin")
                    other.rows("update counter set n = n")
                    session.send(*protocol("locked"))
                    harness.eventually("it waits", lambda: self.admin(
                        "select 1 from pg_stat_activity where wait_event_type = 'Lock'"))
                    goodbye(session)
                    other.rows("rollback")
                self.assertEqual(wire.tags_of(session.read_to_end()), ["INSERT 0 1"])
        self.check_stored(LOCKED, count=4)

    def test_timeouts(self):
        with self.postgres.admin(self.database) as other:
            other.rows("begin")
            other.rows("update counter set n = n")
            for protocol in PROTOCOLS:
                for setting, code in (("statement_timeout", "57014"), ("lock_timeout", "55P03")):
                    with self.subTest(protocol.__name__, setting=setting):
                        session = self.wire()
                        session.rows(f"set {setting} = 50")
                        replies = session.ask(*protocol("locked"))
                        self.assertEqual(wire.error_of(replies), code)
                        self.assertEqual(replies[-1].body, b"I")
        self.check_stored(LOCKED, count=0)

    def test_thirty_clients(self):
        def client(number):
            session = self.wire()
            for messages in (simple("items"), extended("locked"), simple("locked"),
                             extended("items")):
                self.assertEqual(wire.tags_of(session.ask(*messages)), ["INSERT 0 1"], number)
        harness.in_threads(30, client)
        self.check_stored(SERIAL, count=60)
        self.check_stored(LOCKED, count=60)


MOVES = """create schema other; create table other.words (k text primary key, v text);
    create function moving(text) returns text language sql
      as $$select set_config('search_path', 'other, public', false) || $1$$"""


@harness.proxied
class Moved(harness.StackCase):
    """What makes the key moves the name of its table: the row is that of the table that was meant, or refused."""
    tables = (table("words", "k text not null"),)
    setup_sql = MOVES
    partitioned = False

    def setUp(self):
        super().setUp()
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate other.words")

    def rows(self):
        with self.postgres.admin(self.database) as admin:
            return admin.rows("select k, v from public.words"), admin.rows("select k, v from other.words")

    def test_an_unqualified_name(self):
        for begin in ("select 1", "begin"):
            for cells in ("(moving('x'), 'v')", "(moving('x'), 'v'), ('y', 'w')"):
                for text in (f"insert into words values {cells}", f"select 1; insert into words values {cells}"):
                    session = self.wire()
                    session.query(begin)
                    with self.subTest(text, begin=begin):
                        self.assertEqual(wire.error_of(session.query(text)), "0A000")
                    session.query("commit")
                    self.assertEqual(self.rows(), ([], []))
                    session.close()
            session = self.wire()
            replies = session.ask(wire.query(begin), wire.parse("", "insert into words values (moving($1), 'v')"),
                                  wire.bind("", "", ["x"]), wire.execute(), wire.sync(), ready=2)
            self.assertEqual(wire.error_of(replies), "0A000")
            session.query("commit")
            self.assertEqual(self.rows(), ([], []))

    def test_a_qualified_name(self):
        session = self.wire()
        self.assertIsNone(wire.error_of(session.query("insert into public.words values (moving('x'), 'v')")))
        self.assertEqual(self.rows(), ([["other, publicx", "v"]], []))
        self.check_stored(self.tables[0], count=1)
        self.assertIsNone(wire.error_of(session.query("insert into words values ('y', 'w')")))
        self.assertEqual(self.rows()[1], [["y", "w"]])


@harness.proxied
class MovedToAnother(Moved):
    """… which is configured, too."""
    tables = (table("words", "k text not null"), table("other.words", "k text not null"))
    before_sql = "create schema other"
    setup_sql = MOVES.split(";")[-1]

    def test_a_qualified_name(self):
        super().test_a_qualified_name()
        self.check_stored(self.tables[1], count=1)


if __name__ == "__main__":
    unittest.main()
