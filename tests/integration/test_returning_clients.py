"""INSERT … RETURNING of many clients at once: each gets its own rows, and all of them; while others
fail, leave, cancel, or somebody changes the table past keyspread."""
import asyncio
import struct
import unittest

import harness
import metrics
import wire
from harness import Table

SERIALS = Table("serials", ["id bigserial", "owner int", "number int", "note varchar(20)"], ["id"],
                hash_first=False, batch={"target_ms": 60_000})
ITEMS = Table("items", ["id bigint not null", "owner int", "note varchar(20)"], ["id"],
              hash_first=False, partitions=2, batch={"target_ms": 60_000})


class Clients(harness.StackCase):
    tables = (SERIALS, ITEMS)
    options = {"admin": {}}
    clients, inserts = 32, 25
    settings = {"fsync": "on", "synchronous_commit": "on", "commit_delay": 2000,
                "commit_siblings": 0}

    def run_clients(self, work):
        return harness.in_threads(self.clients, work)

    def own_rows(self, owner, rows):
        """`rows` are (id, owner, number) as they were returned to `owner`, one an INSERT."""
        self.assertEqual([row[1:] for row in rows],
                         [(owner, number) for number in range(self.inserts)])
        return [row[0] for row in rows]

    def check(self, ids):
        """What clients were given is what is there, each once."""
        given = sorted(each for some in ids for each in some)
        self.assertEqual(len(set(given)), self.clients * self.inserts)
        self.assertEqual(given, [int(row[0]) for row in self.stored(SERIALS, "id")])
        self.check_stored(SERIALS, len(given))

    def shared(self, table):
        """How many rows a transaction of batches has stored."""
        rows = self.stored(table, "xmin")
        self.assertLess(len({row[0] for row in rows}), len(rows))

    def test_simple(self):
        def work(owner):
            session, rows = self.wire(), []
            for number in range(self.inserts):
                rows += session.rows("insert into serials (owner, number, note) values "
                                     f"({owner}, {number}, 'x') returning id, owner, number")
            return self.own_rows(owner, [tuple(map(int, row)) for row in rows])
        self.check(self.run_clients(work))
        self.shared(SERIALS)

    def extended(self, owner, results):
        session, rows = self.wire(), []
        session.ask(wire.parse("s", "insert into serials (owner, number) values ($1, $2) "
                               "returning id, owner, number"), wire.describe("S", "s"), wire.sync())
        for number in range(self.inserts):
            replies = session.ask(wire.bind("", "s", [owner, number], results=results),
                                  wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
            rows += [reply.row() for reply in replies if reply.kind == "D"]
        return rows

    def test_extended_in_both_formats(self):
        def work(owner):
            rows = self.extended(owner, [owner % 2])
            if owner % 2:
                return self.own_rows(owner, [(struct.unpack("!q", row[0])[0],
                                              *(struct.unpack("!i", cell)[0] for cell in row[1:]))
                                             for row in rows])
            return self.own_rows(owner, [tuple(map(int, row)) for row in rows])
        self.check(self.run_clients(work))
        self.shared(SERIALS)

    def test_good_rows_among_bad_ones(self):
        """Half of the rows fail: by their value, or for they are there already."""
        self.wire().query("insert into items values (-1, 0, '')")

        def work(owner):
            session = self.wire()
            session.ask(wire.parse("s", "insert into items (id, owner, note) values ($1, $2, $3) "
                                   "returning note, id"), wire.describe("S", "s"), wire.sync())
            for number in range(self.inserts):
                key, bad = owner * 1000 + number, (owner + number) % 4
                values = [-1 if bad == 1 else key, owner, "x" * (21 if bad == 3 else 20 - bad)]
                replies = session.ask(wire.bind("", "s", values), wire.execute(), wire.sync())
                rows = [reply.row() for reply in replies if reply.kind == "D"]
                if bad % 2:
                    self.assertEqual(wire.error_of(replies), "23505" if bad == 1 else "22001")
                    self.assertEqual(rows, [])
                else:
                    self.assertEqual([(row[0], int(row[1])) for row in rows],
                                     [(values[2].encode(), key)])
        self.run_clients(work)
        self.assertEqual(len(self.stored(ITEMS)), self.clients * self.inserts // 2 + 1)

    def test_the_same_key_by_all(self):
        """ON CONFLICT: one stores it, and each gets a row, or DO NOTHING and none."""
        def work(owner):
            session = self.wire()
            given = [session.rows(f"insert into items values ({number}, {owner}, 'a') "
                                  "on conflict (id) do nothing returning owner")
                     for number in range(10)]
            for number in range(10):
                rows = session.rows(f"insert into items values ({number}, {owner}, 'b') on conflict"
                                    " (id) do update set note = 'b' returning id, note")
                self.assertEqual(rows, [[str(number), "b"]])
            return [len(rows) for rows in given]
        won = self.run_clients(work)
        self.assertEqual([sum(numbers) for numbers in zip(*won)], [1] * 10)

    def test_psycopg2(self):
        try:
            import psycopg2
        except ImportError:
            harness.missing("psycopg2")

        def work(owner):
            connection = psycopg2.connect(self.dsn())
            try:
                connection.autocommit = True
                with connection.cursor() as cursor:
                    rows = []
                    for number in range(self.inserts):
                        cursor.execute("insert into serials (owner, number) values (%s, %s) "
                                       "returning id, owner, number", (owner, number))
                        rows += cursor.fetchall()
            finally:
                connection.close()
            return self.own_rows(owner, rows)
        self.check(self.run_clients(work))

    def test_psycopg_3(self):
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg")

        def work(owner):
            rows = []
            with psycopg.connect(self.dsn(), autocommit=True) as connection:
                for number in range(self.inserts):
                    cursor = connection.cursor(binary=number % 2 == 1)
                    rows += cursor.execute("insert into serials (owner, number) values (%s, %s) "
                                           "returning id, owner, number", (owner, number)).fetchall()
            return self.own_rows(owner, rows)
        self.check(self.run_clients(work))

    def test_asyncpg(self):
        try:
            import asyncpg
        except ImportError:
            harness.missing("asyncpg")

        async def work(owner):
            connection = await asyncpg.connect(host="127.0.0.1", port=self.port(), ssl=False,
                                               user=harness.USER, database=self.database)
            try:
                return self.own_rows(owner, [tuple(await connection.fetchrow(
                    "insert into serials (owner, number) values ($1, $2) "
                    "returning id, owner, number", owner, number))
                    for number in range(self.inserts)])
            finally:
                await connection.close()

        async def all_of_them():
            return await asyncio.gather(*map(work, range(self.clients)))
        self.check(asyncio.run(all_of_them()))

    @harness.proxied
    def test_nothing_went_by_itself(self):
        """But what was too slow for a batch, on a busy machine."""
        self.test_extended_in_both_formats()
        scrape = metrics.Scrape(self.keyspread)
        self.assertEqual(scrape.get("inserts_not_batched_total"),
                         scrape.get("inserts_not_batched_total", reason="slow")
                         + scrape.get("inserts_not_batched_total", reason="lock"))
        self.assertGreater(scrape.get("batched_rows_total"), 0)


class Changes(harness.StackCase):
    """The table is changed past keyspread."""
    tables = (ITEMS,)
    options = {"workers": 1, "admin": {}}
    sql = "insert into items (id, owner, note) values ($1, $2, $3) returning *"

    def prepared(self):
        session = self.wire()
        session.ask(wire.parse("s", self.sql), wire.describe("S", "s"), wire.sync())
        return session

    def run_prepared(self, session, key):
        return session.ask(wire.bind("", "s", [key, 1, "x"]), wire.describe("P", ""),
                           wire.execute(), wire.sync())

    def alter(self, text):
        with self.postgres.admin(self.database) as admin:
            admin.rows(f"alter table items {text}")

    def test_a_type_is_changed(self):
        """Who was told of the old one gets PostgreSQL's error; others the new one."""
        old = self.prepared()
        self.assertIsNone(wire.error_of(self.run_prepared(old, 1)))
        self.alter("alter owner type bigint")
        self.addCleanup(self.alter, "alter owner type int")
        replies = self.run_prepared(old, 2)
        self.assertEqual(wire.error_of(replies), "0A000", replies)
        self.assertIn("cached plan must not change result type", repr(replies))
        new = self.wire()
        replies = new.ask(wire.parse("", self.sql), wire.bind("", "", [3, 1, "x"], results=[1]),
                          wire.describe("P", ""), wire.execute(), wire.sync())
        self.assertIsNone(wire.error_of(replies))
        row, = (reply.row() for reply in replies if reply.kind == "D")
        self.assertEqual(len(row[1]), 8)
        self.assertEqual([row[0] for row in self.stored(ITEMS, "id")], ["1", "3"])

    def test_before_the_link_knows_the_statement(self):
        """It was described by one link, and is to be run on another."""
        session = self.prepared()
        self.alter("alter note type text")
        self.addCleanup(self.alter, "alter note type varchar(20)")
        replies = self.run_prepared(session, 1)
        self.assertEqual(wire.error_of(replies), "0A000", replies)
        self.assertEqual(self.stored(ITEMS), [])

    def test_in_one_group(self):
        """Nobody was told anything of before: it works at once."""
        group = [wire.parse("", self.sql), wire.bind("", "", [1, 1, "x"]), wire.describe("P", ""),
                 wire.execute(), wire.sync()]
        session = self.wire()
        first = session.ask(*group)
        self.alter("alter owner type bigint")
        self.addCleanup(self.alter, "alter owner type int")
        group[1] = wire.bind("", "", [2, 1, "x"])
        second = session.ask(*group)
        types = [[column[3] for column in reply.columns()] for reply in first + second
                 if reply.kind == "T"]
        self.assertEqual(types, [[20, 23, 1043], [20, 20, 1043]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
