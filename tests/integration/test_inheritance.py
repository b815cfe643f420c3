"""What a role and its database give a session is what PostgreSQL gives, however old the links and
greetings are that keyspread has; and rows of a session are read by its settings alone."""
import os
import shutil
import subprocess
import unittest

import harness
import wire

MOMENTS = harness.Table("moments", ["id int not null", "ts timestamptz", "note text"], ["id"])


class InheritanceCase(harness.StackCase):
    tables = (MOMENTS,)
    partitioned = False
    options = {"workers": 1}
    setup_sql = ("create role plain login; create role seen login;"
                 "grant all on all tables in schema public to plain, seen")

    def setUp(self):
        super().setUp()
        self.addCleanup(self.admin, "alter role plain reset all; "
                                    f"alter database {self.database} reset all")

    def admin(self, sql):
        with self.postgres.admin(self.database) as admin:
            for statement in sql.split(";"):
                admin.rows(statement)

    def insert(self, session, number, moment="2026-02-01 12:00"):
        done = session.query(f"insert into moments (ts, id, note) values ('{moment}', {number}, 'x')")
        self.assertEqual(wire.tags_of(done), ["INSERT 0 1"], done)

    def moments(self):
        """The stored times in UTC, after a look at all hashes."""
        self.check_stored(MOMENTS)
        with self.postgres.admin(self.database) as admin:
            return [row[0] for row in admin.rows(
                "select to_char(ts at time zone 'UTC', 'MM-DD HH24') from moments order by id")]


class Settings(InheritanceCase):
    def test_a_role_s_time_zone(self):
        """Past keyspread, while sessions of before go on."""
        old = self.wire(user="plain")
        self.insert(old, 1)
        self.admin("alter role plain set timezone = 'Asia/Tokyo'")
        self.insert(old, 2)
        for number in range(3, 6):
            self.insert(self.wire(user="plain"), number)
        self.insert(old, 6)
        self.assertEqual(self.moments(), ["02-01 12"] * 2 + ["02-01 03"] * 3 + ["02-01 12"])

    def test_a_date_style_set_through_keyspread(self):
        old = self.wire(user="plain")
        self.insert(old, 1, "02/01/2026 12:00")
        self.wire().rows("alter role plain set datestyle = 'ISO, DMY'")
        new = self.wire(user="plain")
        self.assertEqual(new.parameters["DateStyle"], "ISO, DMY")
        self.insert(new, 2, "02/01/2026 12:00")
        self.insert(old, 3, "02/01/2026 12:00")
        self.assertEqual(self.moments(), ["02-01 12", "01-02 12", "02-01 12"])

    def test_a_setting_that_only_the_server_reads(self):
        """A DEFAULT, or a function of the client's, may look at any of them."""
        self.admin("alter table moments alter note set default current_setting('my.tenant', true)")
        self.addCleanup(self.admin, "alter table moments alter note drop default")
        insert = "insert into moments (ts, id) values ('2026-02-01 12:00+00', {})"
        self.admin("alter role plain set my.tenant = 'one'")
        old = self.wire(user="plain")
        old.rows("select 1")
        self.assertIsNone(wire.error_of(old.query(insert.format(1))))
        self.admin("alter role plain set my.tenant = 'two'")
        new = self.wire(user="plain")
        new.rows("select 1")
        for number, session in ((2, new), (3, old), (4, new)):
            self.assertIsNone(wire.error_of(session.query(insert.format(number))))
        self.assertEqual(self.stored(MOMENTS, "note", "id"), [["one"], ["two"], ["one"], ["two"]])

    def test_a_search_path(self):
        """A table of the same name stands before the configured one, for new sessions."""
        self.admin("create schema if not exists other;"
                   "create table other.moments (like moments including all);"
                   "grant usage on schema other to plain; grant all on other.moments to plain")
        self.addCleanup(self.admin, "drop schema other cascade")
        old = self.wire(user="plain")
        self.insert(old, 1)
        self.admin("alter role plain set search_path = other, public")
        self.insert(old, 2)
        self.assertEqual(self.wire(user="plain").query(
            "insert into moments values (3)" if harness.DIRECT else
            "insert into other.moments values (0, 3)")[0].kind, "C")
        self.insert(old, 4)
        self.assertEqual(len(self.moments()), 3)


@harness.proxied
class OnDemand(InheritanceCase):
    options = {"workers": 1, "backend": {"links": "on_demand"}}

    def test_a_role_s_time_zone(self):
        """The first is greeted as the one before was, until its own link says otherwise."""
        old = self.wire(user="plain")
        self.insert(old, 1)
        self.admin("alter role plain set timezone = 'Asia/Tokyo'")
        self.insert(old, 2)
        for number in range(3, 6):
            new = self.wire(user="plain")
            new.rows("select 1")
            self.insert(new, number)
        self.insert(old, 6)
        self.assertEqual(self.moments(), ["02-01 12"] * 2 + ["02-01 03"] * 3 + ["02-01 12"])

    def test_seen(self):
        """ALTER ROLE that went through keyspread is known at once."""
        self.insert(self.wire(user="seen"), 1)
        self.wire().rows("alter role seen set timezone = 'Asia/Tokyo'")
        new = self.wire(user="seen")
        self.assertEqual(new.parameters["TimeZone"], "Asia/Tokyo")
        self.insert(new, 2)
        self.assertEqual(self.moments(), ["02-01 12", "02-01 03"])


class Servers(InheritanceCase):
    def test_read_only(self):
        """target_session_attrs asks the first greeting, which is not older than the last link."""
        psql = shutil.which("psql") or harness.missing("psql")

        def connects():
            where = self.dsn().replace(f"user={harness.USER}", "user=plain")
            where += " target_session_attrs=read-write"
            return subprocess.run([psql, "-X", "-c", "select 1", where], capture_output=True,
                                  env={**os.environ, "PGCONNECT_TIMEOUT": "10"},
                                  check=False).returncode == 0
        self.assertTrue(connects())
        self.admin(f"alter database {self.database} set default_transaction_read_only = on")
        session = self.wire(user="plain")
        session.rows("select 1")  # a link that opens tells
        self.assertFalse(connects())
        self.wire().query("begin; set transaction read write; "
                          f"alter database {self.database} reset all; commit")
        self.admin(f"alter database {self.database} reset all")
        session = self.wire(user="plain", options="-c my.x=1")
        session.rows("select 1")
        self.assertTrue(connects())


@harness.proxied
class Attributes(InheritanceCase):
    """target_session_attrs in the DSN: keyspread's own links pass wherever a session's would."""

    def through(self, port, attributes):
        config = harness.backend_config(self.postgres, tables=(MOMENTS,))
        config["backend"] = {"dsn": f"host=127.0.0.1 port={port} sslmode=disable "
                                    f"target_session_attrs={attributes}"}
        keyspread = harness.Keyspread(config)
        self.addCleanup(keyspread.stop)
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.close)
        session.login("plain", self.database)
        return session

    def test_before_a_primary(self):
        for attributes in ("any", "read-write", "primary", "prefer-standby"):
            with self.subTest(attributes):
                session = self.through(self.postgres.port, attributes)
                self.insert(session, 1)
                self.admin("truncate moments")
        for attributes in ("read-only", "standby"):
            with self.subTest(attributes), self.assertRaises(wire.Closed):
                self.through(self.postgres.port, attributes)

    def test_before_a_standby(self):
        standby = harness.standby_of(self.postgres)
        self.addCleanup(standby.remove)
        for attributes in ("any", "read-only", "standby", "prefer-standby"):
            with self.subTest(attributes):
                session = self.through(standby.port, attributes)
                self.assertEqual(session.rows("select * from moments"), [])
                self.assertEqual(wire.error_of(session.query(
                    "insert into moments (id) values (1)")), "25006")
        for attributes in ("read-write", "primary"):
            with self.subTest(attributes), self.assertRaises(wire.Closed):
                self.through(standby.port, attributes)


@harness.proxied
class Age(InheritanceCase):
    options = {"workers": 1, "backend": {"links": "on_demand", "link_age_s": 1}}

    def test_links_for_batches_are_replaced(self):
        session = self.wire(user="plain")
        self.insert(session, 1)

        def writer():
            with self.postgres.admin(self.database) as admin:
                return admin.rows("select pid from pg_stat_activity where usename = 'plain'"
                                  " and query ilike 'insert%'")
        first = writer()
        self.assertEqual(len(first), 1)
        harness.eventually("it is closed", lambda: writer() != first, 20)
        self.insert(session, 2)


if __name__ == "__main__":
    unittest.main()
