"""Whoever waits for a link of its own gets it when it is its turn, whoever leaves meanwhile."""
import re
import unittest

import harness
import middleman
import wire

TURN = "select nextval('turns')"
LONG = {"links": "on_demand", "max_links": 3, "batch_links": 1, "link_wait_ms": 3600000, "connect_ms": 600000}


class TurnsCase(harness.StackCase):
    """Of three links sessions leave one, and two are held."""

    workers = 2
    options = {"workers": workers, "backend": LONG, "log": {"level": "debug"}}
    setup_sql = "create sequence turns"

    def setUp(self):
        super().setUp()
        with self.postgres.admin(self.database) as admin:
            admin.rows("select setval('turns', 1, false)")
        self.here = {}  # one session of each worker
        while len(self.here) < self.workers:
            seen = len(self.keyspread.lines.lines)
            session = self.wire()
            ready = self.keyspread.lines.wait_for("event=client_ready", since=seen)
            self.here[re.search(r"worker=(\d+)", ready)[1]] = session

    def hold(self, count=2):
        self.holders = [self.wire() for _ in range(count)]
        for session in self.holders:
            session.rows("begin")

    def ask(self, session, *messages):
        """It is known that it has asked: on each worker something was done that came later."""
        session.send(*messages)
        for other in self.here.values():
            self.assertEqual(wire.kinds(other.ask(wire.sync())), "Z")

    def wait(self, count):
        """So many that leave as soon as they had their turn."""
        sessions = [self.wire() for _ in range(count)]
        for session in sessions:
            self.ask(session, wire.query(TURN), wire.terminate())
        return sessions

    def turns_of(self, sessions):
        """What each of them drew, and that each drew one number."""
        told = [[int(m.row()[0]) for m in session.read_to_end() if m.kind == "D"] for session in sessions]
        self.assertEqual([len(numbers) for numbers in told], [1] * len(sessions))
        return [numbers[0] for numbers in told]

    def check_turns(self, sessions):
        self.assertEqual(self.turns_of(sessions), list(range(1, len(sessions) + 1)))


@harness.proxied
class InOrder(TurnsCase):
    def test_in_the_order_they_asked(self):
        self.hold()
        waiting = self.wait(30)
        self.holders.pop().close()
        self.check_turns(waiting)

    def test_those_that_vanish_hold_up_nobody(self):
        """What they have said is done when it is their turn, as PostgreSQL does it, and no more."""
        self.hold()
        waiting = self.wait(12)
        numbers = list(range(1, 13))
        for number in (11, 7, 6, 3, 0):
            waiting.pop(number).drop()
            numbers.pop(number)
        self.holders.pop().close()
        self.assertEqual(self.turns_of(waiting), numbers)
        with self.postgres.admin(self.database) as admin:  # The last one has vanished, too.
            harness.eventually("all have drawn", lambda: admin.rows("select last_value from turns") == [["12"]])

    def cancel(self, session):
        with wire.Wire(self.keyspread.address()) as other:
            other.send(wire.cancel_request(session.pid, session.key))
            other.read_to_end()

    def test_those_that_are_cancelled_wait_no_longer(self):
        """They are told so at once, hold up nobody, and begin anew behind those that came meanwhile."""
        self.hold()
        gone = [self.wire() for _ in range(8)]
        for session in gone:
            self.ask(session, wire.query(TURN))
        waiting = self.wait(4)
        for session in gone:
            self.cancel(session)
            replies = session.read_ready()
            self.assertEqual((wire.error_of(replies), replies[-1].body), ("57014", b"I"))
        extended = wire.parse("", TURN) + wire.bind("", "", []) + wire.execute() + wire.sync()
        for session in gone:
            self.ask(session, extended, wire.terminate())
        self.holders.pop().close()
        self.assertEqual(self.turns_of(waiting + gone), list(range(1, 13)))

    def test_who_comes_while_others_wait(self):
        """A link that was left is nobody's whom it was not given to."""
        self.hold()
        numbers = []
        for _ in range(5):
            waiting = self.wait(3)
            self.holders.pop(0).close()
            late = self.wire()
            self.assertEqual(late.rows(TURN), [[str(len(numbers) + 4)]])
            numbers += self.turns_of(waiting) + [len(numbers) + 4]
            late.rows("begin")
            self.holders.append(late)
        self.assertEqual(numbers, list(range(1, 21)))


@harness.proxied
class InOrderOnOneWorker(InOrder):
    workers = 1
    options = {**TurnsCase.options, "workers": workers}


@harness.proxied
class TooLate(TurnsCase):
    options = {**TurnsCase.options, "backend": {**LONG, "link_wait_ms": 300}}

    def test_each_has_its_own_error(self):
        self.hold()
        sessions = [self.wire() for _ in range(5)]
        for _ in range(2):  # who was told so asks anew, and waits anew
            for session in sessions:
                session.send(wire.query(TURN))
            for session in sessions:
                error = wire.error_of(session.read_ready())
                self.assertEqual(error, "53300")
        self.holders.pop().close()
        for session in sessions:
            harness.eventually("a link is free", lambda: wire.error_of(session.query(TURN)) is None)
            session.close()


@harness.proxied
class WhileItOpens(TurnsCase):
    """A client leaves, and its link is still being opened: when that has failed, its place is the next one's."""

    options = {**TurnsCase.options, "backend": {**LONG, "connect_ms": 5000}}

    @classmethod
    def start_keyspread(cls):
        cls.middleman = middleman.Middleman(cls.postgres.port)
        cls.addClassCleanup(cls.middleman.close)
        cls.keyspread = harness.Keyspread(harness.backend_config(
            cls.postgres, cls.tables, port=cls.middleman.port, **cls.options))
        cls.addClassCleanup(cls.keyspread.stop)

    def setUp(self):
        super().setUp()
        self.hold(1)
        self.addCleanup(setattr, self.middleman, "silent", False)

    def silently(self, *messages, session=None):
        """A client whose link hears nothing of the backend."""
        session = session or self.wire()
        self.middleman.silent = True
        unheard = len(self.middleman.unheard)
        session.send(*messages)
        harness.eventually("its link is being opened", lambda: len(self.middleman.unheard) > unheard)
        self.middleman.silent = False
        return session

    def check_others(self, leave):
        """Who waits gets what the one that leaves had begun to open."""
        waiting = [self.wire() for _ in range(3)]
        for session in waiting:
            self.ask(session, wire.query(TURN))
        leave()
        for session in waiting:
            self.assertEqual(wire.tags_of(session.read_ready()), ["SELECT 1"])
            session.close()

    def login(self, number):
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.drop)
        known = wire.startup(harness.USER, self.database, timezone=f"<+01>-01:{number:02}")
        return self.silently(known, session=session)

    def test_with_its_login(self):
        """It may have ended its side alone, and still wants to be greeted; but not for long."""
        self.check_others(self.login(1).drop)

    def test_what_was_said_is_done(self):
        """A goodbye is no cancel, and holds its place until then."""
        leaving = self.silently(wire.query(TURN), wire.terminate())

        def lose():
            for client in self.middleman.unheard:
                client.close()
            self.assertEqual(wire.error_of(leaving.read_to_end()), "08006")
        self.check_others(lose)


if __name__ == "__main__":
    unittest.main()
