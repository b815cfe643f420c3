"""`keyspread migrate --changes=decoding`: what writers change comes from a replication slot, and no trigger is put on the old tables. No row
is lost or doubled, whenever the command is killed; and neither the slot nor the publication stays."""
import contextlib
import os
import random
import re
import signal
import subprocess
import threading
import unittest

import harness
import wire
from test_commands import USAGE, WRONG
from test_migrate_command import MigrateCase
from test_migrate_command import Writer as ProxiedWriter

SEED = int(os.environ.get("KEYSPREAD_SEED", "1"))
# `wiped` is truncated now and then, `still` is not written at all.
NAMES = ["orders", "events", "wiped", "still"]
TABLES = r"""
create table orders (id bigserial primary key, label text unique, amount int);
create table events (what text, at timestamptz, n float8, note text, primary key (at, what, n));
create table wiped (id int primary key, label text);
create table still (id int primary key, label text);
alter table events replica identity full;
insert into orders (label, amount) select 'old ' || n, n from generate_series(1, 30000) n;
insert into events select E'it''s\t\\' || n, '2026-01-01'::timestamptz + n * interval '1.1 s', n / 3.0, null from generate_series(1, 6000) n;
insert into wiped select n, 'old' from generate_series(1, 6000) n;
insert into still select n, 'old' from generate_series(1, 6000) n;
"""
TABLES_OF_WRITERS = """create table orders (id bigserial primary key, customer int, amount numeric(10,2), label text);
    create table lines (order_id bigint, product text, primary key (order_id, product))"""
LEFT = """select (select count(*) from pg_replication_slots), (select count(*) from pg_publication),
    (select count(*) from pg_namespace where nspname like 'keyspread%'), (select count(*) from pg_trigger where tgname like 'keyspread%')"""


class Writer(threading.Thread):
    """A client of the database itself, where a trigger gives rows their hash after the cutover: it changes rows and keys of its own, and knows what must be there."""

    def __init__(self, number, postgres):
        super().__init__(daemon=True)
        self.number, self.postgres, self.chance = number, postgres, random.Random(SEED * 100 + number)
        self.stopped, self.failure, self.count, self.truncates = threading.Event(), None, 0, True
        self.orders, self.events, self.wiped = {}, {}, {}
        self.start()

    def run(self):
        import psycopg2
        try:
            with contextlib.closing(psycopg2.connect(host="127.0.0.1", port=self.postgres.port, user=harness.USER, dbname="app")) as connection:
                while not self.stopped.is_set():
                    with connection, connection.cursor() as cursor:
                        self.write(cursor)
                    self.stopped.wait(0.01)  # They write at a pace that the command keeps up with on a busy machine.
        except Exception as failure:  # the test's thread tells it
            self.failure = failure

    def write(self, cursor):
        """One transaction. A savepoint is rolled back, which must not be seen."""
        self.count += 1
        label, key = f"writer {self.number}'s {self.count}", 10 ** 6 * (self.number + 1) + self.count
        cursor.execute("insert into orders values (%s, %s, 0)", (key, label))
        cursor.execute("savepoint s; insert into orders values (%s, 'undone', 1); rollback to s", (-key,))
        self.orders[key] = label
        cursor.execute("insert into events values (%s, now(), %s, repeat('x', 3000))", (label, key / 7))
        self.events[label] = key / 7
        if self.orders and self.count % 3 == 1:  # Two labels change their places, which are unique; one key moves.
            one, two = self.chance.choice(list(self.orders)), key
            cursor.execute("delete from orders where id in (%s, %s)", (one, two))
            self.orders[one], self.orders[two] = self.orders[two], self.orders[one]
            for row in {one, two}:
                cursor.execute("insert into orders values (%s, %s, 1)", (row, self.orders[row]))
            cursor.execute("update orders set id = id + 100000 where id = %s", (key,))
            self.orders[key + 100000] = self.orders.pop(key)
            cursor.execute("update events set n = n + 1, at = at + interval '1 day' where what = %s", (label,))
            self.events[label] += 1
        elif self.count % 3 == 2:
            gone = self.chance.choice(list(self.orders))
            cursor.execute("delete from orders where id = %s", (gone,))
            del self.orders[gone]
            gone = self.chance.choice(list(self.events))
            cursor.execute("delete from events where what = %s", (gone,))
            del self.events[gone]
        if self.number == 0:  # It alone writes this table.
            if self.truncates and self.count % 20 == 10:
                cursor.execute("truncate wiped")
                self.wiped = {}
            cursor.execute("insert into wiped values (%s, %s)", (key, label))
            self.wiped[key] = label

    def stop(self):
        self.stopped.set()
        self.join(harness.PATIENCE)


class MigrateDecoding(MigrateCase):
    settings = {"wal_level": "logical", "max_replication_slots": 2, "wal_writer_delay": "10s"}

    @classmethod
    def setUpClass(cls):
        super(MigrateCase, cls).setUpClass()
        cls.postgres = harness.Postgres(**cls.settings)
        cls.addClassCleanup(cls.postgres.remove)

    def drop_all(self):
        with self.postgres.admin("postgres") as admin:
            admin.rows("select pg_drop_replication_slot(slot_name) from pg_replication_slots")
        super().drop_all()

    def tables(self, names):
        keys = {"events": ["at", "what", "n"], "lines": ["order_id", "product"]}
        return [{**table, "primary_key": keys.get(table["name"], ["id"]), "hash_key": keys.get(table["name"], ["id"])[:1]}
                for table in super().tables(names)]

    def migrate(self, *words, code=0, names=("one",)):
        return super().migrate(*words, code=code, names=names)

    def decode(self, *words, **more):
        return self.migrate(*words, "--changes=decoding", **more)

    def killed(self, word, most):
        """The command is killed as it sends a statement by chance, one of the first `most`. Whether it has come to its end before."""
        since, number = self.postgres.mark(), self.chance.randint(1, most)
        command = subprocess.Popen([harness.program(), "migrate", self.command_file(NAMES), word, "--changes=decoding"], stdout=subprocess.DEVNULL)
        try:
            harness.eventually("it goes on", lambda: command.poll() is not None or number <= len(
                re.findall(r"keyspread_new_|keyspread\.(?:migration|changes)|keyspread_changes|pg_replication_slot|emit_message", self.postgres.log(since))))
        finally:
            command.send_signal(signal.SIGKILL)
        return command.wait() == 0

    def more(self, writers):
        """All writers have written more by the time that this returns."""
        before = [writer.count for writer in writers]
        harness.eventually("rows are written", lambda: any(writer.failure for writer in writers) or all(
            writer.count > count + 5 for writer, count in zip(writers, before)))
        self.assertEqual([writer.failure for writer in writers], [None] * len(writers))

    def test_under_writers_and_killed(self):
        self.admin(TABLES)
        writers = [Writer(number, self.postgres) for number in range(3)]
        self.addCleanup(lambda: [writer.stop() for writer in writers])
        self.more(writers)
        self.chance = random.Random(SEED)
        kills = 0
        while kills < 10:
            kills += not self.killed("--run", 80)
            self.more(writers)
        self.decode("--run", names=NAMES)
        self.assertEqual(self.admin("select plugin, slot_type from pg_replication_slots"), [["pgoutput", "logical"]])
        self.assertEqual(self.admin("select count(*) from pg_trigger where tgname like 'keyspread_log%'"), [["0"]])
        self.more(writers)
        self.assertRegex(self.decode("--run", names=NAMES).stdout, r"caught up: [1-9]\d* changes")
        for _ in range(3):
            self.killed("--cutover", 150)
            self.more(writers)
        writers[0].truncates = False  # While tables are compared and switched it makes another table of one, which is refused.
        self.migrate("--cutover", names=NAMES)
        self.assertEqual(self.admin(LEFT)[0][:2], ["0", "0"])
        self.more(writers)
        for schema in ("public", "keyspread_old_public"):
            self.check_ledger(writers, schema)
        for name in NAMES:
            self.assertRegex(self.run_command("verify", self.command_file(NAMES), name).stdout, "wrong: 0\nmissing: 0\n")
        writers += [Writer(number, self.postgres) for number in range(3, 6)]
        self.migrate("--back", names=NAMES)
        self.more(writers[3:])
        self.check_ledger(writers, "public")
        self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])

    def check_ledger(self, writers, schema):
        """Each row is as its writer left it, and all that nobody has written are there."""
        for writer in writers:
            writer.stop()
        self.assertEqual([writer.failure for writer in writers], [None] * len(writers))

        def rows(sql):
            return {row[0]: row[1] for row in self.admin(f"set search_path = {schema}; {sql}")}

        def told(what):
            return {str(key): str(value) for writer in writers for key, value in getattr(writer, what).items()}
        self.assertEqual(rows("select id, label from orders where label not like 'old%'"), told("orders"))
        self.assertEqual({key: float(value) for key, value in rows("select what, n from events where what like 'writer%'").items()},
                         {key: float(value) for key, value in told("events").items()})
        wiped = told("wiped")
        self.assertEqual(rows("select id, label from wiped where label <> 'old'"), wiped)
        self.assertEqual(self.admin(f"set search_path = {schema}; select (select count(*) from orders where label like 'old%'),"
                                    " (select count(*) from events where what like 'it%'), (select count(*) from still), (select count(*) from wiped)"),
                         [["30000", "6000", "6000", str(len(wiped))]])

    def new_rows(self, sql, name="one"):
        """The rows of the new table, before the cutover."""
        return self.admin(f"select {sql} from keyspread_new_public.{name}")

    def test_what_it_needs(self):
        """It is refused before anything is done, with what is missing and what to do."""
        one = "create table one (id int primary key, t text not null unique);"
        for make, undo, what in (
                (one + "alter table one replica identity nothing", "", r"public.one: its replica identity lacks columns of the key.* REPLICA IDENTITY DEFAULT"),
                (one + "alter table one replica identity using index one_t_key", "", "public.one: its replica identity lacks columns of the key"),
                ("create unlogged table one (id int primary key)", "", "public.one: it is UNLOGGED, and its changes cannot be decoded.* SET LOGGED"),
                (one + "select pg_create_physical_replication_slot('s' || n) from generate_series(1, 2) n",
                 "select pg_drop_replication_slot('s' || n) from generate_series(1, 2) n", "max_replication_slots is 2, and all are taken. Raise max_replication_slots"),
                (one + f"alter role {harness.USER} nosuperuser; grant create on database app to {harness.USER}; grant create on schema public to"
                 f" {harness.USER}; alter table one owner to {harness.USER}", f"alter role {harness.USER} superuser", "has no REPLICATION. ALTER ROLE")):
            with self.subTest(make):
                self.admin(make)
                for word in ("--plan", "--run"):
                    self.assertRegex(self.decode(word, code=WRONG).stderr, what)
                self.migrate("--plan", "--accept=one.unlogged")
                self.admin(f"drop table one; {undo}")
                self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])
        self.run_command("migrate", self.command_file(["one"]), "--plan", "--changes=magic", code=USAGE)

    def test_a_role_that_owns_the_tables(self):
        """It needs no more than REPLICATION."""
        self.admin("create role mover login replication; grant create on database app to mover; grant create on schema public to mover;"
                   "create table one (id int primary key); alter table one owner to mover; insert into one values (1)")
        config = {"listen": ["127.0.0.1:6432"], **self.config(["one"])}
        config["backend"]["dsn"] = config["backend"]["dsn"].replace(f"user={harness.USER}", "user=mover")
        file = self.file(config)
        self.run_command("migrate", file, "--run", "--changes=decoding")
        self.admin("insert into one values (2)")
        self.run_command("migrate", file, "--cutover")
        self.assertEqual(self.admin("select id from one order by 1"), [["1"], ["2"]])
        self.assertEqual(self.admin(LEFT)[0][:2], ["0", "0"])

    def test_keys_of_every_kind(self):
        """What a replica identity by an index tells, keys that are stored outside of their rows, and odd names."""
        self.admin(r"""create table one (id int primary key, other int not null, t text); create unique index one_both on one (other, id);
            alter table one replica identity using index one_both; create table "odd One" (before int, "The, Key" text, id int, note text,
            gone int, primary key (id, "The, Key")); alter table "odd One" alter "The, Key" set storage external, drop gone;
            create publication told for table one;
            insert into one select n, n, 'a' from generate_series(1, 100) n;
            insert into "odd One" select n, repeat(E'it''s\t\\\n', 300), n, 'a' from generate_series(1, 10) n""")
        config = {"listen": ["127.0.0.1:6432"], **self.config(["one", "odd One"])}
        config["tables"][1].update(name='"odd One"', primary_key=["The, Key", "id"], hash_key=["id"], hash_column="h")
        file = self.file(config)
        plan = self.run_command("migrate", file, "--plan", "--changes=decoding", "--accept=told").stdout
        self.assertIn("""CREATE PUBLICATION keyspread_migrate FOR TABLE public.one, public."odd One";""", plan)
        self.assertRegex(plan, r"wal_level = logical, a free slot \(max_replication_slots\), a role with REPLICATION, and the key in each table's")
        self.assertNotRegex(plan, "keyspread_log|keyspread.refuse")
        self.assertEqual(self.admin(LEFT), [["0", "1", "0", "0"]])
        self.run_command("migrate", file, "--run", "--changes=decoding", "--accept=told")
        self.admin(r"""update one set t = 'b' where id = 1; update one set id = 1000 where id = 2; update one set other = 1001 where id = 3;
            delete from one where id = 4; insert into one values (5000, 1, 'b'); update "odd One" set note = 'b' where id = 1;
            update "odd One" set "The, Key" = E'\\.' where id = 2; delete from "odd One" where id = 3;
            insert into "odd One" values (0, E'\\N\r\n\u20ac', 11, null), (0, '', 12, null)""")
        self.assertIn("caught up: 14 changes", self.run_command("migrate", file, "--run").stdout)
        self.run_command("migrate", file, "--cutover")
        self.assertEqual(self.admin("select count(*), sum(id), sum(other), count(*) filter (where t = 'b') from one"),
                         [["100", str(5050 - 2 + 1000 - 4 + 5000), str(5050 - 3 + 1001 - 4 + 1), "2"]])
        self.assertEqual(self.admin("""select count(*), sum(id), sum(length("The, Key")), string_agg(note, '' order by id) from "odd One" """),
                         [["11", str(55 - 3 + 11 + 12), str(2100 * 8 + 2 + 5), "baaaaaaaa"]])
        self.assertEqual(self.admin("select pubname, tablename from pg_publication_tables"), [["told", "one"]])

    @harness.proxied
    def test_through_keyspread(self):
        """With its entry the table passes as an ordinary one until the cutover. No write fails."""
        self.admin(TABLES_OF_WRITERS)
        keyspread = harness.Keyspread(self.config(()))
        self.addCleanup(keyspread.stop)
        names = ["orders", "lines"]
        self.decode("--run", names=names)
        keyspread.reload({**keyspread.config, "tables": self.tables(names)})
        writers = [ProxiedWriter(number, f"host=127.0.0.1 port={keyspread.port} user=app dbname=app sslmode=disable") for number in range(2)]
        self.addCleanup(lambda: [writer.stop() for writer in writers])
        self.more(writers)
        self.migrate("--cutover", names=names)
        self.more(writers)
        for writer in writers:
            writer.stop()
        self.assertEqual([writer.again for writer in writers], [[]] * len(writers))
        self.assertEqual({int(row[0]): (row[1], row[2], int(row[3])) for row in self.admin(
            "select o.id, label, amount, count(l) from orders o left join lines l on l.order_id = o.id group by o.id, label, amount")},
            {key: order for writer in writers for key, order in writer.orders.items()})
        for name in names:
            self.assertRegex(self.run_command("verify", self.command_file(names), name).stdout, "wrong: 0\nmissing: 0\n")

    def test_truncate_while_the_slot_is_made(self):
        """PostgreSQL decodes a transaction without the TRUNCATE of another one if both write while a slot is made."""
        self.admin("create table one (id int primary key); create table other (id int); insert into one values (1)")
        sessions = [self.postgres.admin("app") for _ in range(3)]
        with contextlib.ExitStack() as stack:
            first, second, third = (stack.enter_context(session) for session in sessions)

            def wait_for(session):
                pid = session.rows("select pg_backend_pid()")[0][0]
                harness.eventually("the slot's maker waits for it", lambda: self.admin(
                    f"select count(*) from pg_stat_activity where {pid} = any (pg_blocking_pids(pid)) and wait_event = 'transactionid'") == [["1"]])

            first.rows("begin; insert into other values (1)")
            run = threading.Thread(target=lambda: self.decode("--run"))
            run.start()
            wait_for(first)
            second.rows("begin; insert into other values (2)")
            self.admin("truncate one")
            first.rows("commit")
            wait_for(second)
            third.rows("begin; insert into one values (2)")
            second.rows("commit")
            harness.eventually("the slot is made", lambda: self.admin("select count(*) from pg_replication_slots where confirmed_flush_lsn is not null") == [["1"]])
            third.rows("commit")
            run.join(harness.PATIENCE)
        self.admin("insert into one values (3)")
        self.migrate("--run")
        self.assertEqual(self.new_rows("id"), [["2"], ["3"]])

    def test_a_commit_that_nobody_sees_yet(self):
        """It is in the WAL, and waits for a standby: its row is taken over when it is seen, and so is one that is committed later."""
        self.admin("create table one (id int primary key); insert into one values (1)")
        self.decode("--run")
        with self.postgres.admin("postgres") as admin:
            admin.rows("alter system set synchronous_standby_names = 'nobody'")
            admin.rows("select pg_reload_conf()")
        try:
            with self.postgres.admin("app") as waits:
                harness.eventually("a standby is waited for", lambda: self.admin("show synchronous_standby_names") == [["nobody"]])
                waits.send(wire.query("set synchronous_commit = on; insert into one values (2)"))
                harness.eventually("it waits", lambda: self.admin("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == [["1"]])
                self.admin("insert into one values (3); delete from one where id = 1")
                self.assertIn("caught up: 2 changes", self.migrate("--run").stdout)
                self.assertEqual(self.new_rows("id"), [["3"]])
        finally:
            with self.postgres.admin("postgres") as admin:
                admin.rows("alter system reset synchronous_standby_names")
                admin.rows("select pg_reload_conf()")
        harness.eventually("it is seen", lambda: self.admin("select count(*) from one") == [["2"]])
        self.migrate("--run")
        self.assertEqual(self.new_rows("id"), [["2"], ["3"]])
        self.migrate("--cutover")

    def test_keys_that_are_slow_to_log(self):
        """Only to read the WAL has a limit in the switch: it does not fail because a log is slow."""
        self.admin("create table one (id int primary key)")
        self.decode("--run")
        self.admin("""create function keyspread.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return null; end $$;
            create trigger slow before insert on keyspread.changes_1 for each statement execute function keyspread.slow()""")
        switched = threading.Event()

        def write():
            with self.postgres.admin("app") as session:
                while not switched.is_set():
                    session.rows("insert into one (id) select coalesce(max(id), 0) + 1 from one")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            self.migrate("--cutover")
        finally:
            switched.set()
            writer.join()
        self.assertEqual(self.admin("select count(*) = max(id) from one"), [["t"]])
        self.migrate("--back")

    def test_it_goes_on_as_it_began(self):
        self.admin("create table one (id int primary key); insert into one values (1)")
        self.migrate("--run")
        self.assertRegex(self.decode("--run", code=WRONG).stderr, "logs changes by triggers: leave --changes=decoding out")
        self.migrate("--back")
        self.decode("--run")
        self.migrate("--back")
        self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])
        self.decode("--run")
        self.admin("truncate one; insert into one values (2)")
        self.assertIn("caught up: 2 changes", self.migrate("--run").stdout)
        self.assertEqual(self.new_rows("id"), [["2"]])
        # What was read is not read again; the server may drop its WAL.
        self.assertIn("caught up: 0 changes", self.migrate("--run").stdout)
        self.assertEqual(self.admin("select confirmed_flush_lsn = decoded from pg_replication_slots, keyspread.migration"), [["t"]])
        self.admin("select pg_drop_replication_slot(slot_name) from pg_replication_slots; insert into one values (3)")
        for word in ("--run", "--cutover"):
            self.assertRegex(self.migrate(word, code=WRONG).stderr, "cannot be read from the replication slot. If it is gone, take the migration back")
        self.migrate("--back")
        self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])
        self.assertEqual(self.admin("select id from one order by 1"), [["2"], ["3"]])

    def test_what_is_changed_meanwhile(self):
        """A name or a replica identity: nothing is switched."""
        for change, undo, what in (
                ("alter table one rename to other; insert into other values (2, 'b')", "alter table other rename to one", "a table has got another name"),
                ("alter table one replica identity using index one_t_key; delete from one where id = 1", "", "came without the key of its row")):
            with self.subTest(change):
                self.admin("create table one (id int primary key, t text not null unique); insert into one values (1, 'a')")
                self.decode("--run")
                self.admin(f"{change}; {undo}")
                self.assertRegex(self.migrate("--cutover", code=WRONG).stderr, what)
                self.migrate("--back")
                self.admin("drop table one")
                self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])


class WrongLevel(MigrateCase):
    def test_it_is_refused(self):
        self.admin("create table one (id int primary key)")
        self.assertRegex(self.migrate("--run", "--changes=decoding", names=["one"], code=WRONG).stderr, "wal_level is replica. Set wal_level = logical")
        self.assertEqual(self.admin(LEFT), [["0", "0", "0", "0"]])


if __name__ == "__main__":
    unittest.main()
