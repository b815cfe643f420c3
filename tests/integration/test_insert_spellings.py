"""One value in many spellings, and statements that are wrong: tests/vectors/insert-spellings sent
line by line through keyspread; stored hashes are compared with libxxhash's."""
import contextlib
import os
import re
import struct
import unittest

import harness
import wire

try:
    import psycopg2
    import psycopg2.extras
except ImportError:
    psycopg2 = None

VECTORS = os.path.join(harness.VECTORS, "insert-spellings")


def read_tables():
    """The tables of the companion file, without the hash column, which the harness puts in."""
    with open(VECTORS + ".sql", encoding="utf-8") as file:
        text = file.read()
    for name, columns, key in re.findall(
            r"CREATE TABLE (\w+) \(h int8 NOT NULL, (.*), PRIMARY KEY \(h, ([^)]*)\)\);", text):
        key = key.split(", ")
        hash_key = key if name == "pairs" else key[:1]
        yield harness.Table(name, [columns], key, hash_key=hash_key, hash_column="h")


def read_cases():
    with open(VECTORS, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                sql, expected = line.rstrip("\n").rsplit(" | ", 1)
                yield number, sql.replace("<NL>", "\n"), expected


def outcome(cursor, sql):
    try:
        cursor.execute(sql)
        return f"ok {cursor.rowcount}"
    except psycopg2.Error as error:
        return error.pgcode


class InsertSpellings(harness.StackCase):
    tables = tuple(read_tables())
    partitioned = False

    def setUp(self):
        if psycopg2 is None:
            harness.missing("psycopg2")
        super().setUp()

    def check_hashes(self, cursor, table):
        """Of the rows whose values Python can hold: not those of infinite dates. Their number. It counts
        days itself, for it has no years BC."""
        column = table.hash_key[0]
        columns = {"chars": [f"{name}::text" for name in table.hash_key],
                   "days": [f"{column} - date '1970-01-01'"]}.get(table.name, table.hash_key)
        finite = f"isfinite({column})" if table.name in ("days", "moments", "times") else "true"
        cursor.execute(f"select h, {', '.join(columns)} from {table.name} where {finite}")
        rows = cursor.fetchall()
        for stored, *key in rows:
            key = [struct.pack("<i", key[0])] if table.name == "days" else key
            self.assertEqual(stored, harness.xxh3_signed(*key), key)
        return len(rows)

    @harness.proxied
    def test_every_line(self):
        with contextlib.closing(psycopg2.connect(self.dsn(), options="-c timezone=UTC")) as client, \
                contextlib.closing(harness.connect_admin(self.postgres, self.database)) as admin:
            client.autocommit = admin.autocommit = True
            psycopg2.extras.register_uuid(conn_or_curs=admin)
            looking, cursor = admin.cursor(), client.cursor()
            looking.execute("set timezone to 'UTC'")
            count = checked = 0
            for number, sql, expected in read_cases():
                with self.subTest(line=number, sql=sql):
                    self.assertEqual(outcome(cursor, sql), expected)
                    for table in self.tables:
                        if re.search(rf"\b{table.name}\b", sql, re.IGNORECASE):
                            checked += self.check_hashes(looking, table)
                            looking.execute(f"truncate {table.name} restart identity")
                count += 1
        self.assertGreater(count, 500)
        self.assertGreater(checked, 300)


class NullKeys(harness.StackCase):
    """NULL in the key is PostgreSQL's to reject, in its own words and at its own time."""

    EVENTS = harness.Table("events", ["userid bigint not null", "ts int not null", "event text"],
                           ["userid", "ts"])
    FORWARDS = harness.Table("forwards", ["id bigint not null", "event text"], ["id"],
                             uncomputable="forward", hash_function="cityhash64")
    tables = (EVENTS, FORWARDS)
    partitioned = False

    def check_rejected(self, replies, column, row):
        error = next(reply for reply in replies if reply.kind == "E").fields()
        self.assertEqual((error["C"], error["c"], error["D"]),
                         ("23502", column, f"Failing row contains ({row})."))

    @harness.proxied
    def test_null_constants(self):
        session = self.wire()
        for sql, row in (("(userid, ts, event) values (null, 1, 'x')", "null, 1, x"),
                         ("values (null::int8, 1)", "null, 1, null"),
                         ("(userid, ts) values (default, 1)", "null, 1, null"),
                         ("(ts) values (1)", "null, 1, null"),
                         ("(userid, ts) values (7, 1), (null, 2)", "null, 2, null")):
            with self.subTest(sql):
                self.check_rejected(session.query("insert into events " + sql), "userid", row)
        self.check_stored(self.EVENTS, count=0)

    @harness.proxied
    def test_a_null_parameter_fails_at_execute(self):
        session = self.wire()
        for text in ("insert into events values ($1, 1, 'x')",
                     "insert into events (userid, ts, event) values ($1, 1, 'x') returning ts"):
            replies = session.ask(wire.parse("", text), wire.bind("", "", [None]), wire.execute(),
                                  wire.sync())
            self.assertEqual(wire.kinds(replies), "12EZ")
            self.check_rejected(replies, "userid", "null, 1, x")
        self.check_stored(self.EVENTS, count=0)

    @harness.proxied
    def test_who_shares_the_batch_is_not_harmed(self):
        def client(number):
            session = self.wire()
            for ts in range(20):
                key = None if (number + ts) % 4 == 0 else str(number)
                replies = session.ask(wire.parse("", "insert into events values ($1::int8, $2)"),
                                      wire.bind("", "", [key, str(ts)]), wire.execute(),
                                      wire.sync())
                self.assertEqual(wire.error_of(replies), "23502" if key is None else None)
        harness.in_threads(8, client)
        self.check_stored(self.EVENTS, count=120)

    @harness.proxied
    def test_forwarded_values_stay_in_their_columns(self):
        session = self.wire()
        for sql, row in (("values (1 + random()::int * 0, 'x')", "1, x"),
                         ("select 5, 'x'", "5, x"), ("select 5", "5, null"),
                         ("select * from (values (5, 'x')) v", "5, x")):
            with self.subTest(sql):
                sql = "insert into forwards " + sql
                self.check_forwarded(session.query(sql), row)
                self.check_forwarded(session.ask(wire.parse("", sql), wire.bind("", ""),
                                                 wire.execute(), wire.sync()), row)
        replies = session.query("insert into forwards select 5, nosuch")
        error = next(reply for reply in replies if reply.kind == "E").fields()
        self.assertEqual((error["C"], error["P"]), ("42703", "32"))
        self.check_stored(self.FORWARDS, count=0)

    def check_forwarded(self, replies, row):
        error = next(reply for reply in replies if reply.kind == "E").fields()
        self.assertEqual((error["C"], error["c"]), ("23502", "id_hash"))
        self.assertIn(row, error["D"])


if __name__ == "__main__":
    unittest.main()
