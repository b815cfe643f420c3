#!/usr/bin/env python3
"""Before the fake of YDB's endpoint: a table whose key begins with a bucket of its hash. Clients are told what PostgreSQL
tells them, each row is in its bucket, and who asks for a key touches one partition."""
import struct
import unittest

import harness
import wire
from harness import Table
from ydb_case import LinksCase

BUCKETS, PARTITIONS = 10, 5
EVENTS = Table("events", ["userid bigint not null", "ts timestamp not null", "event text"], ["userid", "ts"],
               hash_buckets=BUCKETS, partitions=PARTITIONS, key_order="hash_first")
TS = "2026-01-01 00:00:00"
STATEMENTS = (
    f"insert into events (userid, ts, event) values (1, '{TS}', 'a')",
    f"insert into events values (2, '{TS}', 'b'), (-3, '{TS}', 'c'), (4, '{TS}', 'd')",
    f"insert into events values (2, '{TS}', 'twice')",
    f"insert into events values (5, '{TS}', 'r') returning userid, event",
    f"insert into events values (2, '{TS}', 'u') on conflict (userid, ts) do update set event = excluded.event",
    f"insert into events values (2, '{TS}', 'n') on conflict (userid, ts) do nothing",
    "select * from events order by userid", "select event from events where userid = 2",
    "select event from events where userid in (1, 2, 77) order by userid",
    "update events set event = event || '!' where userid = 2", "update events set userid = 4 where userid = 4",
    "delete from events where userid = 1", "delete from events where userid = 1",
    "begin", f"insert into events values (9, '{TS}', 'k')", f"insert into events values (10, '{TS}', 'l')", "commit",
    f"prepare p (bigint) as insert into events (userid, ts) values ($1, '{TS}')", "execute p (11)", "execute p (-12)",
    "select count(*) from events", "select userid, event from events order by userid")


class Buckets(LinksCase):
    tables = (EVENTS,)
    endpoint_options = {"table": f"events,column=userid_hash,position=1,buckets={BUCKETS},uniform={PARTITIONS}"}

    def check_stored(self, count):
        rows = self.admins[True].rows("select userid_hash, userid from events")
        self.assertEqual(len(rows), count)
        for bucket, userid in rows:
            self.assertEqual(int(bucket), EVENTS.stored_hash(int(userid)), userid)

    def test_statements(self):
        for sql in STATEMENTS:
            self.same(sql)
        self.check_stored(8)

    def test_messages(self):
        for link in self.links:
            link.ask(wire.parse("i", "insert into events (userid, ts, event) values ($1, $2, $3)", (20, 1114, 25)), wire.sync())
        for n in range(-10, 10):
            values, formats = ((struct.pack("!q", n), struct.pack("!q", 0), b"v"), (1, 1, 1)) if n % 2 else ((n, TS, "v"), ())
            told = [link.ask(wire.bind("", "i", values, formats), wire.execute(), wire.sync()) for link in self.links]
            self.assertEqual(*([self.line(one) for one in replies] for replies in told))
        for sql, values in (("select event from events where userid = $1", (3,)), ("delete from events where userid = $1", (4,)),
                            ("update events set event = 'w' where userid = $1", (5,))):
            told = [link.ask(wire.parse("", sql), wire.bind("", "", values), wire.execute(), wire.sync()) for link in self.links]
            self.assertEqual(*([self.line(one) for one in replies] for replies in told), sql)
        self.check_stored(19)

    def test_a_key_is_in_one_partition(self):
        link = self.links[1]
        for n in range(20):
            link.query(f"insert into events values ({n}, '{TS}', 'v')")
        for ask in (lambda n: link.query(f"select event from events where userid = {n}"),
                    lambda n: link.ask(wire.parse("", "select event from events where userid = $1", (20,)),
                                       wire.bind("", "", (n,)), wire.execute(), wire.sync()),
                    lambda n: link.query(f"insert into events values ({n + 100}, '{TS}', 'v')")):
            self.endpoint.http("POST", "/counters")
            for n in range(20):
                self.assertIsNone(wire.error_of(ask(n)))
            requests = self.endpoint.counters()["requests"]
            self.assertEqual(set(requests), {"1"}, requests)
        self.check_stored(40)

    def test_batches_go_by_bucket(self):
        """Clients that write at once meet in batches, of which each touches one partition."""
        self.endpoint.http("POST", "/counters")

        def insert(client):
            link = self.link(self.keyspread.port)
            for n in range(25):
                self.assertEqual(wire.tags_of(link.query(f"insert into events values ({client * 25 + n}, '{TS}', 'v')")),
                                 ["INSERT 0 1"])
        harness.in_threads(8, insert)
        requests = self.endpoint.counters()["requests"]
        self.assertEqual(set(requests), {"1"}, requests)
        self.check_stored(200)


if __name__ == "__main__":
    unittest.main()
