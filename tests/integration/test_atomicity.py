"""atomicity: partition lets a statement commit partition by partition."""
import collections
import struct
import unittest

import harness
import middleman
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"


class PartitionCase(harness.StackCase):
    @classmethod
    def start_keyspread(cls):
        config = harness.backend_config(cls.postgres, cls.tables, **cls.options)
        config["tables"][0]["atomicity"] = "partition"
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    @staticmethod
    def rows(numbers):
        values = ", ".join(f"({number}, '{TS}')" for number in numbers)
        return f"insert into events (userid, ts) values {values}"

    def with_text(self, session, numbers):
        session.send(wire.query(self.rows(numbers)))

    def with_parameters(self, session, numbers, verb="insert", formats=()):
        """One statement of all rows; `formats` binary ones come as int8 and microseconds."""
        values, rows = [], []
        for at, number in enumerate(numbers):
            binary = [formats[len(values) % len(formats)] if formats else 0,
                      formats[(len(values) + 1) % len(formats)] if formats else 0]
            values.append(struct.pack("!q", number) if binary[0] else number)
            values.append(struct.pack("!q", 820_000_000_000_000) if binary[1] else TS)
            rows.append(f"(${2 * at + 1}, ${2 * at + 2})")
        codes = formats if len(formats) < 2 else formats * (len(values) // len(formats))
        session.send(wire.parse("", f"{verb} into events (userid, ts) values {', '.join(rows)}"),
                     wire.bind("", "", values, codes), wire.execute(), wire.sync())

    WAYS = (("text", with_text, "CZ", "EZ"), ("parameters", with_parameters, "12CZ", "12EZ"))

    def good(self, replies, *tags):
        self.assertIsNone(wire.error_of(replies), replies)
        self.assertEqual(wire.tags_of(replies), list(tags))

    def in_parts(self):
        """No transaction wrote to two partitions, and there is more than one."""
        partitions = collections.defaultdict(set)
        for transaction, partition in self.stored(columns="xmin, tableoid"):
            partitions[transaction].add(partition)
        self.assertEqual({len(written) for written in partitions.values()}, {1})
        return len(partitions) > 1

    def hold(self, number):
        holder = self.wire()
        holder.query("begin")
        holder.query(self.rows([number]))
        return holder


@harness.proxied
class Parts(PartitionCase):
    """Who commits with whom, and what the client is told."""

    def test_all_rows_are_good(self):
        for way, send, good, _ in self.WAYS:
            with self.subTest(way):
                session = self.wire()
                send(self, session, range(40))
                replies = session.read_ready()
                self.assertEqual((wire.kinds(replies), wire.tags_of(replies)),
                                 (good, ["INSERT 0 40"]))
                self.check_stored(count=40)
                self.assertTrue(self.in_parts())
                self.setUp()

    def test_formats_of_parameters(self):
        for formats in ([1], [0], [1, 0], [0, 1], [1, 1, 0, 1]):
            with self.subTest(formats=formats):
                session = self.wire()
                self.with_parameters(session, range(40), formats=formats)
                self.good(session.read_ready(), "INSERT 0 40")
                self.check_stored(count=40)
                self.assertTrue(self.in_parts())
                self.setUp()

    def test_a_duplicate_takes_its_partition_with_it(self):
        for way, send, _, bad in self.WAYS:
            with self.subTest(way):
                session = self.wire()
                self.good(session.query(self.rows([7])), "INSERT 0 1")
                send(self, session, range(40))
                replies = session.read_ready()
                self.assertEqual((wire.kinds(replies), wire.error_of(replies)), (bad, "23505"))
                stored = len(self.stored()) - 1
                self.assertEqual(replies[-2].fields()["D"], f"{stored} of 40 rows are committed.")
                self.assertTrue(0 < stored < 40, stored)
                self.good(session.query(self.rows([100])), "INSERT 0 1")
                self.setUp()

    def test_a_column_is_dropped_before_others(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("alter table events add column a text, add column b text")
            self.addCleanup(self.restore)
        text = "insert into events values ($1, $2, $3, $4), ($5, $6, $7, $8)"
        values = [number if at % 4 == 0 else TS if at % 4 == 1 else "xb"[at % 4 - 2]
                  for at, number in enumerate([5] * 4 + [6] * 4)]
        self.assertNotEqual(*(EVENTS.partition_of(harness.xxh3_signed(n)) for n in (5, 6)))
        session = self.wire()
        session.ask(wire.parse("s", text), wire.sync())
        with self.postgres.admin(self.database) as admin:
            admin.rows("alter table events drop column a")
        self.good(session.ask(wire.bind("", "s", values), wire.execute(), wire.sync()),
                  "INSERT 0 2")
        self.assertEqual(self.stored(columns="event, b"), [["x", "b"], ["x", "b"]])

    def restore(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("drop table events cascade;" + EVENTS.ddl())

    def test_one_partition_is_whole(self):
        session = self.wire()
        self.good(session.query(self.rows([7])), "INSERT 0 1")
        replies = session.query(self.rows([7, 7]))
        self.assertEqual(wire.error_of(replies), "23505")
        self.assertIn("already exists", replies[0].fields()["D"])

    def test_a_key_twice(self):
        session = self.wire()
        self.with_parameters(session, list(range(40)) * 2, verb="upsert")
        self.good(session.read_ready(), "INSERT 0 80")
        self.check_stored(count=40)

    def test_what_is_not_split(self):
        """Rows of several forms, several statements of a group, a transaction."""
        alike = "insert into events (userid, ts) values ($1, $2), ($3, $4)"
        others = "insert into events (userid, ts, event) values ($1, $2, 'x'), ($3, $4, 'y')"
        partition = lambda number: EVENTS.partition_of(harness.xxh3_signed(number))
        second = next(number for number in range(1, 100) if partition(number) != partition(0))
        bind = lambda number: wire.bind("", "", [number, TS, number + second, TS])
        for name, messages in (
                ("forms", [wire.parse("", others), bind(0), wire.execute()]),
                ("several", [wire.parse("", alike), bind(0), wire.execute(), bind(1000),
                             wire.execute()]),
                ("bound twice", [wire.parse("", alike), bind(1000), bind(0), wire.execute()])):
            with self.subTest(name):
                self.assertIsNone(wire.error_of(self.wire().ask(*messages, wire.sync())))
                rows = self.stored(columns="xmin")
                self.assertEqual(len(set(map(tuple, rows))), 1, rows)
                self.check_stored(count=4 if name == "several" else 2)
                self.setUp()

    def waiting_session(self, send):
        """The rows of the other partitions are there, and the rest waits on the own link for a lock.
        Returns the session, the lock's holder, and how many others there are."""
        holder, session = self.hold(7), self.wire()
        own_link = session.rows("select pg_backend_pid()")[0][0]
        send(self, session, range(40))
        with self.postgres.admin(self.database) as admin:
            count = "select count(*) from events"
            mine = EVENTS.partition_of(harness.xxh3_signed(7))
            others = sum(EVENTS.partition_of(harness.xxh3_signed(number)) != mine
                         for number in range(40))
            harness.eventually("the other partitions' rows", lambda: int(admin.rows(count)[0][0])
                               == others)
            harness.eventually("the own link waits", lambda: admin.rows(
                f"select from pg_stat_activity where pid = {own_link}"
                " and wait_event_type = 'Lock'"))
        return session, holder, others

    def test_a_part_that_waits_for_a_lock(self):
        for way, send, good, bad in self.WAYS:
            for end in ("rollback", "commit"):
                with self.subTest(way, end=end):
                    session, holder, others = self.waiting_session(send)
                    holder.query(end)
                    replies = session.read_ready()
                    if end == "rollback":
                        self.assertEqual((wire.kinds(replies), wire.tags_of(replies)),
                                         (good, ["INSERT 0 40"]))
                    else:
                        self.assertEqual((wire.kinds(replies), wire.error_of(replies)),
                                         (bad, "23505"))
                        self.assertEqual(replies[-2].fields()["D"],
                                         f"{others} of 40 rows are committed.")
                    self.check_stored(count=40 if end == "rollback" else others + 1)
                    self.good(session.query(self.rows([100])), "INSERT 0 1")
                    self.setUp()

    def test_cancel_of_a_part_that_waits_for_a_lock(self):
        for way, send, _, bad in self.WAYS:
            with self.subTest(way):
                session, holder, others = self.waiting_session(send)
                other = wire.Wire(("127.0.0.1", self.port()))
                other.send(wire.cancel_request(session.pid, session.key))
                other.read_to_end()
                other.drop()
                replies = session.read_ready()
                self.assertEqual((wire.kinds(replies), wire.error_of(replies)), (bad, "57014"))
                self.assertEqual(replies[-2].fields()["D"], f"{others} of 40 rows are committed.")
                holder.query("rollback")
                self.setUp()


class ManyParts(PartitionCase):
    """What would fall into more parts than memory is to be had for commits as one."""

    @classmethod
    def start_keyspread(cls):
        config = harness.backend_config(cls.postgres, cls.tables)
        config["tables"][0].update(atomicity="partition", partitions={"uniform": 100_000})
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def test_one_commit(self):
        for way, send, *_ in self.WAYS:
            with self.subTest(way):
                self.setUp()
                session = self.wire()
                send(self, session, range(400))
                self.good(session.read_ready(), "INSERT 0 400")
                self.assertEqual(len({xmin for xmin, in self.stored(columns="xmin")}), 1)


@harness.proxied
class Unknown(PartitionCase):
    """One part fails; the other's link is lost when it has committed."""

    tables = (harness.Table("counters", ["id bigint not null", "n int"], ["id"],
                            hash_column="idhash", constraints=["check (allowed(id))"]),)
    before_sql = """create table refused(id bigint, code text);
        create function allowed(wanted bigint) returns bool language plpgsql as $$ begin
        if exists (select from refused r where r.id = wanted) then
        raise 'no' using errcode = (select code from refused r where r.id = wanted); end if;
        return true; end $$"""

    @classmethod
    def start_keyspread(cls):
        cls.middleman = middleman.Middleman(cls.postgres.port)
        cls.addClassCleanup(cls.middleman.close)
        config = harness.backend_config(cls.postgres, cls.tables, port=cls.middleman.port)
        config["tables"][0]["atomicity"] = "partition"
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def test_it_is_said_and_never_repeated(self):
        table = self.tables[0]
        bad = 1
        good = next(number for number in range(2, 99) if table.partition_of(harness.xxh3_signed(
            number)) != table.partition_of(harness.xxh3_signed(bad)))
        text = (f"insert into counters (id, n) values ({bad}, 1), ({good}, 1) "
                "on conflict (id) do update set n = counters.n + 1")
        for code in ("42P01", "23514"):
            with self.subTest(code):
                self.setUp()
                session = self.wire()
                with self.postgres.admin(self.database) as admin:
                    admin.rows(f"truncate refused; insert into refused values ({bad}, '{code}')")
                fired = self.middleman.arm(
                    middleman.AFTER, lambda sent: b"insert into counters" in sent
                    and str(good).encode() + b"," in sent,
                    lambda _: harness.eventually("committed", lambda: self.stored(table)))
                replies = session.query(text)
                self.assertTrue(fired.is_set(), replies)
                self.assertEqual(wire.error_of(replies), "08007")
                self.assertIn("0 of 2 rows are committed, of 1 it is unknown",
                              next(m.fields()["D"] for m in replies if m.kind == "E"))
                self.assertEqual(self.stored(table, "id, n"), [[str(good), "1"]])


@harness.proxied
class NoLinkIsLeft(PartitionCase):
    """A part is to wait for its lock on a link that is not there."""

    options = {"workers": 1, "backend": {"max_links": 6, "batch_links": 2, "link_wait_ms": 100}}

    def test_no_link_for_a_part_that_waits_for_a_lock(self):
        for way, send, _, _ in self.WAYS:
            with self.subTest(way):
                first = self.wire()
                send(self, first, range(1000, 1040))  # its types are known from now on
                self.assertIsNone(wire.error_of(first.read_ready()))
                first.close()
                holders = [self.hold(number) for number in (7, 2001, 2002, 2003, 2004)]
                session = self.wire()
                send(self, session, range(40))
                replies = session.read_ready()
                self.assertEqual((wire.kinds(replies), wire.error_of(replies)), ("EZ", "53300"))
                committed = len(self.stored()) - 40
                self.assertTrue(0 < committed < 40, committed)
                self.assertEqual(replies[-2].fields()["D"],
                                 f"{committed} of 40 rows are committed.")
                for holder in holders:
                    holder.close()
                self.good(session.query(self.rows([100])), "INSERT 0 1")
                self.setUp()


if __name__ == "__main__":
    unittest.main()
