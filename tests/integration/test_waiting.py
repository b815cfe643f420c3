"""Rows that wait: for locks, for cancels, for memory."""
import select
import unittest

import harness
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"


class Waiting(harness.StackCase):
    """Rows that wait for a lock, a cancel, a timeout."""

    options = {"backend": {"batch_links": 4}}
    PARTITION = [userid for userid in range(2000)
                 if EVENTS.partition_of(harness.xxh3_signed(userid)) == 3]

    def insert(self, number, event="x"):
        return TEXT.format(self.PARTITION[number], TS, event)

    def hold(self, number=0):
        """A transaction that holds a key; to be ended by the caller."""
        holder = self.wire()
        holder.query("begin")
        self.assertEqual(wire.tags_of(holder.query(self.insert(number, "held"))), ["INSERT 0 1"])
        return holder

    def wait_for_a_waiter(self, count=1):
        with self.postgres.admin(self.database) as admin:
            harness.eventually("somebody waits for the lock", lambda: int(admin.rows(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'")[0][0])
                >= count)

    def test_a_lock_does_not_hold_the_partition(self):
        holder = self.hold()
        waiter = self.wire()
        waiter.send(wire.query(self.insert(0, "waits")))
        self.wait_for_a_waiter()

        def client(number):
            session = self.wire()
            for insert in range(10):
                replies = session.query(self.insert(1 + number * 10 + insert))
                self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"], replies)
        harness.in_threads(4, client)
        self.assertEqual(wire.tags_of(holder.query("commit")), ["COMMIT"])
        self.assertEqual(wire.error_of(waiter.read_ready()), "23505")
        self.check_stored(count=41)

    def test_a_lock_that_is_rolled_back(self):
        holder = self.hold()
        waiter = self.wire()
        waiter.send(wire.parse("", "insert into events (userid, ts) values ($1, $2)"),
                    wire.bind("", "", [self.PARTITION[0], TS]), wire.execute(), wire.sync())
        self.wait_for_a_waiter()
        holder.query("rollback")
        self.assertEqual(wire.tags_of(waiter.read_ready()), ["INSERT 0 1"])
        self.check_stored(count=1)

    def cancel(self, session):
        other = wire.Wire(("127.0.0.1", self.port()))
        other.send(wire.cancel_request(session.pid, session.key))
        other.read_to_end()
        other.drop()

    def cancel_until_answered(self, session):
        """What is cancelled may not have come yet."""
        self.cancel(session)
        while not select.select([session.socket], [], [], 0.1)[0]:
            self.cancel(session)

    def test_cancel_of_what_waits(self):
        holder = self.hold()
        waiter, behind = self.wire(), self.wire()
        waiter.send(wire.query(self.insert(0, "waits")))
        behind.send(wire.query(self.insert(0, "waits too")))
        self.wait_for_a_waiter()
        for session in (behind, waiter):
            self.cancel_until_answered(session)
            replies = session.read_ready()
            self.assertEqual(wire.error_of(replies), "57014", replies)
            self.assertEqual(replies[-1].body, b"I")
        holder.query("rollback")
        self.assertEqual(wire.tags_of(waiter.query(self.insert(1))), ["INSERT 0 1"])
        self.assertEqual(self.stored(columns="event"), [["x"]])

    def test_a_cancel_hurts_no_other(self):
        holder = self.hold()
        first, second = self.wire(), self.wire()
        first.send(wire.query(self.insert(0, "waits")))
        second.send(wire.query(self.insert(0, "waits too")))
        self.wait_for_a_waiter()
        self.cancel_until_answered(first)
        self.assertEqual(wire.error_of(first.read_ready()), "57014")
        holder.query("rollback")
        self.assertEqual(wire.tags_of(second.read_ready()), ["INSERT 0 1"])
        self.assertEqual(self.stored(columns="event"), [["waits too"]])

    def test_disconnect_of_what_waits(self):
        """Its row is stored or not, and nobody else notices."""
        holder = self.hold()
        gone, stays = self.wire(), self.wire()
        gone.send(wire.query(self.insert(0, "gone")))
        self.wait_for_a_waiter()
        gone.drop()
        stays.send(wire.query(self.insert(1)), wire.query(self.insert(2)))
        self.assertEqual(wire.tags_of(stays.read_ready(2)), ["INSERT 0 1"] * 2)
        holder.query("rollback")
        rows = [row[0] for row in self.stored(columns="event")]
        self.assertIn(sorted(rows), (["x", "x"], ["gone", "x", "x"]))

    def test_statement_timeout_of_what_waits(self):
        holder = self.hold()
        for params, setting in (({"options": "-c statement_timeout=300"}, None),
                                ({}, "set statement_timeout = 300")):
            waiter = self.wire(**params)
            if setting:
                waiter.query(setting)
            replies = waiter.query(self.insert(0, "waits"))
            self.assertEqual(wire.error_of(replies), "57014", replies)
            waiter.query("set statement_timeout = 0")
            self.assertEqual(wire.tags_of(waiter.query(self.insert(1 + len(params)))),
                             ["INSERT 0 1"])
        holder.query("rollback")
        self.check_stored(count=2)


@harness.proxied
class Memory(harness.StackCase):
    """Memory is bounded, and everybody gets through."""

    options = {"limits": {"queue_bytes": "1MiB"}, "backend": {"max_links": 150}, "workers": 2}

    def test_clients_stopped_in_mid_group(self):
        sessions = [self.wire() for _ in range(100)]
        text = "insert into events (userid, ts, event) values ($1, $2, $3)"
        groups = []
        for number, session in enumerate(sessions):
            group = wire.parse("", text)
            for row in range(3):
                group += wire.bind("", "", [number * 10 + row, TS, "x" * 10_000]) + wire.execute()
            groups.append(group + wire.sync())
            session.send(groups[-1][:-20_000])
        for session, group in zip(sessions, groups):
            session.send(group[-20_000:])
        for session in sessions:
            replies = session.read_ready()
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"] * 3, replies)
        self.check_stored(count=300)

    def test_more_than_the_budget_at_once(self):
        def client(number):
            session = self.wire()
            session.send(*(wire.query(TEXT.format(number * 100 + row, TS, "x" * 100_000))
                           for row in range(10)))
            replies = session.read_ready(10)
            self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"] * 10)
        harness.in_threads(20, client)
        self.check_stored(count=200)

    def test_a_row_larger_than_the_budget(self):
        session = self.wire()
        replies = session.query(TEXT.format(1, TS, "x" * 3_000_000))
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
        replies = session.ask(wire.parse("", "insert into events values ($1, $2, $3)"),
                              wire.bind("", "", [2, TS, "x" * 3_000_000]), wire.execute(),
                              wire.sync())
        self.assertEqual(wire.tags_of(replies), ["INSERT 0 1"])
        self.check_stored(count=2)


if __name__ == "__main__":
    unittest.main()
