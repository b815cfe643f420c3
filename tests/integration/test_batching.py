"""Batches: rows of many clients in few statements, and nobody notices."""
import collections
import re
import unittest

import harness
import wire
from harness import EVENTS

TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
TS = "2026-01-02 03:04:05+00"
NUMBER = re.compile(r"-?\d{6,20}")


class Load(harness.StackCase):
    """Many clients at once. Commits take 2 ms, as on a disk that is far away, so that the database
    and not these clients is what everybody waits for. Eight links for 16 partitions: with a link
    for each, 32 clients that never pause make batches of 1.3 to 1.7 rows in any order of events."""

    settings = {"fsync": "on", "synchronous_commit": "on", "commit_delay": 2000,
                "commit_siblings": 0}
    clients, inserts = 32, 40

    @classmethod
    def start_keyspread(cls):
        """That a sanitizer makes everything slow is not to count as slow batches."""
        config = harness.backend_config(cls.postgres, cls.tables, **cls.options)
        config["tables"][0]["batch"] = {"target_ms": 10_000}
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def key(self, client, number):
        return client * 1_000_000 + number

    def partitions_of_statements(self, mark):
        """For each INSERT that PostgreSQL was told: the partitions of the rows in it."""
        known = {harness.xxh3_signed(self.key(client, number))
                 for client in range(self.clients) for number in range(self.inserts)}
        found = []
        for statement in self.postgres.statements(mark, self.database, "insert into"):
            numbers = map(int, NUMBER.findall(statement.text + statement.parameters))
            found.append([EVENTS.partition_of(number) for number in numbers if number in known])
        return found

    def run_clients(self, work):
        """Every client works on a psycopg2 connection of its own. The refused statements."""
        try:
            import psycopg2
        except ImportError:
            harness.missing("psycopg2")

        def client(number):
            connection = psycopg2.connect(self.dsn())
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    return work(number, cursor, psycopg2)
            finally:
                connection.close()
        return harness.in_threads(self.clients, client)

    def insert_all(self, number, cursor, text):
        for insert in range(self.inserts):
            cursor.execute(text.format(self.key(number, insert), TS, number))
            self.assertEqual(cursor.statusmessage, "INSERT 0 1")

    def check_all_there(self):
        rows = {int(row[0]) for row in self.stored(columns="userid")}
        expected = {self.key(client, insert)
                    for client in range(self.clients) for insert in range(self.inserts)}
        self.assertEqual(expected - rows, set(), "acknowledged, but not there")
        self.check_stored()

    @harness.proxied
    def test_rows_share_statements_of_one_partition(self):
        """Not all of whose values can be parameters."""
        mark = self.postgres.mark()
        text = TEXT.replace("'{}')", "now())")
        self.run_clients(lambda number, cursor, _: self.insert_all(number, cursor, text))
        self.check_all_there()
        statements = self.partitions_of_statements(mark)
        rows = sum(map(len, statements))
        self.assertEqual(rows, self.clients * self.inserts, "rows in PostgreSQL's log")
        for partitions in statements:
            self.assertEqual(len(set(partitions)), 1, f"one statement, partitions {partitions}")
        self.assertLess(len(statements), rows)  # how many less is speed, which bench/ measures

    def check_transactions(self):
        """A batch of executions is one transaction, which every row of it names."""
        self.check_all_there()
        transactions = collections.defaultdict(set)
        for transaction, partition in self.stored(columns="xmin, tableoid"):
            transactions[transaction].add(partition)
        self.assertEqual([t for t, partitions in transactions.items() if len(partitions) > 1], [])
        self.assertLess(len(transactions), self.clients * self.inserts)

    @harness.proxied
    def test_rows_of_constants_share_transactions(self):
        self.run_clients(lambda number, cursor, _: self.insert_all(number, cursor, TEXT))
        self.check_transactions()

    @harness.proxied
    def test_rows_with_parameters_share_transactions(self):
        def client(number):
            session = self.wire()
            session.ask(wire.parse("s", "insert into events (userid, ts, event) "
                                   "values ($1, $2, $3)"), wire.sync())
            for insert in range(self.inserts):
                replies = session.ask(wire.bind("", "s", [self.key(number, insert), TS, "x"]),
                                      wire.execute(), wire.sync())
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        harness.in_threads(self.clients, client)
        self.check_transactions()

    def test_a_duplicate_hurts_no_other(self):
        with self.postgres.admin(self.database) as admin:
            session = self.wire()
            for number in range(16):
                session.query(TEXT.format(self.key(999, number), TS, "there before"))
            self.assertEqual(admin.rows("select count(*) from events"), [["16"]])

        def work(number, cursor, psycopg2):
            refused = 0
            for insert in range(self.inserts):
                if number == 0:
                    with self.assertRaises(psycopg2.errors.UniqueViolation) as context:
                        cursor.execute(TEXT.format(self.key(999, insert % 16), TS, "mine"))
                    self.assertIn(f"Key (userid, ts)=({self.key(999, insert % 16)}, ",
                                  str(context.exception))
                    refused += 1
                cursor.execute(TEXT.format(self.key(number, insert), TS, number))
                self.assertEqual(cursor.statusmessage, "INSERT 0 1")
            return refused
        self.assertEqual(self.run_clients(work)[0], self.inserts)
        self.check_all_there()
        self.check_stored(count=self.clients * self.inserts + 16)

    def test_everyone_has_his_own_tag_rows_and_errors(self):
        """Clients with statements of different sizes, with RETURNING, and with mistakes."""
        def work(number, cursor, psycopg2):
            for insert in range(10):
                first = self.key(number, insert * 10)
                rows = 1 + (number + insert) % 4
                values = ", ".join(f"({first + row}, '{TS}', 'x{row}')" for row in range(rows))
                statement = f"insert into events (userid, ts, event) values {values}"
                kind = (number + insert) % 3
                if kind == 0:
                    cursor.execute(statement + " returning userid")
                    self.assertEqual(cursor.fetchall(), [(first + row,) for row in range(rows)])
                elif kind == 1:
                    with self.assertRaises(psycopg2.errors.InvalidTextRepresentation) as context:
                        cursor.execute(statement + f", ('number {number}', '{TS}', 'y')")
                    self.assertIn(f'"number {number}"', str(context.exception))
                    continue
                else:
                    cursor.execute(statement)
                self.assertEqual(cursor.statusmessage, f"INSERT 0 {rows}")
        self.run_clients(work)
        expected = sum(1 + (number + insert) % 4 for number in range(self.clients)
                       for insert in range(10) if (number + insert) % 3 != 1)
        self.check_stored(count=expected)


class LoadOneWorker(Load):
    options = {"workers": 1}


class LoadFourWorkers(Load):
    options = {"workers": 4}


del Load


class Order(harness.StackCase):
    def test_the_same_key_from_many_clients(self):
        """Two writes of a key in one statement would be 21000 or 23505."""
        upsert = (TEXT + " on conflict (userid, ts) do update set event = excluded.event")

        def client(number):
            session = self.wire()
            for insert in range(30):
                replies = session.query(upsert.format(insert % 3, TS, number))
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        harness.in_threads(16, client)
        self.check_stored(count=3)

    def test_one_client_s_writes_of_a_key_keep_their_order(self):
        upsert = (TEXT + " on conflict (userid, ts) do update set event = events.event || "
                  "excluded.event")

        def client(number):
            session = self.wire()
            session.send(*(wire.query(upsert.format(number, TS, letter))
                           for letter in "abcdefghijklmnopqrstuvwxyz"))
            replies = session.read_ready(26)
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"] * 26, replies)
        harness.in_threads(8, client)
        self.assertEqual({row[0] for row in self.stored(columns="event")},
                         {"abcdefghijklmnopqrstuvwxyz"})

    def test_equal_keys_in_other_spellings(self):
        """The second of two spellings of one key is the duplicate, also within one pipeline."""
        session = self.wire()
        session.send(*(wire.query(f"insert into events (userid, ts) values ({spelling}, '{ts}')")
                       for spelling, ts in (
                           ("5", "2026-01-01 00:00:00+00"), ("'5'", "2026-01-01 01:00:00+01"),
                           ("005", "2026-01-01T00:00:00Z"), ("4.7", "2026-01-01 00:00+0"),
                           ("5::int8", "2026-01-01"))))
        replies = session.read_ready(5)
        self.assertEqual([message.kind if message.kind != "E" else message.sqlstate
                          for message in replies if message.kind in "CE"],
                         ["C"] + ["23505"] * 4)
        self.check_stored(count=1)

    def test_two_rows_that_share_now(self):
        """Two statements with now() in their keys must not become one transaction."""
        def client(_):
            session = self.wire()
            done = 0
            for _ in range(10):
                replies = session.query("insert into events (userid, ts) values (1, now())")
                done += wire.tags_of(replies) == ["INSERT 0 1"]
            return done
        done = harness.in_threads(8, client)
        self.assertEqual(sum(done), 80)
        self.check_stored(count=80)

    def test_a_session_reads_its_writes(self):
        def client(number):
            session = self.wire()
            count = f"select count(*) from events where event = '{number}'"
            for insert in range(20):
                session.send(wire.query(TEXT.format(number * 100 + insert, TS, number)),
                             wire.query(count))
                replies = session.read_ready(2)
                self.assertEqual([m.row() for m in replies if m.kind == "D"],
                                 [[str(insert + 1).encode()]], replies)
        harness.in_threads(8, client)

    def test_replies_come_in_the_order_of_requests(self):
        session = self.wire()
        sent, expected = [], []
        for number in range(200):
            if number % 3 == 0:
                sent.append(wire.query(f"select {number}"))
                expected.append("SELECT 1")
            elif number % 3 == 1:
                rows = ", ".join(f"({number * 10 + row}, '{TS}', 'x')"
                                 for row in range(number % 4 + 1))
                sent.append(wire.query(f"insert into events values {rows}"))
                expected.append(f"INSERT 0 {number % 4 + 1}")
            else:
                sent += [wire.parse("", "insert into events (userid, ts) values ($1, $2)"),
                         wire.bind("", "", [number * 10, TS]), wire.execute(), wire.sync()]
                expected.append("INSERT 0 1")
        session.send(*sent)
        self.assertEqual(wire.tags_of(session.read_ready(200)), expected)

    def test_a_session_s_settings_are_its_own(self):
        zones = {"UTC": 12, "America/New_York": 17, "Asia/Tokyo": 3, "Europe/Berlin": 11}

        def client(number):
            zone, _ = list(zones.items())[number % 4]
            session = self.wire(**({"TimeZone": zone} if number < 4 else {}))
            session.query(f"set timezone = '{zone}'")
            for insert in range(10):
                replies = session.query("insert into events values "
                                        f"({number * 100 + insert}, '2026-01-02 12:00', '{zone}')")
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        harness.in_threads(8, client)
        hours = self.stored(columns="distinct event, extract(hour from ts at time zone 'UTC')::int",
                            order="1")
        self.assertEqual({zone: int(hour) for zone, hour in hours}, zones)
        self.check_stored(count=80)


class Atomicity(harness.StackCase):
    def test_a_statement_over_many_partitions_is_all_or_nothing(self):
        def client(number):
            session = self.wire()
            outcomes = []
            for insert in range(10):
                first = number * 10_000 + insert * 100
                values = ", ".join(f"({first + row}, '{TS}', 'x')" for row in range(32))
                if insert % 2:
                    values += f", ({number * 10_000}, '{TS}', 'again')"
                replies = session.query(f"insert into events values {values}")
                outcomes.append(wire.error_of(replies) or wire.tags_of(replies)[0])
            self.assertEqual(outcomes, ["INSERT 0 32", "23505"] * 5)
        harness.in_threads(6, client)
        self.check_stored(count=6 * 5 * 32)

    def test_a_sync_group_is_all_or_nothing(self):
        session = self.wire()
        session.ask(wire.parse("s", "insert into events (userid, ts) values ($1, $2)"),
                    wire.sync())
        good = [wire.bind("", "s", [1, TS]), wire.execute(), wire.bind("", "s", [2, TS]),
                wire.execute()]
        replies = session.ask(*good, wire.bind("", "s", [1, TS]), wire.execute(), wire.sync())
        self.assertEqual(wire.kinds(replies), "2C2C2EZ")
        self.check_stored(count=0)
        self.assertEqual(wire.kinds(session.ask(*good, wire.sync())), "2C2CZ")
        self.check_stored(count=2)

    def test_a_query_of_several_statements_is_all_or_nothing(self):
        session = self.wire()
        one, two = TEXT.format(1, TS, "a"), TEXT.format(2, TS, "b")
        replies = session.query(f"{one}; {two}; {one}")
        self.assertEqual(wire.kinds(replies), "CCEZ")
        self.check_stored(count=0)
        self.assertEqual(wire.kinds(session.query(f"{one}; {two}")), "CCZ")
        self.check_stored(count=2)


REFUSED = (
    "update events set userhash = 5 where userid = 1",
    "update events set (event, userhash) = ('x', 5)",
    f"insert into events values (1, '{TS}', 'x') on conflict (userid, ts) do update set (userid, event) = (5, 'x')",
    "insert into events (userhash, userid, ts) select n, n, now() from generate_series(1, 3) n",
    f"with x as (insert into events values (1, '{TS}', 'x') returning *) select * from x",
    f"prepare p as insert into events values (1, '{TS}', 'x')",
    f"explain analyze insert into events values (1, '{TS}', 'x')",
    "merge into events using (values (1)) as v(n) on userid = n "
    f"when not matched then insert (userid, ts) values (n, '{TS}')",
    "copy events from '/nowhere'",
    "copy public.events (userid, ts) from program 'true' (format binary)",
    "copy events from stdin (null '1')",
)


@harness.proxied
class Refused(harness.StackCase):
    """What keyspread refuses is an error where it stands: COMMIT and Sync know it."""

    GOOD = TEXT.format(100, TS, "good")

    def extended(self, session, sql):
        return session.ask(wire.parse("", sql), wire.bind("", ""), wire.describe("P", ""),
                           wire.execute(), wire.sync())

    def simple(self, session, sql):
        return session.query(sql)

    def check_refused(self, replies, status):
        error = next((message for message in replies if message.kind == "E"), None)
        self.assertIsNotNone(error, replies)
        self.assertEqual(error.sqlstate, "0A000", error)
        self.assertIn("H", error.fields(), f"no hint: {error}")
        self.assertEqual(replies[-1].body, status, replies)
        self.assertEqual(wire.kinds(replies).count("Z"), 1, replies)

    def each(self, check):
        for ask in (self.simple, self.extended):
            for sql in REFUSED:
                with self.subTest(protocol=ask.__name__, sql=sql):
                    check(lambda text, ask=ask, session=self.wire(): ask(session, text), sql)

    def test_alone(self):
        def check(ask, sql):
            self.check_refused(ask(sql), b"I")
            self.assertEqual(wire.tags_of(ask("select 1")), ["SELECT 1"])
        self.each(check)
        self.check_stored(count=0)

    def test_in_a_transaction(self):
        def check(ask, sql):
            self.assertEqual(wire.tags_of(ask("begin")), ["BEGIN"])
            self.assertEqual(wire.tags_of(ask(self.GOOD)), ["INSERT 0 1"])
            self.check_refused(ask(sql), b"E")
            self.assertEqual(wire.error_of(ask(self.GOOD)), "25P02")
            self.assertEqual(wire.tags_of(ask("commit")), ["ROLLBACK"])
        self.each(check)
        self.check_stored(count=0)

    def test_behind_a_savepoint(self):
        def check(ask, sql):
            for statement in ("begin", "savepoint a", self.GOOD):
                self.assertIsNone(wire.error_of(ask(statement)))
            self.check_refused(ask(sql), b"E")
            self.assertEqual(wire.tags_of(ask("rollback to a")), ["ROLLBACK"])
            self.assertEqual(wire.tags_of(ask(TEXT.format(200, TS, "kept"))), ["INSERT 0 1"])
            self.assertEqual(wire.tags_of(ask("commit")), ["COMMIT"])
            self.assertEqual(self.stored(columns="userid"), [["200"]])
            self.setUp()
        self.each(check)

    def test_behind_a_good_statement_of_the_same_query(self):
        for sql in REFUSED:
            with self.subTest(sql=sql):
                session = self.wire()
                self.check_refused(session.query(f"{self.GOOD}; {sql}"), b"I")
                self.check_refused(session.query(f"begin; {self.GOOD}; {sql}; commit"),
                                   session.query("select 1")[-1].body)
                session.query("rollback")
        self.check_stored(count=0)

    def test_behind_a_good_statement_of_the_same_group(self):
        for sql in REFUSED:
            with self.subTest(sql=sql):
                session = self.wire()
                self.check_refused(session.ask(
                    wire.parse("", self.GOOD), wire.bind("", ""), wire.execute(),
                    wire.parse("", sql), wire.bind("", ""), wire.execute(), wire.sync()), b"I")
        self.check_stored(count=0)

    def test_late_copy_data_of_a_refused_copy(self):
        session = self.wire()
        session.send(wire.query("copy events from stdin (null '1')"), wire.copy_data("1\t2026-01-01\tx\n"),
                     wire.copy_done(), wire.query("select 1"))
        replies = session.read_ready(2)
        self.assertEqual(wire.kinds(replies), "EZTDCZ")
        self.check_stored(count=0)

    def test_a_hash_written_by_the_client(self):
        session = self.wire()
        right = harness.xxh3_signed(7)
        insert = "insert into events (userhash, userid, ts) values ({}, 7, '{}')"
        self.assertEqual(wire.error_of(session.query(insert.format(right ^ 1, TS))), "22023")
        self.assertEqual(wire.tags_of(session.query(insert.format(right, TS))), ["INSERT 0 1"])
        self.check_stored(count=1)


class Constraints(harness.StackCase):
    """Tables with what fails late, speaks, or counts."""

    ORDERS = harness.Table("orders", ["customer int not null", "number int not null",
                                      "item int references item deferrable initially deferred"],
                           ["customer", "number"])
    NOISY = harness.Table("noisy", ["k int not null", "v text"], ["k"])
    COUNTED = harness.Table("counted", ["kind text not null", "id bigserial"], ["kind", "id"],
                            hash_first=False)
    FORWARD = harness.Table("forward", ["k int not null", "v text"], ["k"], uncomputable="forward")
    tables = (ORDERS, NOISY, COUNTED, FORWARD)

    before_sql = ("create table item (id int primary key);"
                  "insert into item select generate_series(1, 10)")
    setup_sql = """
        create function say() returns trigger language plpgsql as
          $$ begin raise notice 'row %', new.k; return new; end $$;
        create trigger noise before insert on noisy for each row execute function say()"""

    def test_deferred_constraints_fail_alone(self):
        """A deferred constraint fails after CommandComplete: that is not an acknowledgement."""
        def client(number):
            session = self.wire()
            for insert in range(20):
                item = 99 if (number + insert) % 5 == 0 else 1
                text = f"insert into orders values ({number}, {insert}, {item})"
                if insert % 2:
                    replies = session.query(text)
                else:
                    replies = session.ask(wire.parse("", text), wire.bind("", ""), wire.execute(),
                                          wire.sync())
                self.assertEqual(wire.error_of(replies), "23503" if item == 99 else None, replies)
        harness.in_threads(10, client)
        self.check_stored(self.ORDERS, count=160)

    def test_notices_reach_whom_they_concern(self):
        def client(number):
            session = self.wire()
            for insert in range(20):
                key = number * 100 + insert
                replies = session.query(f"insert into noisy values ({key}, 'x')")
                self.assertEqual([m.fields()["M"] for m in replies if m.kind == "N"],
                                 [f"row {key}"])
        harness.in_threads(8, client)
        self.check_stored(self.NOISY, count=160)

    def test_lastval_is_the_session_s(self):
        def client(number):
            session = self.wire()
            for _ in range(10):
                session.query(f"insert into counted (kind) values ('kind {number}')")
                value = session.rows("select lastval()")[0][0]
                self.assertEqual(session.rows(f"select kind from counted where id = {value}"),
                                 [[f"kind {number}"]])
        harness.in_threads(8, client)
        self.check_stored(self.COUNTED, count=80)

    @harness.proxied
    def test_what_is_forwarded_without_a_hash_is_caught_by_the_table(self):
        session = self.wire()
        replies = session.query("insert into forward values (1 + random()::int, 'x')")
        # (a partitioned table looks for the partition of NULL first)
        self.assertIn(wire.error_of(replies), ("23502", "23514"))
        self.assertEqual(wire.tags_of(session.query("insert into forward values (1, 'x')")),
                         ["INSERT 0 1"])
        self.check_stored(self.FORWARD, count=1)


if __name__ == "__main__":
    unittest.main()
