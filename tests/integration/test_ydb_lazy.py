"""transactions: lazy before the fake of YDB's endpoint: what consists of INSERTs alone is kept until its COMMIT, and is one
transaction there, together with others'."""
import unittest

import harness
import metrics
import wire
from ydb_case import YdbCase

THINGS = harness.Table("things", ["id bigint not null", "word text"], ["id"], transactions="lazy")
OTHERS = harness.Table("others", ["id bigint not null", "name text not null", "note text"], ["id", "name"], hash_key=["id"],
                       transactions="lazy")
THING = "insert into things (id, word) values ({}, '{}')"
GROUP = (wire.bind("", ""), wire.describe("P", ""), wire.execute(), wire.sync())
BOUND = "insert into things (id, word) values ($1, $2)"


class YdbLazy(YdbCase):
    tables = (THINGS, OTHERS)
    options = {"admin": {}}

    def setUp(self):
        super().setUp()
        self.session = self.link(self.keyspread.port)
        self.session.query("begin")
        self.session.query(THING.format(999, "a"))
        self.session.query("rollback")
        self.bound(998)
        self.empty()
        self.before = metrics.Scrape(self.keyspread)

    def kinds(self):
        counted = metrics.Scrape(self.keyspread).since(self.before).by("transactions_total", "kind")
        return {kind: count for kind, count in counted.items() if count and kind in ("lazy", "made_ordinary")}

    def rows(self, table="things"):
        return [int(row[0]) for row in self.admins[True].rows(f"select id from {table} order by id")]

    def bound(self, number):
        return self.session.ask(wire.parse("", BOUND), wire.bind("", "", [number, "b"]), wire.execute(), wire.sync())

    def say(self, text, *tags, status=b"T"):
        replies = self.session.query(text)
        self.assertEqual((wire.tags_of(replies), replies[-1].body), (list(tags), status), (text, replies))

    def test_queries(self):
        self.say("begin", "BEGIN")
        self.say(THING.format(1, "a"), "INSERT 0 1")
        self.say("insert into others (id, name) values (1, 'a'), (2, 'b') returning name, id", "INSERT 0 2")
        self.assertEqual(self.rows(), [])
        self.say("commit", "COMMIT", status=b"I")
        self.assertEqual((self.rows(), self.rows("others")), ([1], [1, 2]))
        self.assertEqual(self.kinds(), {"lazy": 1})

    def test_groups(self):
        self.session.ask(wire.parse("", "begin"), *GROUP)
        for number in (1, 2):
            self.assertEqual(wire.kinds(self.bound(number)), "12CZ")
        replies = self.session.ask(wire.parse("", "commit"), *GROUP)
        self.assertEqual((wire.kinds(replies), wire.tags_of(replies), replies[-1].body), ("12nCZ", ["COMMIT"], b"I"))
        self.assertEqual((self.rows(), self.kinds()), ([1, 2], {"lazy": 1}))

    def test_rollback_and_savepoints(self):
        self.say("begin", "BEGIN")
        self.say(THING.format(1, "a"), "INSERT 0 1")
        self.say("rollback", "ROLLBACK", status=b"I")
        self.say("begin", "BEGIN")
        self.say(THING.format(2, "a"), "INSERT 0 1")
        self.say("savepoint s", "SAVEPOINT")
        self.say(THING.format(3, "a"), "INSERT 0 1")
        self.say("rollback to s", "ROLLBACK")
        self.say("commit", "COMMIT", status=b"I")
        self.assertEqual((self.rows(), self.kinds()), ([2], {"lazy": 1}))

    def test_rows_behind_savepoints(self):
        for ask in (lambda number: self.session.query(THING.format(number, "a")), self.bound):
            self.empty()
            self.say("begin", "BEGIN")
            for text, tag in (("savepoint a", "SAVEPOINT"), (1, None), ("savepoint B;", "SAVEPOINT"), (2, None),
                              ("rollback to b", "ROLLBACK"), (3, None), ('rollback work to savepoint "b"', "ROLLBACK"), (4, None),
                              ("savepoint b", "SAVEPOINT"), (5, None), ("rollback to b", "ROLLBACK"), ("release savepoint b", "RELEASE")):
                if tag:
                    self.say(text, tag)
                else:
                    self.assertEqual(wire.tags_of(ask(text)), ["INSERT 0 1"])
            self.assertEqual(self.rows(), [])
            self.say("commit", "COMMIT", status=b"I")
            self.assertEqual(self.rows(), [1, 4])
        self.assertEqual(self.kinds(), {"lazy": 2})

    def test_release_sends_what_is_kept_behind_it(self):
        self.session.query(THING.format(1, "a"))
        self.say("begin", "BEGIN")
        self.say("savepoint s", "SAVEPOINT")
        self.say(THING.format(1, "b"), "INSERT 0 1")
        self.assertEqual(wire.error_of(self.session.query("release s")), "23505")
        self.say("rollback", "ROLLBACK", status=b"I")
        self.assertEqual((self.rows(), self.kinds()), ([1], {"made_ordinary": 1}))

    def test_what_the_session_chooses(self):
        for number, (word, kinds) in enumerate((("eager", {}), ("lazy", {"lazy": 1}), ("default", {"lazy": 2}))):
            self.say(f"set keyspread.transactions to {word}", "SET", status=b"I")
            self.say("begin", "BEGIN")
            self.say(THING.format(number, "a"), "INSERT 0 1")
            self.say("commit", "COMMIT", status=b"I")
            self.assertEqual((self.rows(), self.kinds()), (list(range(number + 1)), kinds), word)

    def test_an_error_comes_with_commit(self):
        self.session.query(THING.format(1, "a"))
        self.say("begin", "BEGIN")
        for number in (2, 1):
            self.say(THING.format(number, "b"), "INSERT 0 1")
        replies = self.session.query("commit")
        self.assertEqual((wire.error_of(replies), replies[-1].body), ("23505", b"I"))
        self.assertEqual(self.rows(), [1])
        self.say(THING.format(3, "a"), "INSERT 0 1", status=b"I")

    def test_made_ordinary(self):
        for ask in (lambda number: self.session.query(THING.format(number, "a")), self.bound):
            self.empty()
            self.say("begin", "BEGIN")
            for number in (1, 2):
                ask(number)
            self.assertEqual(self.session.rows("select id from things order by id"), [["1"], ["2"]])
            ask(3)
            self.assertEqual(self.rows(), [])
            self.say("commit", "COMMIT", status=b"I")
            self.assertEqual(self.rows(), [1, 2, 3])
            self.say("begin", "BEGIN")
            ask(1)
            replies = self.session.query("select id from things")
            self.assertEqual((wire.error_of(replies), replies[-1].body), ("23505", b"E"))
            self.say("commit", "ROLLBACK", status=b"I")
        self.assertEqual(self.kinds(), {"made_ordinary": 4})

    def test_a_conflict_is_repeated(self):
        self.say("begin", "BEGIN")
        self.say(THING.format(1, "a"), "INSERT 0 1")
        self.endpoint.order("ABORTED", begins="insert", times=1)
        self.say("commit", "COMMIT", status=b"I")
        self.assertEqual(self.rows(), [1])

    def test_nobody_knows(self):
        self.say("begin", "BEGIN")
        self.say(THING.format(1, "a"), "INSERT 0 1")
        self.endpoint.order("UNDETERMINED", begins="insert", times=1)
        self.assertEqual(wire.error_of(self.session.query("commit")), "08007")

    def test_clients_share_transactions(self):
        sessions = [self.link(self.keyspread.port) for _ in range(16)]

        def work(number):
            for turn in range(10):
                for text in ("begin", THING.format(100 * number + turn, "a"), "commit"):
                    self.assertFalse(wire.error_of(sessions[number].query(text)))
        harness.in_threads(16, work)
        self.assertEqual(len(self.rows()), 160)
        counted = metrics.Scrape(self.keyspread).since(self.before)
        self.assertGreater(counted.by("transactions_total", "kind")["lazy"], 100)
        self.assertLess(counted.get("batch_rows_count"), 160)


if __name__ == "__main__":
    unittest.main()
