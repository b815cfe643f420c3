#!/usr/bin/env python3
"""A link to YDB's endpoint, seen by a client of keyspread on the fake: what goes wrong behind it is
made good, or told as PostgreSQL would tell it."""
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import harness
import middleman
import wire
from ydb import Endpoint

COLUMNS = [{"name": "id", "type": "bigint", "not_null": True}, {"name": "v", "type": "text"},
           {"name": "id_hash", "type": "bigint", "not_null": True}]
DDL = ("drop table if exists items, plain; create table items (id bigint not null, v text, id_hash "
       "bigint not null, primary key (id_hash, id)); create table plain (id int primary key, v text)")


def settings(endpoint, table, **backend):
    return {"workers": 1, "admin": {},
            "backend": {"dsn": f"postgresql://app@127.0.0.1:{endpoint.port}/local",
                        "dialect": "ydb", **backend},
            "tables": [{"name": "items", "primary_key": ["id"], "hash_function": "xxh3",
                        "columns": COLUMNS, "partitions": {"uniform": 4}, **table}]}


class LinkCase(unittest.TestCase):
    options, backend, table = {}, {}, {}

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        cls.postgres.create_database("app")
        cls.endpoint = Endpoint(cls.postgres, **cls.options)
        cls.addClassCleanup(cls.endpoint.stop)
        cls.keyspread = harness.Keyspread(settings(cls.endpoint, cls.table, **cls.backend))
        cls.addClassCleanup(cls.keyspread.stop)

    def setUp(self):
        self.endpoint.http("DELETE", "/faults")
        with self.postgres.admin("app") as admin:
            admin.rows(DDL)

    def session(self, **params):
        link = wire.Wire(("127.0.0.1", self.keyspread.port))
        self.addCleanup(link.close)
        link.login("app", "/local", **params)
        return link

    def says(self, link, sql):
        """Tags, SQLSTATEs and the status."""
        return [message.tag() if message.kind == "C" else message.body.decode()
                if message.kind == "Z" else message.sqlstate
                for message in link.query(sql) if message.kind in "CEZ"]


class Retries(LinkCase):
    def test_what_was_not_done_is_tried_again(self):
        link = self.session()
        for status in ("ABORTED", "UNAVAILABLE", "OVERLOADED", "BAD_SESSION", "SESSION_BUSY"):
            for sql, tag in (("insert into plain values (1)", "INSERT 0 1"),
                             ("update plain set v = 'x' where id = 1", "UPDATE 1"),
                             ("select id from plain", "SELECT 1"),
                             ("delete from plain", "DELETE 1"),
                             ("insert into items values (1, 'a') on conflict (id) do update "
                              "set v = excluded.v", "INSERT 0 1")):
                self.endpoint.order(status, times=2, every=1)
                self.assertEqual(self.says(link, sql), [tag, "I"], (status, sql))
                self.endpoint.http("DELETE", "/faults")

    def test_what_is_returned_comes_once(self):
        """Its rows, and what describes them, also where the write behind them is tried again."""
        link = self.session()
        for sql, begins, tag in (
                ("insert into items values (1, 'a') returning id", "insert", "INSERT 0 1"),
                ("update items set v = 'b' where id = 1 returning v", "update", "UPDATE 1"),
                ("delete from items where id = 1 returning v", "delete", "DELETE 1")):
            self.endpoint.order("ABORTED", times=2, every=1, begins=begins)
            kinds = wire.kinds(link.query(sql))
            self.assertEqual(kinds, "TDCZ", sql)
            self.endpoint.http("DELETE", "/faults")
        self.says(link, "insert into items values (1, 'a')")
        self.assertEqual(wire.kinds(link.query("insert into items values (1, 'a') returning id")), "EZ")

    def test_what_has_no_binary_form_is_refused_before_anything_is_written(self):
        link = self.session()
        for sql in ("insert into items (id, v) values (1, 'a') returning id, '10.0.0.1'::inet",
                    "insert into items (id, v) values (1, 'a') on conflict (id) do update set v = 'b' "
                    "returning id, '{10.0.0.1}'::inet[]",
                    "update items set v = 'b' where id = 0 returning id, '10.0.0.1'::inet",
                    "delete from items where id = 0 returning id, '10.0.0.0/8'::cidr"):
            self.says(link, "delete from items; insert into items (id, v) values (0, 'z')")
            for results, error in (([1], "0A000"), ([0, 1], "0A000"), ([1, 0], None)):
                told = link.ask(wire.parse("", sql), wire.bind("", "", results=results),
                                wire.execute(), wire.sync())
                self.assertEqual(wire.error_of(told), error, (sql, results))
                if error is not None:
                    self.assertEqual(link.rows("select id, v from items"), [["0", "z"]], sql)

    def test_rows_of_other_columns_are_refused_before_anything_is_written(self):
        link = self.session()
        for returned in ("delete from plain returning v", "delete from plain where id > 0 returning v"):
            self.says(link, "drop table plain")
            self.says(link, "create table plain (id int primary key, v text)")
            self.says(link, f"deallocate all; prepare p as {returned}")
            link.ask(wire.parse("p2", returned), wire.sync())
            self.says(link, "drop table plain")
            self.says(link, "create table plain (id int primary key, v int)")
            self.says(link, "insert into plain values (1, 2)")
            self.assertEqual(self.says(link, "execute p"), ["0A000", "I"])
            told = link.ask(wire.bind("", "p2"), wire.execute(), wire.sync())
            self.assertEqual(wire.error_of(told), "0A000")
            self.assertEqual(link.rows("select id, v from plain"), [["1", "2"]])

    def test_a_transaction_is_not(self):
        link = self.session()
        self.assertEqual(self.says(link, "begin"), ["BEGIN", "T"])
        self.says(link, "insert into plain values (1)")
        self.endpoint.order("ABORTED", begins="insert")
        self.assertEqual(self.says(link, "insert into plain values (2)"), ["40001", "E"])
        self.assertEqual(self.says(link, "select 1"), ["25P02", "E"])
        self.assertEqual(self.says(link, "commit"), ["ROLLBACK", "I"])
        self.assertEqual(self.says(link, "select id from plain"), ["SELECT 0", "I"])

    def test_commit_fails(self):
        link = self.session()
        self.says(link, "begin; insert into plain values (1)")
        self.endpoint.order("ABORTED", begins="commit")
        self.assertEqual(self.says(link, "commit"), ["40001", "I"])
        self.assertEqual(self.says(link, "insert into plain values (1)"), ["INSERT 0 1", "I"])

    def test_unknown(self):
        """Only what could have committed is."""
        link = self.session()
        for fault in ("UNDETERMINED", "INTERNAL_ERROR", "SESSION_EXPIRED", "drop_before_commit",
                      "drop_after_commit"):
            self.endpoint.order(fault, begins="insert")
            self.assertEqual(self.says(link, "insert into plain values (1)"), ["08007", "I"], fault)
            self.endpoint.http("DELETE", "/faults")
            self.says(link, "delete from plain")
        for fault in ("UNDETERMINED", "SESSION_EXPIRED"):
            self.says(link, "begin; insert into plain values (1)")
            self.endpoint.order(fault, begins="commit")
            self.assertEqual(self.says(link, "commit"), ["08007", "I"], fault)
        self.endpoint.order("SESSION_EXPIRED", times=2, every=1, begins="select")
        self.assertEqual(self.says(link, "select id from plain"), ["SELECT 0", "I"])
        self.endpoint.http("DELETE", "/faults")
        self.endpoint.order("SESSION_EXPIRED", times=1, begins="update")
        self.assertEqual(self.says(link, "update plain set v = 'x'"), ["UPDATE 0", "I"])

    def test_a_transaction_whose_connection_is_lost(self):
        link = self.session()
        self.says(link, "begin; insert into plain values (1)")
        self.endpoint.order("INTERNAL_ERROR", begins="select")
        self.assertEqual(self.says(link, "select 1")[-1], "E")
        self.assertEqual(self.says(link, "rollback"), ["ROLLBACK", "I"])
        self.assertEqual(self.says(link, "select id from plain"), ["SELECT 0", "I"])

    def test_errors_are_postgresqls(self):
        link = self.session()
        self.says(link, "insert into plain values (1)")
        for sql, state in (("select * from nothing", "42P01"), ("select nothing from plain", "42703"),
                           ("selec 1", "42601"), ("insert into plain values (1)", "23505"),
                           ("select 1/0", "22012"), ("insert into items values (null, 'a')", "23502"),
                           ("rollback to s", "25P01"), ("begin; create table x (id int primary key)", "0A000"),
                           ("create table x (id int primary key); insert into x values (1)",
                            "0A000")):
            states = [state for state in self.says(link, sql) if len(state) == 5 and
                      state not in ("BEGIN",)]
            self.assertEqual(states, [state], sql)
            self.says(link, "rollback")
        self.says(link, "begin")
        self.assertEqual(self.says(link, "create table x (id int primary key)"), ["0A000", "E"])

    def test_cancel(self):
        link = self.session()
        self.endpoint.order("stall", begins="select", ms=0)
        link.send(wire.query("select 1"))
        harness.eventually("the statement runs", lambda: self.endpoint.http(
            "GET", "/faults")[0]["done"] == 1)
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as other:
            other.send(wire.cancel_request(link.pid, link.key))
        told = [(m.sqlstate, m.fields()["M"]) for m in link.read_ready() if m.kind == "E"]
        self.assertEqual(told, [("57014", "canceling statement due to user request")])
        self.assertEqual(self.says(link, "select 2"), ["SELECT 1", "I"])

    def test_statement_timeout(self):
        link = self.session()
        self.says(link, "set statement_timeout = '200ms'")
        self.endpoint.order("stall", begins="select", ms=0)
        self.assertEqual(self.says(link, "select 1"), ["57014", "I"])
        self.endpoint.http("DELETE", "/faults")
        self.endpoint.order("OVERLOADED", begins="select", every=1)
        self.assertEqual(self.says(link, "select 1"), ["57014", "I"])
        self.endpoint.http("DELETE", "/faults")
        self.says(link, "set statement_timeout = 0")
        self.assertEqual(self.says(link, "select 2"), ["SELECT 1", "I"])

    def test_what_waits_for_its_client_takes_no_time(self):
        """A portal of which no rows are wanted just now, with more than buffers hold."""
        link = self.session()
        many = "select n, repeat('x', 1000) from generate_series(1, 30000) n"
        self.says(link, "set statement_timeout = '3s'; begin")
        told = link.ask(wire.parse("", many), wire.bind("p", ""), wire.execute("p", 10), wire.sync())
        self.assertIn("s", wire.kinds(told))
        self.endpoint.http("POST", "/counters")
        time.sleep(3.5)
        self.assertEqual(self.endpoint.counters()["cancels"], 0)
        told = link.ask(wire.execute("p", 10), wire.sync())
        self.assertEqual(wire.kinds(told), "D" * 10 + "sZ")
        self.assertEqual(self.says(link, "rollback"), ["ROLLBACK", "I"])

    def test_rows_that_cannot_be_put_by_in_time(self):
        """What has waited for them is told, for the transaction ends with them."""
        for sql, told in (("select 1", ["57014", "E"]), ("commit", ["57014", "I"]),
                          ("insert into plain values (1, 'a')", ["57014", "E"]),
                          ("rollback", ["ROLLBACK", "I"])):
            with self.subTest(sql):
                link = self.session()
                self.says(link, "set statement_timeout = '2s'; begin")
                self.says(link, "insert into plain values (2, 'b')")
                many = ("select n, repeat('x', 1000), case n when 29000 then pg_sleep(600) end "
                        "from generate_series(1, 30000) n")
                reply = link.ask(wire.parse("", many), wire.bind("p", ""), wire.execute("p", 10),
                                 wire.sync())
                self.assertIn("s", wire.kinds(reply))
                self.assertEqual(self.says(link, sql), told)
                if told[-1] == "E":
                    self.assertEqual(self.says(link, "select 1"), ["25P02", "E"])
                    self.assertEqual(self.says(link, "commit"), ["ROLLBACK", "I"])
                self.assertEqual(self.says(link, "select id from plain"), ["SELECT 0", "I"])

    def test_long_messages(self):
        """A row of 30 MB is refused, whatever the protocol, and nothing else is."""
        link = self.session()
        self.assertEqual(self.says(link, f"insert into plain values (1, '{'x' * 30_000_000}')"),
                         ["54000", "I"])
        reply = link.ask(wire.parse("", "insert into plain values ($1, $2)")
                         + wire.bind("", "", [1, "x" * 30_000_000]) + wire.execute() + wire.sync())
        self.assertEqual(wire.error_of(reply), "54000")
        self.assertEqual(self.says(link, f"insert into plain values (1, '{'x' * 1_000_000}')"),
                         ["INSERT 0 1", "I"])

    def test_a_cursor_and_other_statements(self):
        """There is one connection: rows that are not fetched yet are put by."""
        link = self.session()
        values = ", ".join(f"({number})" for number in range(1000))
        self.says(link, f"insert into plain values {values}")
        self.says(link, "begin; declare c cursor for select id from plain order by id")
        found = []
        for _ in range(10):
            found += link.rows("fetch 100 from c")
            self.assertEqual(link.rows("select count(*) from plain"), [["1000"]])
        self.assertEqual([int(row[0]) for row in found], list(range(1000)))
        self.assertEqual(self.says(link, "commit"), ["COMMIT", "I"])


class Behind(LinkCase):
    """Time runs again for who waits for the rows of a suspended portal, or for their end."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.between = middleman.Middleman(cls.endpoint.port)
        cls.addClassCleanup(cls.between.close)
        port, cls.endpoint.port = cls.endpoint.port, cls.between.port
        cls.behind = harness.Keyspread(settings(cls.endpoint, cls.table))
        cls.endpoint.port = port
        cls.addClassCleanup(cls.behind.stop)

    def suspended(self):
        """A session whose portal has given ten rows; what else there is does not come."""
        link = wire.Wire(("127.0.0.1", self.behind.port))
        self.addCleanup(link.close)
        link.login("app", "/local")
        many = "select n, repeat('x', 1000) from generate_series(1, 30000) n"
        self.says(link, "set statement_timeout = '5s'; begin")
        told = link.ask(wire.parse("", many), wire.bind("p", ""), wire.execute("p", 10), wire.sync())
        self.assertIn("s", wire.kinds(told))
        return link

    def test_the_timeout_holds(self):
        go_on, links = threading.Event(), []
        self.addCleanup(go_on.set)
        cancels = self.endpoint.counters()["cancels"]
        for behind in ([wire.query("select 1")], [wire.close("P", "p"), wire.sync()],
                       [wire.execute("p"), wire.sync()]):
            links.append(self.suspended())
            there = self.between.open_gap("D", 1, go_on)
            links[-1].send(*behind)
            self.assertTrue(there.wait(harness.PATIENCE), behind)
        harness.eventually("all are cancelled", lambda: self.endpoint.counters()["cancels"] == cancels + 3)
        go_on.set()
        told = [link.read_ready() for link in links]
        self.assertIn(wire.error_of(told[-1]), (None, "57014"))  # a cancel may come when all rows are on their way
        for link, replies in zip(links, told):
            if wire.error_of(replies) is not None:
                self.assertNotIn("COMMIT", self.says(link, "commit"))


class DroppedLate(LinkCase):
    """YDB ends a connection behind INTERNAL_ERROR: maybe only after it has said that it is ready."""
    options = {"drop": "late"}

    def test_nothing_more_is_sent_there(self):
        link = self.session()
        for number in range(5):
            self.endpoint.order("INTERNAL_ERROR", begins="select", times=4, every=1)
            self.assertEqual(self.says(link, "select 1"), ["XX000", "I"])
            self.endpoint.http("DELETE", "/faults")
            self.assertEqual(self.says(link, f"insert into plain values ({number})"), ["INSERT 0 1", "I"])

    def test_a_transaction_is_gone(self):
        link = self.session()
        self.says(link, "begin; insert into plain values (1)")
        self.endpoint.order("INTERNAL_ERROR", begins="select")
        self.assertEqual(self.says(link, "select 1"), ["XX000", "E"])
        self.assertEqual(self.says(link, "commit"), ["ROLLBACK", "I"])
        self.endpoint.order("INTERNAL_ERROR", begins="insert")
        self.assertEqual(self.says(link, "insert into plain values (1)"), ["08007", "I"])
        self.assertEqual(self.says(link, "delete from plain"), ["DELETE 0", "I"])


class Stars(LinkCase):
    def test_behind_a_setting_of_the_same_query(self):
        """What names mean has not changed by it: `*` shows no hash."""
        link = self.session()
        self.says(link, "insert into items (id, v) values (1, 'a')")
        for setting in ("select set_config('lock_timeout', '1h', true)", "set lock_timeout = '1h'",
                        "select set_config('application_name', 'x', false), 1", "select 1"):
            told = link.query(f"{setting}; select x.* from items x")
            self.assertEqual([column[0] for column in told[-4].columns()], ["id", "v"], setting)
            self.assertEqual(wire.kinds(told)[-4:], "TDCZ", setting)


class ReadOnly(LinkCase):
    """What only reads is held to it by keyspread, which YDB is not asked about."""
    insert = "insert into items (id, v) values (1, 'a')"

    def check(self, link, *steps):
        for sql, said in steps:
            self.assertEqual(self.says(link, sql), said, sql)

    def test_each_way_to_say_so(self):
        link = self.session()
        for begin in ("begin read only", "begin; set transaction read only",
                      "start transaction isolation level serializable, read only",
                      "begin; set local transaction_read_only = on", "begin; begin read only",
                      "begin read only; commit and chain", "begin read only; rollback and chain"):
            self.assertEqual(self.says(link, begin)[-1], "T", begin)
            self.check(link, (self.insert, ["25006", "E"]), ("rollback", ["ROLLBACK", "I"]))
        self.assertEqual(self.says(link, "begin read only; begin read write; " + self.insert)[-2:],
                         ["INSERT 0 1", "T"])
        self.check(link, ("commit", ["COMMIT", "I"]), ("delete from items", ["DELETE 1", "I"]))

    def test_a_session_that_does(self):
        link, other = self.session(), self.session()
        self.check(link, ("set session characteristics as transaction read only", ["SET", "I"]),
                   (self.insert, ["25006", "I"]), ("delete from plain", ["25006", "I"]))
        for _ in range(20):  # none of its rows is put into another one's batch
            link.send(wire.query(self.insert))
            self.assertEqual(self.says(other, "insert into items (id) values (2)"), ["INSERT 0 1", "I"])
            self.assertEqual([reply.sqlstate for reply in link.read_ready() if reply.kind == "E"],
                             ["25006"])
            self.says(other, "delete from items")
        self.check(link, ("create table x (id int primary key)", ["25006", "I"]),
                   ("select count(*) from items", ["SELECT 1", "I"]),
                   ("begin read write", ["BEGIN", "T"]), (self.insert, ["INSERT 0 1", "T"]),
                   ("commit", ["COMMIT", "I"]), ("reset all", ["RESET", "I"]),
                   ("delete from items", ["DELETE 1", "I"]))

    def test_a_login_that_does(self):
        link = self.session(options="-c default_transaction_read_only=on")
        self.check(link, (self.insert, ["25006", "I"]), ("delete from items", ["25006", "I"]),
                   ("set default_transaction_read_only = off", ["SET", "I"]),
                   (self.insert, ["INSERT 0 1", "I"]))

    def test_in_a_group(self):
        link = self.session()
        self.assertEqual(self.says(link, f"set transaction read only; {self.insert}"),
                         ["SET", "25006", "I"])
        self.check(link, (self.insert, ["INSERT 0 1", "I"]))

    def test_what_stands_in_it_is_named(self):
        link = self.session()
        self.says(link, "set default_transaction_read_only = on")
        for sql, name in ((self.insert, "INSERT"), ("/* x */ update plain set v = ''", "UPDATE"),
                          ("with a as (select 1) delete from plain", "DELETE"),
                          ("create table x (id int primary key)", "CREATE TABLE")):
            told = [reply.fields()["M"] for reply in link.query(sql) if reply.kind == "E"]
            self.assertEqual(told, [f"cannot execute {name} in a read-only transaction"], sql)


class Groups(LinkCase):
    """Several statements that are one transaction because nobody has said otherwise."""

    SCRIPT = ("insert into plain values (1); insert into plain values (2); select id from plain; "
              "insert into items (id, v) values (1, 'a') on conflict (id) do update set v = 'b'; "
              "delete from plain where id = 1")
    TAGS = ["INSERT 0 1", "INSERT 0 1", "SELECT 2", "INSERT 0 1", "DELETE 1"]

    def has_struck(self):
        return any(one["done"] for one in self.endpoint.http("GET", "/faults"))

    def test_they_are_tried_again_together(self):
        link = self.session()
        for status in ("ABORTED", "UNAVAILABLE", "OVERLOADED", "BAD_SESSION", "SESSION_BUSY"):
            for begins in ("begin", "insert into plain values (1)", "insert into plain values (2)",
                           "select id", "delete", "commit", ""):
                self.endpoint.order(status, times=2, every=1, begins=begins)
                told = link.query(self.SCRIPT)
                self.assertEqual(wire.tags_of(told), self.TAGS, (status, begins))
                self.assertEqual(wire.kinds(told), "CCTDDCCCZ", (status, begins))
                self.endpoint.http("DELETE", "/faults")
                self.assertEqual(link.rows("select id from plain"), [["2"]])
                self.assertEqual(self.says(link, "delete from plain"), ["DELETE 1", "I"])

    def test_connections_that_are_lost(self):
        link = self.session()
        for begins in ("insert into plain values (2)", "select id", "delete"):
            self.endpoint.order("INTERNAL_ERROR", begins=begins)
            self.assertEqual(self.says(link, self.SCRIPT), self.TAGS + ["I"], begins)
            self.says(link, "delete from plain")
        self.endpoint.order("drop_before_commit", begins="commit")
        self.assertEqual(self.says(link, self.SCRIPT), self.TAGS[:-1] + ["08007", "I"])
        self.assertEqual(link.rows("select id from plain"), [])

    def test_up_to_a_sync(self):
        link = self.session()
        bound = b"".join(wire.parse("", f"insert into plain (id, v) values ({number}, $1)")
                         + wire.bind("", "", ["x"]) + wire.execute()
                         for number in range(5)) + wire.sync()
        for status, begins in (("ABORTED", "insert into plain (id, v) values (4"), ("OVERLOADED", "commit"),
                               ("ABORTED", "")):
            self.endpoint.order(status, times=2, every=1, begins=begins)
            told = link.ask(bound)
            self.assertEqual(wire.error_of(told), None)
            self.assertEqual(wire.tags_of(told), ["INSERT 0 1"] * 5)
            self.endpoint.http("DELETE", "/faults")
            self.assertEqual(self.says(link, "delete from plain"), ["DELETE 5", "I"])

    def test_what_was_told_must_be_true(self):
        """Somebody changes what the client was shown."""
        link = self.session()
        self.says(link, "insert into plain values (1, 'a'), (2, 'a')")
        self.endpoint.order("UNAVAILABLE", every=1, begins="commit")
        link.send(wire.query("insert into plain values (3); select v from plain where id = 2; "
                             "insert into plain values (4)"))
        harness.eventually("it was refused", self.has_struck)
        with self.postgres.admin("app") as admin:
            admin.rows("update plain set v = 'b' where id = 2")
        told = link.read_ready()    # no try commits: one that began before the change could
        self.endpoint.http("DELETE", "/faults")
        self.assertEqual(wire.tags_of(told), ["INSERT 0 1", "SELECT 1"])
        self.assertEqual(wire.error_of(told), "40001")
        self.assertEqual(link.rows("select count(*) from plain"), [["2"]])

    def test_a_transaction_that_the_client_makes_its_own(self):
        link = self.session()
        self.says(link, "insert into plain values (1); begin; insert into plain values (2)")
        self.endpoint.order("ABORTED", begins="insert")
        self.assertEqual(self.says(link, "insert into plain values (3)"), ["40001", "E"])
        self.assertEqual(self.says(link, "rollback"), ["ROLLBACK", "I"])
        self.assertEqual(link.rows("select count(*) from plain"), [["0"]])


class Unknown(LinkCase):
    """`repeat: upserts`: what comes to the same when it is done twice."""
    table = {"repeat": "upserts"}
    faults = ("UNDETERMINED", "TIMEOUT", "SESSION_EXPIRED", "CANCELLED", "INTERNAL_ERROR", "drop_before_commit",
              "drop_after_commit", "commit_late")

    def check(self, sql, told):
        link = self.session()
        for fault in self.faults:
            self.endpoint.order(fault, begins="commit", times=2, every=1, ms=300)
            self.assertEqual(self.says(link, sql)[-len(told):], told, fault)
            self.endpoint.http("DELETE", "/faults")
        return link

    def test_upserts_are_done_again(self):
        insert = "insert into items (id, v) values (1, 'a'), (2, 'b') on conflict (id) do update set "
        link = self.check(insert + "v = excluded.v", ["INSERT 0 2", "I"])
        self.assertEqual(link.rows("select id, v from items order by id"), [["1", "a"], ["2", "b"]])
        self.check("upsert into items (id, v) values (1, 'c')", ["INSERT 0 1", "I"])
        self.assertEqual(link.rows("select id, v from items order by id"), [["1", "c"], ["2", "b"]])

    def test_nothing_else_is(self):
        insert = "insert into items (id, v) values (1, 'a') on conflict (id) do "
        self.check(insert + "nothing", ["08007", "I"])
        self.check(insert + "update set v = items.v || 'b'", ["08007", "I"])
        self.check(insert + "update set v = excluded.v; select 1; select 2", ["08007", "I"])
        self.check("delete from items where v = 'x'", ["08007", "I"])

    def test_a_first_time_that_is_late(self):
        """… does not undo what others have written since."""
        link = self.session()
        self.endpoint.order("commit_late", begins="commit", ms=300)
        upsert = "insert into items (id, v) values (1, '{}') on conflict (id) do update set v = excluded.v"
        for value in ("a", "b"):
            self.assertEqual(self.says(link, upsert.format(value)), ["INSERT 0 1", "I"])
        harness.eventually("nothing is on its way", self.is_quiet)
        self.assertEqual(link.rows("select v from items"), [["b"]])

    def is_quiet(self):
        with self.postgres.admin("app") as admin:
            return not admin.rows("select from pg_stat_activity where datname = 'app' and "
                                  "state <> 'idle' and pid <> pg_backend_pid()")


class UnknownFirst(LinkCase):
    """`upsert_first: insert` has no say in what may be done twice: of a plain INSERT that is late yet, behind its second
    time, nothing is left to fail once somebody has deleted the row again."""
    table, faults, check = Unknown.table, Unknown.faults, Unknown.check
    backend = {"upsert_first": "insert"}
    test_upserts_are_done_again = Unknown.test_upserts_are_done_again

    def test_keys_that_are_new(self):
        link = self.session()
        struck = [(fault, "commit") for fault in self.faults]
        for fault, begins in struck + [("UNDETERMINED", "insert"), ("INTERNAL_ERROR", "insert")]:
            self.endpoint.order(fault, begins=begins, ms=300)
            told = self.says(link, "insert into items (id, v) values (1, 'a') on conflict (id) do update "
                                   "set v = excluded.v")
            self.endpoint.http("DELETE", "/faults")
            self.assertEqual(told, ["INSERT 0 1", "I"], (fault, begins))
            self.assertEqual(self.says(link, "delete from items"), ["DELETE 1", "I"], (fault, begins))

    def test_what_comes_to_something_else_tries_an_insert(self):
        link = self.session()
        for upsert in ("do nothing", "do update set v = items.v || 'b'"):
            self.endpoint.order("UNDETERMINED", begins="insert", times=1)
            told = self.says(link, f"insert into items (id, v) values (1, 'a') on conflict (id) {upsert}")
            self.assertEqual(told, ["08007", "I"], upsert)


class First(LinkCase):
    """Upserts that try an INSERT first know another way only in a transaction of their own."""
    backend = {"upsert_first": "insert"}

    def test_in_a_group(self):
        link = self.session()
        upsert = "insert into items (id, v) values (1, 'a') on conflict (id) do update set v = 'b'"
        for _ in range(2):
            self.assertEqual(self.says(link, f"{upsert}; select 1; {upsert}"),
                             ["INSERT 0 1", "SELECT 1", "INSERT 0 1", "I"])
        self.assertEqual(link.rows("select v from items"), [["b"]])


class Overtaken(LinkCase):
    """Another client's row comes between what an upsert asks and what it inserts."""
    upserts = {"on conflict (id) do update set v = excluded.v": ("INSERT 0 1", "ours"),
               "on conflict (id) do update set v = items.v || excluded.v": ("INSERT 0 1", "theirsours"),
               "on conflict do nothing": ("INSERT 0 0", "theirs"),
               "on conflict (id) do nothing": ("INSERT 0 0", "theirs")}

    def overtake(self, link, messages, key=1):
        """What is answered, where somebody else inserts the key just before the INSERT is done."""
        self.endpoint.order("stall", begins="insert", ms=500)
        link.send(messages)
        harness.eventually("it waits", self.has_struck)
        with self.postgres.admin("app") as admin:
            admin.rows(f"insert into items (id, v, id_hash) values ({key}, 'theirs', {self.hashes[key]})")
        told = link.read_ready()
        self.endpoint.http("DELETE", "/faults")
        return told

    def has_struck(self):
        return any(one["done"] for one in self.endpoint.http("GET", "/faults"))

    def setUp(self):
        super().setUp()
        self.link = self.session()
        for key in (1, 2):
            self.says(self.link, f"insert into items (id, v) values ({key}, 'x')")
        self.hashes = {int(key): hashed for key, hashed in self.stored("id, id_hash")}
        self.empty()

    def empty(self):
        with self.postgres.admin("app") as admin:
            admin.rows("truncate items")

    def stored(self, what):
        with self.postgres.admin("app") as admin:
            return admin.rows(f"select {what} from items order by id")

    def test_alone(self):
        for upsert, (tag, value) in self.upserts.items():
            insert = f"insert into items (id, v) values (1, 'ours') {upsert}"
            for messages in (wire.query(insert), wire.parse("", insert) + wire.bind("", "") + wire.execute() +
                             wire.sync()):
                told = self.overtake(self.link, messages)
                self.assertEqual((wire.error_of(told), wire.tags_of(told)), (None, [tag]), insert)
                self.assertEqual(self.stored("v"), [[value]], insert)
                self.empty()

    def test_upsert_into(self):
        told = self.overtake(self.link, wire.query("upsert into items (id, v) values (1, 'ours')"))
        self.assertEqual(wire.tags_of(told), ["INSERT 0 1"])
        self.assertEqual(self.stored("v"), [["ours"]])

    def test_several_rows(self):
        told = self.overtake(self.link, wire.query("insert into items (id, v) values (1, 'ours'), (2, 'ours') "
                                                   "on conflict (id) do update set v = items.v || '!'"), 2)
        self.assertEqual(wire.tags_of(told), ["INSERT 0 2"])
        self.assertEqual(self.stored("v"), [["ours"], ["theirs!"]])

    def test_what_is_returned_is_true(self):
        told = self.overtake(self.link, wire.query("insert into items (id, v) values (1, 'ours') on conflict (id) "
                                                   "do update set v = items.v || '!' returning v"))
        self.assertEqual([one.row() for one in told if one.kind == "D"], [[b"theirs!"]])
        self.assertEqual(wire.kinds(told), "TDCZ")

    def test_in_a_group(self):
        """All of it is done again."""
        upsert = "insert into items (id, v) values (1, 'ours') on conflict (id) do update set v = items.v || '!'"
        before = "insert into plain values (1, 'a')"
        for messages in (wire.query(f"{before}; {upsert}; select 1"),
                         b"".join(wire.parse("", sql) + wire.bind("", "") + wire.execute()
                                  for sql in ("insert into plain values (2)", upsert, "select 1")) + wire.sync()):
            self.endpoint.order("stall", begins="insert into items", ms=500)
            self.link.send(messages)
            harness.eventually("it waits", self.has_struck)
            with self.postgres.admin("app") as admin:
                admin.rows(f"insert into items (id, v, id_hash) values (1, 'theirs', {self.hashes[1]})")
            told = self.link.read_ready()
            self.endpoint.http("DELETE", "/faults")
            self.assertEqual(wire.tags_of(told), ["INSERT 0 1", "INSERT 0 1", "SELECT 1"])
            self.assertEqual(self.stored("v"), [["theirs!"]])
            self.empty()
        self.assertEqual(self.link.rows("select count(*) from plain"), [["2"]])

    def test_a_transaction_is_the_clients_to_repeat(self):
        self.says(self.link, "begin")
        told = self.overtake(self.link, wire.query("insert into items (id, v) values (1, 'ours') on conflict (id) "
                                                   "do update set v = excluded.v"))
        self.assertEqual(wire.error_of(told), "23505")
        self.assertEqual(self.says(self.link, "rollback"), ["ROLLBACK", "I"])

    def test_another_constraint(self):
        """… is told of, in the end."""
        with self.postgres.admin("app") as admin:
            admin.rows("create unique index on items (v)")
        self.says(self.link, "insert into items (id, v) values (1, 'taken')")
        for upsert in self.upserts:
            self.assertEqual(self.says(self.link, f"insert into items (id, v) values (2, 'taken') {upsert}"),
                             ["23505", "I"], upsert)
        self.assertEqual(self.stored("id, v"), [["1", "taken"]])


class OvertakenFirst(Overtaken):
    """… where each upsert tries a plain INSERT first: that one is overtaken, or the second one is."""
    backend = {"upsert_first": "insert"}


class Strings(LinkCase):
    def test_backslashes_are_characters(self):
        """From the first statement of a session, whose settings are known before any link is."""
        link = self.session()
        upsert = " on conflict (id) do update set v = excluded.v"
        for sql, tag in ((r"update plain set v = '\'", "UPDATE 0"),
                         (r"insert into plain (id, v) values (1, '\')" + upsert, "INSERT 0 1"),
                         (r"insert into items (id, v) values (1, 'a\nb')" + upsert, "INSERT 0 1"),
                         (r"update plain set v = v || U&'\0041' || E'\\' where v = '\'", "UPDATE 1"),
                         (r"update items set v = '\' || v where id = 1 and v <> '\'", "UPDATE 1"),
                         (r"delete from plain where v in ('\', '')", "DELETE 0")):
            self.assertEqual(self.says(link, sql), [tag, "I"], sql)
        self.assertEqual(self.says(link, r"select '\'; insert into plain values (2, '\'); select 1"),
                         ["SELECT 1", "INSERT 0 1", "SELECT 1", "I"])
        reply = link.ask(wire.parse("", r"update plain set v = $1 || '\' where id = 2")
                         + wire.bind("", "", ["\\'"]) + wire.execute() + wire.sync())
        self.assertEqual(wire.tags_of(reply), ["UPDATE 1"])
        self.assertEqual(link.rows("select id, v from plain order by id"),
                         [["1", "\\A\\"], ["2", "\\'\\"]])
        self.assertEqual(link.rows("select v from items"), [["\\a\\nb"]])


class Lengths(LinkCase):
    """Strings have other types in the configuration than the endpoint keeps them by; their bytes are the same."""
    table = {"columns": [{"name": "id", "type": "bigint", "not_null": True}, {"name": "v", "type": "varchar(10)"},
                         {"name": "u", "type": "varchar"}, {"name": "id_hash", "type": "bigint", "not_null": True}]}

    def test_are_returned(self):
        with self.postgres.admin("app") as admin:
            admin.rows("alter table items add u text")
        link = self.session()
        insert = "insert into items (id, v, u) values ($1, $2, $3)"
        for text, values, row in ((f"{insert} returning id, v", ["1", "x", "y"], [1, "x"]),
                                  (f"{insert} returning u, id", ["2", "x", "y"], ["y", 2]),
                                  ("update items set v = $1 where id = 1 returning id, v", ["z"], [1, "z"]),
                                  ("update items set v = $1 where id = 2 returning u", ["z"], ["y"]),
                                  (f"{insert} on conflict (id) do update set u = excluded.u returning v, u",
                                   ["1", "n", "m"], ["z", "m"])):
            texts = [str(value).encode() for value in row]
            binary = [struct.pack("!q", value) if isinstance(value, int) else value.encode() for value in row]
            for results, expected, end in ((), texts, "rollback"), ((1,), binary, "commit"):
                link.query("begin")
                told = link.ask(wire.parse("", text), wire.bind("", "", values, results=results),
                                wire.describe("P", ""), wire.execute(), wire.sync())
                self.assertEqual([reply.row() for reply in told if reply.kind == "D"], [expected], (text, told))
                link.query(end)


class Together(LinkCase):
    def test_statements_that_stay_their_own(self):
        """Rows with DO NOTHING share a transaction, but not a statement: each client has its count."""
        def insert(number):
            link = self.session()
            return [self.says(link, f"insert into items (id, v) values ({key}, '{number}') "
                                    "on conflict (id) do nothing")[0] for key in range(40)]
        told = harness.in_threads(8, insert)
        for key, tags in enumerate(zip(*told)):
            self.assertEqual(sorted(tags), ["INSERT 0 0"] * 7 + ["INSERT 0 1"], key)
        link = self.session()
        found = [int(row[0]) for row in link.rows("select v from items order by id")]
        self.assertEqual(found, [tags.index("INSERT 0 1") for tags in zip(*told)])


class Paused(LinkCase):
    """Rows that wait for another try leave their connection to others."""
    backend = {"batch_links": 1}

    def test_others_use_the_connection(self):
        waits, others = self.session(), self.session()
        for status in ("ABORTED", "OVERLOADED", "UNAVAILABLE", "BAD_SESSION"):
            self.endpoint.order(status, every=1,
                                begins='insert into items (id, v, "id_hash") values (1,')
            waits.send(wire.query("insert into items (id, v) values (1, 'a')"))
            self.same_key.send(wire.query("insert into items (id, v) values (1, 'b')"))
            harness.eventually("it was refused", self.has_struck)
            for key in range(2, 12):
                self.assertEqual(self.says(others, f"insert into items (id, v) values ({key}, 'b')"),
                                 ["INSERT 0 1", "I"])
            self.endpoint.http("DELETE", "/faults")
            self.assertEqual(wire.error_of(waits.read_ready()), None)
            self.assertEqual(wire.error_of(self.same_key.read_ready()), "23505")
            self.assertEqual(self.says(others, "delete from items"), ["DELETE 11", "I"])

    def setUp(self):
        super().setUp()
        self.same_key = self.session()

    def has_struck(self):
        return any(one["done"] for one in self.endpoint.http("GET", "/faults"))

    def test_the_deadline_holds(self):
        link = self.session()
        self.says(link, "set statement_timeout = 300")
        self.endpoint.order("OVERLOADED", every=1, begins="insert")
        self.assertIn(self.says(link, "insert into items (id, v) values (1, 'a')")[0], ("53000", "57014"))
        self.endpoint.http("DELETE", "/faults")
        self.says(link, "set statement_timeout = 0")
        self.assertEqual(self.says(link, "insert into items (id, v) values (1, 'a')"),
                         ["INSERT 0 1", "I"])


class Border(LinkCase):
    """The longest messages that YDB takes, before it ends the connection without a word."""
    backend = {"capabilities": {"max_message": "2097151"}}

    def lengths(self, front, back):
        """Statements that become about as long as that, each longer than the one before."""
        for length in range(2097151 - 100, 2097151 + 4, 8):
            yield f"{front}{'x' * (length - len(front) - len(back))}{back}"

    def test_texts(self):
        link = self.session()
        for front, back in (("select length('", "')"), ("insert into plain values (1, '", "')"),
                            ("insert into items (id, v) values (1, '", "')")):
            told = []
            for sql in self.lengths(front, back):
                told.append(self.says(link, sql)[0])
                self.says(link, "delete from plain")
                self.says(link, "delete from items")
            sent = len([word for word in told if word != "54000"])
            self.assertEqual(set(told[:sent]), {"SELECT 1" if front[0] == "s" else "INSERT 0 1"})
            self.assertEqual(set(told[sent:]), {"54000"})

    def test_described(self):
        link = self.session()
        for sql in self.lengths("select '", "' as v"):
            reply = link.ask(wire.parse("", sql), wire.describe("S", ""), wire.sync())
            self.assertIn(wire.error_of(reply), (None, "54000"))


class Away(LinkCase):
    """Nobody is there for a while."""

    def refuse_twice(self):
        with socket.create_server(("127.0.0.1", self.endpoint.port)) as server:
            server.settimeout(harness.PATIENCE)
            for _ in range(2):
                server.accept()[0].close()

    def test_it_is_waited_for(self):
        """By connections that were open before, those for batches too."""
        link = self.session()
        for sql, tag in (("insert into items (id, v) values (1, 'a')", "INSERT 0 1"),
                         ("select id from plain", "SELECT 0"),
                         ("update items set v = 'b' where id = 1", "UPDATE 1")):
            self.assertEqual(self.says(link, "select 1"), ["SELECT 1", "I"])
            self.assertEqual(self.says(link, "insert into items (id, v) values (2, 'b')")[-1], "I")
            self.endpoint.stop()
            link.send(wire.query(sql))
            self.refuse_twice()
            type(self).endpoint = Endpoint(self.postgres, port=self.endpoint.port)
            self.addClassCleanup(self.endpoint.stop)
            self.assertEqual(wire.tags_of(link.read_ready()), [tag], sql)


class Gone(LinkCase):
    def test_nobody_listens(self):
        """Each login is refused, and keyspread lives."""
        self.endpoint.stop()
        for _ in range(20):
            with wire.Wire(("127.0.0.1", self.keyspread.port)) as link:
                with self.assertRaises(wire.Closed):
                    link.login("app", "/local")
        self.keyspread.check_alive()


class Idle(LinkCase):
    """YDB closes connections that say nothing."""
    options = {"idle_ms": 700}

    def is_closed(self):
        with self.postgres.admin("app") as admin:
            return not admin.rows("select from pg_stat_activity where datname = 'app' "
                                  "and pid <> pg_backend_pid()")

    def test_another_connection(self):
        link = self.session()
        harness.eventually("it is closed", self.is_closed)
        self.assertEqual(self.says(link, "select 1"), ["SELECT 1", "I"])
        self.assertEqual(self.says(link, "insert into plain values (1)"), ["INSERT 0 1", "I"])

    def test_a_transaction(self):
        link = self.session()

        def begun():  # which takes a busy machine as long as the endpoint waits, now and then
            self.says(link, "rollback")
            return self.says(link, "begin; insert into plain values (1)") == ["BEGIN", "INSERT 0 1", "T"]
        harness.eventually("a transaction has begun", begun)
        harness.eventually("it is closed", self.is_closed)
        self.assertEqual(self.says(link, "insert into plain values (2)"), ["08006", "E"])
        self.assertEqual(self.says(link, "commit"), ["ROLLBACK", "I"])
        self.assertEqual(self.says(link, "select id from plain"), ["SELECT 0", "I"])


class Kept(LinkCase):
    """… unless they are used now and then."""
    options, backend = {"idle_ms": 3000}, {"keepalive_s": 1}

    def test_the_connection_stays(self):
        link = self.session()
        self.says(link, "begin; insert into plain values (1)")
        self.endpoint.http("POST", "/counters")
        harness.eventually("it was used for longer than it may be silent",
                           lambda: self.endpoint.counters()["statements"] >= 5)
        self.assertEqual(self.says(link, "commit"), ["COMMIT", "I"])


class Cleartext(unittest.TestCase):
    def check(self, dsn, **backend):
        with tempfile.TemporaryDirectory(prefix="keyspread-") as folder:
            path = os.path.join(folder, "keyspread.yaml")
            lines = [f"  {name}: {value}" for name, value in backend.items()]
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(["backend:", f'  dsn: "{dsn}"', "  dialect: ydb", *lines, ""]))
            return subprocess.run([harness.program(), "check", path], capture_output=True, text=True,
                                  check=False)

    def test_passwords_in_clear_do_not_leave_the_machine(self):
        for dsn in ("host=ydb.example user=a", "host=localhost,ydb.example user=a sslmode=prefer",
                    "postgresql://a:b@10.0.0.1/local"):
            done = self.check(dsn)
            self.assertEqual(done.returncode, 1, dsn)
            self.assertIn("passwords in clear", done.stderr)
            self.assertEqual(self.check(dsn, allow_cleartext="true").returncode, 0, dsn)
        for dsn in ("host=ydb.example user=a sslmode=require", "host=127.0.0.1", "host=/run user=a",
                    "host=ydb.example sslmode=verify-full"):
            self.assertEqual(self.check(dsn).returncode, 0, dsn)


if __name__ == "__main__":
    unittest.main()
