"""load: clients that write without pause and a ledger of what they were told; the base of the tests
in which something breaks.
"""
import collections
import threading
import unittest

import harness
import middleman
import wire
from harness import EVENTS

TS = "2026-01-02 03:04:05+00"
TEXT = "insert into events (userid, ts, event) values ({}, '{}', '{}')"
UNDECIDED = "08007"


class Ledger:
    """What each statement's client was told, by the key of its row."""

    def __init__(self):
        self.told = {}
        self.lock = threading.Lock()

    def note(self, key, outcome):
        with self.lock:
            self.told[key] = outcome

    def count(self, outcome):
        with self.lock:
            return sum(told == outcome for told in self.told.values())

    def outcomes(self):
        return collections.Counter(self.told.values())

    def check(self, test, stored, undecided=(UNDECIDED,)):
        """`stored`: the keys in the table."""
        found = collections.Counter(stored)
        for key, outcome in self.told.items():
            if outcome == "ok":
                test.assertEqual(found[key], 1, f"{key} was acknowledged")
            elif outcome not in undecided:
                test.assertEqual(found[key], 0, f"{key} was refused with {outcome}")
        test.assertEqual(set(found) - set(self.told), set(), "rows that nobody sent")


class Writer:
    """A client that writes one row after another and comes back when it is cut off. Its modes: a
    Query a row, or Bind and Execute of a prepared statement."""

    def __init__(self, number, address, database, ledger, extended):
        self.number, self.address, self.database = number, address, database
        self.ledger, self.extended = ledger, extended
        self.session = None
        self.row = 0

    def connect(self):
        session = wire.Wire(self.address)
        try:
            session.login(harness.USER, self.database)
            if self.extended:
                replies = session.ask(wire.parse(
                    "s", "insert into events (userid, ts, event) values ($1, $2, $3)"), wire.sync())
                if wire.error_of(replies):
                    raise wire.Closed(replies)
        except (OSError, wire.Closed):
            session.drop()
            raise
        self.session = session

    def write(self):
        """One row; True if it was acknowledged."""
        self.row += 1
        key = self.number * 1_000_000 + self.row
        try:
            if not self.session:
                self.connect()
        except (OSError, wire.Closed):
            return False
        if self.extended:
            messages = (wire.bind("", "s", [key, TS, "x"]), wire.execute(), wire.sync())
        else:
            messages = (wire.query(TEXT.format(key, TS, "x")),)
        try:
            replies = self.session.ask(*messages)
        except (OSError, wire.Closed):
            self.ledger.note(key, "cut off")
            self.leave()
            return False
        outcome = wire.error_of(replies) or "ok"
        self.ledger.note(key, outcome)
        if replies[-1].kind != "Z":
            self.leave()
        return outcome == "ok"

    def leave(self):
        if self.session:
            self.session.drop()
        self.session = None


class FaultCase(unittest.TestCase):
    """A keyspread and a middleman for each test, one PostgreSQL for all."""

    database = "app"

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(synchronous_commit="on")  # what is committed survives
        cls.addClassCleanup(cls.postgres.remove)
        harness.create_tables(cls.postgres, cls.database, (EVENTS,), hashed=True)

    def setUp(self):
        if harness.DIRECT:
            self.skipTest("only with keyspread in between")
        self.postgres.wait()
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate events")
        self.middleman = middleman.Middleman(self.postgres.port)
        self.addCleanup(self.middleman.close)
        self.keyspread = None

    def start(self, port=None, **more):
        self.keyspread = harness.Keyspread(harness.backend_config(
            self.postgres, port=port or self.middleman.port, **more))
        self.addCleanup(self.keyspread.stop)
        return self.keyspread

    def wire(self, **params):
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.close)
        session.login(harness.USER, self.database, **params)
        return session

    def stored(self):
        with self.postgres.admin(self.database) as admin:
            return [int(row[0]) for row in admin.rows("select userid from events")]

    def check_hashes(self):
        with harness.connect_admin(self.postgres, self.database) as connection:
            harness.verify_hashes(self, connection, EVENTS)
        connection.close()

    def load(self, ledger, rows, clients=8, stop=None):
        """Every client writes until `rows` were acknowledged, or `stop` says so."""
        def client(number):
            writer = Writer(number, self.keyspread.address(), self.database, ledger, number % 2)
            done = 0
            try:
                while done < rows and not (stop and stop.is_set()):
                    done += writer.write()
            finally:
                writer.leave()
        return harness.in_threads(clients, client)
