"""Metrics and health: what is told agrees with what was done."""
import collections
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import harness
import metrics
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values {}"
WAITING = "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
LABELS = {"by", "state", "result", "code", "peer", "kind", "outcome", "reason", "limit", "table",
          "partition", "le", "version"}


def rows(*keys, event="x"):
    return ", ".join(f"({key}, '{TS}', '{event}')" for key in keys)


def text(*keys, **more):
    return wire.query(TEXT.format(rows(*keys, **more)))


def with_parameters(*keys):
    """A Sync group of Parse, and a Bind and Execute for each key."""
    sql = "insert into events (userid, ts, event) values ($1, $2, $3)"
    group = [wire.parse("", sql, (20, 1184, 25))]
    for key in keys:
        group += [wire.bind("", "", [key, TS, "parameter"]), wire.execute()]
    return b"".join(group) + wire.sync()


@harness.proxied
class MetricsCase(harness.StackCase):
    tables = (harness.Table(  # no row is a slow one, which goes by its own link
        "events", EVENTS.columns, EVENTS.key, hash_column="userhash", batch={"target_ms": 60_000}),)
    options = {"admin": {}}

    def scrape(self):
        return metrics.Scrape(self.keyspread)

    def counted(self, work):
        """What is counted while work() runs."""
        before = self.scrape()
        work()
        return self.scrape().since(before)

    def ask(self, session, *messages):
        replies = session.ask(*messages)
        self.assertIsNone(wire.error_of(replies), replies)
        return replies


class Counting(MetricsCase):
    clients = 8

    def test_what_is_batched_agrees(self):
        """Rows of many clients, in text and with parameters, of one partition and of several."""
        def client(number):
            session, first = self.wire(), number * 1000
            for insert in range(20):
                key = first + insert * 10
                self.ask(session, text(key))
                self.ask(session, text(*range(key + 1, key + 4)))
                self.ask(session, with_parameters(key + 4))
                self.ask(session, with_parameters(key + 5, key + 6))
        counted = self.counted(lambda: harness.in_threads(self.clients, client))
        units, inserted = self.clients * 20 * 4, self.clients * 20 * 7
        self.check_stored(count=inserted)
        self.assertEqual(counted.get("batched_rows_total"), inserted)
        self.assertEqual(counted.get("batched_statements_total"), self.clients * 20 * 5)
        self.assertEqual(counted.by("units_total", "outcome"), {"committed": units})
        self.assertEqual(counted.get("unit_duration_seconds_count"), units)
        self.assertGreater(counted.get("unit_duration_seconds_sum"), 0)
        self.assertEqual(counted.get("inserts_not_batched_total"), 0)
        self.assertEqual(counted.get("batch_rows_sum"), inserted)
        batches = counted.get("batch_rows_count")
        self.assertEqual(counted.get("request_partitions_count"), batches)
        self.assertEqual(counted.get("link_wait_seconds_count", kind="batch"), batches)
        self.assertEqual(counted.get("requests_total"), counted.get("request_partitions_sum"))
        self.assertEqual(counted.get("request_partitions_bucket", le="+Inf"), batches)
        self.assertLess(counted.get("request_partitions_bucket", le="1"), batches)
        self.assertEqual(counted.get("batches_failed_total"), 0)
        self.check_partitions(counted)

    def check_partitions(self, counted):
        """The rows by partition are those that lie there."""
        there = collections.Counter(relation for relation, in self.stored(
            columns="tableoid::regclass::text"))
        told = counted.by("rows_total", "partition", table="public.events")
        self.assertEqual({f"events_p{number}": count for number, count in told.items()},
                         dict(there))

    def test_rows_in_one_partition(self):
        session = self.wire()
        counted = self.counted(lambda: self.ask(session, text(7), text(7, event="y")[:0]))
        partition = str(EVENTS.partition_of(harness.xxh3_signed(7)))
        self.assertEqual(counted.by("rows_total", "partition"), {partition: 1})
        self.assertEqual(counted.by("requests_total", "partition"), {partition: 1})
        self.assertEqual(counted.get("request_partitions_bucket", le="1"), 1)

    def test_rows_on_own_links_count_too(self):
        session = self.wire()

        def work():
            self.ask(session, wire.query("begin"))
            self.ask(session, text(1, 2, 3))
            self.ask(session, with_parameters(4, 5))
            self.ask(session, wire.query("commit"))
        counted = self.counted(work)
        self.assertEqual(counted.by("inserts_not_batched_total", "reason"), {"transaction": 3})
        self.assertEqual(counted.get("batched_rows_total"), 0)
        self.assertEqual(counted.get("request_partitions_count"), 3)
        self.check_partitions(counted)

    def test_rows_that_an_upsert_leaves_out(self):
        """A key twice in one statement is one row, in a batch and in a transaction."""
        session = self.wire()
        upsert = "upsert into events (userid, ts) values ({}, {}), ({}, {})"
        in_text = wire.query(upsert.format(7, f"'{TS}'", 7, f"'{TS}'"))
        bound = b"".join([wire.parse("", upsert.format("$1", "$2", "$3", "$4")),
                          wire.bind("", "", [7, TS, 7, TS]), wire.execute(), wire.sync()])

        def work():
            self.ask(session, in_text)
            self.ask(session, bound)
            self.ask(session, wire.query("begin"))
            self.ask(session, in_text)
            self.ask(session, bound)
            self.ask(session, wire.query("commit"))
        counted = self.counted(work)
        partition = str(EVENTS.partition_of(harness.xxh3_signed(7)))
        self.assertEqual(counted.by("rows_total", "partition"), {partition: 4})
        self.assertEqual(counted.by("requests_total", "partition"), {partition: 4})

    def test_failures(self):
        """Rows that are there already: an error and a failed batch for each. A key that cannot be read: an
        error, and no batch."""
        session = self.wire()
        self.ask(session, text(1))
        counted = self.counted(lambda: [session.ask(text(1)), session.ask(with_parameters(1)),
                                        session.ask(text("'x'"))])
        self.assertEqual(counted.by("client_errors_total", "code"), {"23505": 2, "22P02": 1})
        self.assertEqual(counted.by("units_total", "outcome"), {"failed": 2})
        self.assertEqual(counted.get("batches_failed_total"), 2)
        self.assertEqual(counted.get("batched_rows_total"), 0)

    def test_bytes(self):
        session = self.wire()
        self.ask(session, wire.query("select 1"))
        question = wire.query("select repeat('x', 100000) -- " + "y" * 5000)
        before = self.scrape()
        self.ask(session, question)
        for metric, peer, least in (("received", "client", len(question)),
                                    ("sent", "backend", len(question)),
                                    ("received", "backend", 100000), ("sent", "client", 100000)):
            harness.eventually(  # they are counted when they have left
                f"what was {metric}, {peer}, is counted", lambda metric=metric, peer=peer,
                least=least: self.scrape().since(before).get(f"{metric}_bytes_total", peer=peer)
                >= least)
        counted = self.scrape().since(before)
        for metric in ("sent", "received"):
            self.assertLess(counted.get(f"{metric}_bytes_total"), 105000 + 4000)

    def test_cancel_requests(self):
        def cancel():
            other = wire.Wire(self.keyspread.address())
            other.send(wire.cancel_request(1, 1))
            other.read_to_end()
            other.drop()
        self.assertEqual(self.counted(cancel).get("cancel_requests_total"), 1)

    def test_the_catalog_and_the_process(self):
        self.ask(self.wire(), text(1))
        now = self.scrape()
        started = now.samples["process_start_time_seconds", frozenset()]
        loaded = now.get("catalog_loaded_timestamp_seconds")
        with self.postgres.admin(self.database) as admin:
            clock = float(admin.rows("select extract(epoch from now())")[0][0])
        self.assertTrue(clock - 3600 < started <= loaded <= clock + 1, (started, loaded, clock))
        self.assertGreaterEqual(now.by("catalog_loads_total", "result")["ok"], 1)
        self.assertEqual(list(now.by("build_info", "version").values()), [1])

    def test_nothing_secret_is_told(self):
        session = self.wire()
        secret = "verysecretvalue"
        session.ask(text(1, event=secret))
        session.ask(wire.query(f"select '{secret}' from {secret}"))
        session.ask(wire.query(f"do $$ begin raise exception 'x' using errcode = 'SECRT'; end $$"))
        now = self.scrape()
        self.assertEqual(now.by("client_errors_total", "code").get("SECRT"), 1)
        self.assertNotIn(secret, now.text)
        for _, labels in now.samples:
            self.assertLessEqual({name for name, _ in labels}, LABELS)


class OneWorker(MetricsCase):
    """What has arrived is queued, and no second worker has a first session."""

    options = {"admin": {}, "workers": 1}

    def test_a_shared_batch_that_fails_is_repeated(self):
        """While a batch waits for a lock, units gather behind it; one of them is guilty."""
        same = [key for key in range(1000, 2000)
                if EVENTS.partition_of(harness.xxh3_signed(key)) == 3]
        self.ask(self.wire(), text(same[1]))
        with self.postgres.admin(self.database) as holder, \
                self.postgres.admin(self.database) as admin:
            holder.rows("begin; insert into events values "
                        f"({harness.xxh3_signed(same[0])}, {same[0]}, '{TS}', 'held')")
            clients = [self.wire() for _ in range(4)]
            before = self.scrape()
            clients[0].send(text(same[0]))
            harness.eventually("the batch waits for the lock", lambda: admin.rows(WAITING))
            one = self.scrape().get("queue_bytes")
            self.assertGreater(one, 0)
            for number, client in enumerate(clients[1:], 1):
                client.send(text(same[number]))  # same[1] is there already
            harness.eventually("all are queued", lambda:
                               self.scrape().get("queue_bytes") == 4 * one)
            holder.rows("rollback")
        errors = [wire.error_of(client.read_ready()) for client in clients]
        self.assertEqual(errors, [None, "23505", None, None])
        counted = self.scrape().since(before)
        self.assertEqual(counted.get("batches_failed_total"), 1)
        self.assertEqual(counted.get("batch_retries_total"), 1)
        self.assertEqual(counted.get("units_repeated_total"), 3)
        self.assertEqual(counted.get("batch_rows_count"), 2)
        self.assertEqual(counted.get("batch_rows_sum"), 4)
        self.assertEqual(counted.get("batched_rows_total"), 3)
        self.assertEqual(counted.by("units_total", "outcome"), {"committed": 3, "failed": 1})
        self.assertEqual(self.scrape().get("queue_bytes"), 0)

    def test_clients_links_and_logins(self):
        sessions = [self.wire() for _ in range(3)]
        self.ask(sessions[0], wire.query("select 1"))
        harness.eventually("those of other tests have left", lambda:
                           self.scrape().get("clients", state="logged_in") == 3
                           and self.scrape().get("links", kind="session") == 3)
        now = self.scrape()
        self.assertEqual(now.get("clients_limit"), 10000)
        self.assertEqual(now.get("links_limit"), 90)
        self.assertGreaterEqual(now.get("link_wait_seconds_count", kind="session"), 1)
        with socket.create_connection(self.keyspread.address()):
            harness.eventually("somebody logs in", lambda:
                               self.scrape().get("clients", state="logging_in") == 1)
        counted = self.counted(self.wire)
        self.assertEqual(counted.by("logins_total", "result"), {"ok": 1})
        counted = self.counted(self.log_in_wrongly)
        self.assertEqual(counted.by("logins_total", "result"), {"authentication": 1, "other": 1})
        self.assertEqual(counted.by("client_errors_total", "code"), {"28000": 1, "3D000": 1})

    def log_in_wrongly(self):
        for user, database in (("nobody_known", self.database), ("app", "nowhere")):
            session = wire.Wire(self.keyspread.address())
            with self.assertRaises(wire.Closed):
                session.login(user, database)
            session.drop()


class Reasons(MetricsCase):
    """Every reason for not batching is counted, once for an INSERT, in both protocols."""

    tables = (EVENTS,
              harness.Table("numbered", ["id bigserial", "a bigint not null"], ["a"],
                            partitions=1),
              harness.Table("triggered", ["a bigint not null", "b text"], ["a"], partitions=1),
              harness.Table("forwarded", ["a bigint default 1"], ["a"], uncomputable="forward",
                            partitions=1),
              harness.Table("plain", ["a bigint not null", "b text"], ["a"], partitions=1,
                            batch={"lock_wait_ms": 20}))
    setup_sql = ("create function nothing() returns trigger language plpgsql as "
                 "'begin return new; end'; create trigger t before insert on triggered for each "
                 "row execute function nothing();"
                 "alter table forwarded alter a_hash set default 0")

    def check(self, reason, sql, *before, count=1):
        """The INSERT is counted under the reason, as text and with Parse, Bind, Execute."""
        for extended in (False, True):
            session = self.wire()
            for statement in before:
                self.ask(session, wire.query(statement))
            message = wire.query(sql) if not extended else (
                wire.parse("", sql) + wire.bind("", "") + wire.execute() + wire.sync())
            with self.subTest(reason, extended=extended):
                counted = self.counted(lambda: self.ask(session, message))
                self.assertEqual(counted.by("inserts_not_batched_total", "reason"),
                                 {reason: count})
                self.assertEqual(counted.get("units_total"), 0)
            session.close()
            self.setUp()

    def test_statements(self):
        self.check("returning", "insert into plain values (1, 'x') returning upper(b)")
        self.check("sequence", "insert into numbered (a) values (1)")
        self.check("trigger", "insert into triggered values (1, 'x')")
        self.check("expression", "insert into plain values (1, random()::text)")
        self.check("form", "with x as (select 1) insert into plain values (1, 'x')")
        self.check("uncomputable", "insert into forwarded values (1 + (select 1))")

    def test_sessions(self):
        sql = "insert into plain values (1, 'x')"
        self.check("transaction", sql, "begin")
        self.check("settings", sql, "set transform_null_equals to on")
        self.check("encoding", sql, "set client_encoding to 'latin1'")
        self.check("encoding", sql, "set standard_conforming_strings to off")

    def test_what_programs_say_first_parts_nobody(self):
        for opening in (
                ("SET client_min_messages TO warning;SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE;",),
                ("SET DateStyle = 'ISO';SET extra_float_digits = 2;show transaction_isolation",),
                ("SET extra_float_digits = 3", "SET application_name = 'jdbc'"),
                ("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",),
                ("set names 'utf8'", 'set search_path to "$user", "public"'),
                ("set client_encoding to 'UNICODE'", "SET standard_conforming_strings TO on"),
                ("BEGIN", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "COMMIT"),
                ("SET app.tenant = '5'", "select set_config('app.name', 'x', false)"),
                ("SET statement_timeout = 50000; SET lock_timeout = '10s'",),
                ("BEGIN; SET LOCAL lock_timeout = 100; SET LOCAL work_mem = '8MB'; COMMIT",),
                ("SET SESSION AUTHORIZATION DEFAULT; SET ROLE NONE",), ("RESET ALL", "DISCARD ALL")):
            session = self.wire()

            def work():
                for text in opening:
                    self.ask(session, wire.query(text))
                for number in (1, 2):
                    self.ask(session, wire.query(f"insert into plain values ({number}, 'x')"))
            with self.subTest(opening):
                counted = self.counted(work)
                self.assertEqual((counted.by("private_sessions_total", "reason"),
                                  counted.get("batched_rows_total")), ({}, 2))
            session.close()
            self.setUp()

    def test_digits_of_reals_part_only_those_who_write_their_text(self):
        """pgjdbc sets extra_float_digits, and sends strings as varchar, whatever their columns are."""
        session = self.wire()
        self.ask(session, wire.query("set extra_float_digits = 3"))
        for declared, cell, batched in ((1043, "$1", 1), (1043, "$1::name", 1), (701, "$1", 0),
                                        (25, "$1::float8", 0), (0, "$1::bytea::text", 0)):
            with self.subTest(declared=declared, cell=cell):
                counted = self.counted(lambda: self.ask(
                    session, wire.parse("", f"insert into plain values (1, {cell})", (declared,)),
                    wire.bind("", "", ["7"]), wire.execute(), wire.sync()))
                self.assertEqual(counted.get("batched_rows_total"), batched)
                self.setUp()

    def test_digits_of_reals_part_only_those_who_are_told_them(self):
        session = self.wire()
        self.ask(session, wire.query("alter table plain add part float4"))
        self.ask(session, wire.query("set extra_float_digits = 3"))
        for returned, batched in (
                ("a", 1), ("plain.b as x, a", 1), ("part", 0), ("*", 0), ("a, plain.part", 0)):
            with self.subTest(returned=returned):
                counted = self.counted(lambda: self.ask(session, wire.query(
                    f"insert into plain (a) values (1) returning {returned}")))
                self.assertEqual(counted.get("batched_rows_total"), batched)
                self.setUp()
        self.ask(session, wire.query("alter table plain drop part"))
        counted = self.counted(lambda: self.ask(session, wire.query("insert into plain values (1, 'x') returning *")))
        self.assertEqual(counted.get("batched_rows_total"), 1)

    def test_why_a_session_is_private(self):
        for reason, before in (("setting", "set transform_null_equals to on"),
                               ("role", "set role postgres")):
            session = self.wire()
            self.ask(session, wire.query(before))

            def work():
                for number in (1, 2):
                    self.ask(session, wire.query(f"insert into plain values ({number}, 'x')"))
            with self.subTest(reason):
                counted = self.counted(work)
                self.assertEqual(counted.by("private_sessions_total", "reason"), {reason: 1})
            session.close()
            self.setUp()

    def test_a_query_of_several_statements(self):
        session = self.wire()
        counted = self.counted(lambda: self.ask(session, wire.query(
            "insert into plain values (1, 'x'); select 1; insert into plain values (2, 'y')")))
        self.assertEqual(counted.by("inserts_not_batched_total", "reason"), {"group": 2})
        self.assertEqual(counted.by("requests_total", "table"), {"public.plain": 2})

    def test_a_group_of_several_statements(self):
        session = self.wire()
        group = (wire.parse("", "insert into plain values (1, 'x')") + wire.bind("", "")
                 + wire.execute() + wire.parse("", "select 1") + wire.bind("", "")
                 + wire.execute() + wire.sync())
        counted = self.counted(lambda: self.ask(session, group))
        self.assertEqual(counted.by("inserts_not_batched_total", "reason"), {"group": 1})

    def test_a_lock(self):
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; insert into plain values "
                        f"({harness.xxh3_signed(1)}, 1, 'held')")
            session = self.wire()
            before = self.scrape()
            session.send(wire.query("insert into plain values (1, 'x')"))
            harness.eventually("the INSERT moved to its session's link", lambda: self.scrape()
                               .since(before).by("inserts_not_batched_total", "reason")
                               == {"lock": 1})
            holder.rows("rollback")
        self.assertEqual(wire.tags_of(session.read_ready()), ["INSERT 0 1"])
        counted = self.scrape().since(before)
        self.assertEqual(counted.by("units_total", "outcome"), {"rerouted": 1})


class Large(harness.Table):
    """300 partitions that only keyspread knows of."""

    def config(self):
        return {**super().config(), "partitions": {"buckets": 300}}


class Bounds(MetricsCase):
    tables = (EVENTS, Large("large", ["a bigint not null"], ["a"], batch={"target_ms": 60_000}))
    options = {"admin": {}, "limits": {"row_bytes": 1024, "key_bytes": 100},
               "backend": {"batch_links": 1}}

    def test_a_table_of_many_partitions(self):
        session = self.wire()
        counted = self.counted(lambda: [
            self.ask(session, wire.query("insert into large values (1), (2), (3)")),
            self.ask(session, wire.query("insert into large values (4)"))])
        self.assertEqual(counted.by("rows_total", "partition", table="public.large"), {"all": 4})
        self.assertEqual(counted.by("requests_total", "partition", table="public.large"),
                         {"all": 2})
        self.assertEqual(counted.get("request_partitions_sum"), 4)
        shown = {dict(labels)["partition"] for name, labels in counted.samples
                 if name == "keyspread_rows_total" and ("table", "public.large") in labels}
        self.assertEqual(shown, {"all"})

    def test_oversized_rows(self):
        session = self.wire()
        counted = self.counted(lambda: self.ask(session, text(1, event="x" * 2000)))
        self.assertEqual(counted.by("oversized_rows_total", "limit"), {"row_bytes": 1})

    def test_the_limit_in_force(self):
        """A batch that is held up longer than target_ms halves what the next one may have."""
        now = self.scrape()
        self.assertEqual(now.get("batch_limit_rows", table="public.large"), 500)
        self.assertEqual(now.get("batch_limit_bytes", table="public.large"), 1048576)
        halved = now.get("batch_limit_rows", table="public.events") // 2  # of 500, or less on a busy machine
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; insert into events values "
                        f"({harness.xxh3_signed(1)}, 1, '{TS}', 'held')")
            session = self.wire()
            session.send(text(1))
            with self.postgres.admin(self.database) as admin:
                harness.eventually("the batch waits for the lock", lambda: admin.rows(WAITING))
            holder.rows("select pg_sleep(0.1); rollback")  # how long the batch takes, at least
        self.assertEqual(wire.tags_of(session.read_ready()), ["INSERT 0 1"])
        harness.eventually("the halved limit is told", lambda: self.scrape().get(
            "batch_limit_rows", table="public.events") <= halved)
        self.assertEqual(self.scrape().get("batch_limit_rows", table="public.large"), 500)


class Endpoint(MetricsCase):
    def fetch(self, *args):
        return metrics.fetch(self.keyspread, *args)

    def test_promtool_finds_nothing_wrong(self):
        if not shutil.which("promtool"):
            harness.missing("promtool (of prometheus)")
        self.ask(self.wire(), text(1))
        self.ask(self.wire(), with_parameters(2))
        page = self.fetch("/metrics")
        self.assertEqual(page.status, 200)
        self.assertEqual(page.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        checked = subprocess.run(["promtool", "check", "metrics"], input=page.body, text=True,
                                 capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_every_metric_is_documented(self):
        path = os.path.join(os.path.dirname(os.path.dirname(harness.HERE)), "docs", "metrics.md")
        with open(path, encoding="utf-8") as file:
            documented = re.findall(r"^\| `((?:keyspread|process)_\w+)` \| (\w+) \|", file.read(),
                                    re.M)
        told = re.findall(r"^# TYPE (\S+) (\S+)$", self.scrape().text, re.M)
        self.assertEqual(sorted(documented), sorted(told))

    def test_paths_and_methods(self):
        health = self.fetch("/healthz")
        self.assertEqual((health.status, health.body), (200, "ok\n"))
        for path in ("/", "/metric", "/metrics/", "/../metrics", "/" + "x" * 4000):
            self.assertEqual(self.fetch(path).status, 404, path)
        for path in ("/healthz", "/metrics", "/copies"):
            for method in ("POST", "PUT", "DELETE", "OPTIONS"):
                answer = self.fetch(path, method, b"x" * 100000 if method == "POST" else None)
                self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"))
            head = self.fetch(path, "HEAD")
            self.assertEqual((head.status, head.body), (200, ""))
            self.assertGreater(int(head.headers["Content-Length"]), 2)

    def test_many_idle_visitors(self):
        """More connections than there is room for, and nothing said: the others are served."""
        address = ("127.0.0.1", self.keyspread.admin_port)
        visitors = [socket.create_connection(address) for _ in range(40)]
        self.assertEqual(wire.tags_of(self.wire().query("select 1")), ["SELECT 1"])
        for visitor in visitors:
            visitor.close()
        harness.eventually("the endpoint answers again", lambda:
                           self.fetch("/healthz").status == 200)

    def test_rubbish(self):
        for rubbish in (b"\0" * 100, b"GET\r\n\r\n", b"x" * 100000, b"GET / HTTP/1.1\r\nA: " +
                        b"b" * 100000):
            with socket.create_connection(("127.0.0.1", self.keyspread.admin_port)) as visitor:
                with contextlib.suppress(OSError):
                    visitor.sendall(rubbish)
                    visitor.shutdown(socket.SHUT_WR)
                    while visitor.recv(65536):
                        pass
        self.assertEqual(self.fetch("/healthz").status, 200)

    def test_mute_visitors_shut_nobody_out(self):
        """More of them than the endpoint has room for; the latest is served at once all the same."""
        address = ("127.0.0.1", self.keyspread.admin_port)
        crowd = [socket.create_connection(address, harness.PATIENCE) for _ in range(300)]
        for connection in crowd:
            self.addCleanup(connection.close)
        self.assertEqual(self.fetch("/healthz").status, 200)
        self.assertEqual(crowd[0].recv(1), b"")


@harness.proxied
class Life(unittest.TestCase):
    """Starting, reloading, a backend that is away, stopping."""

    patient = harness.Table("events", EVENTS.columns, EVENTS.key, hash_column="userhash",
                            batch={"lock_wait_ms": 600000})

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, "app", (EVENTS,))

    def setUp(self):
        with self.postgres.admin("app") as admin:
            admin.rows("truncate events")

    def start(self, **config):
        keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, **{"admin": {}, **config}))
        self.addCleanup(keyspread.stop)
        return keyspread

    def session(self, keyspread):
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        session.login(harness.USER, "app")
        return session

    def test_draining(self):
        keyspread = self.start(tables=[self.patient])
        self.assertIn("event=admin_ready", keyspread.lines.text())
        session = self.session(keyspread)
        with self.postgres.admin("app") as holder:
            holder.rows("begin; insert into events values "
                        f"({harness.xxh3_signed(1)}, 1, '{TS}', 'held')")
            session.send(text(1))
            with self.postgres.admin("app") as admin:
                harness.eventually("the batch waits for the lock", lambda: admin.rows(WAITING))
            keyspread.process.send_signal(signal.SIGTERM)
            harness.eventually("it says that it is stopping", lambda:
                               metrics.fetch(keyspread, "/healthz")[::2] == (503, "stopping\n"))
            self.assertEqual(metrics.Scrape(keyspread).get("clients", state="logged_in"), 1)
            holder.rows("rollback")
        self.assertEqual(wire.tags_of(session.read_until("Z")), ["INSERT 0 1"])
        keyspread.finish()
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", keyspread.admin_port)).close()

    def test_the_backend_is_away(self):
        keyspread = self.start(backend={"links": "on_demand"})
        session = self.session(keyspread)
        self.assertEqual(metrics.Scrape(keyspread).get("backend_up"), 1)
        self.postgres.stop()
        self.addCleanup(lambda: self.postgres.process.poll() is None or self.postgres.start())
        self.assertEqual(wire.error_of(session.query("select 1")), "08006")
        health = metrics.fetch(keyspread, "/healthz")
        self.assertEqual(health.status, 200)
        self.assertEqual(health.body, "ok\nthe backend could not be reached at the last try\n")
        now = metrics.Scrape(keyspread)
        self.assertEqual(now.get("backend_up"), 0)
        self.assertGreaterEqual(now.get("link_failures_total"), 1)  # a link for batches, too
        self.assertEqual(now.get("client_errors_total", code="08006"), 1)
        self.postgres.start()
        self.assertIsNone(wire.error_of(session.query("select 1")))
        self.assertEqual(metrics.fetch(keyspread, "/healthz").body, "ok\n")
        self.assertEqual(metrics.Scrape(keyspread).get("backend_up"), 1)

    def test_reload_keeps_what_was_counted(self):
        keyspread = self.start()
        session = self.session(keyspread)
        session.ask(text(*range(100)))
        before = metrics.Scrape(keyspread)
        table = {**EVENTS.config(), "partitions": {"uniform": 4}, "batch": {"rows": 77}}
        port = keyspread.admin_port
        keyspread.write_config({**keyspread.config, "tables": [table],
                                "admin": {"listen": f"127.0.0.1:{harness.free_port()}"}})
        keyspread.process.send_signal(signal.SIGHUP)
        self.assertRegex(keyspread.lines.wait_for("event=restart_needed"), r" keys=admin\.listen$")
        keyspread.lines.wait_for("event=reloaded")
        seen = len(keyspread.lines.lines)
        keyspread.process.send_signal(signal.SIGHUP)
        keyspread.lines.wait_for("event=restart_needed", since=seen)
        keyspread.lines.wait_for("event=reloaded", since=seen)
        keyspread.admin_port = port
        now = metrics.Scrape(keyspread)
        self.assertEqual(now.by("rows_total", "partition"), before.by("rows_total", "partition"))
        self.assertEqual(now.get("batched_rows_total"), 100)
        self.assertEqual(now.get("batch_limit_rows"), 77)

    def test_a_crowd_that_does_not_log_in(self):
        keyspread = self.start(limits={"unauthenticated": 1})
        with socket.create_connection(keyspread.address()) as first:
            harness.eventually("somebody logs in", lambda: metrics.Scrape(keyspread).get(
                "clients", state="logging_in") == 1)
            with socket.create_connection(keyspread.address()):
                while first.recv(1024):
                    pass
        now = metrics.Scrape(keyspread)
        self.assertEqual(now.by("logins_total", "result"), {"limit": 1})
        self.assertEqual(now.by("client_errors_total", "code"), {"53300": 1})

    def test_no_file_descriptors(self):
        keyspread = self.start()
        limits = resource.prlimit(keyspread.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(keyspread.process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        session = wire.Wire(keyspread.address())
        self.addCleanup(session.drop)
        keyspread.lines.wait_for("event=accept_stopped")
        resource.prlimit(keyspread.process.pid, resource.RLIMIT_NOFILE, limits)
        session.login(harness.USER, "app")
        self.assertEqual(metrics.Scrape(keyspread).get("accept_stops_total"), 1)

    def test_no_endpoint_where_none_is_asked_for(self):
        keyspread = harness.Keyspread(harness.backend_config(self.postgres))
        self.addCleanup(keyspread.stop)
        self.assertNotIn("admin_ready", keyspread.lines.text())

    def test_a_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="keyspread-admin-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "admin")
        keyspread = self.start(admin={"listen": path})
        with socket.socket(socket.AF_UNIX) as visitor:
            visitor.connect(path)
            visitor.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            answer = b""
            while piece := visitor.recv(4096):
                answer += piece
        self.assertRegex(answer, rb"^HTTP/1\.[01] 200 OK\r\n(?s:.*)\r\n\r\nok\n$")
        keyspread.stop()
        self.assertEqual(os.listdir(folder), [])

    def test_a_port_in_use(self):
        other = self.start()
        config = {**other.config, "listen": [f"127.0.0.1:{harness.free_port()}"]}
        path = os.path.join(other.folder, "second.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        second = subprocess.run([harness.program(), "run", path], capture_output=True, text=True,
                                timeout=harness.PATIENCE, check=False)
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assertRegex(second.stderr, r"event=listen_failed key=admin.listen .*in use")
        self.assertNotIn("event=stop", second.stderr)


if __name__ == "__main__":
    unittest.main()
