#!/usr/bin/env python3
"""The fake of YDB's endpoint: partitions, what requests to them cost, how they are described."""
import base64
import struct
import time
import unittest
import urllib.error

import wire
from harness import in_threads
from ydb import EndpointCase, failure, outline


class Partitions(EndpointCase):
    """3: a table's ranges, what a request touches, and what it costs."""

    def setUp(self):
        super().setUp()
        self.stored("create table t (h bigint, a bigint, b text, primary key (h, a))")
        self.stored("create table u (a bigint primary key, h numeric(20))")
        self.here = self.start(table="t,column=h,position=1,uniform=4")
        self.link = self.session(self.here)

    def touched(self, sql, *values):
        """Requests by the number of partitions that they touched."""
        self.here.http("POST", "/counters")
        if values:
            reply = self.link.ask(wire.parse("", sql), wire.bind("", "", values), wire.execute(),
                                  wire.sync())
        else:
            reply = self.link.query(sql)
        self.assertIsNone(failure(reply))
        return self.here.counters()["requests"]

    def requests(self, table="t"):
        return [one["requests"] for one in self.here.http("GET", "/partitions")[table]]

    def test_inserts(self):
        """4 partitions of equal width from -2^63 on."""
        low, high = -2**63, 2**63 - 1
        for number, values in enumerate((f"'{low}'::int8, 1", "-5000000000000000000, 1",
                                         "-1, 1", "0, 1", f"{high}, 1", "'-1'::int8, 2")):
            self.assertEqual(self.touched(f"insert into t values ({values})"), {"1": 1}, number)
        self.assertEqual(self.requests(), [2, 2, 1, 1])
        self.assertEqual(self.touched("insert into t (b, h, a) values ('x', 1, 3), ('y', -1, 3)"),
                         {"2": 1})
        self.assertEqual(self.touched("insert into t values ($1, $2, 'x')", 2, 4), {"1": 1})
        self.assertEqual(self.touched("insert into t select 5, 5, 'x'"), {"4": 1})
        self.assertEqual(self.requests(), [3, 4, 4, 2])

    def test_lookups(self):
        for where, count in (("h = 1", 1), ("a = 1", 4), ("h = 1 and a = 1", 1), ("true", 4),
                             ("h in (1, 2)", 1), ("h in (1, -1)", 2), ("h = 1 or h = -1", 2),
                             ("h = 1 or a = 1", 4), ("h > 0", 2), ("h <= -1", 2),
                             ("h in (1, 2) and (h = 1 and a = 1 or h = 2 and a = 3)", 1),
                             ("h = 1 + 1", 4), ("h <> 1", 4)):
            for sql in (f"select * from t where {where}", f"delete from t where {where}",
                        f"update t set b = 'x' where {where}"):
                self.assertEqual(self.touched(sql), {str(count): 1}, sql)
        self.assertEqual(self.touched("select * from t where h = $1 and a = $2", 1, 1), {"1": 1})

    def test_arms_of_a_union_are_looked_up_each(self):
        for sql, count in (("select * from t where h = 1 union all select * from t where h = 2", 1),
                           ("select * from (select * from t where h = 1 union all "
                            "select * from t where h = -1) x where h > 0", 2),
                           ("select * from t where h = 1 union all select * from t where a = 2", 4)):
            self.assertEqual(self.touched(sql), {str(count): 1}, sql)

    def test_buckets(self):
        """4 partitions of 10 buckets: 0-2, 3-4, 5-7, 8-9."""
        self.here = self.start(table="t,column=h,position=1,buckets=10,uniform=4")
        self.link = self.session(self.here)
        for bucket in range(10):
            self.touched(f"insert into t values ({bucket}, 1)")
        self.assertEqual(self.requests(), [3, 2, 3, 2])
        for where, count in (("h in (0, 1, 2)", 1), ("h in (2, 3)", 2), ("h >= 5", 2), ("a = 1", 4)):
            self.assertEqual(self.touched(f"select * from t where {where}"), {str(count): 1}, where)

    def test_rows_read(self):
        """A range ends at the first column of the key without a condition, or with more than points; a limit
        counts where the order is the key's."""
        self.here = self.start(table="t,column=h,position=1,key=a")
        self.link = self.session(self.here)
        self.stored("insert into t select n % 4, n, 'b' || n % 5 from generate_series(0, 99) n")
        for sql, count in (
                ("select * from t", 100),
                ("select * from t where a = 5", 100),
                ("select * from t where h = 1", 25),
                ("select * from t where h in (1, 2) and b = 'b1'", 50),
                ("select * from t where h in (1, 2) and a < 10", 5),
                ("select * from t where h < 2 and a < 10", 50),
                ("select * from t where h = 1 and (a < 10 or a > 90)", 5),
                ("select * from t where h = 1 and a + 0 < 10", 25),
                ("select * from t where h = 1 and not a < 10", 25),
                ("select * from t where h = 1 order by h, a limit 3", 3),
                ("select * from t where h = 1 order by h desc, a desc limit 3 offset 2", 5),
                ("select * from t where h = 1 order by h, a limit 1000", 25),
                ("select * from t where h = 1 and b = 'b4' order by h, a limit 2", 8),  # 9 and 29 of 1, 5, 9 …
                ("select * from t where h = 1 order by a limit 3", 25),
                ("select * from t where h = 1 order by h, a desc limit 3", 25),
                ("select count(*) from t where h = 1 limit 3", 25),
                ("select * from t limit 3", 3),
                ("select 1 from t x, t y where x.h = 1 and y.h = 2 and y.a = 2", 26),
                ("select * from (select * from t where h = 1 order by h, a limit 2) x union all "
                 "select * from (select * from t where h = 2 order by h, a limit 2) x", 4),
                ("update t set b = b where h = 1 and a between 5 and 9", 2),
                ("delete from t where h = 0 and a = 1", 0)):
            self.touched(sql)
            self.assertEqual(self.here.counters()["rows_read"], count, sql)

    def test_other_tables_have_one_partition(self):
        self.assertEqual(self.touched("insert into u values (1)"), {"1": 1})
        self.assertEqual(self.touched("select * from t, u where t.h = 1"), {"5": 1})
        self.assertEqual(self.touched("with x as (select 1 as a) select * from x"), {})
        self.assertEqual(self.touched("select relname from pg_class limit 1"), {})
        self.assertEqual(self.touched("create table v (a int primary key)"), {})

    def test_a_commit_is_a_request_to_all_that_was_written(self):
        self.assertEqual(self.touched("begin; insert into t values (1, 1); insert into t values "
                                      "(-1, 1); select * from t where h = 9; commit"),
                         {"1": 3, "2": 1})
        self.assertEqual(self.touched("begin; delete from t where h = 1; rollback; begin; commit"),
                         {"1": 1})

    def test_unsigned(self):
        here = self.start(table="u,column=h,position=2,unsigned,uniform=2")
        link = self.session(here)
        for number, value in enumerate((0, 2**63 - 1, 2**63, 2**64 - 1)):
            link.query(f"insert into u values ({number}, {value})")
        self.assertEqual([one["requests"] for one in here.http("GET", "/partitions")["u"]], [2, 2])

    def test_native_tables_may_be_read_only(self):
        """INSERT from PG syntax into native-typed columns: uncertain."""
        link = self.session(self.start(table="u,column=h,position=2,unsigned",
                                       native_writes="refused"))
        for sql in ("insert into u values (1, 1)", "update u set h = 1", "delete from u"):
            self.assertIn("Uint64", failure(link.query(sql)))
        self.assertIsNone(failure(link.query("select * from u")))
        self.assertIsNone(failure(link.query("insert into t values (1, 1)")))

    def test_split_and_merge(self):
        self.here.http("POST", "/split", table="t", partition=2, ms=0)
        self.assertEqual(self.requests(), [0] * 5)
        self.touched("insert into t values (1, 1)")
        self.touched("insert into t values (4000000000000000000, 1)")
        self.assertEqual(self.requests(), [0, 0, 1, 1, 0])
        self.here.http("POST", "/merge", table="t", partition=2, ms=0)
        self.touched("insert into t values (1, 2), (4000000000000000000, 2)")
        self.assertEqual(self.requests(), [0, 0, 1, 0])

    def test_partitions_are_away_while_they_split(self):
        for away, status in (("overloaded", "OVERLOADED"), ("unavailable", "UNAVAILABLE")):
            here = self.start(table="t,column=h,position=1,uniform=4", away=away)
            link = self.session(here)
            here.http("POST", "/split", table="t", partition=2, ms=60000)
            self.assertEqual(outline(link.query("insert into t values (1, 1)")),
                             [f"Status: {status}", "I"])
            self.assertEqual(outline(link.query("insert into t values (-1, 1)")), ["INSERT", "I"])
            self.stored("delete from t")

    def test_a_partition_serves_one_request_at_a_time(self):
        """2 ms and 20 µs a row; several partitions: three times as much, of each."""
        here = self.start(table="t,column=h,position=1,uniform=4", request_us=2000, row_us=20)
        links = [self.session(here) for _ in range(4)]

        def seconds(sql):
            begun = time.monotonic()
            in_threads(4, lambda number: [links[number].query(sql.format(i * 4 + number))
                                          for i in range(5)])
            self.stored("delete from t")
            return time.monotonic() - begun

        self.assertGreaterEqual(seconds("insert into t values (1, {})"), 20 * 0.00202)
        self.assertGreaterEqual(seconds("insert into t values (1, {0}), (-1, {0})"),
                                20 * 3 * 0.00204)

    def test_texts_are_compiled_once(self):
        here = self.start(compile_us_per_kb=10)
        link = self.session(here)
        for sql in ("select 1", "select 2", "select 1", "begin", "select 2", "commit"):
            link.query(sql)
        self.assertEqual(here.counters()["compiled"], 2)

    def test_limits(self):
        """1.2: text 10 KB (uncertain); 2: "parameter limit on wide tables"."""
        link = self.session(self.start(max_text=10240))
        self.assertIsNone(failure(link.query("select '%s'" % ("x" * 10000))))
        self.assertIn("size exceeds limit", failure(link.query("select '%s'" % ("x" * 10240))))
        link = self.session(self.start(max_parameters=1000))
        for count, taken in ((1000, True), (1001, False)):
            reply = link.ask(wire.parse("", "select %s" % ", ".join(
                f"${number + 1}::text" for number in range(count))), wire.sync())
            self.assertEqual(failure(reply) is None, taken)


class Describe(EndpointCase):
    """3.1: boundaries, as the viewer's JSON has them."""

    def setUp(self):
        super().setUp()
        self.stored("create table t (a bigint, h bigint, b text, primary key (h, a))")

    def describe(self, path="/local/t", table="t,column=h,position=2,uniform=4", handler="json/",
                 wanted=(), **options):
        here = self.start(table=table, **options)
        return here.http("GET", f"/viewer/{handler}describe", path=path, database="/local",
                         **dict(wanted))

    def test_columns_and_key(self):
        reply = self.describe()
        self.assertEqual((reply["Status"], reply["Path"]), ("StatusSuccess", "/local/t"))
        table = reply["PathDescription"]["Table"]
        self.assertEqual([(one["Name"], one["Type"], one["Id"]) for one in table["Columns"]],
                         [("a", "pgint8", 1), ("h", "pgint8", 2), ("b", "pgtext", 3)])
        self.assertEqual((table["KeyColumnNames"], table["KeyColumnIds"]), (["h", "a"], [2, 1]))
        self.assertNotIn("SplitBoundary", table)  # boundaries are false by default
        self.assertNotIn("TablePartitionStats", reply["PathDescription"])

    def test_boundaries(self):
        """N-1 exclusive ends; in forms of which nobody knows the right one."""
        ends = [-2**62, 0, 2**62]
        forms = {"int64": [{"Int64": str(end)} for end in ends],
                 "text": [{"Text": str(end)} for end in ends],
                 "bytes": [{"Bytes": base64.b64encode(struct.pack("<q", end)).decode()}
                           for end in ends]}
        for form, values in forms.items():
            reply = self.describe(wanted={"boundaries": "true"}, boundary_values=form)
            table = reply["PathDescription"]["Table"]
            self.assertEqual([one["KeyPrefix"]["Tuple"] for one in table["SplitBoundary"]],
                             [[{"Optional": value}] for value in values])
            partitions = reply["PathDescription"]["TablePartitions"]
            self.assertEqual([base64.b64decode(one["EndOfRangeKeyPrefix"]) for one in partitions],
                             [struct.pack("<HIq", 1, 8, end) for end in ends] + [b""])

    def test_unsigned(self):
        """64-bit ints are strings unless ui64=true."""
        self.stored("create table u (h numeric(20) primary key)")
        for wanted, value in (({}, str(2**63)), ({"ui64": "true"}, 2**63)):
            reply = self.describe("/local/u", "u,column=h,position=1,unsigned,uniform=2",
                                  wanted={"boundaries": "true", **wanted})
            table = reply["PathDescription"]["Table"]
            self.assertEqual(table["Columns"][0]["Type"], "Uint64")
            self.assertEqual(table["SplitBoundary"],
                             [{"KeyPrefix": {"Tuple": [{"Optional": {"Uint64": value}}]}}])

    def test_buckets(self):
        """Of an int2: 10 buckets in 3 partitions, in every form."""
        self.stored("create table b (a bigint, h smallint, primary key (h, a))")
        ends = [4, 7]
        for form, values in (("int64", [{"Int16": end} for end in ends]), ("text", [{"Text": str(end)} for end in ends]),
                             ("bytes", [{"Bytes": base64.b64encode(struct.pack("<h", end)).decode()} for end in ends])):
            reply = self.describe("/local/b", "b,column=h,position=2,buckets=10,uniform=3", wanted={"boundaries": "true"},
                                  boundary_values=form)
            self.assertEqual([one["KeyPrefix"]["Tuple"] for one in reply["PathDescription"]["Table"]["SplitBoundary"]],
                             [[{"Optional": value}] for value in values])
            partitions = reply["PathDescription"]["TablePartitions"]
            self.assertEqual([base64.b64decode(one["EndOfRangeKeyPrefix"]) for one in partitions],
                             [struct.pack("<HIh", 1, 2, end) for end in ends] + [b""])

    def test_it_follows_splits(self):
        here = self.start(table="t,column=h,position=2,uniform=2")
        ask = {"path": "/local/t", "boundaries": "true", "partition_stats": "true"}
        before = here.http("GET", "/viewer/json/describe", **ask)["PathDescription"]
        here.http("POST", "/split", table="t", partition=1, ms=0)
        after = here.http("GET", "/viewer/json/describe", **ask)["PathDescription"]
        self.assertEqual([len(one["TablePartitionStats"]) for one in (before, after)], [2, 3])
        self.assertEqual([one["KeyPrefix"]["Tuple"][0]["Optional"]["Int64"]
                          for one in after["Table"]["SplitBoundary"]], ["0", str(2**62)])
        tablets = [[one["DatashardId"] for one in reply["TablePartitions"]]
                   for reply in (before, after)]
        self.assertEqual(tablets[0][0], tablets[1][0])
        self.assertNotIn(tablets[0][1], tablets[1])

    def test_either_handler(self):
        """/viewer/json/describe, or newer /viewer/describe: uncertain."""
        self.assertEqual(self.describe(handler="", describe="plain")["Status"], "StatusSuccess")
        for handler, options in (("", {}), ("json/", {"describe": "plain"})):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.describe(handler=handler, **options)
            caught.exception.close()

    def test_what_is_not_there(self):
        for path in ("/local/nothing", "/elsewhere/t", "t"):
            self.assertEqual(self.describe(path)["Status"], "StatusPathDoesNotExist")


if __name__ == "__main__":
    unittest.main()
