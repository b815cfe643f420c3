#!/usr/bin/env python3
"""COPY before the fake of YDB's endpoint, which has none: the same data to PostgreSQL and through keyspread gives the same
rows, tags and errors; what an error counts as committed is there; COPY TO gives PostgreSQL's own bytes."""
import asyncio
import bisect
import contextlib
import io
import itertools
import re
import socket
import struct
import subprocess
import unittest

import asyncpg
import psycopg

import harness
import test_copy
import wire
from harness import Table
from ydb_case import DATABASE, STORE, YdbCase

OUTCOME = re.compile(r" ?(\d+) rows are committed; rows from line (\d+) on may be missing\.$")
ITEMS = Table("items", ["id bigint not null", "v text", "n int"], ["id"], hash_first=False, partitions=4)
NAMES = Table("names", ["name text not null", "day date not null", "v text"], ["name", "day"], hash_first=False,
              hash_key=["name", "day"], hash_column="h", partitions=4)
WHOLE = Table("whole", ["id bigint not null", "v text", "n int"], ["id"], hash_first=False, partitions=4, copy="atomic")
KINDS = Table("kinds", ["id bigint not null", "t timestamptz", "d date", "f double precision", "q numeric", "b bytea", "z boolean"],
              ["id"], partitions=4)
# What YDB does not have, and keyspread refuses before it reads any row.
REFUSED = ("where", "match", "no_such")
# Options of later versions than the PostgreSQL that these tests are compared with.
LATER = ("default ", "force_null *", "on_error")


class CopiesCase(YdbCase):
    tables = (ITEMS, NAMES, WHOLE, KINDS)
    plain_sql = "create table other (a int primary key, b text)"
    endpoint_options = {"table": ["items,uniform=4", "names,column=h,uniform=4"]}

    def setUp(self):
        super().setUp()
        self.plain, self.session = (self.link(port) for port in self.sides.values())

    def load(self, text, *pieces, end=None, link=None):
        return (link or self.session).ask(wire.query(text), *map(wire.copy_data, pieces), end or wire.copy_done())

    def count(self, table="items", where="true"):
        return int(self.admins[True].rows(f"select count(*) from {table} where {where}")[0][0])

    def stored(self, table, hashed):
        listed = {"items": "id, v, n", "whole": "id, v, n", "names": "name, day, v"}[table]
        return self.admins[hashed].rows(f"select {listed} from {table} order by 1, 2")

    def check_hashes(self, table=ITEMS):
        for hashed, key in self.admins[True].rows(f"select {table.hash_column}, {table.hash_key[0]} from {table.name}"):
            self.assertEqual(int(hashed), table.stored_hash(int(key)), key)

    def failure(self, replies):
        """The fields of its error, less what is said of the outcome; how many rows are committed, and the line."""
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        found = OUTCOME.search(fields.get("H", ""))
        self.assertTrue(found, fields)
        return {**fields, "H": fields["H"][:found.start()]}, int(found[1]), int(found[2])

    def check_alive_after(self, replies):
        self.assertEqual(replies[-1].body, b"I")
        self.assertEqual(self.session.rows("select 1"), [["1"]])


class Files(CopiesCase):
    def check(self, text, table, pieces):
        """As PostgreSQL has it; where it fails, the error is PostgreSQL's, with its context."""
        expected, got = (self.load(text, *pieces, link=link) for link in (self.plain, self.session))
        errors = [[reply.fields() for reply in replies if reply.kind == "E"] for replies in (expected, got)]
        if any(word in text for word in REFUSED):
            self.assertTrue(errors[1], got)
            return
        if not errors[0]:
            self.assertEqual([(reply.kind, reply.body) for reply in expected], [(reply.kind, reply.body) for reply in got])
            self.assertEqual(self.stored(table, False), self.stored(table, True))
            return
        self.assertTrue(errors[1], got)
        fields = errors[1][0]
        if "cannot be told from the data alone" in fields["M"]:  # a key that no server judges before its hash is made
            self.assertEqual((errors[0][0]["C"][:2], fields["C"]), ("22", "0A000"))
            return
        self.assertEqual(errors[0][0]["C"], fields["C"], fields)
        if fields["C"] not in ("23505", "22021"):
            told = [[error.get(code) for code in "MW"] for error in (errors[0][0], fields)]
            if "unexpected EOF" in fields["M"]:  # PostgreSQL knows the column, too
                told[0][1] = told[0][1].split(", column")[0]
            self.assertEqual(*told)
        if table == "whole" or got[0].kind == "E":
            self.assertEqual(self.count(table), 0)
        else:
            self.assertEqual(self.failure(got)[1], self.count(table))

    def check_all(self, text, table, data, limit=80):
        cuts = [(data,), [data[at:at + 1] for at in range(len(data))]] + [(data[:at], data[at:]) for at in range(1, len(data), 7)]
        for pieces in cuts if len(data) < limit else cuts[:1]:
            self.empty()
            with self.subTest(text, data=data, pieces=len(pieces)):
                self.check(text, table, pieces)

    def test_text_and_csv(self):
        for table in ("items", "whole"):
            for options, data in test_copy.FILES:
                if "freeze" not in options and not any(word in options for word in LATER):
                    self.check_all(f"copy {table} from stdin{options}", table, data, 80 if table == "items" else 0)

    def test_a_key_of_two_columns(self):
        for options, data in test_copy.KEYS:
            self.check_all(f"copy names (name, day, v) from stdin{options}", "names", data)

    def test_binary(self):
        for data in test_copy.BINARIES:
            self.check_all("copy items from stdin (format binary)", "items", data, 60)

    def test_columns_that_are_left_out(self):
        for text, data in (("copy items (n, id) from stdin", b"10\t1\n20\t2\n"), ("copy items (id) from stdin csv", b"1\n2\n"),
                           ("copy items (v) from stdin", b"a\n"), ("copy items (id, w) from stdin", b"1\ta\n"),
                           ("copy items (id, id) from stdin", b"1\t1\n")):
            with self.subTest(text):
                expected, got = (self.load(text, data, link=link) for link in (self.plain, self.session))
                if text == "copy items (v) from stdin":
                    self.assertEqual(wire.error_of(got), "0A000")
                    continue
                self.assertEqual([wire.error_of(expected), wire.tags_of(expected)], [wire.error_of(got), wire.tags_of(got)])
                self.assertEqual(self.stored("items", False), self.stored("items", True))
                self.empty()

    def test_types(self):
        data = (b"1\t2026-01-31 12:00:00+02\t2026-01-31\t1.5\t12345678901234567890.5\t\\\\x00ff\tt\n"
                b"2\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n3\t1999-12-31 23:59:59.999999Z\t0044-03-15 BC\t-Infinity\tNaN\t\\\\x\tno\n")
        for link in (self.plain, self.session):
            self.assertEqual(wire.tags_of(self.load("copy kinds from stdin", data, link=link)), ["COPY 3"])
        self.check_hashes(KINDS)
        for options in ("", " csv header", " (format binary)", " (format csv, force_quote *, null 'none', delimiter '|')",
                        " (delimiter '|', null '', header)"):
            out = f"copy (select id, t, d, f, q, b, z from kinds order by id) to stdout{options}"
            self.assertEqual(*(b"".join(reply.body for reply in link.query(out) if reply.kind == "d")
                               for link in (self.plain, self.session)), options)
        binary = b"".join(reply.body for reply in self.plain.query("copy (select * from kinds order by id) to stdout binary")
                          if reply.kind == "d")
        before = self.admins[True].rows("select id, t, d, f, q, b, z from kinds order by id")
        self.empty()
        self.assertEqual(wire.tags_of(self.load("copy kinds from stdin binary", binary)), ["COPY 3"])
        self.assertEqual(self.admins[True].rows("select id, t, d, f, q, b, z from kinds order by id"), before)

    def test_a_value_that_cannot_be_read(self):
        for data in (b"1\tyesterday?\t\\N\t1\t1\t\\N\tt\n", b"1\t\\N\t\\N\t1\tx\t\\N\tt\n", b"1\t\\N\t\\N\t1\t1\tx\\\\1\tt\n",
                     b"1\t\\N\t\\N\t1\t1\t\\N\tmaybe\n", b"1\t\\N\t2026-02-30\t1\t1\t\\N\tt\n"):
            told = [[reply.fields() for reply in self.load("copy kinds from stdin", data, link=link) if reply.kind == "E"]
                    for link in (self.plain, self.session)]
            self.assertEqual(*([[error[code] for code in "CMW"] for error in errors] for errors in told))

    def test_what_is_refused(self):
        for text, data in (("copy items from stdin where id > 1", b""), ("copy items from stdin (header match)", b""),
                           ("copy items from '/etc/hostname'", b""), ("copy items from program 'true'", b""),
                           ("copy items to '/tmp/x'", b""), ("copy other from '/etc/hostname'", b""),
                           ("copy items from stdin (default 'x')", b""), ("copy items from stdin (on_error ignore)", b"")):
            with self.subTest(text):
                replies = self.session.query(text)
                fields = next(reply.fields() for reply in replies if reply.kind == "E")
                self.assertEqual(fields["C"], "0A000", fields)
                self.assertTrue(fields.get("H"), fields)
                self.check_alive_after(replies)


def lines(count, first=0, width=60):
    return [b"%d\trow %d %s\t%d\n" % (number, number, b"x" * width, number) for number in range(first, first + count)]


MANY = 5000
WIDE = 1600  # bytes: so many rows are several batches of each partition


def pieces_of(data, size=100_000):
    return [data[at:at + size] for at in range(0, len(data), size)]


class Loads(CopiesCase):
    def commits(self):
        return int(self.admins[True].rows("select count(distinct xmin::text) from items")[0][0])

    def test_many_rows(self):
        for options, head, width in (("", b"", 60), (" (header)", b"id\tv\tn\n", WIDE)):
            self.empty()
            replies = self.load("copy items from stdin" + options, *pieces_of(head + b"".join(lines(MANY, width=width))))
            self.assertEqual(wire.tags_of(replies), [f"COPY {MANY}"])
            self.assertEqual(self.count(), MANY)
            self.assertGreaterEqual(self.commits(), 4)
            self.check_hashes()

    def test_a_batch_is_one_text(self):
        """It costs one trip, without BEGIN and COMMIT."""
        before = self.endpoint.counters()
        self.load("copy items from stdin", *pieces_of(b"".join(lines(4000))))
        after = self.endpoint.counters()
        self.assertLessEqual(after["statements"] - before["statements"], 4 + 4)

    def check_failure(self, data, state, line):
        replies = self.load("copy items from stdin", *pieces_of(b"".join(data)))
        fields, committed, missing = self.failure(replies)
        self.assertEqual(fields["C"], state, fields)
        if line:
            self.assertEqual(fields["W"].split(",")[1].split(":")[0], f" line {line}", fields)
            self.assertLessEqual(missing, line)
        self.assertEqual(self.count(), committed)
        self.assertEqual(self.count(where=f"n < {missing - 1}"), missing - 1)
        self.check_alive_after(replies)
        self.empty()

    def test_rows_that_are_wrong(self):
        for at, width in ((0, 60), (MANY // 2, WIDE), (MANY - 1, 60)):
            for wrong, state in ((b"%d\tx\tnone\n", "22P02"), (b"%d\n", "22P04")):
                data = lines(MANY, width=width)
                data[at] = wrong % at
                self.check_failure(data, state, at + 1)

    def test_a_row_that_is_there_already(self):
        """YDB does not say which one it is."""
        data = lines(MANY, width=WIDE)
        data[MANY - 10] = data[10]
        self.check_failure(data, "23505", None)

    def test_in_a_transaction(self):
        self.session.query("begin")
        for first in (0, 1000):
            self.assertEqual(wire.tags_of(self.load("copy items from stdin", *pieces_of(b"".join(lines(1000, first))))), ["COPY 1000"])
        self.assertEqual(self.session.rows("select count(*) from items"), [["2000"]])
        self.assertEqual(self.count(), 0)
        self.session.query("rollback")
        self.assertEqual(self.count(), 0)
        self.session.query("begin")
        self.load("copy items from stdin", *pieces_of(b"".join(lines(1000))))
        self.session.query("commit")
        self.assertEqual(self.count(), 1000)
        self.check_hashes()

    def test_more_than_a_transaction_takes(self):
        self.session.query("begin")
        replies = self.load("copy items from stdin", *pieces_of(b"".join(lines(20_000, width=1000))))
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual(fields["C"], "0A000")
        self.assertIn("COMMIT first", fields["H"])
        self.assertEqual(replies[-1].body, b"E")
        self.session.query("rollback")
        self.assertEqual(self.count(), 0)

    def test_all_or_nothing(self):
        data = lines(5000)
        data[4999] = b"x\n"
        replies = self.load("copy whole from stdin", *pieces_of(b"".join(data)))
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((fields["C"], self.count("whole")), ("22P02", 0))
        self.assertEqual(wire.tags_of(self.load("copy whole from stdin", *pieces_of(b"".join(lines(5000))))), ["COPY 5000"])
        self.assertEqual(self.count("whole"), 5000)

    def test_what_the_session_chooses(self):
        """It counts before what the table has."""
        data = b"".join(lines(100)) + b"x\n"
        for table, mode, committed in (("items", "atomic", 0), ("whole", "partition", None), ("whole", "default", 0), ("items", "default", None)):
            self.empty()
            self.session.query(f"set keyspread.copy to {mode}")
            replies = self.load(f"copy {table} from stdin", data)
            if committed is None:
                _, committed, _ = self.failure(replies)
            else:
                self.assertIsNone(OUTCOME.search(str(replies)), (table, mode))
            self.assertEqual((wire.error_of(replies), self.count(table)), ("22P02", committed), (table, mode))

    def test_rows_that_are_there_already_are_errors(self):
        for mode, state in (("partition", "0A000"), ("atomic", "23505")):
            self.empty()
            self.session.query(f"set keyspread.copy = {mode}")
            self.assertEqual(wire.tags_of(self.load("copy items from stdin", b"1\ta\t1\n")), ["COPY 1"])
            for word in ("nothing", "update"):
                self.session.query(f"set keyspread.copy_on_conflict = {word}")
                replies = self.load("copy items from stdin", b"1\tb\t2\n")
                fields = next(reply.fields() for reply in replies if reply.kind == "E")
                self.assertEqual((fields["C"], "copy_on_conflict" in fields.get("H", "")), (state, mode == "partition"), fields)
                self.check_alive_after(replies)
            self.session.query("reset keyspread.copy_on_conflict")

    def test_a_table_that_is_not_configured(self):
        self.assertEqual(wire.tags_of(self.load("copy other from stdin csv", b"1,a\n2,\n")), ["COPY 2"])
        self.assertEqual(self.admins[True].rows("select * from other order by a"), [["1", "a"], ["2", None]])
        replies = self.load("copy other (b, a) from stdin", b"x\ty\n")
        self.assertEqual(wire.error_of(replies), "22P02")
        self.assertEqual(wire.error_of(self.load("copy none_such from stdin")), "42P01")
        self.check_alive_after(replies)

    def test_given_up_by_its_client(self):
        for text in ("copy items from stdin", "copy whole from stdin"):
            replies = self.load(text, *pieces_of(b"".join(lines(1000))), end=wire.copy_fail("so it is"))
            fields = next(reply.fields() for reply in replies if reply.kind == "E")
            self.assertEqual((fields["C"], fields["M"]), ("57014", "COPY from stdin failed: so it is"))
            self.check_alive_after(replies)
        self.assertEqual(self.count("whole"), 0)

    def test_cancelled(self):
        for table in ("items", "whole"):
            self.session.send(wire.query(f"copy {table} from stdin"))
            self.session.read_until("G")
            self.session.send(wire.copy_data(b"1\ta\t1\n"))
            with wire.Wire(("127.0.0.1", self.keyspread.port)) as other:
                other.send(wire.cancel_request(self.session.pid, self.session.key))
                other.read_to_end()
            replies = self.session.read_until("Z")
            self.assertEqual(wire.error_of(replies), "57014", table)
            self.check_alive_after(replies)

    def test_a_client_that_leaves(self):
        for table in ("items", "whole"):
            session = self.link(self.keyspread.port)
            session.send(wire.query(f"copy {table} from stdin"))
            session.read_until("G")
            session.send(*map(wire.copy_data, pieces_of(b"".join(lines(2000)))))
            session.drop()
        self.assertEqual(wire.tags_of(self.load("copy names from stdin", b"a\t2026-01-01\tx\n")), ["COPY 1"])
        self.assertEqual(self.count("whole"), 0)

    def test_sync_and_flush_are_nothing_in_the_middle(self):
        for table in ("items", "whole"):
            self.session.send(wire.query(f"copy {table} from stdin"))
            self.session.read_until("G")
            self.session.send(wire.copy_data(b"1\ta\t1\n"), wire.sync(), wire.flush(), wire.copy_data(b"2\tb\t2\n"), wire.copy_done())
            self.assertEqual(wire.tags_of(self.session.read_until("Z")), ["COPY 2"], table)
            self.assertEqual(self.session.rows("select 5"), [["5"]])

    def test_by_parse(self):
        for table in ("items", "whole", "other"):
            data = b"1\ta\n" if table == "other" else b"".join(lines(100))
            rows = data.count(b"\n")
            for syncs in ((), (wire.sync(),)):
                self.empty()
                replies = self.session.ask(wire.parse("", f"copy {table} from stdin"), wire.bind("", ""), wire.describe("P", ""),
                                           wire.execute(), *syncs, wire.copy_data(data), wire.copy_done(), wire.sync())
                self.assertEqual((wire.tags_of(replies), self.count(table)), ([f"COPY {rows}"], rows), (table, syncs))
            replies = self.session.ask(wire.parse("", f"copy {table} from stdin"), wire.bind("", ""), wire.execute(), wire.sync(),
                                       wire.copy_data(b"x\n"), wire.copy_done(), wire.sync())
            self.assertIn(wire.error_of(replies), ("22P02", "22P04"))
            self.check_alive_after(replies)

    def test_read_only(self):
        self.session.query("begin read only")
        self.assertEqual(wire.error_of(self.session.query("copy items from stdin")), "25006")
        self.session.query("rollback")


class Faults(CopiesCase):
    def tearDown(self):
        self.endpoint.http("DELETE", "/faults")
        super().tearDown()

    def test_what_passes_is_not_seen(self):
        for status in ("ABORTED", "OVERLOADED", "UNAVAILABLE", "BAD_SESSION"):
            self.empty()
            self.endpoint.order(status, begins="insert", every=2, times=3)
            self.assertEqual(wire.tags_of(self.load("copy items from stdin", *pieces_of(b"".join(lines(3000))))), ["COPY 3000"], status)
            self.assertEqual(self.count(), 3000)

    def test_what_is_not_known_is_said(self):
        self.endpoint.order("UNDETERMINED", begins="insert", done=1)
        replies = self.load("copy items from stdin", *pieces_of(b"".join(lines(3000))))
        fields, committed, missing = self.failure(replies)
        self.assertEqual(fields["C"], "08007", fields)
        self.assertLess(committed, self.count(), "this batch is there, and nobody knows")
        self.assertGreaterEqual(self.count(where=f"n < {missing - 1}"), missing - 1)
        self.check_alive_after(replies)


class Stalled(CopiesCase):
    """An endpoint whose store takes no rows for a while."""
    options = {"workers": 1}

    def let_it_turn(self):
        """The only worker answers, so it has looked at what had come before."""
        with socket.create_connection(("127.0.0.1", self.keyspread.port)) as asked:
            asked.sendall(struct.pack("!II", 8, 80877103))  # whether it takes TLS
            self.assertEqual(asked.recv(1), b"N")

    def fill(self, data, least):
        """Sends `least` bytes, however long the kernel's buffers take, and more until none is taken though the worker has
        had its turn; returns how many bytes were sent."""
        self.session.socket.sendall(data[:least])
        sent, refused = least, 0
        self.session.socket.setblocking(False)
        while refused < 5 and sent < len(data):
            try:
                sent, refused = sent + self.session.socket.send(data[sent:sent + 100_000]), 0
            except BlockingIOError:
                refused += 1
                self.let_it_turn()
        self.session.socket.setblocking(True)
        return sent

    def test_memory_is_bounded(self):
        """Data for which there is no room is not read; all that was sent is stored."""
        count, each = 70_000, 100  # rows, and of them in a message
        rows = lines(count, width=1000)
        messages = [wire.copy_data(b"".join(rows[at:at + each])) for at in range(0, count, each)]
        data, base = memoryview(b"".join(messages)), self.keyspread.memory_peak()
        with self.postgres.admin(STORE) as locker:
            locker.rows("begin; lock table items in exclusive mode")
            self.session.send(wire.query("copy items from stdin"))
            self.session.read_until("G")
            sent = self.fill(data, 16 << 20)
            locker.rows("rollback")
        self.assertLess(sent, 64 << 20)
        ends = list(itertools.accumulate(map(len, messages)))
        whole = bisect.bisect_left(ends, sent)
        self.session.socket.sendall(data[sent:ends[whole]])
        self.assertEqual(wire.tags_of(self.session.ask(wire.copy_done())), [f"COPY {(whole + 1) * each}"])
        if not harness.instrumented():
            self.assertLess(self.keyspread.memory_peak() - base, 64 << 20)


class Small(CopiesCase):
    """An endpoint that takes short texts alone."""
    endpoint_options = {**CopiesCase.endpoint_options, "max_text": 20_000}
    options = {"backend": {"capabilities": {"max_message": "16KiB"}}}

    def test_rows_travel_in_texts_that_fit(self):
        for table in ("items", "whole"):
            self.assertEqual(wire.tags_of(self.load(f"copy {table} from stdin", *pieces_of(b"".join(lines(1000))))), ["COPY 1000"])
            self.assertEqual(self.count(table), 1000)
            replies = self.load(f"copy {table} from stdin", b"-1\ta\t1\n-2\t" + 30_000 * b"y" + b"\t1\n")
            fields = next(reply.fields() for reply in replies if reply.kind == "E")
            self.assertEqual((fields["C"], fields["W"]), ("54000", f"COPY {table}, line 2"))
            self.check_alive_after(replies)


class Out(CopiesCase):
    def setUp(self):
        super().setUp()
        data = b"1\ta\\tb\\n\\\\\\r\\b\t10\n2\t\\N\t\\N\n3\t\t7\n4\t\"q\",\\\\.\t-1\n5\t" + "grün €".encode() + b"\t0\n"
        for link in (self.plain, self.session):
            self.assertEqual(wire.tags_of(self.load("copy items from stdin", data, link=link)), ["COPY 5"])

    def bytes_of(self, replies):
        return b"".join(reply.body for reply in replies if reply.kind == "d")

    def test_as_postgresql_writes(self):
        for what in ("items", "items (n, id)", "(select v from items where id = 4)", "(select id, v, n from items where false)",
                     "(values (1, 'x'), (2, null))"):
            for options in ("", " csv", " csv header", " (header)", " binary", " (delimiter 'a')", " (delimiter '|')", " (format csv, quote '''', escape '\\')",
                            " (format csv, force_quote (v))" if "v" in what and "values" not in what else "", " null 'x'"):
                text = f"copy {what} to stdout{options}"
                with self.subTest(text):
                    told = [link.query(text) for link in (self.plain, self.session)]
                    pieces = list if "binary" in options else bytes.splitlines
                    self.assertEqual(*(sorted(pieces(self.bytes_of(replies))) for replies in told))
                    self.assertEqual(*([(one.kind, one.body) for one in replies if one.kind in "HcCZ"] for replies in told))

    def test_by_parse(self):
        for link in (self.plain, self.session):
            replies = link.ask(wire.parse("", "copy items to stdout"), wire.bind("", ""), wire.describe("P", ""), wire.execute(), wire.sync())
            self.assertEqual(wire.tags_of(replies), ["COPY 5"])
            self.assertEqual(sorted(self.bytes_of(replies).splitlines()), sorted(self.bytes_of(self.plain.query("copy items to stdout")).splitlines()))

    def test_of_many_rows(self):
        self.load("copy items from stdin", *pieces_of(b"".join(lines(MANY, 10))))
        replies = self.session.query("copy items to stdout")
        self.assertEqual(wire.tags_of(replies), [f"COPY {MANY + 5}"])
        self.assertEqual(self.bytes_of(replies).count(b"\n"), MANY + 5)

    def test_errors(self):
        for text in ("copy (select none_such from items) to stdout", "copy none_such to stdout",
                     "copy (insert into items values (9) returning id) to stdout"):
            replies = self.session.query(text)
            self.assertTrue(wire.error_of(replies), text)
            self.check_alive_after(replies)


class Clients(CopiesCase):
    rows = [(number, f"row {number}" if number % 3 else None, number % 7) for number in range(2000)]

    def check(self, table="items"):
        self.assertEqual(self.stored(table, True), [[str(one), two, str(three)] for one, two, three in self.rows])

    def test_psycopg(self):
        for binary in (False, True):
            self.empty()
            with psycopg.connect(host="127.0.0.1", port=self.keyspread.port, user=harness.USER, dbname=DATABASE) as connection:
                with connection.cursor() as cursor:
                    with cursor.copy("copy items (id, v, n) from stdin" + (" (format binary)" if binary else "")) as copying:
                        if binary:
                            copying.set_types(["int8", "text", "int4"])
                        for row in self.rows:
                            copying.write_row(row)
                    with cursor.copy("copy (select id, v, n from items order by id) to stdout") as copying:
                        copying.set_types(["int8", "text", "int4"])
                        self.assertEqual(list(copying.rows()), self.rows)
            self.check()

    def test_asyncpg(self):
        async def run():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.keyspread.port, user=harness.USER, database=DATABASE)
            with contextlib.closing(io.BytesIO()) as out:
                told = await connection.copy_records_to_table("items", records=self.rows, columns=["id", "v", "n"])
                await connection.copy_from_query("select id from items order by id limit 2", output=out, format="csv")
                self.assertEqual((told, out.getvalue()), ("COPY 2000", b"0\n1\n"))
            await connection.close()
        asyncio.run(run())
        self.check()

    def test_psql(self):
        text = "".join(f"{one},{two or ''},{three}\n" for one, two, three in self.rows)
        run = subprocess.run(["psql", "-X", "-h", "127.0.0.1", "-p", str(self.keyspread.port), "-U", harness.USER, "-d", DATABASE,
                              "-c", r"\copy items from pstdin csv", "-c", r"\copy (select count(*) from items) to pstdout"],
                             input=text, capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual((run.stdout, run.stderr), ("COPY 2000\n2000\n", ""))
        self.check()


if __name__ == "__main__":
    unittest.main()
