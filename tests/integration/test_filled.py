"""`keyspread ddl --trigger`: rows that come past keyspread, or from functions of the application, get their hash from a
trigger; keyspread knows its own, and batches as if there were none."""
import json
import subprocess
import tempfile
import unittest

import harness
import wire

INSERT = "insert into {} (userid, ts, event) values ({}, '2026-01-01', 'x')"


class Buckets(harness.Table):
    """A table without partitions."""

    def config(self):
        return {**super().config(), "partitions": {"buckets": 1}}

    def ddl(self, hashed=True, partitioned=False):
        return super().ddl(hashed, False)


def table(name, **options):
    return Buckets(name, harness.EVENTS.columns, harness.EVENTS.key, hash_column="userhash", **options)


PLAIN = table("plain")
HASHED = table("hashed", hash_function="pg_hash")
WIDE = Buckets("wide", ["a text not null", "b int not null", "event text"], ["a", "b"], hash_key=["b", "a"])


@harness.proxied
class Filled(harness.StackCase):
    tables = (PLAIN, HASHED, WIDE, harness.EVENTS)
    options = {"backend": {"catalog_s": 1}, "workers": 1}

    def setUp(self):
        super().setUp()
        for one in (PLAIN, HASHED, WIDE):
            made = self.ddl(one.name)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.past(made.stdout)
        self.session = self.wire()

    def ddl(self, name, tables=tables):
        config = harness.backend_config(self.postgres, tables)
        config["backend"]["dsn"] += f" dbname={self.database} user=postgres"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(config, file)
            file.flush()
            return subprocess.run([harness.program(), "ddl", "--trigger", file.name, name], check=False,
                                  capture_output=True, text=True)

    def past(self, sql):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(sql)

    def check(self, one, count):
        connection = harness.connect_admin(self.postgres, self.database)
        try:
            harness.verify_hashes(self, connection, one, count)
        finally:
            connection.close()

    def batchable(self, name):
        lines = [row[0] for row in self.session.rows("explain (proxy) " + INSERT.format(name, 9))]
        return [line for line in lines if line.startswith("batchable")]

    def test_past_keyspread(self):
        for name in ("plain", "hashed"):
            self.past(f"insert into {name} (userid, ts) select n, '2026-01-01' from generate_series(-50, 49) n")
            self.past(f"insert into {name} (userid, ts) values (9223372036854775807, now()), (-9223372036854775808, now())")
        self.past("insert into wide (a, b) select repeat(chr(64 + n), n), n * 1000003 from generate_series(1, 60) n")
        self.check(PLAIN, 102)
        self.check(WIDE, 60)
        self.assertEqual(self.past("select count(*) from hashed"), [["102"]])
        self.assertEqual(self.session.rows("select event from plain where userid = 49"), [[None]])

    def test_functions_of_the_application(self):
        for name in ("plain", "hashed"):
            self.session.rows(f"create function add_{name}(of bigint) returns void language plpgsql as "
                              f"$$ begin insert into {name} (userid, ts, event) values (of, '2026-01-01', 'made'); end $$")
            self.session.rows(f"select add_{name}(n) from generate_series(1, 5) n")
            self.assertEqual(self.session.rows(f"select event from {name} where userid = 5"), [["made"]])
        self.check(PLAIN, 5)

    def test_batches_go_on(self):
        """While the first row waits for a lock, the others gather: they leave as one statement with all rows."""
        for name in ("plain", "hashed"):  # What was made past keyspread is seen after a while.
            harness.eventually("the trigger is known", lambda name=name: self.batchable(name) == ["batchable: yes"])
        since = self.postgres.mark()
        sessions = [self.wire() for _ in range(64)]
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; lock table plain in share mode")
            for number, session in enumerate(sessions):
                session.send(wire.query(INSERT.format("plain", number) + f", ({-number - 1}, '2026-01-02', 'y')"))
            harness.eventually("a row waits", lambda: self.past(
                "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'") == [["t"]])
            holder.rows("commit")
        self.assertEqual([wire.error_of(session.read_ready()) for session in sessions], [None] * 64)
        self.check(PLAIN, 128)
        self.assertNotEqual(self.postgres.statements(since, self.database, "keyspread_rows"), [])
        self.assertNotIn("batch_not_merged", self.keyspread.lines.text())

    def test_transactions_that_are_kept(self):
        """Their COMMIT looks for triggers that could leave out a row; this one is none."""
        harness.eventually("the trigger is known", lambda: self.batchable("plain") == ["batchable: yes"])
        self.session.rows("set keyspread.transactions = lazy")
        for number in range(4):
            for text in ("begin", INSERT.format("plain", number), "commit"):
                self.assertIsNone(wire.error_of(self.session.query(text)), text)
        self.check(PLAIN, 4)

    def test_another_body_is_not_ours(self):
        """It may do anything to a row: each is sent as its own, so that what it leaves out is told."""
        body = self.past("select prosrc from pg_proc where proname = 'keyspread_hash_plain'")[0][0]
        changed = body.replace("RETURN new", "RETURN NULL")
        self.past("create or replace function keyspread_hash_plain() returns trigger language plpgsql as "
                  f"$x${changed}$x$")
        harness.eventually("it is noticed", lambda: self.batchable("plain") != ["batchable: yes"])
        self.assertEqual(self.batchable("hashed"), ["batchable: yes"])
        self.past("insert into plain (userid, ts) values (1, now())")
        self.assertEqual(self.past("select count(*) from plain"), [["0"]])

    def test_tables_that_cannot_have_one(self):
        self.past("create table made (userid bigint generated always as (7) stored, ts timestamptz, "
                  "userhash bigint not null, primary key (userid, ts, userhash))")
        for one, why in ((harness.EVENTS, "it has partitions"), (table("made"), "a column of its hash is generated"),
                         (table("plain", hash_function="cityhash64"), "no expression")):
            refused = self.ddl(one.name, (one,))
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn(why, refused.stderr)
        self.past("drop table made")


if __name__ == "__main__":
    unittest.main()
