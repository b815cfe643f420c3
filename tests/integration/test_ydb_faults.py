#!/usr/bin/env python3
"""The fake of YDB's endpoint: what tests can order to go wrong, and read afterwards."""
import time
import unittest

import wire
from harness import eventually, in_threads
from ydb import EndpointCase, failure, outline


class Faults(EndpointCase):
    """What tests can order to go wrong, and read afterwards."""

    def setUp(self):
        super().setUp()
        self.endpoint.http("DELETE", "/faults")
        self.stored("create table t (a bigint primary key)")
        self.link = self.session()

    def rows(self):
        return [int(row[0]) for row in self.stored("select a from t order by a")]

    def insert(self, number):
        """The first line of the answer; None if the link was dropped."""
        try:
            reply = self.link.query(f"insert into t values ({number})")
        except wire.Closed as closed:
            self.assertEqual(closed.messages, [])
            self.link = self.session()
            return None
        return outline(reply)[0]

    def test_answers(self):
        """Each status, on the n-th statement; two of them drop the connection (1.7)."""
        for status in ("ABORTED", "OVERLOADED", "UNAVAILABLE", "UNDETERMINED", "TIMEOUT",
                       "CANCELLED", "SESSION_EXPIRED", "SESSION_BUSY"):
            self.endpoint.order(status, statement=2)
            self.assertEqual(self.insert(1), "INSERT")
            reply = self.link.query("insert into t values (2)")
            self.assertEqual(outline(reply), [f"Status: {status}", "I"])
            self.assertNotIn("C", reply[0].fields())
            self.assertEqual(self.rows(), [1])
            self.stored("delete from t")
        for status, code in (("BAD_SESSION", "08006"), ("INTERNAL_ERROR", "XX000")):
            self.endpoint.order(status)
            self.link.send(wire.query("select 1"))
            reply = self.link.read_to_end()
            self.assertEqual(outline(reply), [f"Status: {status}"])
            self.assertEqual(reply[0].fields()["C"], code)
            self.link = self.session()

    def test_how_often(self):
        self.endpoint.order("ABORTED", statement=2, every=3, times=2, begins="insert")
        says = []
        for number in range(10):
            self.link.query("select 1")
            says.append(self.insert(number))
        self.assertEqual([number for number, said in enumerate(says) if said != "INSERT"], [1, 4])
        self.assertEqual(self.endpoint.http("GET", "/faults"),
                         [{"fault": "ABORTED", "seen": 10, "done": 2}])

    def test_an_answer_in_a_transaction_ends_it(self):
        self.link.query("begin; insert into t values (1)")
        self.endpoint.order("ABORTED")
        self.assertEqual(outline(self.link.query("select 1")), ["Status: ABORTED", "E"])
        self.assertEqual(outline(self.link.query("commit")), ["COMMIT", "I"])
        self.link.query("begin; insert into t values (1)")
        self.endpoint.order("ABORTED", begins="commit")
        self.assertEqual(outline(self.link.query("commit")), ["Status: ABORTED", "E"])
        self.link.query("rollback")
        self.assertEqual(self.rows(), [])

    def test_an_answer_after_the_deed(self):
        """UNDETERMINED, though it was done."""
        self.endpoint.order("UNDETERMINED", done=1)
        self.assertEqual(self.insert(1), "Status: UNDETERMINED")
        self.link.query("begin; insert into t values (2)")
        self.endpoint.order("UNDETERMINED", done=1)
        self.assertEqual(outline(self.link.query("commit")), ["Status: UNDETERMINED", "E"])
        self.assertEqual(outline(self.link.query("rollback")), ["ROLLBACK", "I"])
        self.assertEqual(self.rows(), [1, 2])

    def test_dropped_before_the_commit(self):
        self.endpoint.order("drop_before_commit", every=1, times=2)
        self.assertEqual(self.insert(1), None)
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        self.assertEqual(self.rows(), [])

    def test_dropped_after_the_commit(self):
        self.endpoint.order("drop_after_commit", every=1, times=2)
        self.assertEqual(self.insert(1), None)
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        self.assertEqual(self.rows(), [1, 2])

    def test_committed_late(self):
        """The commit happens a while after the link was dropped; until then the key is taken."""
        self.endpoint.order("commit_late", ms=300)
        self.assertEqual(self.insert(1), None)
        self.assertIn(self.rows(), ([], [1]))  # it may be late itself
        self.assertEqual(self.link.query("insert into t values (1)")[0].kind, "E")
        self.assertEqual(self.rows(), [1])
        self.endpoint.order("commit_late", begins="commit")
        self.link.query("begin; insert into t values (2)")
        self.link.send(wire.query("commit"))
        self.assertEqual(self.link.read_to_end(), [])
        eventually("it is committed", lambda: self.rows() == [1, 2])

    def test_stalls(self):
        """Until a cancel, until the client leaves, or for a while."""
        self.endpoint.order("stall", begins="insert", ms=0)
        self.link.send(wire.query("insert into t values (1)"))
        eventually("it stalls", lambda: self.endpoint.http("GET", "/faults")[0]["done"] == 1)
        with self.endpoint.link() as other:
            other.send(wire.cancel_request(self.link.pid, self.link.key))
            other.read_to_end()
        self.assertEqual(self.link.read_ready()[0].sqlstate, "57014")
        self.endpoint.order("stall", ms=1)
        self.assertEqual(self.insert(2), "INSERT")
        self.assertEqual(self.rows(), [2])

    def test_many_clients(self):
        """What was acknowledged is there, what was refused is not, whatever else happens."""
        for number, fault in enumerate(("ABORTED", "OVERLOADED", "UNAVAILABLE", "BAD_SESSION",
                                        "INTERNAL_ERROR", "drop_before_commit", "drop_after_commit",
                                        "commit_late")):
            self.endpoint.order(fault, statement=number + 5, every=40, ms=10)
        acknowledged, refused = set(), set()

        def work(client):
            link = self.session()
            for number in range(client * 100, client * 100 + 100):
                try:
                    reply = link.query(f"insert into t values ({number})")
                except wire.Closed as closed:
                    reply = closed.messages
                if reply and reply[-1].kind != "Z" or not reply:
                    link = self.session()
                if reply:
                    (refused if failure(reply) else acknowledged).add(number)

        in_threads(16, work)
        eventually("nobody is at work any more", lambda: not self.stored(
            "select 1 from pg_stat_activity where datname = 'app' and state <> 'idle' and "
            "pid <> pg_backend_pid()"))
        rows = set(self.rows())
        self.assertEqual((acknowledged - rows, refused & rows), (set(), set()))
        self.assertTrue(all(order["done"] > 20 for order in self.endpoint.http("GET", "/faults")))
        self.assertGreater(len(acknowledged), 1000)

    def test_latency(self):
        self.endpoint.http("POST", "/latency", us=2000)
        self.addCleanup(self.endpoint.http, "POST", "/latency", us=0)
        begun = time.monotonic()
        for _ in range(10):
            self.link.query("select 1")
        self.assertGreaterEqual(time.monotonic() - begun, 0.02)

    def test_counters(self):
        self.endpoint.http("POST", "/counters")
        self.insert(1)
        self.insert(1)
        self.link.query("begin; insert into t values (2); commit; set timezone = 'x'; select 1")
        self.endpoint.order("drop_after_commit")
        self.insert(3)
        counters = self.endpoint.counters()
        del counters["compiled"]  # depends on what was compiled before
        self.assertEqual(counters, {"statements": 7, "commits": 3, "failures": 1, "severed": 1, "rows_read": 0,
                                    "cancels": 0, "requests": {"1": 5}})


if __name__ == "__main__":
    unittest.main()
