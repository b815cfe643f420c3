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
from test_commands import WRONG
from test_migrate_command import MigrateCase

SEED = int(os.environ.get("KEYSPREAD_SEED", "1"))
# `wiped` is truncated now and then, `still` is not written at all.
NAMES = ["orders", "events", "wiped", "still"]
TABLES = r"""
create table orders (id bigserial primary key, label text unique, amount int);
create table events (what text, at timestamptz, n float8, note text, primary key (at, what, n));
create table wiped (id int primary key, label text);
create table still (id int primary key, label text);
alter table events replica identity full;
insert into orders (label, amount) select 'old ' || n, n from generate_series(1, 12000) n;
insert into events select E'it''s\t\\' || n, '2026-01-01'::timestamptz + n * interval '1.1 s', n / 3.0, null from generate_series(1, 6000) n;
insert into wiped select n, 'old' from generate_series(1, 6000) n;
insert into still select n, 'old' from generate_series(1, 6000) n;
"""
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
            if self.truncates and self.count % 40 == 20:
                cursor.execute("truncate wiped")
                self.wiped = {}
            cursor.execute("insert into wiped values (%s, %s)", (key, label))
            self.wiped[key] = label

    def stop(self):
        self.stopped.set()
        self.join(harness.PATIENCE)


class MigrateDecoding(MigrateCase):
    settings = {"wal_level": "logical"}

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
        keys = {"events": ["at", "what", "n"]}
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
        for kills in range(10):
            self.assertFalse(self.killed("--run", 40 + 25 * kills), f"{kills} kills")
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
                         [["12000", "6000", "6000", str(len(wiped))]])


if __name__ == "__main__":
    unittest.main()
