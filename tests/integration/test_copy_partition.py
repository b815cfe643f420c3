"""COPY … FROM STDIN of tables with `copy: partition`, whose rows are stored in batches that each commit by themselves: the
same replies as directly, what is counted as committed is there, and what an error says of the rest is so."""
import contextlib
import copy
import re
import threading
import unittest

import harness
import metrics
import test_copy
import wire
from direct_case import shown

OUTCOME = re.compile(r" ?(\d+) rows are committed; rows from line (\d+) on may be missing\.$")


PARTS = 4  # of tables that get so many rows that each has several batches


def apart(table, partitions=None, **options):
    other = copy.copy(table)
    other.options = {**table.options, "copy": "partition", **options}
    other.partitions = partitions or table.partitions
    return other


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class ApartCase(test_copy.CopyCase):
    tables = tuple(apart(table) for table in test_copy.CopyCase.tables)
    partitioned = True
    cleared = ("items", "names", "one")

    def setUp(self):
        super().setUp()
        self.plain, self.session = self.sessions
        self.clear()

    def count(self, table="items", where="true"):
        return int(self.admins["hashed"].rows(f"select count(*) from {table} where {where}")[0][0])

    def load(self, text, *pieces, end=None):
        return self.session.ask(wire.query(text), *[wire.copy_data(piece) for piece in pieces], end or wire.copy_done())

    def failure(self, replies):
        """Its fields, less what is said of the outcome; how many rows are committed, and the line."""
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        found = OUTCOME.search(fields.get("H", ""))
        self.assertTrue(found, fields)
        fields["H"] = fields["H"][:found.start()]
        return {key: value for key, value in fields.items() if value and key not in "FLR"}, int(found[1]), int(found[2])

    def clear(self):
        for name in ("direct", "hashed"):
            harness.empty(self.admins[name], self.cleared)

    def check(self, text, table, *pieces, end=None):
        messages = [wire.query(text), *[wire.copy_data(piece) for piece in pieces], end or wire.copy_done()]
        expected, replies = self.plain.ask(*messages), self.session.ask(*messages)
        errors = [reply.fields() for reply in expected if reply.kind == "E"]
        if errors and all(reply.kind != "G" for reply in expected):
            self.assertEqual([shown(reply) for reply in expected], [shown(reply) for reply in replies])
        elif errors:
            fields, committed, _ = self.failure(replies)
            self.assertEqual({key: value for key, value in errors[0].items() if value and key not in "FLR"}, fields)
            self.assertEqual(self.count(table), committed)
        else:
            self.assertEqual([shown(reply) for reply in expected], [shown(reply) for reply in replies])
            self.assertEqual(*(self.contents(name, True) for name in ("direct", "hashed")))


class Files(ApartCase):
    """All of them are so short that they are one batch a partition; the keys of bad rows are told apart by their errors."""

    def test_as_they_are_and_cut_at_each_byte(self):
        for table, columns, files in (("items", "", test_copy.FILES), ("names", " (name, day, v)", test_copy.KEYS)):
            for options, data in files:
                if "freeze" in options or "match" in options:
                    continue
                for pieces in ((data,), [data[at:at + 1] for at in range(len(data))]):
                    self.clear()
                    with self.subTest(options, data=data, pieces=len(pieces)):
                        self.check(f"copy {table}{columns} from stdin{options}", table, *pieces)

    def test_binary(self):
        for data in test_copy.BINARIES:
            for pieces in ((data,), [data[at:at + 1] for at in range(len(data))]):
                self.clear()
                with self.subTest(data=data, pieces=len(pieces)):
                    self.check("copy items from stdin (format binary)", "items", *pieces)


class Widest(ApartCase):
    tables = tuple(apart(table) for table in test_copy.Widest.tables)
    cleared = ("widest",)

    def test_rows(self):
        for options, data in test_copy.WIDE_FILES:
            self.clear()
            self.check("copy widest from stdin" + options, "widest", data)


def lines(count, first=0, width=60):
    return [b"%d\trow %d %s\t%d\n" % (number, number, b"x" * width, number) for number in range(first, first + count)]


MANY = 15_000
WIDE = 600  # bytes: so many rows are several batches of each partition


def pieces_of(data, size=100_000):
    return [data[at:at + size] for at in range(0, len(data), size)]


class Loads(ApartCase):
    tables = tuple(apart(table, PARTS) for table in test_copy.CopyCase.tables)

    def batches(self):
        """Transactions that have stored rows of it."""
        return int(self.admins["hashed"].rows("select count(distinct xmin::text) from items")[0][0])

    def wait_until_it_is_over(self):
        """Its client has left: all its backends have, or will."""
        harness.eventually("its backends have left", lambda: self.admins["hashed"].rows(
            "select 1 from pg_stat_activity where datname = 'hashed' and query like 'copy items%'") == [])

    def check_hashes(self):
        self.contents("hashed", True)

    def test_many_rows(self):
        for options, head, width, batches in (("", b"", 60, PARTS), (" (header)", b"id\tv\tn\n", WIDE, 2 * PARTS)):
            self.clear()
            data = head + b"".join(lines(MANY, width=width))
            self.assertEqual(wire.tags_of(self.load("copy items from stdin" + options, *pieces_of(data))), [f"COPY {MANY}"])
            self.assertEqual(self.count(), MANY)
            self.assertGreaterEqual(self.batches(), batches)
            self.check_hashes()

    def test_many_rows_in_binary(self):
        rows = [(test_copy.int8(number), b"row %d" % number, test_copy.int4(number)) for number in range(20_000)]
        replies = self.load("copy items from stdin binary", *pieces_of(test_copy.binary(*rows), 7_777))
        self.assertEqual(wire.tags_of(replies), ["COPY 20000"])
        self.assertEqual(self.count(where="v = 'row ' || n and n = id"), 20_000)
        self.check_hashes()

    def test_only_some_rows(self):
        self.assertEqual(wire.tags_of(self.load("copy items from stdin where n % 3 = 0", *pieces_of(b"".join(lines(9000))))),
                         ["COPY 3000"])
        self.assertEqual(self.count(), 3000)

    def check_failure(self, data, state, line, shown_line=None):
        """All rows before the line that may be missing are there, and as many as are counted."""
        replies = self.load("copy items from stdin", *pieces_of(b"".join(data)))
        fields, committed, missing = self.failure(replies)
        self.assertEqual(fields["C"], state, fields)
        self.assertEqual(fields["W"].split(",")[1].split(":")[0], f" line {line}", fields)
        self.assertLessEqual(missing, line)
        self.assertEqual(self.count(), committed)
        self.assertEqual(self.count(where=f"n < {missing - 1}"), missing - 1)
        self.assertEqual(replies[-1].body, b"I")
        self.assertEqual(wire.tags_of(self.session.query("select 1")), ["SELECT 1"])
        self.clear()

    def test_a_value_that_cannot_be_read(self):
        for at, width in ((0, 60), (1, WIDE), (MANY // 2, WIDE), (MANY // 2, 60), (MANY - 1, WIDE)):
            data = lines(MANY, width=width)
            data[at] = b"%d\tx\tnone\n" % at
            self.check_failure(data, "22P02", at + 1)

    def test_a_row_that_is_too_short(self):
        for at in (0, MANY // 2, MANY - 1):
            data = lines(MANY)
            data[at] = b"%d\n" % at
            self.check_failure(data, "22P04", at + 1)

    def test_a_row_that_is_there_already(self):
        data = lines(MANY, width=WIDE)
        data[MANY - 10] = data[10]
        self.check_failure(data, "23505", MANY - 9)

    def test_a_line_that_ends_otherwise(self):
        data = lines(100)
        data[50] = data[50][:-1] + b"\r\n"
        replies = self.load("copy items from stdin", b"".join(data))
        fields, committed, _ = self.failure(replies)
        self.assertEqual((fields["C"], fields["W"]), ("22P04", "COPY items, line 51"))
        self.assertEqual(self.count(), committed)

    def test_given_up_by_its_client(self):
        replies = self.load("copy items from stdin", *pieces_of(b"".join(lines(MANY))), end=wire.copy_fail("so it is"))
        fields, committed, missing = self.failure(replies)
        self.assertEqual((fields["C"], fields["M"]), ("57014", "COPY from stdin failed: so it is"))
        self.assertEqual(self.count(), committed)
        self.assertEqual(self.count(where=f"n < {missing - 1}"), missing - 1)

    def test_a_client_that_leaves(self):
        """What it has sent is stored or not, and nothing of it meets the next one."""
        self.session.send(wire.query("copy items from stdin"))
        self.session.read_until("G")
        self.session.send(*[wire.copy_data(piece) for piece in pieces_of(b"".join(lines(MANY)))])
        self.session.drop()
        other = self.connect(*self.routes()[1])
        self.assertEqual(wire.tags_of(other.ask(wire.query("copy one from stdin"), wire.copy_data(b"a\n"), wire.copy_done())),
                         ["COPY 1"])
        self.wait_until_it_is_over()

    def test_backends_that_are_ended(self):
        """While rows are on their way: what is counted is there."""
        admin = self.admins["hashed"]
        self.session.send(wire.query("copy items from stdin"))
        self.session.read_until("G")
        # Batches wait for this lock with their rows.
        with self.postgres.admin("hashed") as locker:
            locker.rows("begin; lock table items_p3 in exclusive mode")
            data = pieces_of(b"".join(lines(MANY)))
            thread = threading.Thread(target=self.session.send, args=([*map(wire.copy_data, data), wire.copy_done()]))
            thread.start()
            waits = "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%copy items%'"
            harness.eventually("a batch waits", lambda: admin.rows(waits))
            for (pid,) in admin.rows(waits):
                admin.rows(f"select pg_terminate_backend({pid})")
            locker.rows("rollback")
            thread.join(harness.PATIENCE)
        replies = self.session.read_until("Z")
        fields, committed, missing = self.failure(replies)
        self.assertIn(fields["C"], ("57P01", "08006"), fields)
        self.assertEqual(self.count(), committed)
        self.assertEqual(self.count(where=f"n < {missing - 1}"), missing - 1)

    def test_others_may_change_the_table_meanwhile(self):
        """Between batches, no lock is held that they would have to wait for."""
        data = lines(MANY)
        self.session.send(wire.query("copy items from stdin"))
        self.session.read_until("G")
        for part in (data[:MANY // 2], data[MANY // 2:]):
            self.session.send(*map(wire.copy_data, pieces_of(b"".join(part))))
            self.admins["hashed"].rows("alter table items alter v set statistics 100")
        self.assertEqual(wire.tags_of(self.session.ask(wire.copy_done())), [f"COPY {MANY}"])
        self.assertEqual(self.count(), MANY)

    def test_cancelled(self):
        self.session.send(wire.query("copy items from stdin"))
        self.session.read_until("G")
        self.session.send(*map(wire.copy_data, pieces_of(b"".join(lines(MANY, width=WIDE)))))
        harness.eventually("rows are stored", lambda: self.count() > 0)
        with wire.Wire(("127.0.0.1", self.keyspread.port)) as other:
            other.send(wire.cancel_request(self.session.pid, self.session.key))
            other.read_to_end()
        fields, committed, missing = self.failure(self.session.read_until("Z"))
        self.assertEqual((fields["C"], fields["M"]), ("57014", "canceling statement due to user request"))
        self.assertEqual(self.count(), committed)
        self.assertEqual(self.count(where=f"n < {missing - 1}"), missing - 1)
        self.assertEqual(wire.tags_of(self.load("copy one from stdin", b"a\n")), ["COPY 1"])

    def test_another_statement_instead_of_the_end(self):
        """It ends the session, and does not wait for an answer that nobody gives."""
        for text in ("select 1", "insert into one values ('b')"):
            with self.subTest(text), wire.Wire(("127.0.0.1", self.keyspread.port)) as session:
                session.login("app", "hashed")
                session.send(wire.query("copy items from stdin"))
                session.read_until("G")
                session.send(wire.copy_data(b"1\tx\t1\n"), wire.query(text))
                self.assertEqual(wire.error_of(session.read_to_end()), "08P01")

    def test_sync_is_none_in_the_middle(self):
        self.session.send(wire.query("copy one from stdin"))
        self.session.read_until("G")
        self.session.send(wire.copy_data(b"a\n"), wire.sync(), wire.copy_data(b"b\n"), wire.copy_done())
        self.assertEqual(wire.tags_of(self.session.read_until("Z")), ["COPY 2"])
        self.assertEqual(self.session.rows("select 5"), [["5"]])

    def test_header_match(self):
        """The names are compared before any row is stored: it is as one."""
        replies = self.load("copy items from stdin (header match)", b"id\tv\tn\n", *pieces_of(b"".join(lines(MANY)) + b"x\n"))
        self.assertEqual(wire.error_of(replies), "22P02")
        self.assertEqual(self.count(), 0)

    def test_its_own_backend_is_ended(self):
        """Its client hears of it at the end, or the session ends: it is never told that all is well if it is not."""
        admin = self.admins["hashed"]
        self.session.send(wire.query("copy items from stdin"))
        self.session.read_until("G")
        self.session.send(*map(wire.copy_data, pieces_of(b"".join(lines(MANY)))))
        own = "from pg_stat_activity where state = 'idle' and query like 'copy items%' and datname = 'hashed'"
        harness.eventually("its COPY has ended there", lambda: admin.rows(f"select pid {own}"))
        admin.rows(f"select pg_terminate_backend(pid) {own}")
        with contextlib.suppress(OSError):
            self.session.send(wire.copy_done())
        try:
            replies = self.session.read_until("Z", "E")
        except (wire.Closed, OSError):
            replies = []
        if wire.tags_of(replies):
            self.assertEqual((wire.tags_of(replies), self.count()), ([f"COPY {MANY}"], MANY))
        self.wait_until_it_is_over()

    def test_long_rows(self):
        long = b"x" * (8 << 20)
        replies = self.load("copy items from stdin", *pieces_of(b"1\t" + long + b"\t10\n2\ty\t20\n3\t" + long + b"\t30\n", 1 << 20))
        self.assertEqual(wire.tags_of(replies), ["COPY 3"])
        self.assertEqual(self.count(where=f"length(v) = {8 << 20}"), 2)
        replies = self.load("copy items from stdin", b"4\ta\t10\n", *pieces_of(b"5\t" + 2 * long + b"\t10\n", 1 << 20))
        fields, committed, missing = self.failure(replies)
        self.assertEqual((fields["C"], fields["W"], missing), ("54000", "COPY items, line 2", 1 if committed == 0 else 2))
        self.assertEqual(self.count(where="id = 4"), committed)

    def test_in_a_transaction(self):
        """It is as one there: rolled back, nothing is stored."""
        self.session.query("begin")
        self.assertEqual(wire.tags_of(self.load("copy items from stdin", *pieces_of(b"".join(lines(MANY))))), [f"COPY {MANY}"])
        self.session.query("rollback")
        self.assertEqual(self.count(), 0)

    def test_by_parse(self):
        """Behind it there may be others up to the Sync: it is as one."""
        data = b"".join(lines(MANY)) + b"x\n"
        replies = self.session.ask(wire.parse("", "copy items from stdin"), wire.bind("", ""), wire.execute(),
                                   *map(wire.copy_data, pieces_of(data)), wire.copy_done(), wire.sync())
        self.assertEqual(wire.error_of(replies), "22P02")
        self.assertEqual(self.count(), 0)

    def test_a_table_with_triggers(self):
        """Of each statement there is one, not of each batch."""
        admin = self.admins["hashed"]
        admin.rows("""create table told (n int); create function tell() returns trigger language plpgsql as
            $$ begin insert into told values (1); return null; end $$;
            create trigger tell after insert on one for each statement execute function tell()""")
        other = self.connect(*self.routes()[1])
        harness.eventually("the trigger is seen", lambda: self.tells_once(other, admin))

    def tells_once(self, other, admin):
        """As soon as keyspread has seen the trigger."""
        admin.rows("truncate one, told")
        rows = b"".join(b"k%d\n" % number for number in range(100))
        self.assertEqual(wire.tags_of(other.ask(wire.query("copy one from stdin"), wire.copy_data(rows), wire.copy_done())),
                         ["COPY 100"])
        return admin.rows("select count(*) from told") == [["1"]]

    def test_memory_is_bounded(self):
        """The server takes no rows for a while, and then the client is not read on."""
        with self.postgres.admin("hashed") as locker:
            locker.rows("begin; lock table items_p3 in exclusive mode")
            self.session.send(wire.query("copy items from stdin"))
            self.session.read_until("G")
            self.session.socket.settimeout(3)
            sent = 0  # What is not read fills what the kernel holds, which is little.
            with self.assertRaises(TimeoutError):
                while sent < 400 << 20:
                    piece = wire.copy_data(b"".join(lines(10_000, sent)))
                    self.session.socket.sendall(piece)
                    sent += len(piece)
            self.assertLess(sent, 64 << 20)
            self.session.drop()
            locker.rows("rollback")
        self.wait_until_it_is_over()


class Beside(ApartCase):
    """While clients' own rows are on their way, a load has one batch on its way, and one link."""
    tables = tuple(apart(table, batch={"lock_wait_ms": 600_000}) if table.name == "one" else apart(table)
                   for table in test_copy.CopyCase.tables)
    options = {"admin": {}}
    READ = 12 << 20  # bytes of rows: less than a load waits with, and their memory is more than it gathers

    def links(self):
        return metrics.Scrape(self.keyspread).get("links", kind="session")

    def waiting(self, text):
        return int(self.admins["hashed"].rows("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                                              f"and query like '%{text}%'")[0][0])

    def has_read(self, rows):
        fields = [line.split("\t") for line in metrics.fetch(self.keyspread, "/copies").body.splitlines()]
        return [dict(zip(fields[0], line))["tuples_processed"] for line in fields[1:]] == [str(rows)]

    def test_one_batch_at_a_time(self):
        data = lines(self.READ // WIDE, width=WIDE - 20)
        other = self.connect(*self.routes()[1])
        with self.postgres.admin("hashed") as held, self.postgres.admin("hashed") as locker:
            held.rows("begin; lock table one in exclusive mode")
            other.send(wire.query("insert into one (k) values ('a')"))
            harness.eventually("a client's row is on its way", lambda: self.waiting("into one") or self.waiting('"one"'))
            self.session.send(wire.query("copy items from stdin"))
            self.session.read_until("G")
            before = self.links()
            locker.rows("begin; lock table items in exclusive mode")
            thread = threading.Thread(target=self.session.send, args=tuple(map(wire.copy_data, pieces_of(b"".join(data)))))
            thread.start()
            harness.eventually("all rows are read", lambda: self.has_read(len(data)))
            thread.join(harness.PATIENCE)
            harness.eventually("a batch waits", lambda: self.waiting("copy items"))
            self.assertEqual((self.waiting("copy items"), self.links()), (1, before + 1))
            locker.rows("rollback")
            self.assertEqual(wire.tags_of(self.session.ask(wire.copy_done())), [f"COPY {len(data)}"])
            held.rows("rollback")
        self.assertEqual(wire.tags_of(other.read_until("Z")), ["INSERT 0 1"])
        self.assertEqual(self.count(), len(data))


class Drawn(test_copy.Drawn):
    """Keys that are drawn, in batches."""
    tables = tuple(apart(table) for table in test_copy.Drawn.tables)
    partitioned = True

    def test_errors(self):
        """They say what is committed; what has failed is not there."""
        replies = self.sessions[1].ask(wire.query("copy numbered (v, n) from stdin"), wire.copy_data(b"a\t1\nb\tx\n"),
                                       wire.copy_done())
        fields = next(reply.fields() for reply in replies if reply.kind == "E")
        self.assertEqual((fields["C"], fields["W"].split(":")[0]), ("22P02", "COPY numbered, line 2, column n"))
        self.assertTrue(OUTCOME.search(fields["H"]), fields)
        self.assertLess(len(self.rows("numbered", "hashed")), 2)

    def test_a_sequence_that_ends(self):
        for admin in self.admins.values():
            admin.rows("alter sequence numbered_id_seq maxvalue 500000 restart with 499990")
            self.addCleanup(admin.rows, "alter sequence numbered_id_seq no maxvalue restart with 1000000")
        replies = self.sessions[1].ask(wire.query("copy numbered (v, n) from stdin"),
                                       *[wire.copy_data(b"a\t1\n" * 10)] * 10, wire.copy_done())
        self.assertEqual(wire.error_of(replies), "2200H")
        self.assertEqual(self.rows("numbered", "hashed"), [])


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class BySession(test_copy.SessionCase):
    """keyspread.copy, which counts before what the table has."""
    tables = (test_copy.ITEMS, apart(test_copy.ONE))
    partitioned = True

    def connected(self, **params):
        return self.connect(*self.routes()[1], **params)

    def is_apart(self, session, table="items"):
        """Several transactions have stored its rows."""
        rows = b"".join(b"%d\n" % number for number in range(100))
        column = "id" if table == "items" else "k"
        replies = session.ask(wire.query(f"copy {table} ({column}) from stdin"), wire.copy_data(rows), wire.copy_done())
        self.assertEqual(wire.tags_of(replies), ["COPY 100"], replies)
        stored = int(self.admins["hashed"].rows(f"select count(distinct xmin::text) from {table}")[0][0])
        harness.empty(self.admins["hashed"], [table])
        return stored > 1

    def test_set(self):
        session = self.connected()
        self.assertEqual((self.is_apart(session), self.is_apart(session, "one")), (False, True))
        session.query("set keyspread.copy = partition")
        self.assertEqual((self.is_apart(session), self.is_apart(session, "one")), (True, True))
        session.query("set keyspread.copy to 'Atomic'")
        self.assertEqual((self.is_apart(session), self.is_apart(session, "one")), (False, False))
        session.query("reset keyspread.copy")
        self.assertEqual((self.is_apart(session), self.is_apart(session, "one")), (False, True))

    def test_at_the_start(self):
        self.assertTrue(self.is_apart(self.connected(options="-c keyspread.copy=partition")))
        self.assertFalse(self.is_apart(self.connected(options="-c keyspread.copy=atomic"), "one"))

    def test_a_word_that_it_does_not_take(self):
        session = self.connected()
        for text in ("set keyspread.copy = none", "set session keyspread.copy to 'partitions'", "SET LOCAL KeySpread.Copy = 1",
                     "set keyspread.transactions = fast", "set keyspread.copy_on_conflict = ignore"):
            for messages in ((wire.query(text),), (wire.parse("", text), wire.bind("", ""), wire.execute(), wire.sync())):
                fields = next(reply.fields() for reply in session.ask(*messages) if reply.kind == "E")
                self.assertEqual(fields["C"], "22023", fields)
                self.assertIn("Available values: ", fields["H"])
        self.assertFalse(self.is_apart(session))
        for text in ("set keyspread.other = x", "set keyspread.copy to default", "set keyspread.copy = ''"):
            self.assertIsNone(wire.error_of(session.query(text)) or None, text)
        self.assertFalse(self.is_apart(session))

    def test_a_word_that_came_otherwise(self):
        """It is the COPY that tells."""
        one, other = self.connected(options="-c keyspread.copy=what"), self.connected()
        other.query("select set_config('keyspread.copy', 'what', false)")
        for session in (one, other):
            for _ in range(2):
                self.assertEqual(wire.error_of(session.query("copy items from stdin")), "22023")
            self.assertEqual(wire.tags_of(session.query("select 1")), ["SELECT 1"])
            session.query("set keyspread.copy = partition")
            self.assertTrue(self.is_apart(session))


class Seen(ApartCase):
    """How far a COPY has come, while it is under way."""
    options = {"admin": {}}

    def counted(self):
        scrape = metrics.Scrape(self.keyspread)
        return [scrape.get(f"{name}_total") for name in ("copies_begun", "copies_ended", "copied_rows", "copied_bytes")]

    def copies(self):
        return [line.split("\t") for line in metrics.fetch(self.keyspread, "/copies").body.splitlines()]

    def test_in_the_middle(self):
        for count, mode in enumerate(("atomic", "partition")):
            self.session.query(f"set keyspread.copy = {mode}")
            before = self.counted()
            self.session.send(wire.query("copy items from stdin"))
            self.session.read_until("G")
            self.session.send(wire.copy_data(b"1\ta\t1\n2\tb\t2\n3"))
            expected = [before[0] + 1, before[1], before[2] + 2, before[3] + 13]
            harness.eventually("rows are seen", lambda: self.counted() == expected)
            names, *copies = self.copies()
            self.assertEqual(len(copies), 1, copies)
            shown = dict(zip(names, copies[0]))
            self.assertEqual([shown[name] for name in ("pid", "datname", "relname", "mode", "bytes_processed", "tuples_processed")],
                             [str(self.session.pid), "hashed", "items", mode, "13", "2"])
            self.assertGreater(float(shown["seconds"]), 0)
            rate = 2 / float(shown["seconds"])
            self.assertAlmostEqual(float(shown["tuples_per_second"]), rate, delta=rate * 0.01 + 1)
            self.session.send(wire.copy_fail("enough"))
            self.session.read_until("Z")
            self.assertEqual(self.counted()[:2], [count + 1] * 2)
            self.assertEqual(self.copies()[1:], [])


class Unreadable(ApartCase):
    def test_more_rows_in_a_row_than_one_may_have(self):
        """Each goes to the server, which names the first that it cannot read."""
        rows = b"".join(b"x%d\t%s\t1\n" % (number, b"y" * 100_000) for number in range(200))
        fields, committed, missing = self.failure(self.load("copy items from stdin", *pieces_of(rows, 1 << 20)))
        self.assertEqual((fields["C"], committed, missing), ("22P02", 0, 1))
        rows = b"".join(b"n%d\ttoday\t%s\n" % (number, b"y" * 100_000) for number in range(200))
        fields, committed, missing = self.failure(self.load("copy names from stdin", *pieces_of(rows, 1 << 20)))
        self.assertEqual((fields["C"], committed, missing), ("0A000", 0, 1))


@unittest.skipIf(harness.DIRECT, "only with keyspread in between")
class Repeated(test_copy.SessionCase):
    """copy_on_conflict: rows that are there already are no error."""
    WIDE = harness.Table("wide", ["id bigint not null generated by default as identity", "\"aA\"\"b)\" text", "n int default 7",
                                  "twice int generated always as (n * 2) stored", "k varchar(5) not null"], ["k", "id"],
                         hash_first=False, hash_key=["id"])
    tables = (apart(test_copy.ITEMS, PARTS), apart(WIDE, PARTS, copy_on_conflict="update"),
              apart(test_copy.ONE, PARTS, copy_on_conflict="nothing"))
    partitioned = True

    def setUp(self):
        super().setUp()
        self.session = self.connect(*self.routes()[1])
        self.admin = self.admins["hashed"]
        harness.empty(self.admin, ["items", "wide", "one"])

    def load(self, text, *pieces):
        return self.session.ask(wire.query(text), *[wire.copy_data(piece) for piece in pieces], wire.copy_done())

    def tag(self, text, *pieces):
        replies = self.load(text, *pieces)
        self.assertEqual(wire.error_of(replies) or None, None, replies)
        return wire.tags_of(replies)[0]

    def check_hashes(self):
        self.contents("hashed", True)

    def test_again(self):
        """A load that was cut off is simply loaded again; the tag counts what was stored."""
        half, data = b"".join(lines(MANY // 2)), b"".join(lines(MANY))
        self.session.query("set keyspread.copy_on_conflict = nothing")
        self.assertEqual(self.tag("copy items from stdin", *pieces_of(half)), f"COPY {MANY // 2}")
        self.assertEqual(self.tag("copy public.items (id, v, n) from stdin with (format text) -- all", *pieces_of(data)),
                         f"COPY {MANY // 2}")
        self.assertEqual(self.tag("copy items from stdin;", *pieces_of(data)), "COPY 0")
        self.assertEqual(self.admin.rows("select count(*), count(distinct id) from items"), [[str(MANY)] * 2])
        self.check_hashes()

    def test_what_came_last_counts(self):
        """Also of equal keys that are far from each other, and so in several batches."""
        self.session.query("set keyspread.copy_on_conflict = update")
        rounds = [b"".join(b"%d\t%s\t%d\n" % (number, b"x" * 2000, turn) for number in range(500)) for turn in range(8)]
        replies = self.load("copy items from stdin", *pieces_of(b"".join(rounds)))
        self.assertEqual(wire.error_of(replies) or None, None, replies)
        self.assertEqual(self.admin.rows("select n, count(*) from items group by n"), [["7", "500"]])
        self.check_hashes()

    def test_what_was_there_first_stays(self):
        self.session.query("set keyspread.copy_on_conflict = nothing")
        rounds = [b"".join(b"%d\t%s\t%d\n" % (number, b"x" * 2000, turn) for number in range(500)) for turn in range(8)]
        self.assertEqual(self.tag("copy items from stdin", *pieces_of(b"".join(rounds))), "COPY 500")
        self.assertEqual(self.admin.rows("select n, count(*) from items group by n"), [["0", "500"]])

    def test_columns(self):
        """Those that are not listed keep what they have, or get their defaults; names as they are."""
        self.assertEqual(self.tag('copy wide (k, id, "aA""b)") from stdin csv', b'a,1,x\nb,1,"y,z"\n'), "COPY 2")
        self.admin.rows("update wide set n = 9 where k = 'a'")
        self.assertEqual(self.tag('copy binary wide ("aA""b)", k, id) from stdin',
                                  test_copy.binary((b"new", b"a", test_copy.int8(1)), (None, b"c", test_copy.int8(-1)))), "COPY 2")
        self.assertEqual(self.admin.rows('select k, id, "aA""b)", n, twice from wide order by k'),
                         [["a", "1", "new", "9", "18"], ["b", "1", "y,z", "7", "14"], ["c", "-1", None, "7", "14"]])
        self.assertEqual(self.tag("copy wide (id, k) from stdin", b"1\ta\n"), "COPY 1")
        self.check_hashes()

    def test_a_key_alone(self):
        self.assertEqual(self.tag("copy one from stdin", b"a\nb\na\n"), "COPY 2")
        self.session.query("set keyspread.copy_on_conflict = update")
        self.assertEqual(self.tag("copy one from stdin", b"a\nc\n"), "COPY 2")
        self.session.query("set keyspread.copy_on_conflict = error")
        self.assertEqual(wire.error_of(self.load("copy one from stdin", b"a\n")), "23505")

    def test_errors(self):
        """They name the client's lines; those of constraints have none."""
        self.session.query("set keyspread.copy_on_conflict = nothing")
        for data, state, line in ((b"1\ta\t1\n2\tb\tx\n", "22P02", "COPY items, line 2, column n"),
                                  (b"1\ta\t1\n2\tb\n", "22P04", "COPY items, line 2"), (b"\\N\ta\t1\n", "23502", "")):
            fields = next(reply.fields() for reply in self.load("copy items from stdin", data) if reply.kind == "E")
            self.assertEqual((fields["C"], fields.get("W", "").split(":")[0]), (state, line), fields)
            self.assertTrue(OUTCOME.search(fields["H"]), fields)
            self.assertNotIn("id_hash", str(fields))
            harness.empty(self.admin, ["items"])
        self.assertEqual(self.tag("copy items from stdin", b"1\ta\t1\n"), "COPY 1")

    def test_refused(self):
        for text in ("copy wide (k) from stdin", "copy wide (id) from stdin", "copy wide from stdin (default 'D')"):
            fields = next(reply.fields() for reply in self.session.ask(wire.query(text)) if reply.kind == "E")
            self.assertEqual(fields["C"], "0A000", fields)
            self.assertIn("H", fields)
        self.session.query("set keyspread.copy_on_conflict = error")
        self.assertEqual(self.tag("copy wide (k) from stdin", b"a\n"), "COPY 1")


if __name__ == "__main__":
    unittest.main()
