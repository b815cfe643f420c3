"""Real clients write into a configured table as if it were an ordinary one."""
import asyncio
import contextlib
import datetime
import io
import json
import os
import shutil
import subprocess
import unittest

import harness

TS = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.timezone.utc)
INSERT = "insert into events (userid, ts, event) values (%s, %s, %s)"
PLAIN = "create table plain (a int, b text)"


class ClientCase(harness.StackCase):
    setup_sql = PLAIN

    def setUp(self):
        super().setUp()
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate plain")

    def plain_count(self):
        with self.postgres.admin(self.database) as admin:
            return int(admin.rows("select count(*) from plain")[0][0])

    def run_tool(self, command, stdin=""):
        """Runs a program; its failure is the test's."""
        result = subprocess.run(command, input=stdin, capture_output=True, text=True,
                                check=False, timeout=harness.PATIENCE * 3, env={
                                    **os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(self.port()),
                                    "PGUSER": harness.USER, "PGDATABASE": self.database,
                                    "PGSSLMODE": "disable"})
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}\n{result.stderr}")
        return result


class Psql(ClientCase):
    def psql(self, *arguments, stdin=""):
        path = shutil.which("psql") or harness.missing("psql")
        return self.run_tool([path, "-X", "-v", "ON_ERROR_STOP=1", *arguments], stdin)

    def test_statements(self):
        result = self.psql(stdin="""
            insert into events (userid, ts, event) values (1, '2026-01-01', 'it''s');
            insert into events values (2, '2026-01-01', E'a\\tb'), (3, '2026-01-01', null);
            begin;
            insert into events (userid, ts) values (4, now());
            commit;
            insert into events (userid, ts) values (5, now()) returning userid;
            select count(*) as n from events;""")
        self.assertEqual(result.stdout.split("\n")[:4],
                         ["INSERT 0 1", "INSERT 0 2", "BEGIN", "INSERT 0 1"])
        self.assertRegex(result.stdout, r"userid \n-+\n +5\n\(1 row\)\n\nINSERT 0 1\n")
        self.check_stored(count=5)

    def test_one_command_of_several_statements(self):
        result = self.psql("-c", "insert into events values (1, '2026-01-01', 'x');"
                           "insert into events values (2, '2026-01-01', 'x')")
        self.assertEqual(result.stdout, "INSERT 0 1\nINSERT 0 1\n")
        self.check_stored(count=2)

    def test_an_error_is_postgresqls(self):
        path = shutil.which("psql") or harness.missing("psql")
        statement = "insert into events (userid, ts) values (1, '2026-01-01'), (1, '2026-01-01')"
        result = subprocess.run([path, "-X", self.dsn(), "-v", "VERBOSITY=verbose",
                                 "-c", statement], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("ERROR:  23505: duplicate key value violates unique constraint",
                      result.stderr)
        self.assertIn("Key (userid, ts)=(1, 2026-01-01 00:00:00+00) already exists.",
                      result.stderr)
        self.check_stored(count=0)

    def test_copy_of_another_table(self):
        self.psql(stdin="\\copy plain from stdin\n1\ta\n2\tb\n\\.\n"
                  "\\copy plain from stdin csv\n3,c\n\\.\n")
        self.assertEqual(self.plain_count(), 3)
        self.assertEqual(self.psql("-c", "\\copy plain to stdout").stdout, "1\ta\n2\tb\n3\tc\n")

    def test_describing_commands(self):
        self.assertIn("userid", self.psql("-c", "\\d events").stdout)


class Pgbench(ClientCase):
    SCRIPT = """\\set n :n + 1
\\set id :client_id * 100000 + :n
insert into events (userid, ts, event) values (:id, '2026-01-02 03:04:05+00', 'a client');
"""

    def pgbench(self, *arguments):
        path = os.path.join(self.postgres.bin, "pgbench")
        if not os.access(path, os.X_OK):
            harness.missing("pgbench")
        return self.run_tool([path, *arguments]).stdout

    def write(self, mode):
        script = os.path.join(self.postgres.folder, f"{mode}.sql")
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.SCRIPT)
        output = self.pgbench("-n", "-M", mode, "-c", "8", "-j", "2", "-t", "50", "-D", "n=0",
                              "-f", script)
        self.assertIn("number of transactions actually processed: 400/400", output)
        self.check_stored(count=400)

    def test_simple(self):
        self.write("simple")

    def test_extended(self):
        self.write("extended")

    def test_prepared(self):
        self.write("prepared")

    def test_its_own_tables_pass(self):
        self.pgbench("-i", "-q")
        for mode in ("simple", "extended", "prepared"):
            self.assertIn("processed: 40/40",
                          self.pgbench("-n", "-M", mode, "-c", "4", "-t", "10"))
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select count(*) from pgbench_history"), [["120"]])


class Psycopg2(ClientCase):
    def setUp(self):
        super().setUp()
        try:
            import psycopg2
            import psycopg2.extras
        except ImportError:
            harness.missing("psycopg2")
        self.driver = psycopg2
        self.connection = psycopg2.connect(self.dsn())
        self.addCleanup(self.connection.close)

    def test_execute(self):
        with self.connection as connection, connection.cursor() as cursor:
            for userid in range(20):
                cursor.execute(INSERT, (userid, TS, "it's \\x é"))
                self.assertEqual(cursor.rowcount, 1)
        self.check_stored(count=20)

    def test_execute_autocommit(self):
        self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            for userid in range(-10, 10):
                cursor.execute(INSERT, (userid, TS, None))
                self.assertEqual(cursor.statusmessage, "INSERT 0 1")
            cursor.execute("select count(*) from events")
            self.assertEqual(cursor.fetchone(), (20,))
        self.check_stored(count=20)

    def test_executemany(self):
        with self.connection as connection, connection.cursor() as cursor:
            cursor.executemany(INSERT, [(userid, TS, "x") for userid in range(50)])
        self.check_stored(count=50)

    def test_execute_values(self):
        with self.connection as connection, connection.cursor() as cursor:
            self.driver.extras.execute_values(
                cursor, "insert into events (userid, ts, event) values %s",
                [(userid, TS, "x") for userid in range(250)], page_size=100)
            self.assertEqual(cursor.rowcount, 50)
        self.check_stored(count=250)

    def test_execute_values_autocommit(self):
        self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            self.driver.extras.execute_values(
                cursor, "insert into events (userid, ts, event) values %s",
                [(userid, TS, "x") for userid in range(250)], page_size=100)
        self.check_stored(count=250)

    def test_execute_batch(self):
        self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            self.driver.extras.execute_batch(
                cursor, INSERT, [(userid, TS, "a;b") for userid in range(250)], page_size=100)
        self.check_stored(count=250)

    def test_returning(self):
        with self.connection as connection, connection.cursor() as cursor:
            cursor.execute(INSERT + " returning userid, event", (7, TS, "x"))
            self.assertEqual(cursor.fetchall(), [(7, "x")])
            cursor.execute(INSERT + " returning *", (8, TS, "x"))
            self.assertEqual(cursor.fetchall(), [(8, TS, "x")])
        self.check_stored(count=2)

    def test_a_duplicate(self):
        self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            cursor.execute(INSERT, (7, TS, "x"))
            with self.assertRaises(self.driver.errors.UniqueViolation):
                cursor.execute(INSERT, (7, TS, "y"))
            cursor.execute(INSERT, (8, TS, "x"))
        self.check_stored(count=2)

    def test_copy_of_another_table(self):
        with self.connection as connection, connection.cursor() as cursor:
            cursor.copy_from(io.StringIO("1\ta\n2\t\\N\n"), "plain", columns=("a", "b"))
        self.assertEqual(self.plain_count(), 2)


class Psycopg3(ClientCase):
    def setUp(self):
        super().setUp()
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg 3")
        self.driver = psycopg
        self.connection = psycopg.connect(self.dsn())
        self.addCleanup(self.connection.close)

    def test_execute_with_numbers_of_all_sizes(self):
        """psycopg 3 sends a small number as int2, a larger one as int4 or int8."""
        numbers = [0, 1, -1, 32767, 32768, -32769, 2**31 - 1, 2**31, -2**31 - 1, 2**63 - 1, -2**63]
        with self.connection.transaction():
            for number in numbers:
                self.assertEqual(
                    self.connection.execute(INSERT, (number, TS, "it's")).rowcount, 1)
        self.check_stored(count=len(numbers))

    def test_execute_autocommit(self):
        self.connection.autocommit = True
        for number in range(20):  # prepared from the fifth on
            self.connection.execute(INSERT, (number, TS, "x"))
        self.connection.execute("insert into events (userid, ts) values (100, now())")
        self.assertEqual(self.connection.execute("select count(*) from events").fetchone(), (21,))
        self.check_stored(count=21)

    def test_executemany(self):
        with self.connection.cursor() as cursor:
            cursor.executemany(INSERT, [(number, TS, "x") for number in range(100)])
            self.assertEqual(cursor.rowcount, 100)
        self.connection.commit()
        self.check_stored(count=100)

    def test_executemany_autocommit(self):
        self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            cursor.executemany(INSERT, [(number, TS, "x") for number in range(100)])
        self.check_stored(count=100)

    def test_executemany_returning(self):
        with self.connection.cursor() as cursor:
            cursor.executemany(INSERT + " returning userid",
                               [(number, TS, "x") for number in range(10)], returning=True)
            got = [cursor.fetchone()[0]]
            while cursor.nextset():
                got.append(cursor.fetchone()[0])
        self.connection.commit()
        self.assertEqual(got, list(range(10)))
        self.check_stored(count=10)

    def test_pipeline(self):
        self.connection.autocommit = True
        with self.connection.pipeline() as pipeline:
            cursors = [self.connection.execute(INSERT, (number, TS, "x")) for number in range(50)]
            pipeline.sync()
            counts = [self.connection.execute("select count(*) from events")]
            self.assertEqual(counts[0].fetchone(), (50,))
            self.assertEqual([cursor.rowcount for cursor in cursors], [1] * 50)
        self.check_stored(count=50)

    def test_pipeline_with_an_error(self):
        self.connection.autocommit = True
        with self.assertRaises(self.driver.errors.UniqueViolation):
            with self.connection.pipeline() as pipeline:
                self.connection.execute(INSERT, (1, TS, "x"))
                pipeline.sync()
                self.connection.execute(INSERT, (2, TS, "x"))
                self.connection.execute(INSERT, (2, TS, "x"))
                self.connection.execute(INSERT, (3, TS, "x"))
                pipeline.sync()
        self.connection.execute(INSERT, (4, TS, "x"))
        self.assertEqual(self.stored(columns="userid"), [["1"], ["4"]])
        self.check_stored(count=2)

    def test_copy_of_another_table(self):
        for form in ("text", "binary"):
            with self.connection.cursor() as cursor:
                with cursor.copy(f"copy plain from stdin (format {form})") as copy:
                    copy.set_types(["int4", "text"])
                    for number in range(10):
                        copy.write_row((number, f"row {number}"))
        self.connection.commit()
        self.assertEqual(self.plain_count(), 20)


class Asyncpg(ClientCase):
    INSERT = "insert into events (userid, ts, event) values ($1, $2, $3)"

    def run_with_connection(self, work):
        try:
            import asyncpg
        except ImportError:
            harness.missing("asyncpg")

        async def run():
            connection = await asyncpg.connect(
                host="127.0.0.1", port=self.port(), user=harness.USER, database=self.database,
                ssl=False)
            try:
                await work(connection, asyncpg)
            finally:
                await connection.close()
        asyncio.run(asyncio.wait_for(run(), harness.PATIENCE))

    def test_execute(self):
        async def work(connection, _):
            self.assertEqual(await connection.execute(
                "insert into events (userid, ts, event) values (1, '2026-01-01', 'x')"),
                "INSERT 0 1")
            for number in range(10, 20):
                self.assertEqual(await connection.execute(self.INSERT, number, TS, "x"),
                                 "INSERT 0 1")
        self.run_with_connection(work)
        self.check_stored(count=11)

    def test_executemany(self):
        async def work(connection, _):
            await connection.executemany(self.INSERT, [(n, TS, None) for n in range(100)])
        self.run_with_connection(work)
        self.check_stored(count=100)

    def test_executemany_with_a_duplicate_stores_nothing(self):
        async def work(connection, asyncpg):
            with self.assertRaises(asyncpg.UniqueViolationError):
                await connection.executemany(self.INSERT, [(n % 9, TS, "x") for n in range(10)])
            await connection.execute(self.INSERT, 100, TS, "x")
        self.run_with_connection(work)
        self.check_stored(count=1)

    def test_fetch(self):
        async def work(connection, _):
            rows = await connection.fetch(self.INSERT + " returning userid, event", 5, TS, "x")
            self.assertEqual([tuple(row) for row in rows], [(5, "x")])
            rows = await connection.fetch(self.INSERT + " returning *", 6, TS, "x")
            self.assertEqual([dict(row) for row in rows], [{"userid": 6, "ts": TS, "event": "x"}])
            self.assertEqual(await connection.fetchval("select count(*) from events"), 2)
        self.run_with_connection(work)
        self.check_stored(count=2)

    def test_prepared(self):
        async def work(connection, _):
            statement = await connection.prepare(self.INSERT)
            self.assertEqual([parameter.name for parameter in statement.get_parameters()],
                             ["int8", "timestamptz", "text"])
            for number in range(10):
                await statement.fetch(number, TS, "x")
                self.assertEqual(statement.get_statusmsg(), "INSERT 0 1")
        self.run_with_connection(work)
        self.check_stored(count=10)

    def test_transaction(self):
        async def work(connection, _):
            async with connection.transaction():
                await connection.execute(self.INSERT, 1, TS, "x")
                with contextlib.suppress(ZeroDivisionError):
                    async with connection.transaction():
                        await connection.execute(self.INSERT, 2, TS, "x")
                        raise ZeroDivisionError
                await connection.execute(self.INSERT, 3, TS, "x")
        self.run_with_connection(work)
        self.assertEqual(self.stored(columns="userid"), [["1"], ["3"]])
        self.check_stored(count=2)

    def test_copy_of_another_table(self):
        async def work(connection, _):
            await connection.copy_records_to_table(
                "plain", records=[(n, f"row {n}") for n in range(100)], columns=["a", "b"])
        self.run_with_connection(work)
        self.assertEqual(self.plain_count(), 100)

    def test_many_connections(self):
        async def work(connection, asyncpg):
            pool = await asyncpg.create_pool(
                host="127.0.0.1", port=self.port(), user=harness.USER, database=self.database,
                ssl=False, min_size=8, max_size=8)
            async with pool:
                await asyncio.gather(*(pool.execute(self.INSERT, n, TS, "x")
                                       for n in range(200)))
        self.run_with_connection(work)
        self.check_stored(count=200)


class NodePostgres(ClientCase):
    def test_write(self):
        folder = os.path.join(harness.HERE, "node")
        node = shutil.which("node") or harness.missing("node")
        if not os.path.isdir(os.path.join(folder, "node_modules", "pg")):
            harness.missing("node-postgres (npm install in tests/integration/node)")
        url = f"postgres://{harness.USER}@127.0.0.1:{self.port()}/{self.database}?sslmode=disable"
        answers = json.loads(self.run_tool([node, os.path.join(folder, "write.js"), url]).stdout)
        self.assertEqual(answers, {
            "text": ["INSERT", 1], "values": 1, "big": 1, "named": [1] * 5,
            "returning": ["20", "21"], "duplicate": "23505", "wrong": "22P02", "after": 1,
            "count": 12, "pool": 200})
        self.check_stored(count=212)


class Shapes(ClientCase):
    """Statements as other programs write them, taken from the wire."""

    STATEMENTS = (
        "INSERT INTO events(userid, ts, event) VALUES (7, '2026-11-21T09:40:00+00:00', ' it''s')",
        "INSERT INTO events (userid, ts, event) VALUES ('8', '2026-11-21 09:50:46', 'back\\slash')",
        "INSERT INTO events (userid, ts, event) VALUES (('9'::int8),"
        "('1970-01-01 00:00:00+00'),('it''s'))",
        'insert into "events"("userid","ts","event")'
        "values(10,'1970-01-01T00:00:00.000+00:00','a'),(11,'1970-01-01','b''')",
        'INSERT INTO "events" ("userid", "ts", "event") VALUES '
        "(12, '1970-01-01 00:00:00.000000+0000', 'it''s')",
        "INSERT INTO events (userid, ts, event) VALUES (13, to_timestamp(1795254379), 'x');",
        "INSERT INTO events (userid,ts,event) VALUES "
        "(14,'2026-01-02'::timestamptz,E'it''s \\\\x');",
        "INSERT INTO public.events (userid, ts) VALUES (15, CURRENT_TIMESTAMP)",
    )

    def test_statements(self):
        session = self.wire()
        rows = 0
        for statement in self.STATEMENTS:
            for message in session.query(statement):
                self.assertIn(message.kind, "CZ", f"{statement}: {message}")
                if message.kind == "C":
                    rows += int(message.tag().split()[2])
        self.assertEqual(rows, 9)
        self.check_stored(count=9)

    def test_the_bytes_that_are_stored(self):
        session = self.wire()
        for statement in self.STATEMENTS:
            session.query(statement)
        self.assertEqual(
            [row[0] for row in self.stored(columns="event", order="userid")],
            [" it's", "back\\slash", "it's", "a", "b'", "it's", "x", "it's \\x", None])


if __name__ == "__main__":
    unittest.main()
