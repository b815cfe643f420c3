#!/usr/bin/env python3
"""Partitions that YDB's monitoring tells of: found in every form, followed when they split, done
without when nobody tells. The rows go to PostgreSQL; only the monitoring is the fake's."""
import http.server
import json
import signal
import threading
import unittest

import harness
import wire
from metrics import Scrape
from ydb import Endpoint

COLUMNS = "k bigint not null, h bigint not null, primary key (h, k)"


class DiscoveryCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("local")

    def setUp(self):
        with self.postgres.admin("local") as admin:
            admin.rows("drop schema public cascade; create schema public")
            admin.rows(f"create table t ({COLUMNS})")
        self.key = 0

    def endpoint(self, table="t,column=h,position=2,uniform=4", **options):
        endpoint = Endpoint(self.postgres, database="local", table=table, **options)
        self.addCleanup(endpoint.stop)
        return endpoint

    def start(self, port, monitoring_s=1, table=None, **partitions):
        table = {"name": "t", "primary_key": ["k"], "hash_column": "h", "hash_function": "xxh3",
                 "partitions": {"discover": True, **partitions}, **(table or {})}
        keyspread = harness.Keyspread(
            {"auth": {"mode": "trust"}, "workers": 2, "tables": [table], "admin": {},
             "backend": {"dsn": f"host=127.0.0.1 port={self.postgres.port} dbname=local "
                                "sslmode=disable",
                         "monitoring": f"http://127.0.0.1:{port}", "monitoring_s": monitoring_s}})
        self.addCleanup(keyspread.stop)
        self.session = wire.Wire(keyspread.address())
        self.addCleanup(self.session.close)
        self.session.login("app", "local")
        return keyspread

    def insert(self, count):
        """New keys, half of them as parameters; their hashes."""
        keys = range(self.key, self.key + count)
        self.key += count
        for key in keys:
            if key % 2:
                reply = self.session.query(f"insert into t (k) values ({key})")
            else:
                reply = self.session.ask(wire.parse("", "insert into t (k) values ($1)"),
                                         wire.bind("", "", (key,)), wire.execute(), wire.sync())
            self.assertIsNone(wire.error_of(reply))
        return [harness.xxh3_signed(key) for key in keys]

    def check(self, keyspread, ends, count=40):
        """Rows are counted in the partitions that end there."""
        before = Scrape(keyspread)
        expected = {}
        for hashed in self.insert(count):
            place = str(sum(end <= hashed for end in ends))
            expected[place] = expected.get(place, 0) + 1
        found = Scrape(keyspread).since(before).by("rows_total", "partition", table="public.t")
        self.assertEqual(found, expected)


class Discovery(DiscoveryCase):

    def test_found_and_followed(self):
        endpoint = self.endpoint()
        keyspread = self.start(endpoint.monitoring)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$")
        ends = [-2**62, 0, 2**62]
        self.check(keyspread, ends)
        endpoint.http("POST", "/split", table="t", partition=2, ms=0)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=5$")
        self.check(keyspread, [-2**62, 0, 2**61, 2**62])
        for _ in range(3):
            endpoint.http("POST", "/merge", table="t", partition=0, ms=0)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=2$")
        self.check(keyspread, [2**62])
        self.assertNotIn("partitions_unknown", keyspread.lines.text())

    def test_every_form(self):
        for options in ({"describe": "plain"}, {"boundary_values": "text"},
                        {"boundary_values": "bytes"}):
            keyspread = self.start(self.endpoint(**options).monitoring)
            keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$")
            self.check(keyspread, [-2**62, 0, 2**62])

    def test_unsigned(self):
        with self.postgres.admin("local") as admin:
            admin.rows("create table u (h numeric(20,0) not null, k bigint not null, "
                       "primary key (h, k))")
        endpoint = self.endpoint("u,column=h,position=1,unsigned,uniform=3")
        keyspread = self.start(endpoint.monitoring, table={"name": "u", "hash_type": "uint64"})
        keyspread.lines.wait_for("event=partitions_discovered table=u partitions=3$")

    def test_buckets(self):
        """In every form, and followed when they split."""
        with self.postgres.admin("local") as admin:
            admin.rows("create table b (h smallint not null, k bigint not null, primary key (h, k))")
        for options in ({}, {"describe": "plain"}, {"boundary_values": "text"}, {"boundary_values": "bytes"}):
            endpoint = self.endpoint("b,column=h,position=1,buckets=10,uniform=3", **options)
            keyspread = self.start(endpoint.monitoring, table={"name": "b", "hash_buckets": 10})
            keyspread.lines.wait_for("event=partitions_discovered table=b partitions=3$")
            endpoint.http("POST", "/split", table="b", partition=2, ms=0)
            keyspread.lines.wait_for("event=partitions_discovered table=b partitions=4$")
            before, expected = Scrape(keyspread), {}
            for key in range(self.key, self.key + 40):
                self.assertIsNone(wire.error_of(self.session.query(f"insert into b (k) values ({key})")))
                place = str(sum(end <= harness.xxh3_unsigned(key) % 10 for end in (4, 7, 9)))
                expected[place] = expected.get(place, 0) + 1
            self.key += 40
            self.assertEqual(Scrape(keyspread).since(before).by("rows_total", "partition", table="public.b"), expected)

    def test_asked_for_when_it_is_overloaded(self):
        """… and not an hour later."""
        with self.postgres.admin("local") as admin:
            admin.rows("create function refuse() returns bool language plpgsql as $$ begin "
                       "raise exception 'Status: OVERLOADED' using errcode = '53000'; end $$")
        endpoint = self.endpoint()
        keyspread = self.start(endpoint.monitoring, monitoring_s=3600)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$")
        endpoint.http("POST", "/split", table="t", partition=0, ms=0)
        with self.postgres.admin("local") as admin:
            admin.rows("alter table t add check (refuse())")
        error = wire.error_of(self.session.query("insert into t (k) values (1)"))
        self.assertEqual(error, "53000")
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=5$")

    def test_nobody_there(self):
        """The buckets of the file, and one warning, however often it is asked."""
        keyspread = self.start(harness.free_port(), buckets=2)
        keyspread.lines.wait_for('level=warn event=partitions_unknown table=t reason="Couldn.t '
                                 'connect to server"$')
        self.check(keyspread, [0])
        self.assertEqual(keyspread.lines.text().count("partitions_unknown"), 1)

    def test_reload(self):
        """A table's partitions are looked for from then on, and not any more."""
        endpoint = self.endpoint()
        keyspread = self.start(endpoint.monitoring)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$")
        config = json.loads(json.dumps(keyspread.config))
        config["tables"][0]["partitions"] = {"uniform": 2}
        self.assertIn("reloaded", keyspread.reload(config))
        self.check(keyspread, [0])
        config["tables"][0]["partitions"] = {"discover": True}
        seen = len(keyspread.lines.lines)
        self.assertIn("reloaded", keyspread.reload(config))
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$", since=seen)
        self.check(keyspread, [-2**62, 0, 2**62])


class Requests(unittest.TestCase):
    """Through the dialect: what reaches the endpoint touches one partition each, as it is cut."""

    CLIENTS, ROWS = 16, 20

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("local")
        with cls.postgres.admin("local") as admin:
            admin.rows(f"create table t ({COLUMNS})")

    def start(self, endpoint, partitions):
        columns = [{"name": "k", "type": "bigint", "not_null": True},
                   {"name": "h", "type": "bigint", "not_null": True}]
        keyspread = harness.Keyspread(
            {"auth": {"mode": "trust"}, "workers": 2,
             "tables": [{"name": "t", "primary_key": ["k"], "hash_column": "h", "columns": columns,
                         "hash_function": "xxh3", "partitions": partitions}],
             "backend": {"dialect": "ydb", "monitoring_s": 1, "batch_links": 4,
                         "dsn": f"host=127.0.0.1 port={endpoint.port} dbname=/local user=root "
                                "sslmode=disable",
                         "monitoring": f"http://127.0.0.1:{endpoint.monitoring}"}})
        self.addCleanup(keyspread.stop)
        return keyspread

    def insert(self, keyspread, first):
        """Many clients at once, a row each time; every one is answered well."""
        def client(number):
            with wire.Wire(keyspread.address()) as session:
                session.login("app", "local")
                for i in range(self.ROWS):
                    key = first + number * self.ROWS + i
                    reply = session.query(f"insert into t (k) values ({key})")
                    self.assertIsNone(wire.error_of(reply))
        harness.in_threads(self.CLIENTS, client)

    def touched(self, endpoint, keyspread, first):
        """Requests by how many partitions they touched, while all insert."""
        endpoint.http("POST", "/counters")
        self.insert(keyspread, first)
        return endpoint.counters()["requests"]

    def test_they_follow(self):
        endpoint = Endpoint(self.postgres, database="local", request_us=2000, row_us=20,
                            table="t,column=h,position=2,uniform=4")
        self.addCleanup(endpoint.stop)
        keyspread = self.start(endpoint, {"discover": True, "buckets": 1})
        keyspread.lines.wait_for('level=warn event=capabilities_unconfirmed rows="update_from=no ')
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=4$")
        rows = self.CLIENTS * self.ROWS
        before = self.touched(endpoint, keyspread, 0)
        self.assertEqual(list(before), ["1"])
        self.assertLess(before["1"], rows)  # they travelled in company
        for partition in (0, 2):
            endpoint.http("POST", "/split", table="t", partition=partition, ms=0)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=6$")
        after = self.touched(endpoint, keyspread, rows)
        self.assertEqual(list(after), ["1"])
        self.assertLess(after["1"], rows)
        with self.postgres.admin("local") as admin:
            self.assertEqual(admin.rows("select count(*) from t where k < 1000000"),
                             [[str(2 * rows)]])

    def test_they_are_refused_while_it_splits(self):
        """OVERLOADED for 300 ms: repeated, and the map is asked for at once."""
        endpoint = Endpoint(self.postgres, database="local",
                            table="t,column=h,position=2,uniform=2")
        self.addCleanup(endpoint.stop)
        keyspread = self.start(endpoint, {"discover": True, "buckets": 1})
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=2$")
        endpoint.http("POST", "/split", table="t", partition=1, ms=300)
        self.insert(keyspread, 10**6)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=3$")


class Answers(DiscoveryCase):
    """A monitoring endpoint that is none."""

    def serve(self, answer):
        """`answer(handler)` answers each GET."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                answer(self)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def said(self, answer):
        """The reason that is logged; inserts go on."""
        keyspread = self.start(self.serve(answer), buckets=2)
        line = keyspread.lines.wait_for("event=partitions_unknown")
        self.check(keyspread, [0], count=4)
        keyspread.stop()
        return line.split("reason=")[1].strip('"')

    @staticmethod
    def body(status, text, **headers):
        def answer(handler):
            handler.send_response(status)
            for name, value in {"Content-Length": len(text), **headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(text)
        return answer

    def test_reasons(self):
        for answer, reason in (
                (self.body(200, b"<html>"), "it is no JSON"),
                (self.body(200, b""), "it is no JSON"),
                (self.body(200, b'{"Status": "StatusPathDoesNotExist"}'),
                 "there is no such table"),
                (self.body(403, b"{}"), "it answers with the HTTP status 403"),
                (self.body(404, b"{}"), "it answers with the HTTP status 404"),
                (self.body(302, b"", Location="http://127.0.0.1:1/"),
                 "it answers with the HTTP status 302")):
            self.assertEqual(self.said(answer), reason)

    def test_endless(self):
        def answer(handler):
            handler.send_response(200)
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b" " * 65536)
            except OSError:
                pass
        self.assertEqual(self.said(answer), "it is too long")

    def test_silent(self):
        """Who waits for an answer still serves, and ends when it is told to."""
        asked, done = threading.Event(), threading.Event()
        self.addCleanup(done.set)

        def answer(handler):
            asked.set()
            done.wait()
        keyspread = self.start(self.serve(answer), buckets=2)
        self.assertTrue(asked.wait(harness.PATIENCE))
        self.check(keyspread, [0], count=4)
        keyspread.process.send_signal(signal.SIGTERM)
        self.assertEqual(keyspread.process.wait(harness.PATIENCE), 0)
        keyspread.finish()

    def test_a_map_that_is_no_more(self):
        """What was understood once and is not any more leaves the buckets of the file."""
        good = json.dumps({"Table": {"SplitBoundary": [{"KeyPrefix": {"Tuple": ["77"]}}]}})
        texts = {"now": good.encode()}
        keyspread = self.start(self.serve(lambda handler: self.body(200, texts["now"])(handler)),
                               buckets=4)
        keyspread.lines.wait_for("event=partitions_discovered table=t partitions=2$")
        self.check(keyspread, [77])
        texts["now"] = b"{}"
        keyspread.lines.wait_for("event=partitions_unknown table=t")
        harness.eventually("buckets", lambda: self.is_cut(keyspread, 4))

    def is_cut(self, keyspread, count):
        before = Scrape(keyspread)
        self.insert(40)
        found = Scrape(keyspread).since(before).by("rows_total", "partition", table="public.t")
        return len(found) == count


if __name__ == "__main__":
    unittest.main()
