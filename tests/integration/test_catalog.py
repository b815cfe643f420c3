"""What is known of the configured tables: read once for all, renewed when it has changed, however
that came about, and by nobody whom it does not concern."""
import decimal
import os
import subprocess
import unittest

import harness
import wire
from harness import Table

# Where the rows there would have a wrong hash, they go first: else all writes stop.
MIGRATIONS = {  # what changes pairs (k, a, b); an INSERT; its row, or PostgreSQL's error
    "columns swapped": ("alter table pairs drop a; alter table pairs add a text",
                        ("7", "'b'", "'a'"), ["7", "a", "b"]),
    "key to text": ("truncate pairs; alter table pairs alter k type text using 'x' || k",
                    ("'007'", "'a'", "'b'"), ["007", "a", "b"]),
    "key to numeric": ("truncate pairs; alter table pairs alter k type numeric(10,2)",
                       ("7.126", "'a'", "'b'"), ["7.13", "a", "b"]),
    "key with a typmod": ("truncate pairs; alter table pairs alter k type varchar(4) using k::text",
                          ("'7   '", "'a'", "'b'"), ["7   ", "a", "b"]),
    "made anew": ("drop table pairs; create table pairs (b text, k bigint, k_hash bigint not null,"
                  " a text, primary key (k_hash, k))", ("'b'", "7", "'a'"), ["7", "a", "b"]),
    "not null": ("alter table pairs alter b set not null", ("7", "'a'", "null"), "23502"),
    "generated": ("alter table pairs drop b;"
                  "alter table pairs add b text generated always as (a || '!') stored",
                  ("7", "'a'"), ["7", "a", "a!"]),
    "columns renamed": ("alter table pairs rename a to c; alter table pairs rename b to a;"
                        "alter table pairs rename c to b", ("7", "'b'", "'a'"), ["7", "a", "b"]),
    "keys renamed": ("truncate pairs; alter table pairs add x text not null default 'x';"
                     "alter table pairs rename k to y; alter table pairs rename x to k",
                     ("7", "'a'", "'b'", "'key'"), ["key", "a", "b"]),
    "tables swapped": ("alter table pairs rename to old; alter table other rename to pairs;"
                       "alter table old rename to other", ("'b'", "'7'", "'a'"), ["7", "a", "b"]),
    "schemas swapped": ("alter schema public rename to old; alter schema side rename to public",
                        ("7", "'b'", "'a'"), ["7", "a", "b"]),
}


def columns_of(kind="bigint"):
    return [f"k {kind} not null", "a text", "b text"]


PAIRS = Table("pairs", columns_of(), ["k"])


class CatalogCase(harness.StackCase):
    tables = (PAIRS,)
    partitioned = False
    options = {"workers": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin = cls.postgres.admin(cls.database)
        cls.addClassCleanup(cls.admin.close)

    def setUp(self):
        if self.keyspread and self.keyspread.gone:
            self.start_keyspread()
        self.past("drop schema if exists public, old, side cascade; create schema public;"
                  "grant all on schema public to public")
        self.past(PAIRS.ddl(partitioned=False))
        self.past("create table other (b text, k text not null, k_hash bigint not null, a text,"
                  " primary key (k_hash, k)); create schema side; create table side.pairs "
                  "(k_hash bigint not null, k bigint not null, b text, a text,"
                  " primary key (k_hash, k)); grant usage on schema side to public")

    def past(self, sql):
        return self.admin.rows(sql)

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
        return self.postgres.statements(since, self.database, "keyspread_check")

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
        self.assertEqual(len(self.postgres.statements(mark, self.database, "keyspread_load")), 1)
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
        session = self.wire(user="odd", options="-c statement_timeout=0")
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

    def setUp(self):
        self.past("drop event trigger if exists keyspread_ddl, keyspread_ddl_drop")
        super().setUp()
        # Nothing of before is believed, whatever of it is left.
        self.good(self.wire().query("alter table other add more text;"
                                    "alter table other drop more"))
        self.sessions = [self.wire() for _ in range(4)]  # on both workers
        for number, session in enumerate(self.sessions):
            self.good(session.query(f"insert into pairs values (1{number}, 'x', 'y')"))
            self.good(session.ask(wire.parse("s", "insert into pairs values ($1, $2, $3)"),
                                  wire.sync()))
            self.good(session.ask(wire.bind("", "s", [f"2{number}", "x", "y"]), wire.execute(),
                                  wire.sync()))

    # Ways to make a change; each takes SQL and returns what the next INSERTs use.

    def by_another_session(self, sql):
        self.good(self.sessions[0].query(sql))
        return self.sessions[1:]

    def by_itself(self, sql):
        for session in self.sessions[:1]:
            self.good(session.query(sql))
        return self.sessions[:1]

    def by_a_block(self, sql):
        self.good(self.sessions[0].query(f"do $$ begin {sql}; end $$"))
        return self.sessions[1:]

    def by_a_procedure(self, sql):
        self.past(f"create or replace procedure p() language sql as $$ {sql} $$"
                  if "create table" not in sql and "rename" not in sql
                  else f"create or replace procedure p() language plpgsql as $$ begin {sql}; end $$")
        self.good(self.sessions[0].query("call p()"))
        return self.sessions[1:]

    def by_a_function(self, sql):
        self.past(f"create or replace function f() returns int language plpgsql as"
                  f" $$ begin {sql}; return 1; end $$")
        self.past("create or replace view v as select 1 as one")
        self.good(self.sessions[0].query("select one from v where f() = 1"))
        return self.sessions[1:]

    def by_a_transaction_s_end(self, sql):
        for part in ("begin", sql, "select 1", "commit"):
            self.good(self.sessions[0].query(part))
        return self.sessions[1:]

    def by_prepared_statements(self, sql):
        session = self.sessions[0]
        for number, part in enumerate(sql.split(";")):
            session.ask(wire.parse(f"d{number}", part), wire.sync())
            self.good(session.ask(wire.bind("", f"d{number}"), wire.execute(), wire.sync()))
        return self.sessions[1:]

    def past_keyspread(self, sql):
        """With an event trigger, which the reader hears."""
        self.past(subprocess.run([harness.program(), "ddl", "--event-trigger"], check=True,
                                 capture_output=True, text=True).stdout)
        mark = self.postgres.mark()
        self.past(sql)
        harness.eventually("the change is looked at", lambda: self.postgres.statements(
            mark, self.database, "keyspread_check"))
        return self.sessions

    def in_the_own_transaction(self, sql):
        session = self.sessions[0]
        self.good(session.query("begin"))
        self.good(session.query(sql))
        return [session]

    ROUTES = (by_another_session, by_itself, by_a_block, by_a_procedure, by_a_function,
              by_a_transaction_s_end,
              by_prepared_statements, past_keyspread, in_the_own_transaction)

    def insert(self, session, values, prepared):
        if not prepared:
            return session.query(f"insert into pairs values ({', '.join(values)})")
        text = f"insert into pairs values ({', '.join(f'${n + 1}' for n in range(len(values)))})"
        bound = [None if value == "null" else value.strip("'") for value in values]
        return session.ask(wire.parse("", text), wire.bind("", "", bound), wire.execute(),
                           wire.sync())

    def check(self, route, name, prepared):
        sql, values, expected = MIGRATIONS[name]
        for session in route(self, sql)[:1 if route is Migrations.by_itself else 4]:
            replies = self.insert(session, values, prepared)
            if isinstance(expected, str):
                self.assertEqual(wire.error_of(replies), expected, replies)
                if route is Migrations.in_the_own_transaction:
                    self.good(session.query("rollback"))
                break
            self.good(replies)
            if route is Migrations.in_the_own_transaction:
                self.good(session.query("commit"))
            self.assertIn(expected, self.past("select k::text, a, b from pairs"))
            self.right_rows(expected)
            break

    def right_rows(self, expected):
        """The last row's hash; those of before a changed key have the old rule's."""
        key, = self.past(f"select k_hash::text from pairs where k::text = '{expected[0]}'")
        kind = self.past("select atttypid::regtype::text from pg_attribute where attname = 'k' and "
                         "attrelid = 'pairs'::regclass")[0][0]
        value = (int(expected[0]) if kind == "bigint" else
                 decimal.Decimal(expected[0]) if kind == "numeric" else expected[0])
        self.assertEqual(key, [str(harness.xxh3_signed(value))])


def add_migrations():
    """A test for each route, and each form of the INSERT: the migrations one after another."""
    thorough = (Migrations.by_another_session, Migrations.in_the_own_transaction)
    few = ("columns swapped", "key to text", "tables swapped")

    def make(route, prepared):
        def test(self):
            for name in MIGRATIONS if route in thorough else few:
                with self.subTest(name):
                    self.setUp()
                    self.check(route, name, prepared)
        return test
    for route in Migrations.ROUTES:
        for prepared in (False, True):
            form = "prepared" if prepared else "simple"
            setattr(Migrations, f"test_{route.__name__}_{form}", make(route, prepared))


add_migrations()


@harness.proxied
class Age(CatalogCase):
    options = {"workers": 2, "backend": {"catalog_s": 1}}

    def test_it_is_looked_at_by_itself_while_it_is_used(self):
        session = self.wire()
        self.good(session.query("insert into pairs values (1, 'a', 'b')"))
        mark = self.postgres.mark()
        self.past("alter table pairs add more text")

        def looked():
            self.good(session.query("select k from pairs"))
            return self.postgres.statements(mark, self.database, "keyspread_load")
        harness.eventually("it is read again", looked)
        self.right()

    def test_ddl_and_insert_in_one_pipeline(self):
        """Before Sync the group itself asks what the table is like; behind it, somebody else does."""
        session = self.wire()
        self.good(session.query("insert into pairs values (1, 'a', 'b')"))
        change = (wire.parse("", "alter table pairs alter a set default 'x'"), wire.bind("", ""),
                  wire.execute())
        insert = (wire.parse("", "insert into pairs values ($1, $2, $3)"),
                  wire.bind("", "", [2, "a", "b"]), wire.execute())
        self.good(session.ask(*change, *insert, wire.sync()), "ALTER TABLE", "INSERT 0 1")
        behind = (insert[0], wire.bind("", "", [5, "a", "b"]), wire.execute())
        self.good(session.ask(*change, wire.sync(), *behind, wire.sync(), ready=2),
                  "ALTER TABLE", "INSERT 0 1")
        for number in (3, 4):
            self.good(session.ask(*insert[:1], wire.bind("", "", [number, "a", "b"]), wire.execute(), wire.sync()), "INSERT 0 1")
        self.right()

    def test_ddl_and_insert_in_one_query(self):
        session = self.wire()
        self.good(session.query("insert into pairs values (1, 'a', 'b')"))
        replies = session.query("alter table pairs drop a; alter table pairs add a text;"
                                "insert into public.pairs values (2, 'b', 'a')")
        self.assertEqual(wire.tags_of(replies), ["ALTER TABLE", "ALTER TABLE", "INSERT 0 1"], replies)
        self.assertEqual(self.past("select k, a, b from pairs order by k"), [["1", None, "b"], ["2", "a", "b"]])
        self.good(session.query("delete from pairs where k = 1; create index on pairs (a);"
                                "insert into public.pairs values (3, 'b', 'a')"))
        self.right()


@harness.proxied
class Samples(CatalogCase):
    """What is found at first contact is told once, and a few wrong rows stop nobody."""

    def wrong(self, rows):
        self.past(f"insert into pairs select n, n, 'x' from generate_series(100, {99 + rows}) n")

    def written(self, session, rows):
        for number in range(rows):
            self.good(session.query(f"insert into pairs values ({number}, 'a', 'b')"))

    def lines(self, event):
        return [line for line in self.keyspread.lines.text().split("\n")
                if f"event={event} " in line]

    def anew(self):
        self.keyspread.stop()
        self.start_keyspread()
        return self.wire()

    def test_a_few_wrong_hashes(self):
        session = self.wire()
        self.written(session, 10)
        self.wrong(3)
        session = self.anew()
        for number in range(3):
            self.good(session.query(f"alter table pairs add more{number} text"))
            self.good(session.query(f"insert into pairs values (2{number}, 'a', 'b')"))
        self.assertEqual(len(self.lines("wrong_hashes")), 1)
        self.assertIn("wrong=3", self.lines("wrong_hashes")[0])
        self.assertEqual(self.lines("table_unusable"), [])

    def test_all_hashes_wrong_and_mended(self):
        self.wrong(5)
        session = self.anew()
        for number in range(3):
            self.good(session.query(f"alter table pairs add more{number} text"))
            replies = session.query(f"insert into pairs values (2{number}, 'a', 'b')")
            self.assertEqual(wire.error_of(replies), "55000")
        self.assertEqual(len(self.lines("table_unusable")), 1)
        self.past("truncate pairs")
        harness.eventually("the table is looked at again", lambda: not wire.error_of(
            session.query("insert into pairs values (3, 'a', 'b') on conflict do nothing")))
        self.right()

    def test_another_shape_is_told_once(self):
        self.past("drop table pairs; create table pairs (x int)")
        session = self.anew()
        for number in range(3):
            self.good(session.query(f"alter table pairs add y{number} text"))
            self.assertEqual(wire.error_of(session.query("insert into pairs values (1)")), "55000")
        self.assertEqual(len(self.lines("table_unusable")), 1)

    def test_the_hash_column_is_not_last(self):
        session = self.anew()
        self.written(session, 1)
        self.good(session.query("alter table pairs add more text"))
        self.written(session, 0)
        self.assertEqual(len(self.lines("hash_column_not_last")), 1)


if __name__ == "__main__":
    unittest.main()
