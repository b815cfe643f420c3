"""What drivers make of an UPDATE that is refused because its table was made anew with a key that it changes (as PostgreSQL
refuses a plan whose result has changed): who prepares such a statement again by himself does so here, too, and who does not
there does not here."""
import asyncio
import os
import subprocess
import unittest

import harness
from made_case import Planned
from test_stale_updates import NEW, OLD
from ydb_clients import JAR

FILL = "; insert into pat_s (id, v, n) values (1, 'x', 1)"
UPDATE = "update pat_s set v = $2 where id = $1"
HASHES = "select v, keyspread_hash from pat_s"
STALE = "a table that the prepared statement writes to may be another now"


@harness.proxied
class StaleClients(harness.StackCase):
    tables = (Planned("pat_*", "auto", hash_column="keyspread_hash"),)

    def make(self, text):
        """By another session."""
        with self.wire() as session:
            for statement in text.split("; "):
                self.assertEqual([reply for reply in session.query(statement) if reply.kind == "E"], [])

    def setUp(self):
        self.make(OLD + FILL)

    def is_stored(self, value):
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows(HASHES), [[value, str(harness.xxh3_signed(value))]])


class Psycopg(StaleClients):
    """3, which never prepares again what has failed, but behind a ROLLBACK."""

    def setUp(self):
        super().setUp()
        try:
            import psycopg
        except ImportError:
            harness.missing("psycopg")
        self.driver = psycopg
        self.session = psycopg.connect(self.dsn(), autocommit=True, prepare_threshold=0)
        self.addCleanup(self.session.close)
        self.update("a")

    def update(self, value):
        return self.session.execute("update pat_s set v = %s where id = %s", (value, 1)).rowcount

    def is_refused(self, value):
        with self.assertRaises(self.driver.errors.FeatureNotSupported) as context:
            self.update(value)
        self.assertEqual(context.exception.diag.message_primary, STALE)

    def test_in_autocommit(self):
        self.make(NEW)
        self.is_refused("b")
        self.is_refused("c")
        self.is_stored("x")

    def test_behind_a_rollback(self):
        self.make(NEW)
        self.session.autocommit = False
        self.is_refused("b")
        self.session.rollback()
        self.assertEqual(self.update("c"), 1)
        self.session.commit()
        self.is_stored("c")


class Asyncpg(StaleClients):
    def setUp(self):
        super().setUp()
        try:
            import asyncpg
        except ImportError:
            harness.missing("asyncpg")
        self.driver = asyncpg

    async def play(self, *steps):
        session = await self.driver.connect(host="127.0.0.1", port=self.port(), user=harness.USER,
                                            database=self.database, ssl=False)
        try:
            await session.execute(UPDATE, 1, "a")
            self.make(NEW)
            for step in steps:
                await step(session)
        finally:
            await session.close()

    async def update(self, session):
        self.assertEqual(await session.execute(UPDATE, 1, "b"), "UPDATE 1")

    async def in_a_transaction(self, session):
        async with session.transaction():
            await self.update(session)

    async def refused_in_a_transaction(self, session):
        with self.assertRaises(self.driver.exceptions.InvalidCachedStatementError):
            await self.in_a_transaction(session)

    def test_by_itself(self):
        asyncio.run(self.play(self.update))
        self.is_stored("b")

    def test_in_a_transaction(self):
        asyncio.run(self.play(self.refused_in_a_transaction, self.in_a_transaction))
        self.is_stored("b")


class Pgjdbc(StaleClients):
    def play(self, autosave, *groups):
        """Groups of steps, the table made anew behind the first; what was seen at the last of each."""
        if not os.path.exists(JAR):
            harness.missing("pgjdbc")
        program = subprocess.Popen(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", JAR, os.path.join(harness.HERE, "java", "Play.java"),
             f"prepareThreshold=1&autosave={autosave}", "127.0.0.1", str(self.port()), harness.USER, self.database],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        seen = []
        with program:
            for number, steps in enumerate(groups):
                if number == 1:
                    self.make(NEW)
                for step in steps:
                    program.stdin.write(step + "\n")
                    program.stdin.flush()
                    answer = program.stdout.readline().strip()
                seen.append(answer)
            program.stdin.close()
        return seen

    @staticmethod
    def update(value):
        return f"update pat_s set v = $1 where id = $2\ttext\t{value}\tint8\t1"

    def test_by_itself(self):
        for autosave in ("never", "conservative", "always"):
            with self.subTest(autosave):
                self.make(OLD + FILL)
                self.assertEqual(self.play(autosave, [self.update("a")] * 2, [self.update("b")]), ["updated 1"] * 2)
                self.is_stored("b")

    def test_in_a_transaction(self):
        """It sets no savepoint before what has no columns, unless it always does; then it repeats what has failed in vain."""
        aborted = "current transaction is aborted, commands ignored until end of transaction block"
        for autosave, told in (("never", STALE), ("conservative", aborted), ("always", None)):
            with self.subTest(autosave):
                self.make(OLD + FILL)
                seen = self.play(autosave, [self.update("a")] * 2, ["begin", self.update("b")], ["rollback"],
                                 [self.update("c")])
                self.assertIn(f"message='{told}'" if told else "updated 1", seen[1])
                self.assertEqual(seen[3], "updated 1")
                self.is_stored("c")


if __name__ == "__main__":
    unittest.main()
