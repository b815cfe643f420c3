#!/usr/bin/env python3
"""A large result through keyspread on the fake of YDB's endpoint, a hundred rows at a time: keyspread
reads its link only as its client asks, and holds next to nothing of it.
"""
import asyncio
import collections
import unittest

import asyncpg

import harness
import wire
from ydb import Endpoint

ROWS, BYTES = 20_000, 10_000  # 200 MB
BOUND = 64 << 20


class LargeResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("app")
        with cls.postgres.admin("app") as admin:
            admin.rows("create table large (id bigint primary key, v text)")
            admin.rows(f"insert into large select n, repeat('x', {BYTES}) "
                       f"from generate_series(1, {ROWS}) n")
        cls.endpoint = Endpoint(cls.postgres)
        cls.addClassCleanup(cls.endpoint.stop)

    def setUp(self):
        self.keyspread = harness.Keyspread({
            "workers": 1, "backend": {
                "dsn": f"postgresql://app@127.0.0.1:{self.endpoint.port}/local", "dialect": "ydb"}})
        self.addCleanup(self.keyspread.stop)
        with wire.Wire(self.keyspread.address()) as session:
            session.login("app", "/local")
            self.assertEqual(session.rows("select 1"), [["1"]])
        self.before = self.keyspread.memory_peak()

    def check_memory(self):
        if not harness.instrumented():
            self.assertLess(self.keyspread.memory_peak() - self.before, BOUND)

    def test_a_cursor_of_asyncpg(self):
        async def read():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.keyspread.port,
                                               user="app", database="/local", ssl=False)
            ids, size = [], 0
            async with connection.transaction():
                async for row in connection.cursor("select id, v from large", prefetch=100):
                    ids.append(row["id"])
                    size += len(row["v"])
            await connection.close()
            return ids, size

        ids, size = asyncio.run(read())
        self.assertEqual(sorted(ids), list(range(1, ROWS + 1)))
        self.assertEqual(size, ROWS * BYTES)
        self.check_memory()

    def test_portals_are_suspended(self):
        with wire.Wire(self.keyspread.address()) as session:
            session.login("app", "/local")
            session.send(wire.query("begin"))
            session.read_ready()
            session.send(wire.parse("", "select id, v from large"), wire.bind("p", ""))
            ids, last = [], "s"
            while last == "s":
                session.send(wire.execute("p", 100), wire.flush())
                messages = session.read_until("s", "C", "E")
                last = messages[-1].kind
                page = [one.row()[0] for one in messages if one.kind == "D"]
                self.assertLessEqual(len(page), 100)
                ids += page
            self.assertEqual(messages[-1].kind, "C", messages[-1])
            session.send(wire.sync(), wire.query("commit"))
            session.read_ready(2)
        self.assertEqual(sorted(int(one) for one in ids), list(range(1, ROWS + 1)))
        self.check_memory()

    def test_a_client_that_does_not_read(self):
        """The link is not read on, so that in the end PostgreSQL waits."""
        with wire.Wire(self.keyspread.address()) as session:
            session.login("app", "/local")
            session.send(wire.query("select id, v from large"))
            harness.eventually("PostgreSQL waits for its reader", self.waits)
            self.check_memory()
            kinds = collections.Counter()
            while not kinds["Z"]:
                kinds[session.skim()[0]] += 1
        self.assertEqual(kinds, {"T": 1, "D": ROWS, "C": 1, "Z": 1})
        self.check_memory()

    def waits(self):
        with self.postgres.admin("app") as admin:
            return admin.rows("select from pg_stat_activity where wait_event = 'ClientWrite'")


if __name__ == "__main__":
    unittest.main()
