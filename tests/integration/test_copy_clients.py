"""What loads rows by COPY does so without knowing of the hash: the same tags, errors and rows directly and through keyspread, as one
transaction and in batches, and every stored hash is right."""
import asyncio
import contextlib
import io
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import asyncpg
import psycopg
import psycopg2

import harness
import test_copy
from test_copy_partition import apart

JDBC = "/usr/share/java/postgresql.jar"
COMMITTED = re.compile(r"\n(?:HINT:  )?(\d+) rows are committed; rows from line \d+ on may be missing\.$", re.M)
NODE = os.path.join(harness.HERE, "node")


def rows_of(load, count=500):
    """Of items (id, v, n); the rows of each load have keys of their own."""
    return [(load * 1000 + number, f'"{number}",\n\\' if number % 7 == 0 else f"name {number}" if number % 3 else None, number * 2)
            for number in range(count)]


def text_of(rows):
    escaped = ["\\N" if v is None else v.replace("\\", "\\\\").replace("\n", "\\n") for _, v, _ in rows]
    return "".join(f"{id}\t{v}\t{n}\n" for (id, _, n), v in zip(rows, escaped)).encode()


def csv_of(rows):
    quoted = ["" if v is None else '"' + v.replace('"', '""') + '"' for _, v, _ in rows]
    return "".join(f"{id},{v},{n}\n" for (id, _, n), v in zip(rows, quoted)).encode()


def binary_of(rows):
    return test_copy.binary(*((test_copy.int8(id), v and v.encode(), test_copy.int4(n)) for id, v, n in rows))


def twice(rows, at):
    return rows[:at] + rows[3:4] + rows[at:]


# The format, whether there is a header, and the data.
LOADS = (
    ("csv", True, b"id,v,n\n" + csv_of(rows_of(0))),
    ("text", False, text_of(rows_of(1))),
    ("binary", False, binary_of(rows_of(2))),
    ("csv", True, b""),
    ("csv", False, csv_of(rows_of(4)).replace(b",200\n", b",none\n")),
    ("csv", False, csv_of(twice(rows_of(5), 400))),
    ("text", False, text_of(rows_of(6)) + b"6999\tx\n"),
    ("text", False, b"\\N\tx\t1\n" + text_of(rows_of(7))),
    ("binary", False, binary_of(twice(rows_of(8), 400))),
    ("binary", False, binary_of(rows_of(9))[:-9]),
    ("text", False, text_of(rows_of(10))),
)


def statement(form, header):
    return f"copy items from stdin (format {form}{', header' if header else ''})"


def error_lines(*fields):
    return "\n".join(field for field in fields if field)


def of_libpq(error):
    diag = error.diag
    return error_lines(diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint, diag.context)


def run_tool(*command, **more):
    result = subprocess.run(command, capture_output=True, timeout=harness.PATIENCE, **more)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout} {result.stderr}")
    return result.stdout.decode()


# Each takes where the server is and the loads, and gives the tag or the error of each load.

def by_psql(url, loads):
    for form, header, data in loads:
        command = "\\" + statement(form, header).replace("stdin", "pstdin")
        done = subprocess.run(["psql", "-X", "-d", url, "-v", "VERBOSITY=verbose", "-c", command], input=data, capture_output=True,
                              timeout=harness.PATIENCE)
        yield "".join(line for line in (done.stdout + done.stderr).decode().splitlines(True) if not line.startswith("LOCATION:"))


def by_psycopg2(url, loads):
    with contextlib.closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        for form, header, data in loads:
            try:
                cursor.copy_expert(statement(form, header), io.BytesIO(data))
                yield f"COPY {cursor.rowcount}"
            except psycopg2.Error as error:
                yield of_libpq(error)


def by_psycopg(url, loads):
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for form, header, data in loads:
            try:
                with cursor.copy(statement(form, header)) as copy:
                    for at in range(0, len(data), 1000):
                        copy.write(data[at:at + 1000])
                yield cursor.statusmessage
            except psycopg.Error as error:
                yield of_libpq(error)


def by_asyncpg(url, loads):
    async def load():
        connection = await asyncpg.connect(url, ssl=False)
        for form, header, data in loads:
            try:
                more = {"header": header} if form == "csv" else {}
                outcomes.append(await connection.copy_to_table("items", source=io.BytesIO(data), format=form, **more))
            except asyncpg.PostgresError as error:
                outcomes.append(error_lines(error.sqlstate, error.message, error.detail, error.hint, error.context))
        await connection.close()
    outcomes = []
    asyncio.run(load())
    return outcomes


def by_program(command, url, loads, **more):
    """One that takes all loads as its arguments."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, (form, header, data) in enumerate(loads):
            path = os.path.join(folder, str(number))
            with open(path, "wb") as file:
                file.write(data)
            arguments += [statement(form, header), path]
        return run_tool(*command, url, *arguments, **more).split("\0")[:-1]


def by_pg_copy_streams(url, loads):
    if not os.path.isdir(os.path.join(NODE, "node_modules", "pg-copy-streams")):
        harness.missing("pg-copy-streams (npm install in tests/integration/node)")
    return by_program([shutil.which("node") or harness.missing("node"), os.path.join(NODE, "copy.js")], url, loads)


def by_pgjdbc(url, loads):
    if not os.path.exists(JDBC):
        harness.missing("pgjdbc (libpostgresql-jdbc-java)")
    user, _, place = url.removeprefix("postgresql://").partition("@")
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", JDBC, os.path.join(harness.HERE, "java", "Copy.java")]
    return by_program(command, f"jdbc:postgresql://{place}?user={user}&sslmode=disable", loads)


class ClientCase(test_copy.SessionCase):
    tables = (test_copy.ITEMS,)

    def urls(self):
        """Of the plain table, and of the one that keyspread spreads."""
        return [f"postgresql://{self.user}@127.0.0.1:{port}/{database}" for database, port in self.routes()]

    def items(self, database):
        return [(int(id), v, int(n)) for id, v, n in self.contents(database, True)[0]]


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class Clients(ClientCase):
    def told(self, outcome):
        """The outcome as PostgreSQL gives it, and how many rows were committed if the load failed."""
        return outcome, 0

    def check(self, client):
        direct, through = (list(client(url, LOADS)) for url in self.urls())
        outcomes = [self.told(outcome) for outcome in through]
        self.assertEqual(direct, [outcome for outcome, _ in outcomes])
        self.assertEqual([outcome.startswith("COPY") for outcome in direct], [True] * 4 + [False] * 6 + [True], direct)
        plain, stored = self.items("direct"), self.items("hashed")
        for number, (outcome, committed) in enumerate(outcomes):
            kept, there = ([row for row in rows if row[0] // 1000 == number] for rows in (plain, stored))
            if outcome.startswith("COPY"):
                self.assertEqual(kept, there)
            else:
                self.assertEqual((kept, len(there)), ([], committed), outcome)
                self.assertLessEqual(set(there), set(rows_of(number)))
        self.assertEqual(len(plain), 4 * 500)

    def test_psql(self):
        self.check(by_psql)

    def test_psycopg2(self):
        self.check(by_psycopg2)

    def test_psycopg(self):
        self.check(by_psycopg)

    def test_asyncpg(self):
        self.check(by_asyncpg)

    def test_pg_copy_streams(self):
        self.check(by_pg_copy_streams)

    def test_pgjdbc(self):
        self.check(by_pgjdbc)

    def test_rows_that_a_driver_writes(self):
        for load in (self.by_rows_of_psycopg2, self.by_rows_of_psycopg, self.by_records_of_asyncpg):
            for url in self.urls():
                load(url)
            self.assertEqual(self.items("direct"), self.items("hashed"))

    @staticmethod
    def by_rows_of_psycopg2(url):
        with contextlib.closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
            cursor.copy_from(io.BytesIO(text_of(rows_of(0))), "items")
            cursor.execute("select count(*) from items")

    @staticmethod
    def by_rows_of_psycopg(url):
        for number, options in enumerate(("", "(format binary)")):
            with psycopg.connect(url) as connection, connection.cursor() as cursor:
                with cursor.copy(f"copy items (id, v, n) from stdin {options}") as copy:
                    copy.set_types(["int8", "text", "int4"])
                    for row in rows_of(number):
                        copy.write_row(row)

    @staticmethod
    def by_records_of_asyncpg(url):
        async def load():
            connection = await asyncpg.connect(url, ssl=False)
            await connection.copy_records_to_table("items", records=rows_of(0), columns=["id", "v", "n"])
            await connection.close()
        asyncio.run(load())


class ClientsInBatches(Clients):
    tables = tuple(apart(table) for table in Clients.tables)
    partitioned = True

    def told(self, outcome):
        if outcome.startswith("COPY"):
            return outcome, 0
        found = COMMITTED.search(outcome)
        self.assertTrue(found, outcome)
        return outcome.replace(found[0], ""), int(found[1])


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class Loaders(ClientCase):
    """Programs that send the COPY themselves."""

    def same_items(self):
        plain, stored = self.items("direct"), self.items("hashed")
        self.assertEqual(plain, stored)
        return stored

    def test_pgloader(self):
        """It reads the server's CONTEXT: the lines before the one that fails, and those behind it, are loaded once more."""
        program, answers = shutil.which("pgloader") or harness.missing("pgloader"), []
        for url in self.urls():
            with tempfile.TemporaryDirectory() as folder:
                data, script, summary = (os.path.join(folder, name) for name in ("items.csv", "items.load", "summary.csv"))
                with open(data, "wb") as file:
                    file.write(LOADS[4][2] + csv_of(rows_of(5)))
                with open(script, "w", encoding="utf-8") as file:
                    file.write(f"""load csv from '{data}' having fields (id, v [null if blanks], n) into {url}?items
                        target columns (id, v, n) with batch rows = 300,
                        fields optionally enclosed by '"', fields escaped by double-quote, fields terminated by ',';""")
                run_tool(program, "--root-dir", folder, "--summary", summary, script)
                with open(summary, encoding="utf-8") as file:
                    answers.append([line.split(";")[:4] for line in file])
        self.assertEqual(*answers)
        self.assertEqual(len(self.same_items()), 999, answers)


    def dumped(self, *options):
        """Rows of the plain table, whose dump is this."""
        url, _ = self.urls()
        self.admins["direct"].rows("""insert into items select i, case when i % 3 <> 0 then e'"name"\\n, ' || i end, i * 2
                                      from generate_series(0, 499) i""")
        return run_tool("pg_dump", "--data-only", "-t", "items", *options, url)

    def test_a_dump_that_psql_reads(self):
        run_tool("psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", self.urls()[1], input=self.dumped().encode())
        self.assertEqual(len(self.same_items()), 500)

    def test_a_dump_that_pg_restore_reads(self):
        """By two connections at once, as one transaction, and as INSERTs."""
        for dumped, restored in (((), ("-j", "2")), ((), ("--single-transaction",)), (("--inserts",), ())):
            with self.subTest(dumped=dumped, restored=restored), tempfile.TemporaryDirectory() as folder:
                dump = os.path.join(folder, "dump")
                self.dumped("-Fc", "-f", dump, *dumped)
                run_tool("pg_restore", "--exit-on-error", *restored, "-d", self.urls()[1], dump)
                self.assertEqual(len(self.same_items()), 500)


class LoadersInBatches(Loaders):
    tables = ClientsInBatches.tables
    partitioned = True


if __name__ == "__main__":
    unittest.main()
