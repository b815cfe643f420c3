"""Databases come, go and are copied while keyspread is there: it holds nobody up that PostgreSQL
would not."""
import contextlib
import unittest

import harness
import wire

INSERT = "insert into events (userid, ts, event) values ({}, '2026-01-01', 'x')"


class DatabaseCase(harness.StackCase):
    options = {"workers": 3}
    tables = (harness.EVENTS,)

    def create(self, name, table=True):
        with self.postgres.admin("postgres") as admin:
            admin.rows(f"drop database if exists {name} with (force)")
            admin.rows(f"create database {name}")
        if table:
            with self.postgres.admin(name) as admin:
                admin.rows(harness.EVENTS.ddl(not harness.DIRECT))

    def session(self, database, user=harness.USER):
        session = wire.Wire(("127.0.0.1", self.port()))
        self.addCleanup(session.close)
        session.login(user, database)
        return session

    def write(self, session, first=0):
        for row in range(first, first + 3):
            self.assertIsNone(wire.error_of(session.query(INSERT.format(row))))

    def connected(self, where):
        with self.postgres.admin("postgres") as admin:
            return int(admin.rows(f"select count(*) from pg_stat_activity where {where}"
                                  " and backend_type = 'client backend'"
                                  " and pid <> pg_backend_pid()")[0][0])


class Databases(DatabaseCase):
    def test_drop_after_a_disconnect(self):
        for number in range(3):
            self.create("passing")
            with contextlib.closing(self.session("passing")) as session:
                self.write(session)
                session.rows("select count(*) from events")
            done = self.session("postgres").query("drop database passing")
            self.assertEqual(wire.tags_of(done), ["DROP DATABASE"], done)

    def test_drop_by_a_prepared_statement(self):
        self.create("passing")
        with contextlib.closing(self.session("passing")) as session:
            self.write(session)
        done = self.session("postgres").ask(
            wire.parse("", 'Drop /* it */ DATABASE IF EXISTS "passing"'), wire.bind("", ""),
            wire.execute(), wire.sync())
        self.assertEqual(wire.tags_of(done), ["DROP DATABASE"], done)

    def test_copy_and_rename(self):
        self.create("original")
        with contextlib.closing(self.session("original")) as session:
            self.write(session)
        admin = self.session("postgres")
        for statement in ("drop database if exists copied", "drop database if exists renamed",
                          "create database copied template original",
                          "alter database original rename to renamed"):
            done = admin.query(statement)
            self.assertIsNone(wire.error_of(done), (statement, done))
        self.assertEqual(self.session("renamed").rows("select count(*) from events"), [["3"]])

    def test_create_after_a_session_in_template1(self):
        with contextlib.closing(self.session("template1")) as session:
            session.rows("select 1")
        admin = self.session("postgres")
        done = admin.query("create database fresh")
        self.assertIsNone(wire.error_of(done), done)
        admin.rows("drop database fresh")

    def test_drop_while_somebody_is_there(self):
        self.create("passing")
        session = self.session("passing")
        self.write(session)
        session.rows("select 1")
        done = self.session("postgres").query("drop database passing")
        self.assertEqual(wire.error_of(done), "55006", done)
        self.write(session, 10)


@harness.proxied
class Quiet(DatabaseCase):
    """Only where rows are written there are links for them."""

    def test_no_link_where_nothing_is_written(self):
        self.create("bare", table=False)
        session = self.session("bare")
        session.rows("select 1")
        self.assertEqual(self.connected("datname = 'bare'"), 1)

    def test_they_end_behind_the_last_session(self):
        self.create("passing")
        with contextlib.closing(self.session("passing")) as session:
            self.write(session)
        where = "datname = 'passing' and query ilike 'insert%'"
        harness.eventually("all are gone", lambda: self.connected(where) == 0)


@harness.proxied
class IdleOnDemand(DatabaseCase):
    options = {"workers": 3, "backend": {"links": "on_demand"}}

    def test_an_idle_session_gives_up_its_link(self):
        self.create("passing")
        session = self.session("passing")
        self.write(session)
        session.rows("select 1")
        done = self.session("postgres").query("alter database passing rename to passed")
        self.assertIsNone(wire.error_of(done), done)
        self.session("postgres").query("drop database passed")


class OneConnection(DatabaseCase):
    """ALTER ROLE … CONNECTION LIMIT: links for batches take no place that a client needs."""

    options = {"workers": 1}
    before_sql = "create role single login connection limit 1; create role couple login" \
                 " connection limit 2"
    setup_sql = "grant all on events to public"

    def setUp(self):
        super().setUp()
        self.write(self.session(self.database), 100)  # the schema is known

    def test_a_role_of_one(self):
        for row in range(3):
            def log_in():
                try:
                    return self.session(self.database, "single")
                except wire.Closed:  # the one before is still leaving, as with PostgreSQL
                    return None
            session = harness.eventually("the one before has left", log_in)
            self.assertEqual(wire.tags_of(session.query(INSERT.format(row))), ["INSERT 0 1"])
            self.assertEqual(wire.tags_of(session.query(INSERT.format(row + 10))), ["INSERT 0 1"])
            session.close()

    def test_a_role_of_two(self):
        first = self.session(self.database, "couple")
        self.write(first)
        second = self.session(self.database, "couple")
        self.assertEqual(second.rows("select count(*) from events"), [["6"]])
        self.assertEqual(wire.tags_of(second.query(INSERT.format(10))), ["INSERT 0 1"])
        self.assertEqual(wire.tags_of(first.query(INSERT.format(11))), ["INSERT 0 1"])


if __name__ == "__main__":
    unittest.main()
