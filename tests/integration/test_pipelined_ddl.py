"""Messages up to one Sync that make, alter or move to a table and use it behind that, of a client that does not wait:
PostgreSQL's answers, and rows with their hashes."""
import contextlib
import unittest

import harness
import psycopg
import wire
from made_case import MadeCase

ONE = "create table one (id int primary key, name text)"
INSERT = ("insert into one values ($1, $2)", ["1", "a"])
GROUPS = (
    (ONE, "insert into one values (1, 'a')", "select * from one"),
    (ONE, INSERT, ("insert into one (id) values ($1) returning *", ["2"]), "table one"),
    (ONE, "insert into one values (1, 'a'), (2, 'b')", "update one set name = 'c' where id = 2", ("delete from one where id = $1", ["1"]), "table one"),
    (ONE, INSERT, "alter table one add more int default 7", ("insert into one values ($1, $2, $3)", ["2", "b", "3"]), "select * from one"),
    ("create table one (id serial primary key, name text)", ("insert into one (name) values ($1) returning id", ["a"]),
     "insert into one (name) values ('b') returning *", "insert into one values (default, 'c')", "table one"),
    ("create table cut (id int primary key, n int)", ("insert into cut values ($1, $2)", ["1", "2"]), "update cut set id = 7 where id = 1", "table cut"),
    (ONE, "insert into one select g, 'x' from generate_series(1, 5) g", "select row_to_json(one), * from one"),
    (ONE, "insert into one values (1, 'a') on conflict (id) do update set name = 'b' returning *", "select count(*) from one"),
    ("create table events (userid int, ts int, primary key (userid, ts))", ("insert into events values ($1, $2)", ["1", "2"]), ONE, INSERT,
     "select * from events join one on id = userid"),
    (ONE, INSERT, "drop table one", "create table one (name text, id int, primary key (id))", "insert into one values ('b', 2)", "table one"),
    ("begin", ONE, INSERT, "commit", "select * from one"), ("begin", ONE, INSERT, "rollback", "select 1"),
    ("begin", ONE, "savepoint a", INSERT, "rollback to a", "insert into one values (3, 'c')", "table one", "commit"),
    ("begin", ONE, "rollback", "create table one (name text, id int primary key)", "insert into one values ('b', 2)", "table one"),
    ("set search_path = shop, public", "create table items (id int primary key)", ("insert into items values ($1)", ["4"]), "select * from items"),
    (ONE, "create index on one (name)", INSERT, "truncate one", INSERT, "select * from one"),
    ("create table plain (id int)", "insert into plain values (1)", "select * from plain", "drop table plain"),
    (ONE, INSERT, "create table plain (id int references one)", ("insert into plain values ($1)", ["1"]), "select * from plain join one using (id)"),
    (ONE, INSERT, "create table plain (id int, one_id int references one (id))", ("insert into plain values ($1, $2)", ["1", "2"])),
    ("create table events (userid int, ts int, primary key (userid, ts))",
     "create table plain (a int, b int, foreign key (a, b) references events on delete cascade)", "insert into plain values (1, 2)"),
    # what fails, and where
    (ONE, INSERT, INSERT, "select 1"), (ONE, "insert into one values (1/0)", "select 1"), (ONE, ONE, INSERT), (ONE, INSERT, "select * from nothing"),
    (ONE, "insert into one values (null)"), (ONE, ("insert into one values ($1)", ["x"])), (ONE, "insert into one (nothing) values (1)"),
    (ONE, "insert into one values (1, 'a', 2)"), ("select 1/0", ONE, INSERT), ("begin", ONE, "select 1/0", INSERT, "rollback"),
)


def messages_of(group, named):
    """Parse, Bind, Describe and Execute of each."""
    for i, said in enumerate(group):
        text, values = said if isinstance(said, tuple) else (said, ())
        name = f"s{i}" if named else ""
        yield from (wire.parse(name, text), wire.bind("", name, values), wire.describe("P", ""), wire.execute())


@harness.proxied
class PipelinedDdl(MadeCase):
    def shown(self, reply):
        """A column that is added has another number behind the hash."""
        if reply.kind == "T":
            return f"T {[(column[0], *column[3:]) for column in reply.columns()]}"
        return super().shown(reply)

    def test_groups(self):
        for group in GROUPS:
            for named in (False, True):
                with self.subTest(group, named=named), self.connected():
                    self.both(*messages_of(group, named), wire.sync())
                    self.both(wire.query("rollback"))
                    self.left()
                    self.both(wire.query("table one"))

    def test_in_a_transaction(self):
        """Which has made the table, by a Query of its own or by what the group says."""
        for group in GROUPS:
            if "begin" in group or "commit" in group:
                continue
            with self.subTest(group), self.connected():
                self.both(wire.query("begin"))
                self.both(*messages_of(group, False), wire.sync())
                self.both(wire.query("commit"))
                self.left()
        with self.connected():
            self.both(wire.query("begin"))
            self.both(wire.query(ONE))
            self.both(*messages_of(("select 1", INSERT, "table one"), False), wire.sync())
            self.both(wire.query("commit"))
            self.left()

    def test_behind_a_failed_transaction(self):
        """Which the group itself rolls back."""
        for begin, back in (("begin; select 1/0", "rollback"), ("begin; savepoint a; select 1/0", "rollback to a"),
                            (f"begin; savepoint a; {ONE}; select 1/0", "rollback to a")):
            for group in GROUPS:
                if "begin" in group or "commit" in group:
                    continue
                with self.subTest(group, begin=begin), self.connected():
                    self.both(wire.query(begin))
                    self.both(*messages_of((back, *group), False), wire.sync())
                    self.both(wire.query("commit"))
                    self.left()

    def test_a_key_that_nobody_may_ask_for(self):
        """What was prepared before is prepared anew behind DDL, its key asked for, and nothing told: once."""
        with self.connected():
            self.both(wire.query("create table one (id serial primary key, name text); create table cut (id int primary key)"))
            self.admins["direct"].rows("create role nobody")
            self.both(wire.parse("row", "insert into one (name) values ('a')"), wire.sync())
            replies = [session.ask(*messages_of(("drop table cut", "set role nobody"), False), wire.bind("", "row"), wire.execute(), wire.sync())
                       for session in self.sessions]
            self.assertEqual([wire.error_of(one) for one in replies], ["42501", "42501"])
            self.left()
        self.admins["direct"].rows("drop role nobody")

    def test_one_group_behind_the_other(self):
        """Sent at once."""
        with self.connected():
            self.both(*messages_of((ONE, INSERT), False), wire.sync(), *messages_of(("select 1", "insert into one values (2, 'b')"), True),
                      wire.sync(), *messages_of(("table one", "drop table one", "create table one (name text, id int primary key)"), False),
                      wire.sync(), *messages_of(("insert into one values ('c', 3)", "table one"), False), wire.sync(), ready=4)
            self.left()

    def test_prepared_before(self):
        """What was prepared of the table as it was."""
        with self.connected():
            self.both(wire.query(ONE))
            self.both(wire.parse("i", INSERT[0]), wire.parse("r", "select name from one where id = $1"),
                      wire.parse("a", "alter table one add more int"), wire.sync())
            self.both(wire.bind("", "i", ["1", "a"]), wire.execute(), wire.bind("", "a"), wire.execute(), wire.bind("", "i", ["2", "b"]),
                      wire.execute(), wire.bind("", "r", ["2"]), wire.execute(), wire.sync())
            self.left()

    def test_prepared_before_search_path_moves(self):
        """A table that is made in another schema by then is none of ours."""
        for path, end in (("set search_path = shop, public", ()), ("begin; set local search_path = shop, public", (wire.query("commit"),))):
            with self.subTest(path), self.connected():
                self.both(wire.parse("c", ONE), wire.sync())
                self.both(wire.query(path))
                self.both(wire.bind("", "c"), wire.execute(), wire.sync(), *messages_of((INSERT, "table one"), False), wire.sync(), *end,
                          ready=2 + len(end))
                self.both(wire.query("set search_path = public"), wire.bind("", "c"), wire.execute(), *messages_of((INSERT, "table one"), False),
                          wire.sync(), ready=2)
                self.both(wire.query("drop table shop.one"))
                self.left()
                self.both(wire.query("drop table one"), wire.bind("", "c"), wire.execute(), wire.sync(), wire.query(INSERT[0].replace("$1, $2", "1, 'b'")),
                          ready=3)
                self.left()

    def test_a_query_in_it(self):
        with self.connected():
            self.both(*messages_of((ONE, INSERT), False), wire.query("insert into one values (2, 'b'); select * from one"))
            self.left()

    def test_nobody_sees_a_half(self):
        """It waits in its middle, for a lock that another has, and is cancelled there; what was made is gone."""
        with self.connected(), wire.Wire(("127.0.0.1", self.postgres.port)) as other:
            (_, port), session, admin = self.route(), self.sessions[1], self.admins["hashed"]
            other.login(harness.USER, "hashed")
            other.query("begin; lock table pg_catalog.pg_trigger in access exclusive mode")
            session.send(*messages_of((ONE, INSERT), False), wire.sync())
            harness.eventually("it looks", lambda: admin.rows(
                "select 1 from pg_locks where not granted and relation = 'pg_trigger'::regclass"))
            with wire.Wire(("127.0.0.1", port)) as canceller:
                canceller.send(wire.cancel_request(session.pid, session.key))
                canceller.read_to_end()
            replies = session.read_ready()
            self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", b"I"))
            other.query("rollback")
            self.assertEqual(admin.rows("select to_regclass('one')"), [[None]])
            self.both(*messages_of((ONE, INSERT, "table one"), False), wire.sync())
            self.left()

    def test_a_client_that_leaves(self):
        """What it has sent is done, as PostgreSQL does it."""
        with self.connected():
            for session in self.sessions:
                session.send(*messages_of((ONE, INSERT), False), wire.sync(), wire.terminate())
                self.assertEqual(wire.tags_of(session.read_to_end()), ["CREATE TABLE", "INSERT 0 1"])
            self.left()

    def test_a_driver(self):
        """psycopg's pipeline, of which nothing is read before its end."""
        with self.connected():
            database, port = self.route()
            with psycopg.connect(host="127.0.0.1", port=port, user=harness.USER, dbname=database) as connection, connection.pipeline():
                connection.execute(ONE)
                for number in range(20):
                    connection.execute("insert into one values (%s, %s)", (number, "a"))
                rows = connection.execute("select * from one order by id")
                self.assertEqual(rows.fetchall(), [(number, "a") for number in range(20)])
            self.assertEqual(self.admins["hashed"].rows("select count(*) from one"), [["20"]])
            with contextlib.closing(harness.connect_admin(self.postgres, "hashed")) as connection:
                harness.verify_hashes(self, connection, self.tables[0])


if __name__ == "__main__":
    unittest.main()
