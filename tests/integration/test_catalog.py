"""What is known of the configured tables: read once for all, renewed when it has changed, however
that came about, and by nobody whom it does not concern."""
import os
import subprocess
import unittest

import harness
import wire
from harness import Table

MIGRATIONS = {  # what changes pairs (k bigint, a text, b text), and an INSERT that is right then
    "columns swapped": ("alter table pairs drop a; alter table pairs add a text",
                        "insert into pairs values (7, 'b', 'a')"),
    "key to text": ("alter table pairs alter k type text using 'x' || k",
                    "insert into pairs values ('007', 'a', 'b')"),
    "key to numeric": ("alter table pairs alter k type numeric(10,2)",
                       "insert into pairs values (7.126, 'a', 'b')"),
    "made anew": ("drop table pairs; {ddl}", "insert into pairs values (7, 'a', 'b')"),
    "column not null": ("alter table pairs alter a set not null",
                        "insert into pairs (k, b) values (7, 'b')"),
    "generated": ("alter table pairs drop b;"
                  "alter table pairs add b text generated always as (a || '!') stored",
                  "insert into pairs values (7, 'a')"),
    "columns renamed": ("alter table pairs rename a to c; alter table pairs rename b to a;"
                        "alter table pairs rename c to b",
                        "insert into pairs (k, a) values (7, 'a')"),
    "key renamed": ("alter table pairs rename k to x; alter table pairs rename x to k",
                    "insert into pairs values (7, 'a', 'b')"),
    "tables swapped": ("alter table pairs rename to old; alter table other rename to pairs;"
                       "alter table old rename to other", "insert into pairs values (7, 'a', 'b')"),
    "schemas swapped": ("alter schema public rename to old; alter schema side rename to public;",
                        "insert into public.pairs values (7, 'a', 'b')"),
}


def columns_of(kind="bigint"):
    return [f"k {kind} not null", "a text", "b text"]


PAIRS = Table("pairs", columns_of(), ["k"])


class CatalogCase(harness.StackCase):
    tables = (PAIRS,)
    partitioned = False
    options = {"workers": 2}

    def setUp(self):
        if self.keyspread and self.keyspread.gone:
            self.start_keyspread()
        self.past("drop schema if exists public, old, side cascade; create schema public;"
                  "grant all on schema public to public")
        self.past(PAIRS.ddl(partitioned=False))
        self.past("create table other (b text, k text not null, h bigint not null, a text,"
                  " primary key (h, k)); create schema side; create table side.pairs "
                  "(h bigint not null, k bigint not null, b text, a text, primary key (h, k))")

    def past(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def good(self, replies, *tags):
        self.assertIsNone(wire.error_of(replies), replies)
        if tags:
            self.assertEqual(wire.tags_of(replies), list(tags))

    def right(self):
        """Every stored row has the hash of its key."""
        account = {**os.environ, "PGUSER": harness.USER, "PGDATABASE": self.database}
        done = subprocess.run([harness.program(), "verify", self.keyspread.config_path, "pairs"],
                              capture_output=True, text=True, timeout=60, env=account)
        self.assertIn("wrong: 0", done.stdout.split("\n"), done.stdout + done.stderr)



@harness.proxied
class OneReader(CatalogCase):
    """Who looks, when, and whom that costs something."""

    def readers(self):
        return [pid for pid, in self.past("select pid from pg_stat_activity where datname = "
                                          f"'{self.database}' and application_name = 'keyspread'")]

    def looks(self, since):
        return self.postgres.statements(since, self.database, "hashtextextended")

    def settled(self):
        """A session on each worker, that knows the tables; and nothing is due."""
        sessions = [self.wire() for _ in range(4)]
        self.good(sessions[0].query("alter table other add more text"))  # it is to be looked at
        for number, session in enumerate(sessions):
            self.good(session.query(f"insert into pairs values ({number}, 'a', 'b')"))
        return sessions

    def test_one_link_for_all_workers(self):
        self.settled()
        self.assertEqual(len(self.readers()), 1)
        self.right()

    def test_what_concerns_no_table_asks_nothing(self):
        one, other = self.settled()[:2]
        mark = self.postgres.mark()
        for number in range(5):
            self.good(one.query("create temp table zz(a int); drop table zz"))
            self.good(one.query("create table public.zzz(a int)"))
            self.good(one.query("create index on public.zzz(a)"))
            self.good(one.query("drop table public.zzz"))
            self.good(other.query(f"insert into pairs values (1{number}, 'a', 'b')"))
        self.assertEqual(self.looks(mark), [])
        self.assertEqual(len(self.readers()), 1)
        self.right()

    def test_a_change_is_looked_at_once(self):
        sessions = self.settled()
        mark = self.postgres.mark()
        self.good(sessions[0].query("alter table pairs add more text"))
        for number, session in enumerate(sessions):
            self.good(session.query(f"insert into pairs values (1{number}, 'a', 'b', 'c')"))
        self.assertLessEqual(len(self.looks(mark)), 2)
        self.assertEqual(len(self.postgres.statements(mark, self.database, "format_type")), 1)
        self.right()

    def test_nobody_waits_for_what_it_does_not_use(self):
        """The backend does not answer the reader; who names no configured table does not mind."""
        one, other = self.settled()[:2]
        reader, = self.readers()
        self.assertTrue(self.stop(reader))
        try:
            self.good(one.query("alter table pairs add more text"))
            self.good(other.query("begin; select 1; commit"))
            self.good(other.query("create temp table t(a int); drop table t"))
            one.send(wire.query("insert into pairs values (10, 'a', 'b', 'c')"))
            self.good(other.query("select 1"))
        finally:
            self.cont(reader)
        self.good(one.read_ready())
        self.right()

    @staticmethod
    def stop(pid):
        os.kill(int(pid), 19)
        return True

    @staticmethod
    def cont(pid):
        os.kill(int(pid), 18)

    def test_a_reader_that_is_killed(self):
        one = self.settled()[0]
        for number in range(3):
            self.past("select pg_terminate_backend(pid) from pg_stat_activity"
                      " where application_name = 'keyspread'")
            self.good(one.query(f"alter table pairs add more{number} text"))
            self.good(one.query(f"insert into pairs values (1{number}, 'a', 'b')"))
        self.right()

    def test_a_migration_s_lock_holds_up_nobody_else(self):
        one, other = self.settled()[:2]
        self.past("create table zz(a int)")
        with self.postgres.admin(self.database) as migration:
            migration.query("begin; lock table pairs in access exclusive mode")
            self.good(one.query("alter table zz add b int"))  # to be looked at
            self.good(other.query("select a from zz where 'pairs' = ''"))
            migration.query("rollback")
        self.right()

    def test_own_settings_are_not_the_reader_s(self):
        """A role whose own settings would make reading impossible, or wrong."""
        self.past("drop role if exists odd; create role odd login; grant all on pairs to odd;"
                  "alter role odd set statement_timeout = '1ms'; alter role odd set role = odd;"
                  "alter role odd set search_path = side; alter role odd set datestyle = 'SQL, DMY';"
                  "alter role odd set default_transaction_read_only = off")
        self.addCleanup(self.past, "drop owned by odd; drop role odd")
        self.past("select pg_terminate_backend(pid) from pg_stat_activity"
                  " where application_name = 'keyspread'; alter table pairs add more text")
        session = self.wire(user="odd", options="-c statement_timeout=1ms")
        session.query("set statement_timeout = 0")
        self.good(session.query("insert into public.pairs values (1, 'a', 'b', 'c')"))
        self.right()

    def test_an_error_is_only_its_own_user_s(self):
        """No slot is left for the one role: the other, that asks at the same time, is served."""
        self.past("drop role if exists few; create role few login connection limit 0;"
                  "grant all on pairs to few")
        self.addCleanup(self.past, "drop owned by few; drop role few")
        self.past("alter role few connection limit -1")
        few, other = self.wire(user="few"), self.wire()
        self.good(few.query("select 1"))
        self.past("alter role few connection limit 0;"
                  "select pg_terminate_backend(pid) from pg_stat_activity"
                  " where application_name = 'keyspread'; alter table pairs add more text")
        self.good(other.query("alter table pairs add even_more text"))
        few.send(wire.query("insert into pairs values (1, 'a', 'b', 'c')"))
        other.send(wire.query("insert into pairs values (2, 'a', 'b', 'c')"))
        self.good(other.read_ready(), "INSERT 0 1")
        self.good(few.read_ready(), "INSERT 0 1")
        self.right()

    def test_the_only_slot_of_a_role(self):
        self.past("drop role if exists single; create role single login connection limit 1;"
                  "grant all on pairs to single; alter table other owner to single")
        self.addCleanup(self.past, "drop owned by single; drop role single")
        self.past("select pg_terminate_backend(pid) from pg_stat_activity"
                  " where application_name = 'keyspread'")
        session = self.wire(user="single")
        self.good(session.query("select 1"))
        self.good(session.query("alter table other add more text"), "ALTER TABLE")
        for number in range(3):
            self.good(session.query(f"insert into pairs values ({number}, 'a', 'b')"), "INSERT 0 1")
            session.query("begin")
            self.good(session.query(f"insert into pairs values (1{number}, 'a', 'b')"))
            self.good(session.query("commit"))
        self.assertEqual(self.past("select count(*) from pg_stat_activity"
                                   " where usename = 'single'"), [["1"]])
        self.right()


@harness.proxied
class Migrations(CatalogCase):
    """After a change of any kind, made anywhere, rows are stored as PostgreSQL would."""

    def kept(self):
        return self.past("select k::text, a, b from pairs order by k")


if __name__ == "__main__":
    unittest.main()
