"""Tables whose hash column holds buckets (hash_buckets): each road by which a row gets one, is found by it or changes it,
with either order of the key. What a bucket is, is computed once more by Debian's python3-xxhash."""
import os
import re
import struct
import subprocess
import sys
import unittest

import harness
import wire
from harness import Table

sys.path.insert(0, os.path.join(os.path.dirname(harness.HERE), "differential"))
VECTORS = os.path.join(os.path.dirname(harness.HERE), "vectors", "hashes_keys.txt")
TS = "2026-01-01 00:00:00+00"
COLUMNS = ["userid bigint not null", "ts timestamptz not null", "event text"]
BUCKETS = 10 # no power of two, so that a signed modulo is another one


class Vectors(unittest.TestCase):
    def test_buckets_are_the_unsigned_hash_modulo_their_number(self):
        try:
            import hashes
        except ImportError:
            harness.missing("python3-xxhash")
        checked = 0
        with open(VECTORS, encoding="utf-8") as lines:
            for line in lines:
                function, buckets, key, bucket = (line.rstrip("\n").split("|") + [""] * 4)[:4]
                if function not in hashes.FUNCTIONS or not buckets.isdigit() or "~" in key:
                    continue
                kinds, texts = zip(*(value.split("=", 1) for value in key.split(" ")))
                with self.subTest(line):
                    self.assertEqual(hashes.expected(function, kinds, texts) % 2**64 % int(buckets), int(bucket))
                checked += 1
        self.assertGreater(checked, 40)


class Wide(Table):
    """Its hash column is an integer."""

    def ddl(self, *arguments, **options):
        return super().ddl(*arguments, **options).replace(" smallint ", " integer ")


def tables_of(order):
    options = {"hash_buckets": BUCKETS, "partitions": 4, "hash_first": False, "key_order": order}
    return (Table("events", COLUMNS, ["userid", "ts"], **options), Wide("wide", COLUMNS, ["userid", "ts"], **options),
            Table("drawn", ["id bigserial", "v text"], ["id"], sequences={"block": 10}, **options),
            Table("source", ["userid bigint", "ts timestamptz", "event text"], ["userid"], **options))


@harness.proxied
class HashLast(harness.StackCase):
    order = "hash_last"
    tables = tables_of("hash_last")

    def tags(self, session, sql):
        replies = session.query(sql)
        self.assertIsNone(wire.error_of(replies), sql)
        return wire.tags_of(replies)

    def each(self):
        """The tables of smallint and of integer."""
        for table in self.tables[:2]:
            yield table, self.wire()

    @staticmethod
    def failure(session, sql):
        """The fields of its error."""
        return next(reply.fields() for reply in session.query(sql) if reply.kind == "E")

    def plan(self, session, sql, options="costs off"):
        return "\n".join(row[0] for row in session.rows(f"explain ({options}) {sql}"))

    def test_the_key_is_in_this_order(self):
        with self.postgres.admin(self.database) as admin:
            key = admin.rows("select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'events'::regclass"
                             " and contype = 'p'")[0][0]
        self.assertEqual(key, "PRIMARY KEY (userid, ts, userid_hash)" if self.order == "hash_last"
                         else "PRIMARY KEY (userid_hash, userid, ts)")

    def test_inserts(self):
        for table, session in self.each():
            text = f"insert into {table.name} (userid, ts, event) values "
            self.assertEqual(self.tags(session, f"{text}(1, '{TS}', 'a')"), ["INSERT 0 1"])
            rows = ", ".join(f"({n}, '{TS}', 'many')" for n in range(100, 150))
            self.assertEqual(self.tags(session, text + rows), ["INSERT 0 50"])
            self.assertEqual(self.tags(session, f"insert into {table.name} values (-5, '{TS}', 'no list')"), ["INSERT 0 1"])
            self.assertEqual(self.tags(session, f"{text}(6, now(), 'made')"), ["INSERT 0 1"])
            self.assertEqual(session.rows(f"{text}(7, '{TS}', 'r') returning *")[0][::2], ["7", "r"])
            self.assertEqual(self.tags(session, f"begin; {text}(8, '{TS}', 'b'); commit"), ["BEGIN", "INSERT 0 1", "COMMIT"])
            self.check_stored(table, 55)

    def test_parameters(self):
        for table, session in self.each():
            text = f"insert into {table.name} (userid, ts, event) values ($1, $2, $3)"
            session.ask(wire.parse("s", text, (20, 1184, 25)), wire.sync())
            for n in range(20):
                binary = n % 2
                values = (struct.pack("!q", n), struct.pack("!q", n), b"v") if binary else (n, TS, "v")
                replies = session.ask(wire.bind("", "s", values, (1, 1, 1) if binary else ()), wire.execute(), wire.sync())
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
            session.ask(wire.parse("two", text + ", ($4, $5, $6)"), wire.sync())
            replies = session.ask(wire.bind("", "two", (50, TS, "x", 51, TS, "y")), wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 2"])
            self.check_stored(table, 22)

    def test_many_clients(self):
        table = self.tables[0]

        def insert(client):
            with self.wire() as session:
                for n in range(50):
                    self.assertEqual(self.tags(session, f"insert into events (userid, ts) values ({client * 50 + n}, '{TS}')"),
                                     ["INSERT 0 1"])
        harness.in_threads(8, insert)
        self.check_stored(table, 400)
        self.assertEqual({int(row[0]) for row in self.stored(table, "distinct userid_hash", "1")}, set(range(BUCKETS)))

    def test_upserts(self):
        for table, session in self.each():
            self.tags(session, f"insert into {table.name} values (1, '{TS}', 'a'), (2, '{TS}', 'b')")
            conflict = f"insert into {table.name} values (1, '{TS}', 'c') on conflict (userid, ts) do"
            self.assertEqual(self.tags(session, f"{conflict} nothing"), ["INSERT 0 0"])
            self.assertEqual(self.tags(session, f"{conflict} update set event = 'd'"), ["INSERT 0 1"])
            self.assertEqual(self.tags(session, f"upsert into {table.name} (userid, ts, event) values (2, '{TS}', 'e'),"
                                                f" (3, '{TS}', 'f')"), ["INSERT 0 2"])
            self.assertEqual(self.tags(session, f"replace into {table.name} (userid, ts) values (3, '{TS}')"), ["INSERT 0 1"])
            self.assertEqual(self.stored(table, "userid, event"), [["1", "d"], ["2", "e"], ["3", None]])
            self.check_stored(table, 3)

    def test_rows_from_a_query(self):
        for table, session in self.each():
            self.assertEqual(self.tags(session, f"insert into {table.name} select n - 50, '{TS}', 'q' from generate_series(1, 100) n"),
                             ["INSERT 0 100"])
            self.check_stored(table, 100)

    def test_copy(self):
        for table, session in self.each():
            for n, options in enumerate(("", " (format csv, header)")):
                separator, head = ("\t", "") if n == 0 else (",", "userid,ts,event\n")
                session.send(wire.query(f"copy {table.name} from stdin{options}"))
                session.read_until("G")
                data = head + "".join(f"{n * 100 + row}{separator}{TS}{separator}v\n" for row in range(40))
                replies = session.ask(wire.copy_data(data), wire.copy_done())
                self.assertEqual(wire.tags_of(replies), ["COPY 40"])
            session.send(wire.query(f"copy {table.name} from stdin (format binary)"))
            session.read_until("G")
            data = b"PGCOPY\n\xff\r\n\0" + bytes(8)
            for row in range(40):
                data += struct.pack("!hiqiqi", 3, 8, 200 + row, 8, row, 1) + b"v"
            replies = session.ask(wire.copy_data(data + b"\xff\xff"), wire.copy_done())
            self.assertEqual(wire.tags_of(replies), ["COPY 40"])
            self.check_stored(table, 120)

    def test_reads_by_key(self):
        for table, session in self.each():
            self.tags(session, f"insert into {table.name} select n, '{TS}', 'v' || n from generate_series(1, 200) n")
            read = f"select event from {table.name} where userid"
            for condition, rows in (("= 7", ["v7"]), ("in (7, 8, 9)", ["v7", "v8", "v9"]), ("= any ('{7,8}')", ["v7", "v8"]),
                                    ("= 7 or userid = 9", ["v7", "v9"])):
                self.assertEqual([row[0] for row in session.rows(f"{read} {condition} order by userid")], rows)
            self.assertEqual(len(set(re.findall(rf"{table.name}_p\d", self.plan(session, f"{read} = 7")))), 1)
            session.ask(wire.parse("r", f"{read} = $1", (20,)), wire.parse("a", f"{read} = any ($1)", (1016,)),
                        wire.sync())
            for values in ((struct.pack("!q", 7),), ("7",)):
                replies = session.ask(wire.bind("", "r", values, (1,) if isinstance(values[0], bytes) else ()),
                                      wire.execute(), wire.sync())
                self.assertEqual([reply.row() for reply in replies if reply.kind == "D"], [[b"v7"]])
            replies = session.ask(wire.bind("", "a", ("{7,8}",)), wire.execute(), wire.sync())
            self.assertEqual(sorted(reply.row() for reply in replies if reply.kind == "D"), [[b"v7"], [b"v8"]])
            session.query(f"prepare p (bigint) as {read} = $1")
            self.assertEqual(session.rows("execute p (9)"), [["v9"]])
            plan = self.plan(session, "execute p (9)", "analyze, costs off")
            self.assertEqual(len(re.findall(rf" on {table.name}_p\d .*loops", plan)), 1, plan)
            session.query("deallocate p")
            joined = f"select a.event from events a join {table.name} b on a.userid = b.userid where b.userid = 7"
            self.assertEqual(len(session.rows(joined)), len(session.rows("select 1 from events where userid = 7")))

    def test_changes_of_keys(self):
        for table, session in self.each():
            self.tags(session, f"insert into {table.name} select n, '{TS}', 'v' || n from generate_series(1, 40) n")
            name = table.name
            self.assertEqual(self.tags(session, f"update {name} set userid = 1001 where userid = 1"), ["UPDATE 1"])
            self.assertEqual(self.tags(session, f"update {name} set userid = userid + 2000 where userid < 20"), ["UPDATE 18"])
            self.assertEqual(self.tags(session, f"update {name} set userid = -userid where userid = 30"), ["UPDATE 1"])
            replies = session.ask(wire.parse("", f"update {name} set userid = $1 where userid = $2"),
                                  wire.bind("", "", ("3000", "31")), wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["UPDATE 1"])
            self.assertEqual(self.tags(session, f"delete from {name} where userid = 32"), ["DELETE 1"])
            self.assertEqual(self.tags(session, f"delete from {name} where userid = 32"), ["DELETE 0"])
            self.check_stored(table, 39)

    def test_numbers_of_a_sequence(self):
        session = self.wire()
        for _ in range(12):
            self.assertEqual(len(session.rows("insert into drawn (v) values ('x') returning id")), 1)
        self.tags(session, "insert into drawn (v) values ('a'), ('b'), ('c')")
        self.check_stored(self.tables[2], 15)

    def test_a_bucket_that_is_written(self):
        for table, session in self.each():
            right = table.stored_hash(5)
            text = f"insert into {table.name} (userid, ts, userid_hash) values (5, '{TS}', {{}})"
            error = self.failure(session, text.format((right + 1) % BUCKETS))
            self.assertEqual(error["C"], "22023")
            self.assertIn(f"for this key it is {right}.", error["H"])
            for value in (right, f"'{right}'", "default"):
                self.assertEqual(self.tags(session, text.format(value)), ["INSERT 0 1"])
                self.tags(session, f"delete from {table.name}")

    def test_it_stays_hidden(self):
        for table, session in self.each():
            self.tags(session, f"insert into {table.name} values (5, '{TS}', 'v')")
            error = self.failure(session, f"insert into {table.name} values (5, '{TS}', 'w')")
            self.assertEqual((error["C"], error["D"]), ("23505", "Key (userid, ts)=(5, 2026-01-01 00:00:00+00) already exists."))
            self.assertEqual(len(session.rows(f"select * from {table.name}")[0]), 3)
            names = session.rows(f"select attname from pg_attribute where attrelid = '{table.name}'::regclass and attnum > 0")
            self.assertEqual([row[0] for row in names], ["userid", "ts", "event"])
            error = self.failure(session, f"insert into {table.name} values (null, '{TS}', 'w')")
            self.assertEqual(error["C"], "23502")
            self.assertNotIn("hash", error.get("D", ""))


@harness.proxied
class HashFirst(HashLast):
    order = "hash_first"
    tables = tables_of("hash_first")


class Made(harness.StackCase):
    """Tables that `ddl` and clients make."""

    tables = (Table("plain", ["id int"], ["id"]),)
    setup_sql = "create schema made"
    functions = ("xxh3", "numeric_hash", "cityhash64", "pg_hash")

    @classmethod
    def start_keyspread(cls):
        pattern = {"primary_key": "auto", "hash_buckets": BUCKETS}
        entry = {"primary_key": ["id"], "hash_buckets": BUCKETS}
        config = harness.backend_config(cls.postgres, cls.tables)
        config["backend"]["dsn"] += f" dbname={cls.database} user={harness.USER}"
        config["tables"] += [{"name": "made.x_*", "hash_function": "xxh3", **pattern},
                             {"name": "made.p_*", "hash_function": "pg_hash", "partitions": {"uniform": 3}, **pattern},
                             {"name": "made.q_*", "hash_function": "pg_hash", "partitions": {"buckets": 5}, **pattern}]
        config["tables"] += [{"name": f"by_{function}", "hash_function": function, "partitions": {"at": [1, 5, 9]},
                              **entry} for function in cls.functions]
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def setUp(self):
        super().setUp()
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop schema made cascade; create schema made")
            for function in self.functions:
                admin.rows(f"drop table if exists by_{function}")

    def command(self, *arguments, code=0):
        done = subprocess.run([harness.program(), arguments[0], *arguments[1:]], capture_output=True, text=True,
                              timeout=harness.PATIENCE, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def verify(self, table, rows, wrong=0):
        done = self.command("verify", self.keyspread.config_path, table, code=1 if wrong else 0)
        self.assertEqual(done.stdout.split("\n")[:2], [f"rows: {rows}", f"wrong: {wrong}"])
        return done

    def type_of(self, table, column):
        with self.postgres.admin(self.database) as admin:
            return admin.rows(f"select format_type(atttypid, atttypmod) from pg_attribute where attname = '{column}'"
                              f" and attrelid = '{table}'::regclass")[0][0]

    def fill(self, session, table):
        for n in range(60):
            answer = session.query(f"insert into {table} (id) values ({n - 30})")
            self.assertEqual(wire.tags_of(answer), ["INSERT 0 1"], answer)

    def test_create_table(self):
        session = self.wire()
        for table in [f"by_{function}" for function in self.functions] + ["made.x_one", "made.p_one", "made.q_one"]:
            with self.subTest(table):
                column = "keyspread_hash" if table.startswith("made.") else "id_hash"
                self.assertEqual(wire.tags_of(session.query(f"create table {table} (id bigint primary key, v text)")),
                                 ["CREATE TABLE"])
                self.assertEqual(self.type_of(table, column), "smallint")
                self.fill(session, table)
                self.verify(table, 60)

    def test_ddl(self):
        session = self.wire()
        session.query("create table one (id bigint primary key)")
        for function in self.functions:
            with self.subTest(function):
                table = f"by_{function}"
                with self.postgres.admin(self.database) as admin:
                    admin.rows(f"create table {table} (id bigint primary key, v text)")
                    text = self.command("ddl", "--postgres", self.keyspread.config_path, table).stdout
                    admin.rows(f"drop table {table}")
                    admin.rows(text)
                self.assertIn("FOR VALUES FROM (9) TO (MAXVALUE)", text)
                session = self.wire()
                # keyspread was not there when the table was made: until it has seen it, no hash is written.
                harness.eventually("a hash", lambda: wire.tags_of(session.query(f"insert into {table} (id) values (1000)")))
                session.query(f"delete from {table} where id = 1000")
                self.fill(session, table)
                self.verify(table, 60)

    def test_the_check_of_pg_hash(self):
        """PostgreSQL's own expression of a bucket agrees with keyspread's, and refuses others."""
        session = self.wire()
        session.query("create table by_pg_hash (id bigint primary key, v text)")
        self.fill(session, "by_pg_hash")
        with self.postgres.admin(self.database) as admin:
            stored = admin.rows("select id, id_hash from by_pg_hash where id = 3")[0]
            with self.assertRaisesRegex(Exception, "23514|check"):
                admin.rows(f"insert into by_pg_hash (id, id_hash) values (1000 + {stored[0]}, 10)")
            self.assertEqual(len(admin.rows("select from by_pg_hash where hash_record_extended(row(id), 0) < 0")) > 10, True)
        hashed = self.command("hash", self.keyspread.config_path, "by_pg_hash", "id=3").stdout
        self.assertIn(f"id_hash: {stored[1]}\n", hashed)

    def test_keys_that_come_later(self):
        session = self.wire()
        for table, filled in (("made.x_late", False), ("made.q_late", False), ("made.q_full", True)):
            with self.subTest(table):
                session.query(f"create table {table} (id bigint, v text)")
                if filled:
                    session.query(f"insert into {table} select n from generate_series(-20, 20) n")
                self.assertIsNone(wire.error_of(session.query(f"alter table {table} add primary key (id)")))
                self.assertEqual(self.type_of(table, "keyspread_hash"), "smallint")
                if not filled:
                    self.fill(session, table)
                self.verify(table, 41 if filled else 60)

    def test_tables_of_a_pattern_by_their_type(self):
        with self.postgres.admin(self.database) as admin:
            for kind in ("smallint", "integer", "bigint"):
                admin.rows(f"create table made.x_{kind} (id bigint, keyspread_hash {kind} not null,"
                           " primary key (id, keyspread_hash))")
        with self.wire() as session:
            for kind in ("smallint", "integer"):
                # Until keyspread has seen a table that was made directly, it writes no hash.
                harness.eventually("a hash", lambda kind=kind: wire.tags_of(
                    session.query(f"insert into made.x_{kind} (id) values (1000)")))
                session.query(f"delete from made.x_{kind} where id = 1000")
                self.fill(session, f"made.x_{kind}")
                self.verify(f"made.x_{kind}", 60)
            error = wire.error_of(session.query("insert into made.x_bigint (id) values (1)"))
        self.assertEqual(error, "23502") # an ordinary table, for its hash column is none

    def test_wrong_buckets_are_counted(self):
        session = self.wire()
        session.query("create table by_xxh3 (id bigint primary key, v text)")
        self.fill(session, "by_xxh3")
        with self.postgres.admin(self.database) as admin:
            admin.rows("update by_xxh3 set id_hash = (id_hash + 1) % 10 where id = 7")
        self.verify("by_xxh3", 60, wrong=1)

    def test_another_number_of_buckets_is_refused(self):
        session = self.wire()
        session.query("create table by_xxh3 (id bigint primary key, v text)")
        self.fill(session, "by_xxh3")
        config = dict(self.keyspread.config)
        config["tables"] = [{**table, "hash_buckets": 16} if table["name"] == "by_xxh3" else table
                            for table in config["tables"]]
        before = self.keyspread.config
        self.addCleanup(self.keyspread.write_config, before)
        self.assertRegex(self.keyspread.reload(config), "event=reload_failed .*has rows")


if __name__ == "__main__":
    unittest.main()
